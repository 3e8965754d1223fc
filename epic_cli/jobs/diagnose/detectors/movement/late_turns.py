"""Rotations that are older than the positions or angular velocities in the same packets."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import ROTATIONS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement import turning as of_turning
from epic_cli.jobs.diagnose.detectors.movement.turning import (
    Turning,
    TurnLag,
    fit_lag,
    interpolate_vectors,
    rotate_vectors,
)
from epic_cli.metrics.arrays import choose_places, compute_lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Floats

#: It looks along its way if it is nearer than this (degrees) to one of its axes on average; a
#: difference below this angle, or this share of the angular velocity, is no lag.
ALONG, LEAST_ANGLE, LEAST_SHARE = 12.0, 2.0, 0.08

#: Least improvement by the lag, judged by the movement: an entity that slides looks aside for other
#: reasons.
LEAVES = 2.5

#: Or this improvement, up to this many degrees, by this many standard errors of this many blocks.
SOME, BESIDE, SURE, BLOCKS = 1.25, 40.0, 2.5, 16


def _detect_in_turns(turning: Turning) -> Finding | None:
    lag, against = _find_lag_by_spins(turning), "its angular velocity"
    if lag is None:
        lag, against = _find_lag_by_direction(turning), "its movement"
    if lag is None or lag.seconds < 0:
        return None
    late, stream = lag.seconds, turning.stream
    numbers = {"lag": late, "packets": late / stream.period, "left": lag.left / lag.off}
    values: dict[str, float | str] = {**numbers, "against": against}
    share, least = min(1.0, late / 0.25), of_turning.LEAST_LAG
    return Finding("late-turns", share, late, least, values, entities=stream.entities)


def _find_lag_by_spins(turning: Turning) -> TurnLag | None:
    spins = of_turning.find_spins(turning)
    if spins is None:
        return None
    lag = fit_lag(lambda late: spins.measure_error(spins.interpolate_spins(late)))
    clear = lag.left < of_turning.EXPLAINED and lag.off > LEAST_SHARE
    return lag if clear and lag.is_clear(turning.stream.period) else None


def _find_lag_by_direction(turning: Turning) -> TurnLag | None:
    """Return the lag of the rotations behind the direction of movement."""
    stream = turning.stream
    moves = turning.near & (stream.steps > 0.2 * stream.usual_step)
    if int(moves.sum()) < FEWEST_STATES:
        return None
    ways = (np.diff(stream.positions, axis=0) / stream.intervals[:, None])[moves]
    thinned = choose_places(len(stream.times), of_turning.MOST)
    middles, times = turning.middles[moves], stream.times[thinned]
    back = turning.rotations[thinned] * (-1, -1, -1, 1)

    def compute_angles(late: float) -> Floats:
        """Return the angles in degrees, NaN where unknown."""
        at = times - late
        after = np.searchsorted(middles, at).clip(1, len(middles) - 1)
        known = (at >= middles[0]) & (at <= middles[-1])
        known &= middles[after] - middles[after - 1] < 2.5 * stream.period
        found = np.full(len(at), np.nan)
        if int(known.sum()) < FEWEST_STATES:
            return found
        seen = rotate_vectors(interpolate_vectors(middles, ways, at[known]), back[known])
        cosines = seen / np.maximum(compute_lengths(seen), 1e-300)[:, None]
        mean = cosines.mean(axis=0)
        axis = int(np.abs(mean).argmax())
        along = cosines[:, axis] * np.sign(mean[axis])
        found[known] = np.degrees(np.arccos(along.clip(-1, 1)))
        return found

    def measure_angle(late: float) -> float:
        angles = compute_angles(late)
        return float(np.nanmean(angles)) if np.isfinite(angles).any() else 180.0

    lag = fit_lag(measure_angle)
    if lag.left < ALONG and lag.off > LEAST_ANGLE and lag.is_clear(stream.period, LEAVES):
        return lag
    # what looks aside, or turns slowly, does so with the lag all the same, if everywhere
    there = lag.left < BESIDE and lag.off - lag.left > LEAST_ANGLE
    better = compute_angles(0.0) - compute_angles(lag.seconds)
    better = better[np.isfinite(better)]
    if not there or not lag.is_clear(stream.period, SOME) or len(better) < BLOCKS:
        return None
    pieces = [part.mean() for part in np.array_split(better, BLOCKS)]
    sure = float(np.mean(pieces)) > SURE * float(np.std(pieces)) / math.sqrt(BLOCKS)
    return lag if sure else None


DETECTOR = Detector(
    "late-turns",
    "rotations are late against the positions",
    "Rotations are {lag:s} ({packets:number} packets) late, judged by {against}; shifted back, they"
    " leave {left:share} of the difference.",
    "It moves before it turns: it slides sideways through curves, and aims at where its enemy was.",
    "Read position and rotation in the same step, of the same buffer; let the sender smooth both or"
    " none (an animated or damped heading is late by its time constant).",
    "mean difference of the angular velocities given and those between rotations, or mean angle"
    " from the movement to the nearest axis of the body; the same at lags of -0.3 to 1 s",
    f"the best lag is {of_turning.LEAST_LAG} s and {of_turning.LEAST_PACKETS} packets, and leaves"
    f" at most 1/{of_turning.MENDED} of the difference of velocities, or 1/{LEAVES:g} of the mean"
    f" angle, or is better by {SURE:g} standard errors",
    "least absolute deviations over lags",
    lambda traffic: of_turning.find_worst_turning(traffic, _detect_in_turns),
    needs=(ROTATIONS,),
    explains=("spin",),
    rank=71,
)
