"""Rotations that are older than the positions, or than the angular velocities, beside them."""

from __future__ import annotations

import numpy as np

from epic_cli.analysis.arrays import lengths
from epic_cli.analysis.diagnosis.detector import ROTATIONS, Detector, Finding, worst
from epic_cli.analysis.diagnosis.robust import Floats
from epic_cli.analysis.diagnosis.stream import FEWEST_STATES, Stream
from epic_cli.analysis.diagnosis.traffic import Traffic
from epic_cli.analysis.diagnosis.turning import (
    EXPLAINED,
    LEAST_LAG,
    LEAST_PACKETS,
    MENDED,
    MOST,
    Lag,
    Turning,
    interpolated,
    lag_of,
    spins_of,
    turned,
    turning_of,
)

#: Degrees: nearer than this to one of its axes, on average, it looks along its way.
ALONG = 12.0

#: Degrees, and a share of the angular velocity: less is no lag.
LEAST_ANGLE, LEAST_SHARE = 2.0, 0.08

#: Against the movement the lag has to mend so much: what slides looks aside for other reasons.
LEAVES = 2.5


def detect(traffic: Traffic) -> list[Finding]:
    """The lag that brings rotations to the angular velocities, or to the way of the movement."""
    return worst(_of(one.excerpt) for one in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    turning = turning_of(stream)
    if turning is None:
        return None
    lag, against = _against_spins(turning), "its angular velocity"
    if lag is None:
        lag, against = _against_way(turning), "its movement"
    if lag is None or lag.seconds < 0:
        return None
    return Finding(
        "late-turns",
        min(1.0, lag.seconds / 0.25),
        lag.off / max(lag.left, 1e-9),
        MENDED,
        {
            "lag": lag.seconds,
            "packets": lag.seconds / stream.period,
            "against": against,
            "left": lag.left / lag.off,
        },
        entities=stream.entities,
    )


def _against_spins(turning: Turning) -> Lag | None:
    spins = spins_of(turning)
    if spins is None:
        return None
    lag = lag_of(lambda late: spins.off(spins.given(late)))
    clear = lag.left < EXPLAINED and lag.off > LEAST_SHARE
    return lag if clear and lag.matters(turning.stream.period) else None


def _against_way(turning: Turning) -> Lag | None:
    """Where it always looks along its way, so much later."""
    stream = turning.stream
    moves = turning.near & (stream.steps > 0.2 * stream.usual_step)
    if int(moves.sum()) < FEWEST_STATES:
        return None
    ways = (np.diff(stream.positions, axis=0) / stream.intervals[:, None])[moves]
    middles, thinned = turning.middles[moves], slice(None, None, -(-len(stream.times) // MOST))
    times, back = stream.times[thinned], turning.rotations[thinned] * (-1, -1, -1, 1)

    def off(late: float) -> float:
        at = times - late
        after = np.searchsorted(middles, at).clip(1, len(middles) - 1)
        known = middles[after] - middles[after - 1] < 2.5 * stream.period
        known &= (at >= middles[0]) & (at <= middles[-1])
        if int(known.sum()) < FEWEST_STATES:
            return 180.0
        return _from_an_axis(turned(interpolated(middles, ways, at[known]), back[known]))

    lag = lag_of(off)
    clear = lag.left < ALONG and lag.off > LEAST_ANGLE
    return lag if clear and lag.matters(stream.period, LEAVES) else None


def _from_an_axis(ways: Floats) -> float:
    """The mean angle (degrees) to the axis of the body, or its reverse, that is nearest to all."""
    cosines = ways / np.maximum(lengths(ways), 1e-300)[:, None]
    axis = int(np.abs(cosines.mean(axis=0)).argmax())
    along = cosines[:, axis] * np.sign(cosines[:, axis].mean())
    return float(np.degrees(np.arccos(along.clip(-1, 1)).mean()))


DETECTOR = Detector(
    "late-turns",
    "rotations are late against the positions",
    "Rotations fit {against} of {lag:s} ({packets:number} packets) before; that leaves {left:share}"
    " of the difference.",
    "It moves before it turns: it slides sideways through curves, and aims at where its enemy was.",
    "Read position and rotation in the same step, of the same buffer; let the sender smooth both or"
    " none (an animated or damped heading is late by its time constant).",
    "mean difference of the angular velocities given and those between rotations, or mean angle"
    " from the movement to the nearest axis of the body; the same at lags of -0.3 to 1 s",
    f"{LEAST_LAG} s and {LEAST_PACKETS} packets, where that leaves 1/{MENDED} of the former, or"
    f" 1/{LEAVES:g} of the latter, at most",
    "least absolute deviations over lags",
    detect,
    needs=(ROTATIONS,),
    explains=("spin",),
    rank=71,
)
