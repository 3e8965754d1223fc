"""The metrics of the literature, each a plain function of arrays: for use from Python.

``epic compare`` accumulates its own metrics row by row; of these it uses the quantile.

Series are sampled once a tick, ``tick`` seconds apart; paths are (n, 3) or (n,), lengths in the
recording's unit. Sampling decides what LDLJ and SPARC say of short movements: quote the tick
with them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

TickClass = Literal["Smooth", "NoChange", "Teleport", "Negative"]


def _path(values: ArrayLike) -> Floats:
    array = np.asarray(values, float)
    return array[:, None] if array.ndim == 1 else array


def errors(shown: ArrayLike, truth: ArrayLike) -> Floats:
    """|shown - truth| at each tick (Euclidean), (n,)."""
    return np.asarray(np.linalg.norm(_path(shown) - _path(truth), axis=1))


def mean_error(distances: ArrayLike) -> float:
    """The mean of |shown - truth|: the average export error of Aggarwal et al., NetGames 2004."""
    return float(np.mean(np.asarray(distances, float)))


def rms(values: ArrayLike) -> float:
    """The root of the mean square."""
    return math.sqrt(float(np.mean(np.square(values))))


def quantile95(values: ArrayLike) -> float:
    """The value that 95 % do not exceed, interpolated linearly between the two nearest."""
    return float(np.quantile(np.asarray(values, float), 0.95))


def time_space_inconsistency(distances: ArrayLike, tick: float, epsilon: float = 0.0) -> float:
    """The integral over time of the error, where it is at least ``epsilon`` (length times s).

    Zhou, Cai, Lee and Turner, ACM TOMACS 14(1), 2004.
    """
    values = np.asarray(distances, float)
    return float(values[values >= epsilon].sum() * tick)


def steps(path: ArrayLike) -> Floats:
    """The distance from each tick to the next, (n - 1,)."""
    return np.asarray(np.linalg.norm(np.diff(_path(path), axis=0), axis=1))


def frozen_ticks(shown: ArrayLike, truth: ArrayLike) -> int:
    """Ticks without any movement while the truth moves."""
    return int(((steps(shown) == 0) & (steps(truth) > 0)).sum())


def reversals(shown: ArrayLike) -> int:
    """Ticks at which the movement turns back: consecutive steps more than 90 degrees apart."""
    moves = np.diff(_path(shown), axis=0)
    return int(((moves[1:] * moves[:-1]).sum(axis=1) < 0).sum())


def largest_velocity_jump(shown: ArrayLike, tick: float) -> float:
    """The largest change of velocity from one tick to the next (length per s)."""
    changes = np.linalg.norm(np.diff(_path(shown), 2, axis=0), axis=1)
    return float(changes.max() / tick)


def rms_jerk(path: ArrayLike, tick: float) -> float:
    """sqrt(mean(|(x[i+3] - 3 x[i+2] + 3 x[i+1] - x[i]) / tick^3|^2)), length per s^3."""
    return rms(np.linalg.norm(np.diff(_path(path), 3, axis=0), axis=1)) / tick**3


def log_dimensionless_jerk(path: ArrayLike, tick: float) -> float:
    """LDLJ = -ln(D^3 / v_peak^2 * integral of jerk^2 dt); nearer 0 is smoother.

    D is the duration. Balasubramanian et al., J. NeuroEngineering Rehabil. 12:112, 2015.
    The derivatives are numpy's second-order differences, the integral is by trapezoids.
    """
    positions = _path(path)
    velocity = np.gradient(positions, tick, axis=0)
    jerk = np.gradient(np.gradient(velocity, tick, axis=0), tick, axis=0)
    peak = float(np.linalg.norm(velocity, axis=1).max())
    duration = (len(positions) - 1) * tick
    squares = np.square(jerk).sum(axis=1)
    integral = float(squares.sum() - (squares[0] + squares[-1]) / 2) * tick
    return -math.log(duration**3 / peak**2 * integral)


def spectral_arc_length(
    speeds: ArrayLike,
    rate: float,
    zero_padding: int = 4,
    highest: float = 10.0,
    threshold: float = 0.05,
) -> float:
    """SPARC: minus the length of the normalised speed spectrum; nearer 0 is smoother.

    ``rate`` is in samples per second. The spectrum goes up to ``highest`` Hz and there to the
    last frequency whose amplitude is at least ``threshold`` of the largest. Balasubramanian et
    al., J. NeuroEngineering Rehabil. 12:112, 2015.
    """
    values = np.asarray(speeds, float)
    size = 2 ** (math.ceil(math.log2(len(values))) + zero_padding)
    frequencies = np.arange(size) * rate / size
    amplitudes = np.abs(np.fft.fft(values, size))
    amplitudes /= amplitudes.max()
    amplitudes = amplitudes[frequencies <= highest]
    frequencies = frequencies[frequencies <= highest]
    loud = np.flatnonzero(amplitudes >= threshold)
    amplitudes = amplitudes[loud[0] : loud[-1] + 1]
    frequencies = frequencies[loud[0] : loud[-1] + 1]
    along = np.diff(frequencies) / (frequencies[-1] - frequencies[0])
    return -float(np.hypot(along, np.diff(amplitudes)).sum())


def classify_ticks(
    values: ArrayLike, expected_step: float, tolerance: float = 0.001
) -> list[TickClass]:
    """What each step along a line is, as Unity's Netcode for Entities tests extrapolation.

    Negative: it goes back; NoChange; Smooth: the expected step, within ``tolerance`` of it;
    Teleport: anything else.
    """
    classes: list[TickClass] = []
    for step in np.diff(np.asarray(values, float)):
        if step * math.copysign(1, expected_step) < 0:
            classes.append("Negative")
        elif step == 0:
            classes.append("NoChange")
        elif abs(step - expected_step) <= tolerance * abs(expected_step):
            classes.append("Smooth")
        else:
            classes.append("Teleport")
    return classes
