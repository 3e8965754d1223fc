"""Teleports in packets without a teleport mark."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding
from epic_cli.metrics.arrays import compute_lengths, compute_quantile
from epic_cli.metrics.traffic import Stream, Traffic, find_runs

#: Least pace of a leap, in the pace that 90 % of the moving steps do not exceed.
PACE = 4.0

#: Most steps of a leap: a longer one is a fast movement.
LONGEST = 12


class Jump(NamedTuple):
    """A leap that no movement explains: the entity, the states before and after, the distance."""

    stream: Stream
    begin: int
    end: int
    distance: float


def find_leaps(stream: Stream) -> list[Jump]:
    """Return the unmarked leaps of an entity; a leap takes one step or a run of steps."""
    # stamps that nearly coincide must not make a usual step look fast
    pace = stream.steps / np.maximum(stream.intervals, stream.period)
    moving = pace > 0
    if int(moving.sum()) < 10:
        return []
    limit = PACE * compute_quantile(pace if moving.all() else pace[moving], 0.9)
    fast = pace > limit
    if fast.any() and stream.has_velocities:
        speeds = compute_lengths(stream.velocities)
        fast &= pace > 2 * compute_quantile(speeds[np.isfinite(speeds)], 0.99)
    found = []
    for run in find_runs(fast):
        if run.end - run.begin > LONGEST or stream.teleports[run.begin + 1 : run.end + 1].any():
            continue
        complete = stream.follows & (stream.numbered | (stream.intervals < 1.5 * stream.period))
        if stream.teleports.any() and not complete[run.begin : run.end].all():
            continue  # the packet with the mark was lost
        way = stream.positions[run.end] - stream.positions[run.begin]
        found.append(Jump(stream, run.begin, run.end, float(np.sqrt(way @ way))))
    return found


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic with all leaps marked; a leap of several steps is marked at each step."""
    return replace(
        traffic, streams=tuple(mark_leaps(stream, find_leaps(stream)) for stream in traffic.streams)
    )


def mark_leaps(stream: Stream, found: list[Jump]) -> Stream:
    """Return the stream with these leaps marked as teleports."""
    marks = stream.teleports.copy()
    for jump in found:
        marks[jump.begin + 1 : jump.end + 1] = True
    return replace(stream, teleports=marks)


def detect(traffic: Traffic) -> list[Finding]:
    """Find steps that neither the entity's usual speed nor its velocity explains."""
    found = [leap for stream in traffic.streams for leap in find_leaps(stream)]
    if not found:
        return []
    first = min(found, key=lambda one: one.stream.times[one.begin])
    worst = max(found, key=lambda one: one.distance)
    steps = max(jump.end - jump.begin for jump in found)
    usual = worst.stream.usual_step
    return [
        Finding(
            "teleport",
            min(1.0, 0.5 * len(found) / max(traffic.duration, 1.0)),
            worst.distance / usual,
            PACE,
            {
                "times": float(len(found)),
                "distance": worst.distance,
                "usual": usual,
                "kind": f"smeared over up to {steps} packets" if steps > 1 else "in one step",
            },
            float(first.stream.times[first.begin]),
            float(worst.stream.times[worst.begin]),
            tuple(sorted({jump.stream.name for jump in found} - {""})),
        )
    ]


DETECTOR = Detector(
    "teleport",
    "a teleport is not marked",
    "{times:time} an entity is suddenly elsewhere without a teleport's mark, {kind}: at"
    " most {distance:number} units, where a step is {usual:number}.",
    "Interpolators slide through walls on the way, predictors fly on at the speed of the jump.",
    "Mark the packet (teleport=1, the engine's teleport or no-interpolation flag), and send the"
    " new position at once, not what an interpolator draws on the way.",
    "steps per second above 4 times those of 90 % of the moving steps, and twice the velocities'"
    " 99 %, alone or in a run",
    "there is one such step without a mark",
    "robust outlier test of steps",
    detect,
    explains=("velocity",),
    mended=remove_cause,
    rank=5,
)
