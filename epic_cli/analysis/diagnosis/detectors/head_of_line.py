"""Packets that had to wait until a lost one had been sent again."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.heaps import HEIGHT, LEAST, SIZE, heaps, late_heaps, without_late
from epic_cli.analysis.diagnosis.robust import median
from epic_cli.analysis.diagnosis.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Delays that leap up and then fall by one period a packet."""
    messages = traffic.arrived
    if heaps(messages).frames:
        return []
    return late_heaps(
        "head-of-line",
        messages,
        lambda heights, size: {
            "height": median(heights),
            "highest": float(heights.max()),
            "size": size,
        },
    )


DETECTOR = Detector(
    "head-of-line",
    "packets wait for a lost one",
    "{times:number} times the packets stop, and come all at once {highest:s} late and less, in the"
    " order in which they were sent.",
    "Everything stands still until the lost packet has been sent again, and then jumps; only a"
    " delay above {height:s} hides it.",
    "Send states over an unreliable channel (UDP, WebRTC with ordered: false and maxRetransmits: 0,"
    " QUIC datagrams): a newer state makes the lost one useless.",
    f"heaps of {SIZE} and more messages within a tenth of a period of each other, the first of"
    f" which was under way {HEIGHT:g} periods longer than usual",
    f"{LEAST} such heaps, and arrivals that do not stand on frames of the receiver",
    'M. Scharf, S. Kiesel, "Head-of-line Blocking in TCP and SCTP", GLOBECOM 2006',
    detect,
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=without_late,
    rank=40,
)
