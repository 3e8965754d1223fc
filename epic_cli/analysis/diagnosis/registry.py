"""The detectors: those of this package, found by convention, and those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache, reduce
from typing import NamedTuple

from epic_cli.analysis.diagnosis import detectors
from epic_cli.analysis.diagnosis.finding import Detector
from epic_cli.engine.places import plugins

#: Other packages offer a ``Detector`` of theirs as an entry point of this group.
GROUP = "epic_cli.detectors"


class LeftOut(NamedTuple):
    """A detector of another package that cannot be used, and why."""

    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        package = f" of {self.distribution}" if self.distribution else ""
        return f"the detector {self.name!r}{package} is left out: {self.reason}"


class Registry(NamedTuple):
    """All that can be used, by rank; the names of those of other packages; those left out."""

    detectors: tuple[Detector, ...]
    foreign: frozenset[str]
    left_out: tuple[LeftOut, ...]


@cache
def registry() -> Registry:
    """Each module of the folder ``detectors`` has one, ``DETECTOR``; then those of others."""
    found: dict[str, Detector] = {}
    for module in pkgutil.iter_modules(detectors.__path__):
        own = importlib.import_module(f"{detectors.__name__}.{module.name}").DETECTOR
        found[own.name] = own
    foreign, left_out = set(), []
    for plugin in plugins(GROUP):
        path, _, attributes = plugin.place.partition(":")
        try:
            one = reduce(getattr, attributes.split("."), importlib.import_module(path))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            if not isinstance(one, Detector):
                reason = f"{plugin.place} is no Detector"
            elif one.name in found:
                reason = f"there is a detector {one.name!r} already"
            else:
                found[one.name] = one
                foreign.add(one.name)
                continue
        left_out.append(LeftOut(plugin.name, plugin.distribution, reason))
    ranked = sorted(found.values(), key=lambda one: (one.rank, one.name))
    return Registry(tuple(ranked), frozenset(foreign), tuple(left_out))


def all_detectors() -> tuple[Detector, ...]:
    """Every detector, by rank."""
    return registry().detectors


def detector_of(name: str) -> Detector:
    """A detector by its name."""
    return next(one for one in all_detectors() if one.name == name)
