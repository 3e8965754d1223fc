"""The spec of a diagnosis, which the command line or Python builds and any process runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.drawn_path import DrawnPath
    from epic_cli.recordings.findings import RecordingFinding


@dataclass(frozen=True)
class DiagnoseSpec:
    """A recording's ``packets`` by entity, and the options of their diagnosis.

    Only packets stamped in the ``span`` (s) count. The delay buffers of ``strategies`` are checked.
    ``drawn`` are the frames that the game really drew, if known. Not ``placed``: it is a network
    alone, whose packets have no positions. ``in_recording`` are findings that make the recording
    doubtful.
    """

    packets: Mapping[str, PacketBlock]
    strategies: tuple[StrategySpec, ...] = ()
    span: tuple[float, float] = (-math.inf, math.inf)
    drawn: Mapping[str, DrawnPath] | None = None
    placed: bool = True
    in_recording: tuple[RecordingFinding, ...] = ()
