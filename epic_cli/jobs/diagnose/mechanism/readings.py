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


def compute_robust_rms(apart: Floats) -> Floats:
    """Return the RMS (...) of the smallest nine tenths of differences (..., n, 3).

    That leaves out silences and snaps.
    """
    return compute_robust_root(np.einsum("...i,...i->...", apart, apart))


def compute_robust_root(squares: Floats) -> Floats:
    """Return the root of the mean (...) of the smallest nine tenths of squares (..., n)."""
    count = max(int(0.9 * squares.shape[-1]), 1)
    least = np.partition(squares, count - 1, axis=-1)[..., :count]
    return np.asarray(np.sqrt(least.mean(axis=-1)))


def fit_factors(step: Floats, parts: Floats) -> tuple[list[float], float]:
    """Return the factors of the parts (n, k, 3) that make up steps (n, 3), and the error left."""
    of = np.moveaxis(parts, 1, -1).reshape(-1, parts.shape[1])
    weights = np.ones(len(of))
    for _ in range(3):
        factors = np.linalg.lstsq(of * weights[:, None], step.ravel() * weights, rcond=None)[0]
        off = np.abs(of @ factors - step.ravel())
        weights = 1 / np.sqrt(np.maximum(off, np.median(off) + 1e-12))
    rest = step - np.tensordot(parts, factors, axes=(1, 0))
    return factors.tolist(), float(compute_robust_rms(rest))
