"""Packets that are sent, or read, several at a time."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.bursts.late_bursts import find_late_bursts
from epic_cli.jobs.diagnose.detectors.network.bursts.search import SHARE, find_bursts
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import Traffic

#: Bursts closer than this many of the receiver's frames are made by the frames.
FRAMES = 2.5


def detect_batches(traffic: Traffic) -> list[Finding]:
    """Measure the share of messages that arrived right after the previous one."""
    messages = traffic.arrived
    found = find_bursts(messages)
    limit = max(found.limit, SHARE) if find_late_bursts(messages) else found.limit
    if found.share < limit:
        return []
    sizes, begins = (found.ends - found.begins).astype(float), found.begins
    every = compute_median(np.diff(messages.arrivals[begins])) if len(begins) > 1 else 0.0
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
                "size": compute_median(sizes),
                "every": every,
                "period": messages.period,
                "frames": found.frames,
            },
            float(messages.sent[begins[0]]),
            float(messages.sent[begins[int(sizes.argmax())]]),
        )
    ]


BATCHING = Detector(
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
    "it is 30 % more than jitter and the receiver's frames explain (10 % arrive so at random"
    " times); or 12 %, and jitter is far below a period",
    "J. Nagle, RFC 896, 1984; coverage of a Poisson process: 1 - exp(-0.1)",
    detect_batches,
    needs=(ARRIVALS,),
    explains=("head-of-line", "frame-stall", "queue", "reordering", "route-change"),
    rank=30,
)
