"""What a detector is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Traffic

#: What a recording must have so that a detector can look: words that go after "without".
ARRIVALS = "arrival times"
NUMBERS = "sequence numbers"
VELOCITIES = "velocities"

#: The same of whoever asks: without it there is nothing to look at.
STRATEGY = "a strategy"
DRAWN = "what the game drew"


@dataclass(frozen=True)
class Finding:
    """A cause that a recording shows.

    ``cause`` is its detector's name. ``share`` is how much of the recording suffers from it, 0 to
    1. ``values`` fill the detector's sentences; ``statistic`` passed ``threshold``. ``first`` and
    ``worst`` are stamps in seconds, None where it is everywhere. ``entities`` are those it
    concerns, none: all. ``consequences`` are findings that this one explains.
    """

    cause: str
    share: float
    statistic: float
    threshold: float
    values: Mapping[str, float | str] = field(default_factory=dict)
    first: float | None = None
    worst: float | None = None
    entities: tuple[str, ...] = ()
    consequences: tuple[Finding, ...] = ()


def worst(
    found: Iterable[Finding | None], by: Callable[[Finding], float] = lambda one: one.statistic
) -> list[Finding]:
    """Of what was found of each entity, or not, only the worst; the first of equals."""
    known = [one for one in found if one is not None]
    return [max(known, key=by)] if known else []


@dataclass(frozen=True)
class Detector:
    """How one cause is told from others.

    ``says``, ``effect`` and ``cure`` are sentences with the finding's values in braces:
    ``{delay:s}`` is a time, ``{loss:share}`` a share, ``{rate:number}`` a number. ``statistic`` and
    ``threshold`` say in words what is computed and when it counts, ``source`` why, ``cost`` how
    long that takes for n packets. ``needs`` is what a recording must have. ``explains`` names the
    causes whose findings, at the same time, are consequences of this one. ``mended`` is the traffic
    as it would be without this cause: what it explains is looked for there again, and what is
    found stands beside it, not below.
    """

    name: str
    title: str
    says: str
    effect: str
    cure: str
    statistic: str
    threshold: str
    source: str
    look: Callable[[Traffic], list[Finding]]
    cost: str = "n"
    needs: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    mended: Callable[[Traffic], Traffic] | None = None
    rank: int = 100
