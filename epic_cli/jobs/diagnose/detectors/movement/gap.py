"""Holes in a recording: seconds in which no entity has a stamp or an arrival."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.server_stall import HOLE, find_intervals_at
from epic_cli.metrics.traffic import Traffic

#: Shortest hole in periods: slow senders are silent for as long.
PERIODS = 10.0

#: Least distance in usual steps that an entity moved during a hole.
FAR = 3.0


def detect(traffic: Traffic) -> list[Finding]:
    """Find intervals in which nothing is recorded although entities move on."""
    streams = traffic.streams
    if not streams:
        return []
    stamps = np.unique(np.concatenate([stream.times for stream in streams]))
    intervals = np.diff(stamps)
    places = np.flatnonzero(intervals > max(HOLE, PERIODS * max(s.period for s in streams)))
    moved = np.zeros(len(places), bool)
    for stream in streams:
        at, inside = find_intervals_at(stream, stamps[places])
        inside &= stream.follows[at] & ~stream.teleports[at + 1]
        # without numbers, what is sent on change may have rested, and been moved
        inside &= stream.numbered or not len(stream.rests)
        moved |= inside & (stream.steps[at] > FAR * stream.usual_step)
    places = places[moved]
    if traffic.messages is not None:  # packets that are late leave no hole of the sender's clock
        arrivals = np.sort(traffic.messages.arrivals)
        delay = traffic.messages.usual_delay
        ends = np.searchsorted(arrivals, stamps[places] + delay + 0.75 * intervals[places])
        begins = np.searchsorted(arrivals, stamps[places] + delay + 0.25 * intervals[places])
        places = places[ends == begins]
    if not len(places):
        return []
    lasted = intervals[places]
    return [
        Finding(
            "gap",
            min(1.0, float(lasted.sum()) / traffic.duration),
            float(lasted.max()),
            HOLE,
            {"times": float(len(places)), "longest": float(lasted.max())},
            float(stamps[places[0]]),
            float(stamps[places[int(lasted.argmax())]]),
        )
    ]


DETECTOR = Detector(
    "gap",
    "the recording has holes",
    "{times:time} nothing is recorded for up to {longest:s}: the stamps and the arrivals of all"
    " entities leap, no sequence number is missing, and entities have moved on.",
    "What is drawn, measured and tuned over such a hole says nothing of the game.",
    "Leave these seconds out (--span). A recorder that was off, an outage of the network and a"
    " sender that stood still look the same here: record sequence numbers that the sender counts,"
    " or a log of its ticks, to tell them apart.",
    "intervals between two stamps of all entities, and two arrivals, in which one moved by more"
    f" than {FAR:g} usual steps",
    f"one lasts {HOLE:g} s and {PERIODS:g} periods",
    "definition",
    detect,
    explains=("server-stall", "on-change", "send-rate", "teleport"),
    rank=43,
)
