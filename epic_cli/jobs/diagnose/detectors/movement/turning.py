"""Rotations of one entity, as detectors need them: angles between states, and their lag."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Finding, select_worst
from epic_cli.metrics.arrays import choose_places, compute_lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Flags, Floats, Stream, Traffic
from epic_cli.metrics.turns import align_signs, compute_rotation_vectors, find_turns_between

#: Range and steps (s) of the lags that are tried; the least lag that counts (s), and in packets.
EARLIEST, LATEST, STEP = -0.3, 1.0, 0.01
LEAST_LAG, LEAST_PACKETS = 0.03, 0.6

#: One change of spins has to improve them by this factor, and leave at most this share of the
#: rotations' rates: stamps of real games waver. This many steps are used.
MENDED, EXPLAINED, MOST = 1.6, 0.45, 4096

#: Largest step (rad) whose direction is clear.
FOLLOWED = 2.0


class Turning(NamedTuple):
    """States of a ``stream`` with their rotations (n, 4), of length 1 and with matching signs.

    ``rates`` (n - 1, 3) are the angular velocities between them (rad/s, world axes), valid where
    ``near`` marks neighbors.
    """

    stream: Stream
    rotations: Floats
    rates: Floats
    near: Flags

    @property
    def middles(self) -> Floats:
        """The middle between each time and the next (n - 1)."""
        return np.asarray(self.stream.times[:-1] + self.stream.intervals / 2)

    @property
    def angles(self) -> Floats:
        """Angle between each rotation and the next, in radians (n - 1)."""
        return compute_lengths(self.rates) * self.stream.intervals


def find_turning(stream: Stream) -> Turning | None:
    """Return the rotations of a stream; None if nothing turns, or too few rotations are known."""
    sizes = np.sqrt(np.square(stream.turns[:, :4]).sum(axis=1))
    with np.errstate(invalid="ignore"):
        known = np.flatnonzero((sizes > 1e-6) & (sizes < 1e6))
    if len(known) < FEWEST_STATES:
        return None
    found = stream.select_states(known)
    rotations = align_signs(found.turns[:, :4] / sizes[known, None])
    rates = (
        np.radians(compute_rotation_vectors(find_turns_between(rotations[:-1], rotations[1:])))
        / found.intervals[:, None]
    )
    near = np.logical_and(found.intervals < 2.5 * found.period, ~found.teleports[1:])
    turns = rates[near].any() and int(near.sum()) >= FEWEST_STATES
    return Turning(found, rotations, rates, near) if turns else None


def find_worst_turning(traffic: Traffic, of: Callable[[Turning], Finding | None]) -> list[Finding]:
    """Return the worst finding in the rotations of all entities."""
    turns = map(find_turning, (stream.excerpt for stream in traffic.streams))
    return select_worst(of(turn) for turn in turns if turn is not None)


def rotate_vectors(vectors: Floats, rotations: Floats) -> Floats:
    """Rotate vectors (n, 3) from the body's axes to the world's axes."""
    across = 2 * np.cross(rotations[:, :3], vectors)
    return np.asarray(vectors + rotations[:, 3:] * across + np.cross(rotations[:, :3], across))


class Spins(NamedTuple):
    """Angular velocities at the steps of a stream that have them (m).

    The stream's spins, their times, and the rates of the rotations (m, 3).
    """

    stream: Stream
    times: Floats
    rates: Floats

    def interpolate_spins(self, lag: float = 0.0) -> Floats:
        """Return the angular velocities ``lag`` (s) before the middle of each step (m, 3)."""
        return interpolate_vectors(self.stream.times, self.stream.turns[:, 4:], self.times - lag)

    @property
    def steady(self) -> bool:
        """True if spins change so little between packets that no turn between was missed."""
        spins = self.stream.turns[:, 4:]
        return bool(
            np.nanmean(compute_lengths(np.diff(spins, axis=0))) < np.nanmean(compute_lengths(spins))
        )

    def measure_error(self, spins: Floats) -> float:
        """Return the difference of spins from the rates of the rotations, as a share of these."""
        return float(
            compute_lengths(spins - self.rates).mean() / compute_lengths(self.rates).mean()
        )


def find_spins(turning: Turning) -> Spins | None:
    """Return the steps with known spins; None if there are too few, or nothing turns."""
    given: Flags = np.asarray(np.isfinite(turning.stream.turns[:, 4:]).all(axis=1))
    small = turning.angles < FOLLOWED
    chosen = np.flatnonzero(np.logical_and.reduce((turning.near, given[1:], given[:-1], small)))
    chosen = chosen[choose_places(len(chosen), MOST)]
    rates = turning.rates[chosen]
    if given.mean() < 0.9 or len(rates) < FEWEST_STATES or not rates.any():
        return None
    return Spins(turning.stream, turning.middles[chosen], rates)


def interpolate_vectors(times: Floats, values: Floats, at: Floats) -> Floats:
    """Interpolate vectors (n, 3) linearly between known rows; hold the ends."""
    known = np.isfinite(values).all(axis=1)
    return np.stack([np.interp(at, times[known], row) for row in values[known].T], axis=1)


class TurnLag(NamedTuple):
    """The best lag (s), the difference left at this lag, and the difference at lag 0."""

    seconds: float
    left: float
    off: float

    def is_clear(self, period: float, mended: float = MENDED) -> bool:
        """Return True if the lag is clearly not 0, and reduces the difference enough."""
        late = abs(self.seconds) >= max(LEAST_LAG, LEAST_PACKETS * period)
        inside = EARLIEST + STEP < self.seconds < LATEST - STEP
        return late and inside and self.left * mended <= self.off


def fit_lag(off: Callable[[float], float]) -> TurnLag:
    """Return the lag that minimizes ``off``."""
    lags = (np.arange(round(EARLIEST / STEP), round(LATEST / STEP) + 1) * STEP).tolist()
    left, best = min((off(lag), lag) for lag in lags)
    return TurnLag(best, left, off(0.0))
