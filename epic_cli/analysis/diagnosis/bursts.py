"""Bursts of messages: sent one after the other, and there at once.

What three detectors tell apart: bursts all the time (batching), now and then behind a pause of the
arrivals (head-of-line blocking), and on the frames of the receiver (stalls).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.detector import Finding
from epic_cli.analysis.diagnosis.messages import Messages
from epic_cli.analysis.diagnosis.robust import USUAL_RATES, Flags, Floats, Numbers, edges
from epic_cli.analysis.diagnosis.traffic import Traffic

#: Arrivals nearer than this many periods, of messages sent a period apart, are one burst.
TOGETHER = 0.1

#: Stamps nearer than this many periods do not count as sent one after the other.
SENT_APART = 0.5

#: A receiver that reads once a frame: that share of its arrivals is so near (s) to a frame.
ON_FRAMES = 0.98
ON_FRAME = 0.0006

#: So many arrivals tell.
PART = 20_000
SMALL_PART = 500


#: A late burst has so many messages: what comes together by chance is less.
SIZE = 4

#: In periods: how much longer than usual the first of a late burst was under way.
HEIGHT = 2.0

#: How many late bursts tell.
LEAST = 2


class Bursts(NamedTuple):
    """The bursts of a recording, in the order in which they were sent.

    Messages ``begins`` to before ``ends`` are one, of two and more; ``heights`` (s) are how much
    longer than the usual delay the first of each was under way; ``share`` how many messages came
    right behind another. ``frames`` is the rate of the receiver's frames in hertz, 0: it reads at
    any time.
    """

    begins: Numbers
    ends: Numbers
    heights: Floats
    share: float
    frames: float


@lru_cache(maxsize=1)
def bursts_of(messages: Messages) -> Bursts:
    """The bursts of these messages."""
    behind = _behind(messages)
    begins, ends = edges(behind)
    heights = messages.delays[begins] - messages.usual_delay
    return Bursts(begins, ends + 1, heights, float(behind.mean()), frame_rate(messages))


def late_bursts(
    cause: str, messages: Messages, words: Callable[[Floats, float], Mapping[str, float]]
) -> list[Finding]:
    """A finding of the bursts that are long, and begin with a message that was long under way.

    ``words`` makes its values of the heights of these bursts and of their mean size.
    """
    found = bursts_of(messages)
    high = _late(messages)
    if len(high) < LEAST:
        return []
    heights, held = found.heights[high], int((found.ends - found.begins)[high].sum())
    begins = found.begins[high]
    return [
        Finding(
            cause,
            held / len(messages.sent),
            float(len(high)),
            float(LEAST),
            {"times": float(len(high)), **words(heights, held / len(high))},
            float(messages.sent[begins[0]]),
            float(messages.sent[begins[int(heights.argmax())]]),
        )
    ]


def without_late(traffic: Traffic) -> Traffic:
    """The traffic without the messages of late bursts."""
    messages = traffic.arrived
    found = bursts_of(messages)
    wanted = np.ones(len(messages.sent), bool)
    for index in _late(messages):
        wanted[found.begins[index] : found.ends[index]] = False
    return replace(traffic, messages=messages.only(wanted))


def _late(messages: Messages) -> Numbers:
    """Which bursts are long, and begin with a message that was long under way."""
    found = bursts_of(messages)
    long = found.ends - found.begins >= SIZE
    return np.flatnonzero(long & (found.heights >= HEIGHT * messages.period))


def _behind(messages: Messages) -> Flags:
    """Which messages but the first came right behind the one sent before them (n - 1)."""
    apart = np.abs(np.diff(messages.arrivals))
    period = messages.period
    return np.asarray((apart <= TOGETHER * period) & (messages.intervals >= SENT_APART * period))


def frame_rate(messages: Messages) -> float:
    """The slowest usual rate on whose frames nearly all arrivals stand, in hertz; 0: none."""
    # what is so all the time shows in a part, and mostly a small one shows that it is not
    arrivals, some = (
        messages.arrivals[:: -(-len(messages.arrivals) // part)] for part in (PART, SMALL_PART)
    )
    for rate in USUAL_RATES:
        if (
            _on_frames(some, rate) > 0.5
            and _on_frames(arrivals, rate) > ON_FRAMES
            and np.ptp(messages.delays) > 0.5 / rate
        ):
            return float(rate)
    return 0.0


def _on_frames(arrivals: Floats, rate: float) -> float:
    """The share of the arrivals that are on frames."""
    turns = arrivals * rate
    # frames begin at any time: at the circular mean of the arrivals' phases
    turns -= np.angle(np.exp(2j * np.pi * turns).mean()) / (2 * np.pi)
    return float((np.abs(turns - np.round(turns)) / rate < ON_FRAME).mean())
