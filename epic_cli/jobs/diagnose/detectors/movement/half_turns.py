"""Headings smoothed as plain numbers: where the angle wraps, entities turn the long way round."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import ROTATIONS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.turning import Turning, find_worst_turning
from epic_cli.metrics.arrays import compute_quantile
from epic_cli.metrics.traffic import Flags, Floats
from epic_cli.metrics.turns import compute_euler_angles

#: Seams (degrees) where angles begin again.
SEAMS = {180.0: "-180 to 180", 0.0: "0 to 360"}

#: A long way is at least this long (degrees), takes at most this long (s) through the half opposite
#: to the seam, and is this many times as fast as three in four of the steps.
LEAST, LONGEST, FAST = 240.0, 1.0, 3.0

#: Degrees; looking up or down more steeply, the heading turns by itself.
STEEP = 65.0

#: This share of the steps has to be at least that share of the usual one.
MOST, TURNING = 0.6, 0.25

#: Fewest long ways, and most short ways for each: few packets show half of them.
FEWEST, SHORT = 2, 2


def _detect_in_turns(turning: Turning) -> Finding | None:
    found = None
    times = turning.stream.times
    for up, (yaw, pitch, _) in compute_euler_angles(turning.rotations).items():
        for seam, words in SEAMS.items():
            short, begin, end = _count_short_turns(
                turning, (yaw - seam) % 360 - 180, np.abs(pitch) > STEEP
            )
            took, count = times[end] - times[begin], len(begin)
            if count < FEWEST or short > SHORT * count or (found and count <= found.statistic):
                continue
            found = Finding(
                "half-turns",
                min(1.0, float(took.sum() / (times[-1] - times[0]))),
                count,
                FEWEST,
                {"times": count, "short": short, "seam": words, "took": took.mean(), "up": up},
                float(times[begin[0]]),
                float(times[begin[took.argmax()]]),
                turning.stream.entities,
            )
    return found


def _count_short_turns(
    turning: Turning, angles: Floats, steep: Flags
) -> tuple[int, list[int], list[int]]:
    """Return the number of short turns across the seam, and the ends of the long turns.

    ``angles`` (n) are measured from the seam, -180 to 180, both of which are at it.
    """
    times, size = turning.stream.times, np.abs(angles)
    rates = np.abs((np.diff(angles) + 180) % 360 - 180) / np.diff(times)
    usual = compute_quantile(rates[turning.near], 0.75)
    behind = np.flatnonzero(size > 90)
    begin, end = behind[:-1], behind[1:]
    broken = np.cumsum(np.append(0, ~turning.near)) + np.cumsum(steep)
    across = ((angles[begin] > 0) != (angles[end] > 0)) & (broken[begin] == broken[end])
    straight, took = end == begin + 1, times[end] - times[begin]
    quick = across & ~straight & (took < LONGEST) & (FAST * usual * took < 180)
    long = [
        (one, other)
        for one, other in zip(begin[quick].tolist(), end[quick].tolist(), strict=True)
        if size[max(2 * one - other, 0) : one + 1].max() + size[other : 2 * other - one + 1].max()
        > LEAST
        and _has_full_turns(np.abs(np.diff(angles[one : other + 1])))
    ]
    return int((across & straight).sum()), [one for one, _ in long], [other for _, other in long]


def _has_full_turns(steps: Floats) -> bool:
    """Return True if the entity turns steadily, without stops at some angle."""
    return bool((steps > TURNING * steps.mean()).mean() >= MOST)


DETECTOR = Detector(
    "half-turns",
    "turns go the long way round",
    "{times:time} the heading goes from one end of its angles to the other ({seam} degrees,"
    " {up} up) through all that lies between, in {took:s}, and {short:number} times the short way.",
    "It spins nearly all the way round, the wrong way, where it should turn by a few degrees.",
    "The sender blends angles as numbers: blend the shorter way (LerpAngle, Mathf.LerpAngle,"
    " FMath::FindDeltaAngleDegrees), or quaternions with slerp.",
    "long ways from one side of the seam to the other, far faster than three in four steps, against"
    " short ways across it",
    f"there are {FEWEST} long ways, and at most {SHORT} short ones for each",
    'Shoemake, "Animating rotation with quaternion curves", 1985',
    lambda traffic: find_worst_turning(traffic, _detect_in_turns),
    needs=(ROTATIONS,),
    explains=("late-turns", "spin"),
    rank=66,
)
