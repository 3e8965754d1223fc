"""What is wanted of a diagnosis: built once by whoever asks, carried whole to where it is done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.recordings.layout import Layout


@dataclass(frozen=True)
class DiagnoseSpec:
    """Which part of a recording is diagnosed, with which strategies, and how it is read.

    Only packets stamped in the ``span`` (s), of this ``entity`` (None: all), count. Of
    ``strategies`` it is reported how often their delay buffers run empty.
    """

    strategies: tuple[StrategySpec, ...] = ()
    span: tuple[float, float] = (-math.inf, math.inf)
    entity: str | None = None
    input_format: str = "auto"
    layout: Layout | None = None


EVERYTHING = DiagnoseSpec()
