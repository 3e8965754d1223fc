"""Delays that grow for seconds and shrink again: a full queue in the network."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.metrics.arrays import compute_quantile
from epic_cli.metrics.traffic import (
    Floats,
    MessageLog,
    Traffic,
    estimate_sigma,
    find_lower_envelope,
    find_runs,
)

#: Messages of a window, of which the least delay is taken.
WINDOW = 8

#: Least height of a queue (s).
HEIGHT = 0.03

#: Least height as a multiple of what the same delays reach in random order.
TIMES = 2.0

#: Fewest windows of the only queue of a recording that is lower than twice the least height: less
#: is another route for a while.
ONCE = 4

#: Number of random orders that the estimate stands for.
SHUFFLES = 16


def detect(traffic: Traffic) -> list[Finding]:
    """Find hills in the lower envelope of the delays."""
    messages = traffic.arrived
    windows = len(messages.sent) // WINDOW
    if windows < 10:
        return []
    times, lows = find_lower_envelope(messages.sent, messages.delays, windows)
    base = compute_quantile(lows, 0.1)
    chance = _compute_chance_height(messages, windows)
    # shuffled, a high queue is in every window: its own spread counts no more than the quiet one's
    quiet = 6 * estimate_sigma(np.diff(lows))
    limit = max(HEIGHT, min(TIMES * chance, max(quiet, TIMES * _measure_jitter(messages.delays))))
    limit += messages.frame
    hills = [run for run in find_runs(lows - base > limit) if run.end - run.begin >= 2]
    if not hills:
        return []
    heights = [float(lows[hill.begin : hill.end].max()) - base for hill in hills]
    if len(hills) == 1 and hills[0].end - hills[0].begin < ONCE and max(heights) < TIMES * HEIGHT:
        return []
    worst = hills[int(np.argmax(heights))]
    top = worst.begin + int(lows[worst.begin : worst.end].argmax())
    full = sum(hill.end - hill.begin for hill in hills)
    return [
        Finding(
            "queue",
            full / windows,
            max(heights),
            limit,
            {
                "height": max(heights),
                "times": float(len(hills)),
                "length": float(times[worst.end - 1] - times[worst.begin]),
            },
            float(times[hills[0].begin]),
            float(times[top]),
        )
    ]


def _measure_jitter(delays: Floats) -> float:
    """Return the typical difference of neighboring delays, without the largest ones."""
    return compute_quantile(np.abs(np.diff(delays)), 0.9)


def _compute_chance_height(messages: MessageLog, windows: int) -> float:
    """Return how far above the lowest tenth chance alone puts the highest window.

    The least of a window of delays in any order is above that which a share p of them exceeds with
    the probability p^8: the median of the greatest of m such is where that is ln(2) / m.
    """
    highest = (math.log(2) / (SHUFFLES * windows)) ** (1 / WINDOW)
    return messages.find_delay(1 - highest) - messages.find_delay(1 - 0.9 ** (1 / WINDOW))


DETECTOR = Detector(
    "queue",
    "a queue fills up on the way",
    "{times:time} the delay grows step by step, by up to {height:s} for {length:s}.",
    "What is drawn falls behind while the queue fills; buffers that follow the delay speed up and"
    " slow down in turn.",
    "Send less or smaller packets while delays grow (congestion control), or let the router drop"
    " instead of queue (fq_codel, cake).",
    "the least delay of each 8 messages above its lowest tenth, against that of the same delays in"
    " any order",
    "it is 30 ms, and twice as high as chance and the jitter of neighboring packets reach, twice in"
    " a row",
    'J. Gettys, K. Nichols, "Bufferbloat", ACM Queue 9 (11), 2011; permutation test',
    detect,
    needs=(ARRIVALS,),
    rank=60,
)
