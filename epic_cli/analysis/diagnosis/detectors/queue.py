"""Delays that grow for seconds and shrink again: a full queue on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.diagnosis.finding import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.robust import lower_envelope, runs, sigma

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Floats, Traffic

#: Messages of which the least delay is taken.
WINDOW = 8

#: Seconds: a queue that is not higher is no nuisance.
HEIGHT = 0.03

#: How many times higher than what the same delays in any order reach.
TIMES = 2.0

SHUFFLES = 16

#: Messages that are shuffled in all: a long recording has as many windows in fewer shuffles.
MESSAGES = 200_000


def look(traffic: Traffic) -> list[Finding]:
    """Hills in the lower envelope of the delays."""
    messages = traffic.messages
    assert messages is not None
    windows = len(messages.sent) // WINDOW
    if windows < 10:
        return []
    times, lows = lower_envelope(messages.sent, messages.delays, windows)
    base = float(np.quantile(lows, 0.1))
    random = np.random.default_rng(0)
    chance = max(
        _height(lower_envelope(messages.sent, random.permutation(messages.delays), windows).levels)
        for _ in range(max(2, min(SHUFFLES, MESSAGES // len(messages.sent))))
    )
    # shuffled, a high queue is in every window: its own spread counts no more than the quiet one's
    quiet = 6 * sigma(np.diff(lows))
    limit = max(HEIGHT, min(TIMES * chance, max(quiet, TIMES * _jitter(messages.delays))))
    hills = [one for one in runs(lows - base > limit) if one.end - one.begin >= 2]
    if not hills:
        return []
    heights = [float(lows[one.begin : one.end].max()) - base for one in hills]
    worst = hills[int(np.argmax(heights))]
    top = worst.begin + int(lows[worst.begin : worst.end].argmax())
    full = sum(one.end - one.begin for one in hills)
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


def _jitter(delays: Floats) -> float:
    """How far neighbouring delays are apart, but for the wildest."""
    return float(np.quantile(np.abs(np.diff(delays)), 0.9))


def _height(lows: Floats) -> float:
    return float(lows.max() - np.quantile(lows, 0.1))


DETECTOR = Detector(
    "queue",
    "a queue fills up on the way",
    "{times:number} times the delay grows step by step, by up to {height:s} for {length:s}.",
    "What is drawn falls behind while the queue fills, and buffers that follow the delay speed up"
    " and slow down by turns.",
    "Send less or smaller packets while delays grow (congestion control), or let the router drop"
    " instead of queue (fq_codel, cake).",
    "the least delay of each 8 messages above its lowest tenth, against the same delays shuffled",
    "30 ms and twice what chance and neighbouring packets' jitter reach, twice in a row",
    'J. Gettys, K. Nichols, "Bufferbloat", ACM Queue 9 (11), 2011; permutation test',
    look,
    needs=(ARRIVALS,),
    rank=60,
)
