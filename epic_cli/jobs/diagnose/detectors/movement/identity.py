"""Entities that swap their ids for a while."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.teleport import Jump, find_leaps, mark_leaps
from epic_cli.metrics.traffic import Stream, Traffic

#: Largest distance of each leap's end from the other's place, as a share of the leap.
NEAR = 0.35

LEAST = 1


def find_exchanges(traffic: Traffic) -> list[tuple[Jump, Jump]]:
    """Return the pairs of leaps in which two entities take each other's place at one time."""
    found = []
    by_stream = [_split_leaps(stream) for stream in traffic.streams]
    for some, others in combinations([packet for packet in by_stream if packet], 2):
        for jump in some:
            near = [
                other
                for other in others
                if abs(_get_leap_time(other) - _get_leap_time(jump))
                < _measure_longest_time_apart(jump)
            ]
            found += [(jump, other) for other in near if _is_swap(jump, other)]
    return found


def _split_leaps(stream: Stream) -> list[Jump]:
    """Split leaps into steps: one state under a wrong id is a leap there and a leap back."""
    return [
        Jump(stream, at, at + 1, float(stream.steps[at]))
        for leap in find_leaps(stream)
        for at in range(leap.begin, leap.end)
    ]


def _get_leap_time(leap: Jump) -> float:
    return float(leap.stream.times[leap.end])


def _measure_longest_time_apart(leap: Jump) -> float:
    return 1.5 * leap.stream.period


def _is_swap(one: Jump, other: Jump) -> bool:
    for this, that in ((one, other), (other, one)):
        away = this.stream.positions[this.end] - that.stream.positions[that.begin]
        if float(np.linalg.norm(away)) > NEAR * this.distance:
            return False
    return True


def detect(traffic: Traffic) -> list[Finding]:
    """Find simultaneous leaps of two entities into each other's places."""
    found = find_exchanges(traffic)
    if len(found) < LEAST:
        return []
    first = min(_get_leap_time(one) for one, _ in found)
    far, _ = max(found, key=lambda pair: pair[0].distance)
    names = sorted({row.stream.name for pair in found for row in pair})
    return [
        Finding(
            "identity",
            min(1.0, 0.5 * len(found) / max(traffic.duration, 1.0)),
            float(len(found)),
            float(LEAST),
            {"times": float(len(found)), "distance": far.distance, "names": ", ".join(names)},
            first,
            _get_leap_time(far),
            tuple(names),
        )
    ]


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic with these leaps marked as teleports."""
    pairs = find_exchanges(traffic)
    own = {
        stream.name: [leap for two in pairs for leap in two if leap.stream is stream]
        for stream in traffic.streams
    }
    return replace(
        traffic, streams=tuple(mark_leaps(stream, own[stream.name]) for stream in traffic.streams)
    )


DETECTOR = Detector(
    "identity",
    "entities exchange their ids",
    "{times:time} two entities leap into each other's places at the same moment ({names};"
    " up to {distance:number} units): the ids are exchanged, no one has moved.",
    "Each is drawn on its way through the other, and buffers of both mix two movements.",
    "Find where ids are given: an index into a list that is sorted or compacted, a slot that is"
    " reused, two messages read in the wrong order. A teleport's mark would only hide it.",
    "leaps of two entities within a period and a half, each to within a third of its length of"
    " where the other was",
    "there is one such pair",
    "assignment of nearest neighbors",
    detect,
    explains=("teleport", "velocity", "stamps"),
    mended=remove_cause,
    rank=3,
)
