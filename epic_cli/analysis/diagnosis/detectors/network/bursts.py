"""Packets that come in bursts all the time, though they were sent one after the other."""

from __future__ import annotations

import numpy as np

from epic_cli.analysis.diagnosis.bursts import SHARE, bursts_of, late_places
from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.robust import median
from epic_cli.analysis.diagnosis.traffic import Traffic

#: Bursts nearer than that many of the receiver's frames are made by these.
FRAMES = 2.5


def detect(traffic: Traffic) -> list[Finding]:
    """The share of messages that came right behind the one before."""
    messages = traffic.arrived
    found = bursts_of(messages)
    limit = max(found.limit, SHARE) if len(late_places(messages)) else found.limit
    if found.share < limit:
        return []
    sizes, begins = (found.ends - found.begins).astype(float), found.begins
    every = median(np.diff(messages.arrivals[begins])) if len(begins) > 1 else 0.0
    if every < FRAMES * messages.frame:
        return []
    return [
        Finding(
            "bursts",
            found.share,
            found.share,
            limit,
            {
                "share": found.share,
                "size": median(sizes),
                "every": every,
                "period": messages.period,
                "frames": found.frames,
            },
            float(messages.sent[begins[0]]),
            float(messages.sent[begins[int(sizes.argmax())]]),
        )
    ]


DETECTOR = Detector(
    "bursts",
    "packets arrive in bursts",
    "Packets are sent every {period:s}, but {share:share} of them arrive right behind another:"
    " bursts of {size:number}, one every {every:s}.",
    "A delay buffer must last from burst to burst: it needs that time on top of the network's"
    " jitter; predictions go without news for as long.",
    "Send at once (TCP_NODELAY, no batching of messages, flush each tick), or read the socket every"
    " frame; on Wi-Fi, check power saving.",
    "share of messages that arrive within a tenth of a period of the one sent at least half a"
    " period before",
    "30 % (at random times it would be 10 %) more than jitter and the receiver's frames make;"
    " 12 % where jitter is far below a period",
    "J. Nagle, RFC 896, 1984; coverage of a Poisson process: 1 - exp(-0.1)",
    detect,
    needs=(ARRIVALS,),
    explains=("head-of-line", "frame-stall", "queue", "reordering", "route-change"),
    rank=30,
)
