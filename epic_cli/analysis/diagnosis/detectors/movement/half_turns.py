"""A heading that was smoothed as a number: across the seam of its angles it goes the long way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.detector import ROTATIONS, Detector, Finding, worst
from epic_cli.analysis.diagnosis.robust import Flags, Floats, quantile
from epic_cli.analysis.diagnosis.stream import Stream
from epic_cli.analysis.diagnosis.traffic import Traffic
from epic_cli.analysis.diagnosis.turning import Turning, turning_of
from epic_cli.analysis.turns import euler

#: Seams (degrees) where angles begin again.
SEAMS = {180.0: "-180 to 180", 0.0: "0 to 360"}

#: A long way is so many degrees long at least, and takes so long (s) at most through the half that
#: is opposite to the seam.
LEAST, LONGEST = 240.0, 1.0

#: It is so many times as fast as three in four of the steps.
FAST = 3.0

#: Degrees: where it looks up or down so steeply, the heading turns by itself.
STEEP = 65.0

#: How many of them tell, and how many ways may be short for each: few packets show half of them.
FEWEST, SHORT = 2, 2


class _Ways(NamedTuple):
    """From one side of a seam to the other: how often straight, and the long ways."""

    short: int
    begins: Floats
    ends: Floats


def detect(traffic: Traffic) -> list[Finding]:
    """Ways from one side of the seam of a heading to the other: short ones, and long ones."""
    return worst(_of(one) for one in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    turning = turning_of(stream)
    if turning is None:
        return None
    found = None
    for up, (yaw, pitch, _) in euler(turning.rotations).items():
        for seam, seam_words in SEAMS.items():
            ways = _ways(turning, (yaw - seam) % 360 - 180, np.abs(pitch) > STEEP)
            count = len(ways.begins)
            if count < FEWEST or ways.short > SHORT * count or (found and count <= found.statistic):
                continue
            took = float((ways.ends - ways.begins).sum())
            found = Finding(
                "half-turns",
                min(1.0, took / float(stream.times[-1] - stream.times[0])),
                float(count),
                float(FEWEST),
                {"times": float(count), "short": float(ways.short), "seam": seam_words,
                 "took": took / count, "up": up},
                float(ways.begins[0]),
                float(ways.begins[(ways.ends - ways.begins).argmax()]),
                stream.entities,
            )  # fmt: skip
    return found


def _ways(turning: Turning, angles: Floats, steep: Flags) -> _Ways:
    """Of angles from the seam (n), -180 to 180, both of which are at it."""
    times = turning.stream.times
    rates = np.abs((np.diff(angles) + 180) % 360 - 180) / np.diff(times)
    usual = quantile(rates[turning.near], 0.75)
    behind = np.flatnonzero(np.abs(angles) > 90)
    begin, end = behind[:-1], behind[1:]
    across = (angles[begin] > 0) != (angles[end] > 0)
    broken = np.cumsum(np.append(0, ~turning.near)) + np.cumsum(steep)
    across &= broken[begin] == broken[end]
    begin, end = begin[across], end[across]
    straight = end == begin + 1
    took = times[end] - times[begin]
    quick = ~straight & (took < LONGEST) & (FAST * usual * took < 180)
    long = [
        (first, last)
        for first, last in zip(begin[quick].tolist(), end[quick].tolist(), strict=True)
        if _farthest(angles[max(2 * first - last, 0) : first + 1])
        + _farthest(angles[last : 2 * last - first + 1])
        > LEAST
    ]
    begins, ends = np.array(long, np.int64).reshape(-1, 2).T
    return _Ways(int(straight.sum()), times[begins], times[ends])


def _farthest(angles: Floats) -> float:
    return float(np.abs(angles).max())


DETECTOR = Detector(
    "half-turns",
    "turns go the long way round",
    "{times:number} times the heading goes from one end of its angles to the other ({seam} degrees,"
    " {up} up) through all that lies between, in {took:s}, and {short:number} times the short way.",
    "It spins nearly all the way round, the wrong way, where it should turn by a few degrees.",
    "The sender blends angles as numbers: blend the shorter way (LerpAngle, Mathf.LerpAngle,"
    " FMath::FindDeltaAngleDegrees), or quaternions with slerp.",
    "the ways from one side of the seam to the other that are faster than three in four steps by"
    " far, against those straight across it",
    f"{FEWEST} long ways, with at most {SHORT} short ones for each",
    'Shoemake, "Animating rotation with quaternion curves", 1985',
    detect,
    needs=(ROTATIONS,),
    explains=("late-turns", "spin"),
    rank=66,
)
