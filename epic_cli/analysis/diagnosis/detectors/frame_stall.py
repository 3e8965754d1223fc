"""A receiver whose frames stall, so that packets are read late and in heaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.diagnosis.detectors.head_of_line import HEIGHT, LEAST, SIZE, spikes
from epic_cli.analysis.diagnosis.finding import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.heaps import heaps

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Traffic


def look(traffic: Traffic) -> list[Finding]:
    """Late heaps, in a recording whose arrivals stand on the frames of the receiver."""
    messages = traffic.messages
    assert messages is not None
    found = heaps(messages)
    if not found.frames:
        return []
    high = spikes(messages, found)
    if len(high) < LEAST:
        return []
    held = sum(found.runs[index].end - found.runs[index].begin for index in high)
    heights = np.array([found.heights[index] for index in high])
    worst = found.runs[high[int(heights.argmax())]]
    return [
        Finding(
            "frame-stall",
            held / len(messages.sent),
            float(len(high)),
            float(LEAST),
            {
                "times": float(len(high)),
                "longest": float(heights.max()),
                "frames": found.frames,
            },
            float(messages.sent[found.runs[high[0]].begin]),
            float(messages.sent[worst.begin]),
        )
    ]


DETECTOR = Detector(
    "frame-stall",
    "the receiver's frames stall",
    "Packets are read on frames of {frames:number} Hz, and {times:number} times not for up to"
    " {longest:s}: then all that waited at once.",
    "The network is innocent: the picture itself stood still, and arrival times say nothing of the"
    " delays; strategies that measure jitter from them grow their buffers for nothing.",
    "Look for what blocks the frame (loading, garbage collection, shader compilation), and take the"
    " arrival in the network thread, not in the frame.",
    f"heaps of {SIZE} and more messages, {HEIGHT:g} periods late, with arrivals on the lattice of a"
    " usual frame rate",
    f"{LEAST} such heaps; 98 % of the arrivals within 0.6 ms of a frame",
    'circular mean of phases (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    look,
    needs=(ARRIVALS,),
    explains=("queue",),
    rank=41,
)
