"""Packets that had to wait until a lost one had been sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.diagnosis.finding import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.heaps import Heaps, heaps

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Messages, Traffic

#: In messages: what comes together by chance is less.
SIZE = 4

#: In periods: how much longer than usual the first of them was under way.
HEIGHT = 2.0

#: How many such heaps tell.
LEAST = 2


def spikes(messages: Messages, found: Heaps) -> list[int]:
    """Which heaps are long, and begin with a message that was long under way."""
    return [
        index
        for index, (run, height) in enumerate(zip(found.runs, found.heights, strict=True))
        if run.end - run.begin >= SIZE and height >= HEIGHT * messages.period
    ]


def look(traffic: Traffic) -> list[Finding]:
    """Delays that leap up and then fall by one period a packet."""
    messages = traffic.messages
    assert messages is not None
    found = heaps(messages)
    if found.frames:
        return []
    high = spikes(messages, found)
    if len(high) < LEAST:
        return []
    held = sum(found.runs[index].end - found.runs[index].begin for index in high)
    heights = np.array([found.heights[index] for index in high])
    worst = found.runs[high[int(heights.argmax())]]
    return [
        Finding(
            "head-of-line",
            held / len(messages.sent),
            float(len(high)),
            float(LEAST),
            {
                "times": float(len(high)),
                "height": float(np.median(heights)),
                "highest": float(heights.max()),
                "size": float(held / len(high)),
            },
            float(messages.sent[found.runs[high[0]].begin]),
            float(messages.sent[worst.begin]),
        )
    ]


DETECTOR = Detector(
    "head-of-line",
    "packets wait for a lost one",
    "{times:number} times the packets stop, and come all at once {highest:s} late and less, in the"
    " order in which they were sent.",
    "Everything stands still until the lost packet has been sent again, and then jumps; only a"
    " delay above {height:s} hides it.",
    "Send states over an unreliable channel (UDP, WebRTC with ordered: false and maxRetransmits: 0,"
    " QUIC datagrams): a newer state makes the lost one useless.",
    "heaps of 4 and more messages within a tenth of a period of each other, the first of which was"
    " under way 2 periods longer than usual",
    "2 such heaps, and arrivals that do not stand on frames of the receiver",
    'M. Scharf, S. Kiesel, "Head-of-line Blocking in TCP and SCTP", GLOBECOM 2006',
    look,
    needs=(ARRIVALS,),
    explains=("queue",),
    rank=40,
)
