"""A receiver whose frames stall, so that packets are read late and in bursts."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.bursts import HEIGHT, LEAST, SIZE, late_bursts, without_late
from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Late bursts, in a recording whose arrivals stand on the frames of the receiver."""
    return late_bursts("frame-stall", traffic.arrived, framed=True)


DETECTOR = Detector(
    "frame-stall",
    "the receiver's frames stall",
    "Packets are read on frames of {frames:number} Hz; {times:number} times none is read for up to"
    " {highest:s}, and then all that waited at once.",
    "The game itself stood still, or a lost packet was sent again: read once a frame, both look the"
    " same. Strategies that measure jitter from arrival times grow their buffers for nothing.",
    "Look for what blocks the frame (loading, garbage collection, shader compilation), and take"
    " arrival times in the network thread, not in the frame.",
    f"bursts of {SIZE} and more messages, {HEIGHT:g} periods late, with arrivals on the frames of a"
    " usual frame rate",
    f"{LEAST} such bursts; 98 % of the arrivals within 0.6 ms of a frame",
    'circular mean of phases (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    detect,
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=without_late,
    rank=41,
)
