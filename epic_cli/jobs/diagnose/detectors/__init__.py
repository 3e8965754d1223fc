"""Detectors and findings, and the registry of detectors.

One file for a cause, found by being there.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.places import UnusablePlugin, list_plugins
from epic_cli.jobs.diagnose.remedies import Remedy, RemedyTrial

if TYPE_CHECKING:
    from epic_cli.metrics.traffic import Traffic


#: Data that a recording must have for a detector: words that go after "without".
ARRIVALS = "arrival times"
NUMBERS = "sequence numbers"
POSITIONS = "positions"
VELOCITIES = "velocities"

#: Data without which nothing is amiss.
ROTATIONS = "rotations"
SPINS = "angular velocities"

#: Inputs by the user without which there is nothing to look at.
STRATEGY = "a strategy"
DRAWN = "what the game drew"


@dataclass(frozen=True)
class Finding:
    """A cause of jitter that a recording shows.

    ``cause`` is its detector's name. ``share`` is how much of the recording suffers from it, 0 to
    1. ``values`` fill the detector's sentences; ``statistic`` passed ``threshold``. ``first`` and
    ``worst`` are stamps in seconds, None: the cause is everywhere. ``entities`` are those
    concerned, the worst first, none: all. ``consequences`` are findings that this one explains.
    ``remedy`` can be tried on the recording; ``trial`` is its result, None if it was not tried or
    does not help.
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
    remedy: Remedy | None = None
    trial: RemedyTrial | None = None


def select_worst(
    found: Iterable[Finding | None], by: Callable[[Finding], float] = lambda one: one.statistic
) -> list[Finding]:
    """Return the worst finding over all entities, if any, with the names of all that have it.

    Ties go to the first.
    """
    known = [finding for finding in found if finding is not None]
    if not known:
        return []
    worst = max(known, key=by)
    others = [name for finding in known for name in finding.entities]
    return [replace(worst, entities=tuple(dict.fromkeys((*worst.entities, *others))))]


@dataclass(frozen=True)
class Detector:
    """The detection of one cause, and its words.

    ``says``, ``effect`` and ``cure`` are sentences with the finding's values in braces:
    ``{delay:s}`` is a time, ``{loss:share}`` a share, ``{rate:number}`` a number, ``{times:time}``
    ``3 times``. ``statistic`` says in words what is measured, ``threshold`` when it is reported
    ("reported if ..."), ``source`` gives the reason, ``cost`` the time for n packets. ``needs`` is
    what a recording must have. ``explains`` names the causes whose findings, at the same time, are
    consequences of this one. ``mended`` gives the traffic without this cause: what it explains is
    sought there again, and a finding there stands beside it, not below. Unless ``reveals``, only
    those do that were there before.
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
    reveals: bool = True
    rank: int = 100


#: The group of entry points in which other packages offer a ``Detector``.
GROUP = "epic_cli.detectors"


class Registry(NamedTuple):
    """The usable detectors by rank, other packages' detector names, and the unusable detectors."""

    detectors: tuple[Detector, ...]
    foreign: frozenset[str]
    left_out: tuple[UnusablePlugin, ...]


@cache
def load_registry() -> Registry:
    """Return the detectors of this package's folders, followed by those of other packages."""
    found: dict[str, Detector] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        loaded = importlib.import_module(module.name)
        needs = (POSITIONS,) if module.name.startswith(f"{__name__}.movement.") else ()
        for own in vars(loaded).values():
            if isinstance(own, Detector):
                found[own.name] = replace(own, needs=(*needs, *own.needs))
    foreign, left_out = set(), []
    for plugin in list_plugins(GROUP):
        path, _, attributes = plugin.place.partition(":")
        try:
            one = reduce(getattr, attributes.split("."), importlib.import_module(path))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            if not isinstance(one, Detector):
                reason = f"{plugin.place} must be a Detector, not {type(one).__name__}"
            elif one.name in found:
                reason = f"there is a detector {one.name!r} already: choose another name"
            else:
                found[one.name] = one
                foreign.add(one.name)
                continue
        left_out.append(UnusablePlugin(plugin.name, plugin.distribution, reason, "detector"))
    ranked = sorted(found.values(), key=lambda one: (one.rank, one.name))
    return Registry(tuple(ranked), frozenset(foreign), tuple(left_out))


def find_detector(name: str) -> Detector:
    """Return a detector by its name."""
    return next(detector for detector in load_registry().detectors if detector.name == name)
