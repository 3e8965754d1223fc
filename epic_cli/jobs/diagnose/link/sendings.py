"""What was sent over the network, lost packets included, and how long each took."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from epic_cli.metrics.traffic.messages import Messages
from epic_cli.metrics.traffic.robust import Flags, Floats
from epic_cli.metrics.traffic.stream import Stream
from epic_cli.metrics.traffic.traffic import Traffic

#: How lost packets are known: by numbers that are missing, by stamps that are missing from
#: regular ones, or not at all.
Known = Literal["numbers", "stamps", "unknown"]

#: Of so many of the stamps that several entities share, the arrivals are the same, too, where
#: one datagram carries all of them.
SHARED = 0.9

#: An interval is a multiple of the period if it is no further from it than this share of one,
#: and stamps without numbers are regular if so many of the intervals are.
NEAR, REGULAR = 0.25, 0.95

#: What moves by less than this share of the usual speed rests.
RESTING = 0.25


class Sendings(NamedTuple):
    """All that was sent, by stamp: ``sent`` and ``delays`` in seconds (n; NaN: lost).

    ``runs`` is how many packets were lost in a row in each hole.
    """

    sent: Floats
    delays: Floats
    runs: Floats
    known: Known

    @property
    def came(self) -> Flags:
        """Which arrived."""
        return np.isfinite(self.delays)


def sendings(traffic: Traffic) -> Sendings:
    """What was sent over the network of a recording that has arrival times.

    Entities that share their datagrams are one series; where each has datagrams of its own, the
    one with the most packets stands for all.
    """
    messages = traffic.arrived
    arrived = [one for one in traffic.streams if np.isfinite(one.arrivals).any()]
    if not arrived:  # none of them has many packets
        return Sendings(messages.sent, messages.delays, np.empty(0), "unknown")
    stream = max(arrived, key=lambda one: (one.numbered, len(one.times)))
    if len(traffic.streams) == 1 or _shared(stream, messages):
        sent, delays = messages.sent, messages.delays
    else:
        came = np.isfinite(stream.arrivals)
        sent, delays = stream.times[came], (stream.arrivals - stream.times)[came]
    missing, known = _missing(stream)
    places = np.flatnonzero(missing)
    steps = stream.intervals[places] / (missing[places] + 1)
    lost = np.concatenate(
        [
            stream.times[place] + step * np.arange(1, missing[place] + 1)
            for place, step in zip(places, steps, strict=True)
        ]
        or [np.empty(0)]
    )
    lost = lost[_nearest(lost, sent) > NEAR * stream.period]  # another entity's news came
    order = np.argsort(np.concatenate((sent, lost)), kind="stable")
    return Sendings(
        np.concatenate((sent, lost))[order],
        np.concatenate((delays, np.full(len(lost), np.nan)))[order],
        missing[places],
        known,
    )


def _shared(stream: Stream, messages: Messages) -> bool:
    """Whether the messages are the datagrams in which the stream's states came."""
    came = np.isfinite(stream.arrivals)
    places = np.searchsorted(messages.sent, stream.times[came])
    same = messages.arrivals[np.minimum(places, len(messages.arrivals) - 1)]
    return bool(np.mean(same == stream.arrivals[came]) > SHARED)


def _missing(stream: Stream) -> tuple[Floats, Known]:
    """How many packets are missing in each interval, and how that is known."""
    turns = stream.intervals / stream.period
    if stream.numbered:
        return stream.lost, "numbers"
    off = np.abs(turns - np.round(turns))
    if float((off < NEAR).mean()) < REGULAR:
        return np.zeros(len(turns)), "unknown"
    moving = stream.steps > 0
    speeds = stream.steps / stream.intervals
    # states may be sent on change only: while it rests, nothing is missing
    moved = speeds >= RESTING * np.median(speeds[moving]) if moving.any() else moving
    lost: Flags = (off < NEAR) & moved
    return np.where(lost, np.maximum(np.round(turns) - 1, 0.0), 0.0), "stamps"


def _nearest(times: Floats, others: Floats) -> Floats:
    """How far it is from each time to the nearest of the others, which are in order."""
    after = np.minimum(np.searchsorted(others, times), len(others) - 1)
    apart = np.abs(others[np.stack((after, np.maximum(after - 1, 0)))] - times)
    return np.asarray(apart.min(axis=0))
