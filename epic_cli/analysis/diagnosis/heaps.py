"""Heaps of messages: sent one after the other, and there at once.

What three detectors tell apart: heaps all the time (batching), now and then behind a pause of the
arrivals (head-of-line blocking), and on the frames of the receiver (stalls).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.robust import USUAL_RATES, Run, runs

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Flags, Messages

#: Arrivals nearer than this many periods, of messages sent a period apart, are one heap.
TOGETHER = 0.1

#: Stamps nearer than this many periods do not count as sent one after the other.
SENT_APART = 0.5

#: A receiver that reads once a frame: that share of its arrivals is so near (s) to a frame.
ON_FRAMES = 0.98
ON_FRAME = 0.0006

#: So many arrivals tell.
PART = 20_000


class Heaps(NamedTuple):
    """The heaps of a recording.

    ``runs`` are their messages, as stretches of two and more; ``heights`` (s) how much longer than
    the usual delay the first of each was under way; ``share`` how many messages came right behind
    another. ``frames`` is the rate of the receiver's frames in hertz, 0: it reads at any time.
    """

    runs: list[Run]
    heights: list[float]
    share: float
    frames: float


@lru_cache(maxsize=1)
def heaps(messages: Messages) -> Heaps:
    """The heaps, in the order in which they were sent."""
    behind = _behind(messages)
    found = [Run(one.begin, one.end + 1) for one in runs(behind)]
    delays = messages.delays
    usual = float(np.median(delays))
    heights = [float(delays[one.begin]) - usual for one in found]
    return Heaps(found, heights, float(behind.mean()), frame_rate(messages))


def _behind(messages: Messages) -> Flags:
    """Which messages but the first came right behind the one sent before them (n - 1)."""
    apart = np.abs(np.diff(messages.arrivals))
    period = messages.period
    return np.asarray((apart <= TOGETHER * period) & (messages.intervals >= SENT_APART * period))


def frame_rate(messages: Messages) -> float:
    """The slowest usual rate on whose frames nearly all arrivals stand, in hertz; 0: none."""
    # what is so all the time shows in a part
    arrivals = messages.arrivals[:: -(-len(messages.arrivals) // PART)]
    for rate in USUAL_RATES:
        turns = arrivals * rate
        # frames begin at any time: at the circular mean of the arrivals' phases
        turns -= np.angle(np.exp(2j * np.pi * turns).mean()) / (2 * np.pi)
        off = np.abs(turns - np.round(turns)) / rate
        if float((off < ON_FRAME).mean()) > ON_FRAMES and np.ptp(messages.delays) > 0.5 / rate:
            return float(rate)
    return 0.0
