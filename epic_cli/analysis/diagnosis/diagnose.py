"""All detectors over one recording, with consequences folded under their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from epic_cli.analysis.diagnosis.finding import (
    ARRIVALS,
    DRAWN,
    NUMBERS,
    STRATEGY,
    VELOCITIES,
    Detector,
    Finding,
)
from epic_cli.analysis.diagnosis.registry import LeftOut, registry
from epic_cli.analysis.diagnosis.traffic import Traffic
from epic_cli.analysis.drawn.match import Match


@dataclass(frozen=True)
class Diagnosis:
    """What was found, worst first, and the detectors that could not look, with what they lack.

    ``left_out`` are detectors of other packages that failed. ``drawn`` is what explains the game's
    own drawing, where there is one.
    """

    findings: tuple[Finding, ...]
    unable: tuple[tuple[Detector, tuple[str, ...]], ...]
    left_out: tuple[LeftOut, ...] = ()
    drawn: Match | None = None


def diagnose(traffic: Traffic, chosen: Sequence[Detector] | None = None) -> Diagnosis:
    """What is wrong with the traffic."""
    findings: list[Finding] = []
    unable: list[tuple[Detector, tuple[str, ...]]] = []
    there = _there(traffic)
    known = registry()
    using = known.detectors if chosen is None else tuple(chosen)
    left_out = list(known.left_out) if chosen is None else []
    for detector in using:
        lacking = tuple(one for one in detector.needs if one not in there)
        if STRATEGY in lacking or DRAWN in lacking:
            continue  # nobody has asked
        if lacking:
            unable.append((detector, lacking))
            continue
        try:
            findings += _checked(detector, detector.look(traffic))
        except Exception as error:  # other people's code may fail in any way
            if detector.name not in known.foreign:
                raise
            left_out.append(LeftOut(detector.name, "", f"{type(error).__name__}: {error}"))
    beside = _beside(traffic, [one.cause for one in findings], using, known.foreign)
    folded = _folded(findings, beside, using)
    folded.sort(key=lambda one: -one.share)
    return Diagnosis(tuple(folded), tuple(unable), tuple(left_out), traffic.drawn)


def _beside(
    traffic: Traffic, found: Sequence[str], using: Sequence[Detector], foreign: frozenset[str]
) -> list[Finding]:
    """What is found though the causes that explain it are taken out of the traffic."""
    causes = [one for one in using if one.name in found]
    findings = []
    for one in using:
        behind = [each for each in causes if one.name in each.explains]
        mends = [each.mended for each in behind if each.mended is not None]
        if not mends or len(mends) < len(behind) or one.name in foreign:
            continue
        without = reduce(lambda left, mend: mend(left), mends, traffic)
        if _there(without).issuperset(one.needs):
            findings += one.look(without)
    return findings


def _checked(detector: Detector, found: list[Finding]) -> list[Finding]:
    """What a detector has found; raises ``TypeError`` where it is not of its own cause."""
    if not all(isinstance(one, Finding) and one.cause == detector.name for one in found):
        raise TypeError(f"it found {[getattr(one, 'cause', one) for one in found]}")
    return found


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
    if traffic.drawn is not None:
        there.add(DRAWN)
    return there


def _folded(
    findings: list[Finding], beside: list[Finding], using: Sequence[Detector]
) -> list[Finding]:
    """The causes; what one of them explains stands below it, and no longer beside it.

    But for those of ``beside``: they are there without it, too.
    """
    own = {one.cause for one in beside}
    found = {one.cause for one in findings}
    findings = findings + [one for one in beside if one.cause not in found]
    found |= own
    left = [one for one in using if one.name in found]
    cause_of: dict[str, str] = {}
    while left:
        explained = {effect for one in left for effect in one.explains if effect != one.name} - own
        # what is explained explains nothing: it may not even be there
        root = next((one for one in left if one.name not in explained), left[0])
        cause_of |= {
            one.name: root.name
            for one in left
            if one is not root and one.name in root.explains and one.name not in own
        }
        left = [one for one in left if one is not root and one.name not in cause_of]
    below: dict[str, list[Finding]] = {}
    for one in findings:
        if one.cause in cause_of:
            below.setdefault(cause_of[one.cause], []).append(one)
    return [
        replace(one, consequences=tuple(below.get(one.cause, ())))
        for one in findings
        if one.cause not in cause_of
    ]
