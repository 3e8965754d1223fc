"""Packets that overtake others: by a cause of their own, or by much jitter."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.remedies import make_buffer, make_drawing_remedy
from epic_cli.metrics.digits import format_share
from epic_cli.metrics.traffic import Floats, Traffic, estimate_sigma, measure_network

SHARE = 0.04

#: Fewest late messages for a usual share.
LEAST = 5

#: Least share as a multiple of that of the bulk of the delays, and a share that is much anyway.
TIMES, MUCH = 2.0, 0.2

SHUFFLES = 16

#: Messages that are drawn in all.
MESSAGES = 200_000

#: Share of the packets that a sorting buffer waits for, not for a single very late one.
SORTED = 0.99


def detect(traffic: Traffic) -> list[Finding]:
    """Measure the share of messages that arrive after one that was sent later."""
    messages = traffic.arrived
    late = _mark_late_messages(messages.arrivals)
    share = float(late.mean())
    if share < SHARE or int(late.sum()) < LEAST:
        return []
    # as often as the bulk of the delays makes it, if it comes in any order
    delays = messages.unread
    bulk = delays[np.abs(delays - messages.usual_delay) <= 5 * estimate_sigma(delays)]
    random = np.random.default_rng(1)
    shuffles = max(1, min(SHUFFLES, MESSAGES // len(late)))
    shares = [
        _mark_late_messages(messages.shuffle_arrivals(random, bulk)).mean() for _ in range(shuffles)
    ]
    chance = float(np.mean(shares))
    jitter = share < TIMES * chance
    if jitter:  # packets of other entities may come before an entity's own
        share = max(_mark_late_messages(log.arrivals).mean() for log in messages.of_entities)
    if jitter and share < MUCH:
        return []
    places = np.flatnonzero(late)
    behind = (messages.arrivals - _find_earliest_arrivals(messages.arrivals))[places]
    fastest = messages.sorted_delays[0]
    sorting = max(measure_network(messages).needed[2], messages.find_delay(SORTED) - fastest)
    remedy = make_drawing_remedy(make_buffer(sorting, late="insert")) if traffic.placed else None
    return [
        Finding(
            "reordering",
            share,
            share,
            max(SHARE, min(TIMES * chance, MUCH)),
            {
                "share": share,
                "chance": chance,
                "why": _BY_JITTER if jitter else _BY_CHANCE.format(format_share(chance)),
                "look": "" if jitter else _LOOK,
                "behind": float(behind.max()),
                "sorting": sorting,
            },
            float(messages.sent[places[0]]),
            float(messages.sent[places[int(behind.argmax())]]),
            remedy=remedy,
        )
    ]


def _mark_late_messages(arrivals: Floats) -> Floats:
    """Return 1 for each message that arrives after a message that was sent later."""
    return np.asarray(arrivals > _find_earliest_arrivals(arrivals), float)


def _find_earliest_arrivals(arrivals: Floats) -> Floats:
    """Return, for each message, the earliest arrival among it and all later messages."""
    return np.minimum.accumulate(arrivals[::-1])[::-1]


_BY_JITTER = ": the jitter is longer than the time between two packets."
_BY_CHANCE = "; the usual jitter alone would make it {}."
_LOOK = "; look for two routes, or for threads that send out of order"

DETECTOR = Detector(
    "reordering",
    "packets overtake each other",
    "{share:share} of the packets arrive after one that was sent later{why}",
    "Strategies that drop late packets lose these as well.",
    "Sort by stamp in a buffer of {sorting:s}, which covers 99 % of the packets{look}.",
    "share of messages that arrive after one sent later, against that of delays drawn from their"
    " bulk (5 robust standard deviations)",
    f"it is {SHARE * 100:g} %, at least {LEAST} packets, and twice that of the bulk,"
    f" or {MUCH * 100:g} %",
    "RFC 4737; bootstrap",
    detect,
    needs=(ARRIVALS,),
    rank=50,
)
