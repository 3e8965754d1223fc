"""One recording diagnosed, in whatever process: what ``epic diagnose`` does with each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from epic_cli.jobs.diagnose.run import Diagnosis, diagnose
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.metrics.notes import not_enough
from epic_cli.metrics.traffic.traffic import TooFewPackets, Traffic, traffic_of
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.jobs import strategy_identity
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.recordings import Reading

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.drawn_path import DrawnPath


@dataclass(frozen=True)
class DiagnoseJobs:
    """What is done with every recording."""

    kind: ClassVar[str] = "diagnose"

    spec: DiagnoseSpec
    messages: Messages = Messages()  # noqa: RUF009 - a value
    color: bool = False

    @property
    def reading(self) -> Reading:
        """How recordings are read."""
        return Reading(self.spec.layout, self.spec.input_format, self.spec.entity)

    def packets(self, recording: str, reporter: Reporter) -> tuple[dict[str, PacketBlock], bool]:
        """The packets of a recording, or of a network, which have no positions, and which it is.

        Raises ``CannotAccess`` and ``WrongUsage``.
        """
        trace = self.reading.trace(recording, reporter)
        packets = trace if trace is not None else self.reading.packets(recording, reporter)
        return packets, trace is None

    def traffic(self, packets: dict[str, PacketBlock], placed: bool) -> Traffic:
        """The traffic of these packets."""
        return replace(traffic_of(packets, self.spec), placed=placed)

    def run(self, recording: str, reporter: Reporter) -> Diagnosis:
        """Reads and diagnoses a recording; raises ``CannotAccess`` and ``WrongUsage``."""
        return diagnosis_of(self.traffic(*self.packets(recording, reporter)), reporter.name)

    def identity(self) -> dict[str, Any]:
        """What a diagnosis depends on beside the recording."""
        return {
            "candidates": list(map(strategy_identity, self.spec.strategies)),
            "span": list(self.spec.span),
            **self.reading.identity(),
        }


def diagnosis_of(
    traffic: Traffic, name: str, drawn: Mapping[str, DrawnPath] | None = None
) -> Diagnosis:
    """What is wrong with the traffic of a recording; raises ``WrongUsage``, ``UnusableDrawing``."""
    try:
        return diagnose(traffic, drawn)
    except TooFewPackets as error:
        raise WrongUsage(f"{name}: {not_enough(error)}") from error
