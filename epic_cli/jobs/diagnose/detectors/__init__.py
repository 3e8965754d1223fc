"""What a detector is, what it finds, and all there are: one file a cause, found by convention."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.places import UnusablePlugin, plugins
from epic_cli.jobs.diagnose.cures import Cure, CureTrial

if TYPE_CHECKING:
    from epic_cli.metrics.traffic import Traffic


#: What a recording must have so that a detector can look: words that go after "without".
ARRIVALS = "arrival times"
NUMBERS = "sequence numbers"
POSITIONS = "positions"
VELOCITIES = "velocities"

#: The same of recordings that have them: without, nothing is amiss.
ROTATIONS = "rotations"
SPINS = "angular velocities"

#: The same of whoever asks: without it there is nothing to look at.
STRATEGY = "a strategy"
DRAWN = "what the game drew"


@dataclass(frozen=True)
class Finding:
    """A cause that a recording shows.

    ``cause`` is its detector's name. ``share`` is how much of the recording suffers from it, 0 to
    1. ``values`` fill the detector's sentences; ``statistic`` passed ``threshold``. ``first`` and
    ``worst`` are stamps in seconds, None where it is everywhere. ``entities`` are those it
    concerns, none: all. ``consequences`` are findings that this one explains. ``remedy`` is its
    cure as a value, where that can be tried on the recording; ``trial`` what came of it, None
    where it was not tried, or does not help.
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
    remedy: Cure | None = None
    trial: CureTrial | None = None


def worst(
    found: Iterable[Finding | None], by: Callable[[Finding], float] = lambda one: one.statistic
) -> list[Finding]:
    """Of what was found of each entity, or not, only the worst; the first of equals."""
    known = [finding for finding in found if finding is not None]
    return [max(known, key=by)] if known else []


@dataclass(frozen=True)
class Detector:
    """How one cause is detected.

    ``says``, ``effect`` and ``cure`` are sentences with the finding's values in braces:
    ``{delay:s}`` is a time, ``{loss:share}`` a share, ``{rate:number}`` a number, ``{times:time}``
    ``3 times``. ``statistic`` and ``threshold`` say in words what is computed and when it counts,
    ``source`` why, ``cost`` how long that takes for n packets. ``needs`` is what a recording must
    have. ``explains`` names the causes whose findings, at the same time, are consequences of this
    one. ``mended`` is the traffic as it would be without this cause: what it explains is looked for
    there again, and what is found stands beside it, not below.
    """

    name: str
    title: str
    says: str
    effect: str
    cure: str
    statistic: str
    threshold: str
    source: str
    detect: Callable[[Traffic], list[Finding]]
    cost: str = "n"
    needs: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    mended: Callable[[Traffic], Traffic] | None = None
    rank: int = 100


#: Other packages offer a ``Detector`` of theirs as an entry point of this group.
GROUP = "epic_cli.detectors"


class Registry(NamedTuple):
    """All that can be used, by rank; the names of those of other packages; those left out."""

    detectors: tuple[Detector, ...]
    foreign: frozenset[str]
    left_out: tuple[UnusablePlugin, ...]


@cache
def registry() -> Registry:
    """Those of the modules in the folders of ``detectors``; then those of other packages."""
    found: dict[str, Detector] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        loaded = importlib.import_module(module.name)
        needs = (POSITIONS,) if module.name.startswith(f"{__name__}.movement.") else ()
        for own in vars(loaded).values():
            if isinstance(own, Detector):
                found[own.name] = replace(own, needs=(*needs, *own.needs))
    foreign, left_out = set(), []
    for plugin in plugins(GROUP):
        path, _, attributes = plugin.place.partition(":")
        try:
            one = reduce(getattr, attributes.split("."), importlib.import_module(path))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            if not isinstance(one, Detector):
                reason = f"{plugin.place} is not a Detector"
            elif one.name in found:
                reason = f"there is a detector {one.name!r} already"
            else:
                found[one.name] = one
                foreign.add(one.name)
                continue
        left_out.append(UnusablePlugin(plugin.name, plugin.distribution, reason, "detector"))
    ranked = sorted(found.values(), key=lambda one: (one.rank, one.name))
    return Registry(tuple(ranked), frozenset(foreign), tuple(left_out))


def detector_of(name: str) -> Detector:
    """A detector by its name."""
    return next(detector for detector in registry().detectors if detector.name == name)
