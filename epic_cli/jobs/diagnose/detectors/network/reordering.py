"""Packets that overtake others more often than jitter alone explains."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.cures import buffer_of, cure_by
from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.metrics.traffic import Floats, Traffic, network_of, sigma

SHARE = 0.04

#: Fewer say nothing of how often it usually is.
LEAST = 5

#: Times what the bulk of the delays makes.
TIMES = 2.0

SHUFFLES = 16

#: Messages that are drawn in all.
MESSAGES = 200_000

#: A buffer that sorts waits for this share of the packets, not for a single one that was very late.
SORTED = 0.99


def detect(traffic: Traffic) -> list[Finding]:
    """How often messages arrive after one that was sent later."""
    messages = traffic.arrived
    late = _late(messages.arrivals)
    share = float(late.mean())
    if share < SHARE or int(late.sum()) < LEAST:
        return []
    # as often as the bulk of the delays makes it, if it comes in any order
    delays = messages.unread
    bulk = delays[np.abs(delays - messages.usual_delay) <= 5 * sigma(delays)]
    random = np.random.default_rng(1)
    shuffles = max(1, min(SHUFFLES, MESSAGES // len(late)))
    shares = [_late(messages.shuffled(random, bulk)).mean() for _ in range(shuffles)]
    chance = float(np.mean(shares))
    if share < TIMES * chance:
        return []
    places = np.flatnonzero(late)
    behind = (messages.arrivals - _first_behind(messages.arrivals))[places]
    fastest = messages.sorted_delays[0]
    sorting = max(network_of(messages).needed[2], messages.delay_of(SORTED) - fastest)
    remedy = cure_by(buffer_of(sorting, late="insert")) if traffic.placed else None
    return [
        Finding(
            "reordering",
            share,
            share,
            max(SHARE, TIMES * chance),
            {
                "share": share,
                "chance": chance,
                "behind": float(behind.max()),
                "sorting": sorting,
            },
            float(messages.sent[places[0]]),
            float(messages.sent[places[int(behind.argmax())]]),
            remedy=remedy,
        )
    ]


def _late(arrivals: Floats) -> Floats:
    """1 for each that arrives after one that was sent later."""
    return np.asarray(arrivals > _first_behind(arrivals), float)


def _first_behind(arrivals: Floats) -> Floats:
    """The earliest arrival of each message and those sent later."""
    return np.minimum.accumulate(arrivals[::-1])[::-1]


DETECTOR = Detector(
    "reordering",
    "packets overtake each other",
    "{share:share} of the packets arrive after one that was sent later; the usual jitter alone"
    " would make it {chance:share}.",
    "Strategies that drop late packets lose these as well.",
    "Sort by stamp in a buffer of {sorting:s}, which covers 99 % of the packets; look for two"
    " routes, or for threads that send out of order.",
    "share of messages that arrive after one sent later, against that of delays drawn from their"
    " bulk (5 robust standard deviations)",
    f"{SHARE:.0%} and {LEAST} packets, and twice that of the bulk",
    "RFC 4737; bootstrap",
    detect,
    needs=(ARRIVALS,),
    rank=50,
)
