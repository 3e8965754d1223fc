"""How one entity is turned, as detectors ask: steps of rotation, and what fits them how late."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Finding, worst
from epic_cli.metrics.arrays import choose_places, lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Flags, Floats, Stream, Traffic
from epic_cli.metrics.turns import between, one_sided, vectors

#: Lags that are tried (s), in steps of so much; one counts from so much, and this many packets, on.
EARLIEST, LATEST, STEP = -0.3, 1.0, 0.01
LEAST_LAG, LEAST_PACKETS = 0.03, 0.6

#: One change of spins has to make them so much better, and leave no more than this share of what
#: rotations do: stamps of real games waver. This many steps tell.
MENDED, EXPLAINED, MOST = 1.6, 0.45, 4096

#: Of a step beyond this (rad) it is not clear which way it went.
FOLLOWED = 2.0


class Turning(NamedTuple):
    """States of a ``stream`` with their rotations (n, 4), of length 1 and on one side.

    ``rates`` (n - 1, 3) are the angular velocities from one to the next (rad/s, world axes), of
    those which are ``near`` each other.
    """

    stream: Stream
    rotations: Floats
    rates: Floats
    near: Flags

    @property
    def middles(self) -> Floats:
        """Half-way from each time to the next (n - 1)."""
        return np.asarray(self.stream.times[:-1] + self.stream.intervals / 2)

    @property
    def angles(self) -> Floats:
        """How far it turns from each rotation to the next, in radians (n - 1)."""
        return lengths(self.rates) * self.stream.intervals


def turning_of(stream: Stream) -> Turning | None:
    """How it is turned; None: not at all, or too few rotations are known."""
    sizes = np.sqrt(np.square(stream.turns[:, :4]).sum(axis=1))
    with np.errstate(invalid="ignore"):
        known = np.flatnonzero((sizes > 1e-6) & (sizes < 1e6))
    if len(known) < FEWEST_STATES:
        return None
    found = stream.at(known)
    rotations = one_sided(found.turns[:, :4] / sizes[known, None])
    rates = np.radians(vectors(between(rotations[:-1], rotations[1:]))) / found.intervals[:, None]
    near = np.logical_and(found.intervals < 2.5 * found.period, ~found.teleports[1:])
    turns = rates[near].any() and int(near.sum()) >= FEWEST_STATES
    return Turning(found, rotations, rates, near) if turns else None


def worst_turning(traffic: Traffic, of: Callable[[Turning], Finding | None]) -> list[Finding]:
    """What is found in how entities turn, only the worst of it."""
    turns = map(turning_of, (stream.excerpt for stream in traffic.streams))
    return worst(of(turn) for turn in turns if turn is not None)


def turned(vectors: Floats, rotations: Floats) -> Floats:
    """Vectors (n, 3) of the body's axes in those of the world."""
    across = 2 * np.cross(rotations[:, :3], vectors)
    return np.asarray(vectors + rotations[:, 3:] * across + np.cross(rotations[:, :3], across))


class Spins(NamedTuple):
    """Steps with spins (m): the stream's, their times, and what rotations do there (m, 3)."""

    stream: Stream
    times: Floats
    rates: Floats

    def given(self, lag: float = 0.0) -> Floats:
        """The spins so much (s) before the middle of each step (m, 3)."""
        return interpolated(self.stream.times, self.stream.turns[:, 4:], self.times - lag)

    @property
    def steady(self) -> bool:
        """Whether they change little from packet to packet: then all between was seen."""
        spins = self.stream.turns[:, 4:]
        return bool(np.nanmean(lengths(np.diff(spins, axis=0))) < np.nanmean(lengths(spins)))

    def off(self, spins: Floats) -> float:
        """How far spins are off what rotations do, as a share of it."""
        return float(lengths(spins - self.rates).mean() / lengths(self.rates).mean())


def spins_of(turning: Turning) -> Spins | None:
    """The steps whose spins are known; None: they are too few, or nothing turns in them."""
    given: Flags = np.asarray(np.isfinite(turning.stream.turns[:, 4:]).all(axis=1))
    small = turning.angles < FOLLOWED
    chosen = np.flatnonzero(np.logical_and.reduce((turning.near, given[1:], given[:-1], small)))
    chosen = chosen[choose_places(len(chosen), MOST)]
    rates = turning.rates[chosen]
    if given.mean() < 0.9 or len(rates) < FEWEST_STATES or not rates.any():
        return None
    return Spins(turning.stream, turning.middles[chosen], rates)


def interpolated(times: Floats, values: Floats, at: Floats) -> Floats:
    """Vectors (n, 3) on straight lines between those that are known; held at the ends."""
    known = np.isfinite(values).all(axis=1)
    return np.stack([np.interp(at, times[known], row) for row in values[known].T], axis=1)


class TurnLag(NamedTuple):
    """How late (s) something fits best, how far it is off then, and how far as it is."""

    seconds: float
    left: float
    off: float

    def matters(self, period: float, mended: float = MENDED) -> bool:
        """Whether it is late or early, and that explains it this many times over."""
        late = abs(self.seconds) >= max(LEAST_LAG, LEAST_PACKETS * period)
        inside = EARLIEST + STEP < self.seconds < LATEST - STEP
        return late and inside and self.left * mended <= self.off


def lag_of(off: Callable[[float], float]) -> TurnLag:
    """The lag at which ``off`` is the least."""
    lags = (np.arange(round(EARLIEST / STEP), round(LATEST / STEP) + 1) * STEP).tolist()
    left, best = min((off(lag), lag) for lag in lags)
    return TurnLag(best, left, off(0.0))
