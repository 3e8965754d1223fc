"""All packets that were sent, lost ones included, from those that came."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from epic_cli.metrics.traffic import Flags, Floats, MessageLog, Stream, Traffic

#: How lost packets are known: by missing numbers, by stamps missing from regular ones, or not.
Known = Literal["numbers", "stamps", "unknown"]

#: Least share of common stamps with common arrivals if one datagram carries all entities.
SHARED = 0.9

#: An interval is a multiple of the period within this share of one; stamps without numbers are
#: regular if this share of the intervals is.
NEAR, REGULAR = 0.25, 0.95

#: An entity rests below this share of the usual speed.
RESTING = 0.25


class Sendings(NamedTuple):
    """All sent packets, by stamp: ``sent`` and ``delays`` in seconds (n; NaN: lost).

    ``runs`` are the numbers of packets lost in a row, one for each hole.
    """

    sent: Floats
    delays: Floats
    runs: Floats
    known: Known

    @property
    def came(self) -> Flags:
        """The mask (n) of the packets that arrived."""
        return np.isfinite(self.delays)


def list_sendings(traffic: Traffic) -> Sendings:
    """Return all packets sent in a recording that has arrival times.

    Entities that share their datagrams are one series; where each has datagrams of its own, the one
    with the most packets stands for all.
    """
    messages = traffic.arrived
    arrived = [entity for entity in traffic.streams if np.isfinite(entity.arrivals).any()]
    if not arrived:  # none of them has many packets
        return Sendings(messages.sent, messages.delays, np.empty(0), "unknown")
    stream = max(arrived, key=lambda one: (one.numbered, len(one.times)))
    if len(traffic.streams) == 1 or _is_carried_by_messages(stream, messages):
        sent, delays = messages.sent, messages.delays
    else:
        came = np.isfinite(stream.arrivals)
        sent, delays = stream.times[came], (stream.arrivals - stream.times)[came]
    missing, known = _count_missing(stream)
    places = np.flatnonzero(missing)
    steps = stream.intervals[places] / (missing[places] + 1)
    lost = np.concatenate(
        [
            stream.times[place] + step * np.arange(1, missing[place] + 1)
            for place, step in zip(places, steps, strict=True)
        ]
        or [np.empty(0)]
    )
    lost = lost[
        _measure_nearest_distance(lost, sent) > NEAR * stream.period
    ]  # another entity's news came
    order = np.argsort(np.concatenate((sent, lost)), kind="stable")
    return Sendings(
        np.concatenate((sent, lost))[order],
        np.concatenate((delays, np.full(len(lost), np.nan)))[order],
        missing[places],
        known,
    )


def _is_carried_by_messages(stream: Stream, messages: MessageLog) -> bool:
    """Return True if the messages are the datagrams that carried the stream's states."""
    came = np.isfinite(stream.arrivals)
    places = np.searchsorted(messages.sent, stream.times[came])
    same = messages.arrivals[np.minimum(places, len(messages.arrivals) - 1)]
    return bool(np.mean(same == stream.arrivals[came]) > SHARED)


def _count_missing(stream: Stream) -> tuple[Floats, Known]:
    """Return the number of packets missing in each interval, and the way they were counted."""
    periods = stream.intervals / stream.period
    if stream.numbered:
        return stream.lost, "numbers"
    off = np.abs(periods - np.round(periods))
    if float((off < NEAR).mean()) < REGULAR:
        return np.zeros(len(periods)), "unknown"
    moving = stream.steps > 0
    speeds = stream.steps / stream.intervals
    # states may be sent on change only: while it rests, nothing is missing
    moved = speeds >= RESTING * np.median(speeds[moving]) if moving.any() else moving
    lost: Flags = (off < NEAR) & moved
    return np.where(lost, np.maximum(np.round(periods) - 1, 0.0), 0.0), "stamps"


def _measure_nearest_distance(times: Floats, others: Floats) -> Floats:
    """Return the distance from each time to the nearest of ``others`` (sorted)."""
    after = np.minimum(np.searchsorted(others, times), len(others) - 1)
    apart = np.abs(others[np.stack((after, np.maximum(after - 1, 0)))] - times)
    return np.asarray(apart.min(axis=0))
