"""All detectors over one recording, with consequences folded under their causes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from epic_cli.analysis.diagnosis import detectors
from epic_cli.analysis.diagnosis.finding import (
    ARRIVALS,
    NUMBERS,
    STRATEGY,
    VELOCITIES,
    Detector,
    Finding,
)
from epic_cli.analysis.diagnosis.traffic import Traffic


@dataclass(frozen=True)
class Diagnosis:
    """What was found, worst first, and the detectors that could not look, with what they lack."""

    findings: tuple[Finding, ...]
    unable: tuple[tuple[Detector, tuple[str, ...]], ...]


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Every detector: each module of the folder ``detectors`` has one, ``DETECTOR``."""
    found: list[Detector] = [
        importlib.import_module(f"{detectors.__name__}.{module.name}").DETECTOR
        for module in pkgutil.iter_modules(detectors.__path__)
    ]
    return tuple(sorted(found, key=lambda one: (one.rank, one.name)))


def detector_of(name: str) -> Detector:
    """A detector by its name."""
    return next(one for one in all_detectors() if one.name == name)


def diagnose(traffic: Traffic, chosen: Sequence[Detector] | None = None) -> Diagnosis:
    """What is wrong with the traffic."""
    findings: list[Finding] = []
    unable: list[tuple[Detector, tuple[str, ...]]] = []
    there = _there(traffic)
    using = all_detectors() if chosen is None else tuple(chosen)
    for detector in using:
        lacking = tuple(one for one in detector.needs if one not in there)
        if STRATEGY in lacking:
            continue  # nobody has asked
        if lacking:
            unable.append((detector, lacking))
        else:
            findings += detector.look(traffic)
    folded = _folded(findings, using)
    folded.sort(key=lambda one: -one.share)
    return Diagnosis(tuple(folded), tuple(unable))


def _there(traffic: Traffic) -> set[str]:
    there = set()
    if traffic.messages is not None:
        there.add(ARRIVALS)
    if any(one.numbered for one in traffic.streams):
        there.add(NUMBERS)
    if any(one.has_velocities for one in traffic.streams):
        there.add(VELOCITIES)
    if traffic.strategies:
        there.add(STRATEGY)
    return there


def _folded(findings: list[Finding], using: Sequence[Detector]) -> list[Finding]:
    """The causes; what one of them explains stands below it, and no longer beside it."""
    found = {one.cause for one in findings}
    cause_of: dict[str, str] = {}
    for detector in using:
        if detector.name in found and detector.name not in cause_of:
            for effect in detector.explains:
                cause_of.setdefault(effect, detector.name)
    below: dict[str, list[Finding]] = {}
    for one in findings:
        if one.cause in cause_of:
            below.setdefault(cause_of[one.cause], []).append(one)
    return [
        replace(one, consequences=tuple(below.get(one.cause, ())))
        for one in findings
        if one.cause not in cause_of
    ]
