"""All detectors over one recording, with consequences folded under their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.places import UnusablePlugin
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
    detector_of,
    registry,
)
from epic_cli.jobs.diagnose.detectors.network.clock_drift import unseen
from epic_cli.metrics.tabular import Tabular
from epic_cli.metrics.traffic import Network, TooFewPackets, Traffic, network_of, traffic_of
from epic_cli.recordings.findings import doubts

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn import DrawnMatch
    from epic_cli.jobs.diagnose.spec import DiagnoseSpec
    from epic_cli.metrics.drawn_path import DrawnPath
    from epic_cli.recordings.findings import Finding as Doubtful


#: A detector that lacks one of these has nothing to look at.
_OWN = frozenset((STRATEGY, DRAWN, ROTATIONS, SPINS))


@dataclass(frozen=True, repr=False)
class Diagnosis(Tabular):
    """What was found in this many ``packets``, over ``duration`` (s): ``findings``, worst first.

    ``lacking`` are the detectors that could not look, by name, with what they lack; ``left_out``
    those of other packages that failed. ``network`` is None without arrival times, ``drawn`` is
    what explains the game's own drawing, where there is one. ``unseen`` is the least clock drift
    (s/s) that would have shown, and how long (s) a recording must be to show a usual one; 0: it
    was found, or cannot be looked for. ``in_recording`` are what makes the recording itself
    doubtful, as a ``Comparison`` has it.
    """

    findings: tuple[Finding, ...]
    lacking: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: tuple[UnusablePlugin, ...] = ()
    drawn: DrawnMatch | None = None
    packets: int = 0
    duration: float = 0.0
    network: Network | None = None
    unseen: tuple[float, float] = (0.0, 0.0)
    in_recording: tuple[Doubtful, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of those that make all of it doubtful."""
        return doubts(self.in_recording)

    @property
    def unable(self) -> tuple[tuple[Detector, tuple[str, ...]], ...]:
        """The detectors that could not look, with what they lack."""
        return tuple((detector_of(name), needs) for name, needs in self.lacking)

    @property
    def causes(self) -> set[str]:
        """The causes that were found, and what follows from them."""
        below = {each.cause for one in self.findings for each in one.consequences}
        return below | {one.cause for one in self.findings}


def run(spec: DiagnoseSpec) -> Diagnosis:
    """What is wrong with a recording; raises as ``diagnose``."""
    return replace(diagnose(traffic(spec), spec.drawn), in_recording=spec.in_recording)


def traffic(spec: DiagnoseSpec) -> Traffic:
    """The recording as detectors look at it."""
    found = traffic_of(spec.packets, spec.span)
    return replace(found, strategies=spec.strategies, placed=spec.placed)


def diagnose(
    traffic: Traffic,
    drawn: Mapping[str, DrawnPath] | None = None,
    detectors: Sequence[Detector] | None = None,
) -> Diagnosis:
    """What is wrong with the traffic, by these ``detectors`` (None: all).

    ``drawn`` is what the game really drew of the entities, if that is known. Raises
    ``TooFewPackets``, and ``UnusableDrawing`` where what was drawn cannot be compared.
    """
    if not traffic.streams:
        raise TooFewPackets(traffic.packets, traffic.entities)
    if drawn is not None:
        from epic_cli.jobs.diagnose.drawn import match  # loaded by those who know what was drawn

        traffic = replace(traffic, drawn=match(traffic.blocks, drawn))
    findings: list[Finding] = []
    lacking: list[tuple[str, tuple[str, ...]]] = []
    there = _there(traffic)
    known = registry()
    using = known.detectors if detectors is None else tuple(detectors)
    left_out = list(known.left_out) if detectors is None else []
    for detector in using:
        needs = tuple(one for one in detector.needs if one not in there)
        if not _OWN.isdisjoint(needs):
            continue  # not wanted, or nothing turns
        if needs:
            lacking.append((detector.name, needs[:1] if POSITIONS in needs else needs))
            continue
        try:
            findings += _checked(detector, detector.detect(traffic))
        except Exception as error:  # a plug-in's code may fail in any way
            if detector.name not in known.foreign:
                raise
            reason = f"{type(error).__name__}: {error}"
            left_out.append(UnusablePlugin(detector.name, "", reason, "detector"))
    beside = _beside(traffic, [one.cause for one in findings], using, known.foreign)
    folded = _folded(findings, beside, using)
    folded.sort(key=lambda one: -one.share)
    messages, drifts = traffic.messages, any(one.cause == "clock-drift" for one in findings)
    return Diagnosis(
        tuple(folded),
        tuple(lacking),
        tuple(left_out),
        traffic.drawn,
        traffic.packets,
        traffic.duration,
        None if messages is None else network_of(messages),
        (0.0, 0.0) if messages is None or drifts else unseen(messages),
    )


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
            findings += one.detect(without)
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
    if traffic.placed:
        there.add(POSITIONS)
    if traffic.numbered:
        there.add(NUMBERS)
    if traffic.stamping or any(one.has_velocities for one in traffic.streams):
        there.add(VELOCITIES)  # stamps that no clock made show without
    turns = [one.turns for one in traffic.streams if one.turns.shape[1]]
    if turns:
        there.add(ROTATIONS)
    if any(np.isfinite(one[:, 4:]).any() for one in turns):
        there.add(SPINS)
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
