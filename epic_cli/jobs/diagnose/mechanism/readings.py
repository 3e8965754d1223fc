"""Readings of frames: strategies that may draw them, by a first look."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.arrays import Floats

#: Another part is there if what is measured without it is this many times as unsteady.
CLEARER = 1.3

#: Frames that are examined for a reading.
AGED = 800

#: Least share of the movement, or of the bends, that is where the kind has it.
MOSTLY = 0.97

#: Fewest steps that tell a kind.
FEW = 10


class PossibleReading(NamedTuple):
    """A strategy that may draw the frames, and its error ``off`` at a first look.

    For chases that is a distance, for buffers the unsteadiness of the frames' ages (s).
    """

    off: float
    strategy: StrategySpec


def compute_robust_rms(apart: Floats) -> float:
    """Return the RMS of the smallest nine tenths, which leaves out silences and snaps."""
    squares = np.sort(np.square(apart).sum(axis=-1))
    return float(np.sqrt(squares[: max(int(0.9 * len(squares)), 1)].mean()))
