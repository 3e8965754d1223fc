"""Tell causes from their consequences, which are listed below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from epic_cli.jobs.diagnose.detectors import (
    ARRIVALS,
    DRAWN,
    NUMBERS,
    POSITIONS,
    ROTATIONS,
    SPINS,
    STRATEGY,
    VELOCITIES,
    Detector,
    Finding,
)
from epic_cli.metrics.traffic import Traffic


def list_available_data(traffic: Traffic) -> set[str]:
    """Return the inputs of detectors that the traffic has."""
    there = set()
    if traffic.messages is not None:
        there.add(ARRIVALS)
    if traffic.placed:
        there.add(POSITIONS)
    if traffic.numbered:
        there.add(NUMBERS)
    if traffic.stamping or any(stream.has_velocities for stream in traffic.streams):
        there.add(VELOCITIES)  # stamps that no clock made show without
    turns = [stream.turns for stream in traffic.streams if stream.turns.shape[1]]
    if turns:
        there.add(ROTATIONS)
    if any(np.isfinite(turn[:, 4:]).any() for turn in turns):
        there.add(SPINS)
    if traffic.strategies:
        there.add(STRATEGY)
    if traffic.drawn is not None:
        there.add(DRAWN)
    return there


def find_remaining_findings(
    traffic: Traffic, found: Sequence[str], using: Sequence[Detector], foreign: frozenset[str]
) -> list[Finding]:
    """Return the findings that remain after their possible causes are removed from the traffic."""
    causes = [detector for detector in using if detector.name in found]
    findings = []
    for detector in using:
        behind = [cause for cause in causes if detector.name in cause.explains]
        mends = [cause.mended for cause in behind if cause.mended is not None]
        if detector.name not in found and not all(cause.reveals for cause in behind):
            continue
        if not mends or len(mends) < len(behind) or detector.name in foreign:
            continue
        without = reduce(lambda left, mend: mend(left), mends, traffic)
        if list_available_data(without).issuperset(detector.needs):
            findings += detector.detect(without)
    return findings


def fold_consequences(
    findings: list[Finding], beside: list[Finding], using: Sequence[Detector]
) -> list[Finding]:
    """Return the causes, each with the findings that it explains.

    Findings of ``beside`` stay beside: they are there without the cause, too.
    """
    own = {finding.cause for finding in beside}
    found = {finding.cause for finding in findings}
    findings = findings + [finding for finding in beside if finding.cause not in found]
    found |= own
    left = [detector for detector in using if detector.name in found]
    cause_of: dict[str, str] = {}
    while left:
        explained = {
            effect for detector in left for effect in detector.explains if effect != detector.name
        } - own
        # what is explained explains nothing: it may not even be there
        root = next((detector for detector in left if detector.name not in explained), left[0])
        cause_of |= {
            detector.name: root.name
            for detector in left
            if detector is not root and detector.name in root.explains and detector.name not in own
        }
        left = [
            detector for detector in left if detector is not root and detector.name not in cause_of
        ]
    below: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.cause in cause_of:
            below.setdefault(cause_of[finding.cause], []).append(finding)
    return [
        replace(finding, consequences=tuple(below.get(finding.cause, ())))
        for finding in findings
        if finding.cause not in cause_of
    ]
