"""Run all detectors on one recording, and list consequences below their causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epic_cli.engine.places import UnusablePlugin
from epic_cli.jobs.diagnose.consequences import (
    find_remaining_findings,
    fold_consequences,
    list_available_data,
)
from epic_cli.jobs.diagnose.detectors import (
    DRAWN,
    POSITIONS,
    ROTATIONS,
    SPINS,
    STRATEGY,
    Detector,
    Finding,
    find_detector,
    load_registry,
)
from epic_cli.jobs.diagnose.detectors.movement.coarse_stamps import TICK_CAUSES
from epic_cli.jobs.diagnose.detectors.network.clock_drift import measure_unseen_drift
from epic_cli.jobs.diagnose.detectors.network.delay_buffer import SHARE, measure_buffers
from epic_cli.jobs.diagnose.remedies import write_option
from epic_cli.jobs.diagnose.remedies.excerpts import make_trial_recording
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.metrics.tabular import Tabular
from epic_cli.metrics.traffic import Network, TooFewPackets, Traffic, make_traffic, measure_network
from epic_cli.recordings.findings import RecordingFinding as Doubtful
from epic_cli.recordings.findings import list_doubts

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
    from epic_cli.metrics.drawn_path import DrawnPath


#: Inputs without which a detector has nothing to look at.
_OWN = frozenset((STRATEGY, DRAWN, ROTATIONS, SPINS))


@dataclass(frozen=True, repr=False)
class Diagnosis(Tabular):
    """The findings in ``packets`` packets of ``duration`` (s), the worst first.

    ``lacking`` are the detectors that could not look, by name, with what they lack; ``left_out``
    those of other packages that failed. ``network`` is None without arrival times; ``drawn``
    explains what the game drew, if given. ``unseen`` is the least clock drift (s/s) that would
    have shown, and the length (s) of a recording that shows a usual one; 0: it was found, or cannot
    be sought. ``in_recording`` are findings that make the recording itself doubtful, as in a
    ``Comparison``. ``full_buffers`` are the given strategies whose delay buffers are long enough,
    with the share of the rows in which each is empty (NaN: there is no buffer).
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
    full_buffers: tuple[tuple[str, float], ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Codes of the findings that make the whole diagnosis doubtful."""
        return list_doubts(self.in_recording)

    @property
    def unable(self) -> tuple[tuple[Detector, tuple[str, ...]], ...]:
        """The detectors that could not run, with the data that they lack."""
        return tuple((find_detector(name), needs) for name, needs in self.lacking)

    @property
    def causes(self) -> set[str]:
        """The causes that were found, each with its consequences."""
        below = {each.cause for finding in self.findings for each in finding.consequences}
        return below | {finding.cause for finding in self.findings}


def run(spec: DiagnoseSpec) -> Diagnosis:
    """Diagnose a recording; raise the errors of ``diagnose``."""
    return replace(diagnose(make_spec_traffic(spec), spec.drawn), in_recording=spec.in_recording)


def make_spec_traffic(spec: DiagnoseSpec) -> Traffic:
    """Return the recording in the form that detectors need."""
    found = make_traffic(spec.packets, spec.span)
    return replace(found, strategies=spec.strategies, placed=spec.placed)


def diagnose(traffic: Traffic, drawn: Mapping[str, DrawnPath] | None = None) -> Diagnosis:
    """Diagnose the traffic.

    ``drawn`` are the frames that the game really drew of the entities, if known. Raises
    ``TooFewPackets``, and ``UnusableDrawing`` for frames that cannot be compared.
    """
    if not traffic.streams:
        raise TooFewPackets(traffic.packets, traffic.entities)
    if drawn is not None:
        from epic_cli.jobs.diagnose.drawn import match  # loaded by those who know what was drawn

        traffic = replace(traffic, drawn=match(traffic.blocks, drawn))
    starved = () if traffic.messages is None else measure_buffers(traffic)
    traffic = replace(traffic, starved=starved)
    findings: list[Finding] = []
    lacking: list[tuple[str, tuple[str, ...]]] = []
    there = list_available_data(traffic)
    using, foreign, left_out = load_registry()
    unusable = list(left_out)
    for detector in using:
        needs = tuple(need for need in detector.needs if need not in there)
        if not _OWN.isdisjoint(needs):
            continue  # not wanted, or nothing turns
        if needs:
            lacking.append((detector.name, needs[:1] if POSITIONS in needs else needs))
            continue
        try:
            findings += _check_findings(detector, detector.detect(traffic))
        except Exception as error:  # a plug-in's code may fail in any way
            if detector.name not in foreign:
                raise
            reason = f"{type(error).__name__}: {error}"
            unusable.append(UnusablePlugin(detector.name, "", reason, "detector"))
    beside = find_remaining_findings(
        traffic, [finding.cause for finding in findings], using, foreign
    )
    folded = [
        _try_remedy(finding, traffic) for finding in fold_consequences(findings, beside, using)
    ]
    folded.sort(key=lambda one: -one.share)
    messages, drifts = traffic.messages, any(finding.cause == "clock-drift" for finding in findings)
    network = None if messages is None else measure_network(messages)
    for finding in findings:
        if finding.cause in TICK_CAUSES and network is not None:
            # the usual interval is not the mean one
            network = network._replace(rate=1 / float(finding.values["period"]))
    return Diagnosis(
        tuple(folded),
        tuple(lacking),
        tuple(unusable),
        traffic.drawn,
        traffic.packets,
        traffic.duration,
        network,
        (0.0, 0.0) if messages is None or drifts else measure_unseen_drift(messages),
        full_buffers=tuple(
            (candidate.label, share) for candidate, share in starved if not share >= SHARE
        ),
    )


def _try_remedy(finding: Finding, traffic: Traffic) -> Finding:
    """Try the remedy of a finding on the recording; all causes in what the game drew share one."""
    if finding.remedy is None:
        return finding
    draws = finding.remedy.strategy is not None and finding.remedy.packets is None
    if traffic.drawn is not None and draws:
        return replace(finding, trial=traffic.drawn.advice.remedy)
    recording = make_trial_recording(traffic, next(iter(finding.entities), ""), finding.worst)
    if recording is None:
        reads = traffic.messages is None and finding.remedy.command.startswith("--read ")
        return replace(finding, remedy=replace(finding.remedy, untried=True) if reads else None)
    known = None if traffic.drawn is not None else finding.remedy.against or recording.reference
    remedy = replace(finding.remedy, against=known)
    if known is not None and remedy.strategy is None:  # which is drawn with on both sides
        between = " " if remedy.is_typed else ", drawn with "
        remedy = replace(remedy, command=f"{remedy.command}{between}{write_option(known)}")
    return replace(finding, remedy=remedy, trial=recording.try_remedy(remedy))


def _check_findings(detector: Detector, found: list[Finding]) -> list[Finding]:
    """Return a detector's findings; raise ``TypeError`` if a finding has another cause."""
    if not all(
        isinstance(finding, Finding) and finding.cause == detector.name for finding in found
    ):
        causes = [getattr(finding, "cause", finding) for finding in found]
        raise TypeError(f"the detector must find {detector.name!r} alone, and found {causes}")
    return found
