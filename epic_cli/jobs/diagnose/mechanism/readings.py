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

#: The share of two samples that may lie on the wrong side of a limit between them.
OTHERWISE = 0.02


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
    of, wanted = np.moveaxis(parts, 1, -1).reshape(-1, parts.shape[1]), step.ravel()
    weighted = of.T
    for _ in range(3):  # by the normal equations: the factors are few
        factors = np.linalg.lstsq(weighted @ of, weighted @ wanted, rcond=None)[0]
        off = np.abs(of @ factors - wanted)
        weighted = of.T / np.maximum(off, np.median(off) + 1e-12)
    rest = step - np.tensordot(parts, factors, axes=(1, 0))
    return factors.tolist(), float(compute_robust_rms(rest))


def separate(below: Floats, above: Floats) -> tuple[float, float]:
    """Return the value that separates two samples best, and the share on the wrong side of it."""
    if not len(above) or not len(below):
        known = below if len(below) else above
        edge = (np.max(known) if len(below) else np.min(known)) if len(known) else 0.0
        return float(edge), 0.0
    values = np.concatenate((below, above))
    is_above = np.repeat((False, True), (len(below), len(above)))
    order = np.argsort(values)
    values, is_above = values[order], is_above[order]
    # those above that lie below each place, and those below that lie above it
    wrong = np.cumsum(is_above) + (len(below) - np.cumsum(~is_above))
    best = int(wrong[:-1].argmin()) if len(wrong) > 1 else 0
    edge = (values[best] + values[min(best + 1, len(values) - 1)]) / 2
    return float(edge), float(wrong[best]) / len(values)


def _shorten_limit(within: Floats, beyond: Floats) -> float:
    """Return the shortest number that separates two samples as well as the best one."""
    edge, wrong = separate(within, beyond)
    most = wrong * (len(within) + len(beyond)) + 0.5
    for digits in range(1, 5):
        number = float(f"{edge:.{digits}g}")
        if (within > number).sum() + (beyond <= number).sum() < most:
            return number
    return edge


def find_clear_limit(within: Floats, beyond: Floats) -> float:
    """Return the number that separates two samples; 0 if too many lie on the wrong side of it."""
    return find_limit(within, beyond) if separate(within, beyond)[1] < OTHERWISE else 0.0


def find_limit(within: Floats, beyond: Floats, unsure: float = 0.0) -> float:
    """Return the shortest number that separates the smaller ``within`` from the others best.

    Each of them may be ``unsure`` by that much.
    """
    low = float(np.max(within, initial=-np.inf)) - unsure
    high = float(np.min(beyond, initial=np.inf)) + unsure
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return _shorten_limit(within, beyond)
    middle = (low + high) / 2
    shorter = (float(f"{middle:.{digits}g}") for digits in range(1, 7))
    return next((number for number in shorter if low <= number < high), middle)
