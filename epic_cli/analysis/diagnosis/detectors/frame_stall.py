"""A receiver whose frames stall, so that packets are read late and in heaps."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.heaps import HEIGHT, LEAST, SIZE, heaps, late_heaps, without_late
from epic_cli.analysis.diagnosis.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Late heaps, in a recording whose arrivals stand on the frames of the receiver."""
    messages = traffic.arrived
    frames = heaps(messages).frames
    if not frames:
        return []
    return late_heaps(
        "frame-stall",
        messages,
        lambda heights, _: {"longest": float(heights.max()), "frames": frames},
    )


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
    detect,
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=without_late,
    rank=41,
)
