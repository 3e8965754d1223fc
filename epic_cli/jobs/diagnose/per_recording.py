"""Diagnose each of several recordings, in any process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from epic_cli.jobs.diagnose.run import Diagnosis, run
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.metrics.traffic import TooFewPackets
from epic_cli.recordings import Unreadable

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.inputs import RecordingSpec
    from epic_cli.recordings.opening import Logs, ReadingLog
    from epic_cli.work.jobs import Place


def run_named(spec: DiagnoseSpec, log: ReadingLog) -> Diagnosis:
    """Diagnose a recording; raise ``Unreadable`` with its name if it has too few packets."""
    try:
        return run(spec)
    except TooFewPackets as error:
        if log.refused and not any(map(len, spec.packets.values())):
            raise Unreadable(
                f"{log.name}: all lines were refused, for the reasons above: mend the file, or say"
                " with --read how to read it (epic inspect shows how it was read)"
            ) from error
        raise Unreadable(f"{log.name}: {error}") from error


@dataclass(frozen=True)
class DiagnoseEach:
    """The diagnosis of each of several recordings, in any process."""

    kind: ClassVar[str] = "diagnose"

    reading: RecordingSpec
    log: Logs
    strategies: tuple[StrategySpec, ...] = ()
    span: tuple[float, float] = (-math.inf, math.inf)

    def make_spec(self, recording: Any, log: ReadingLog) -> DiagnoseSpec:
        """Read a recording or a network, and return the spec of its diagnosis.

        Raises ``UNUSABLE``.
        """
        trace = self.reading.trace(recording, log)
        packets = self.reading.read_packets(recording, log) if trace is None else trace
        return DiagnoseSpec(
            packets,
            self.strategies,
            self.span,
            placed=trace is None,
            in_recording=log.findings,
        )

    def run(self, recording: str, log: ReadingLog) -> Diagnosis:
        """Read and diagnose a recording; raise ``UNUSABLE``."""
        return run_named(self.make_spec(recording, log), log)

    def adapt_to_place(self, place: Place | None) -> DiagnoseEach:
        """Return this object, since a diagnosis is the same in every process."""
        del place
        return self

    def identify_inputs(self) -> dict[str, Any]:
        """Return the inputs that determine a diagnosis, other than the recording."""
        from epic_cli.work.code import identify_strategy

        return {
            "candidates": list(map(identify_strategy, self.strategies)),
            "span": list(self.span),
            **self.reading.identify_inputs(),
        }
