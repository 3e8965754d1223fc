"""Packets that had to wait until a lost one had been sent again."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.bursts import HEIGHT, LEAST, SIZE, late_bursts, without_late
from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Delays that leap up and then fall by one period a packet."""
    return late_bursts("head-of-line", traffic.arrived, framed=False)


DETECTOR = Detector(
    "head-of-line",
    "packets wait for a lost one",
    "{times:number} times the packets stop, and then arrive all at once, up to {highest:s} late, in"
    " the order in which they were sent.",
    "Everything stands still until the lost packet has been sent again, and then jumps; only a"
    " delay above {height:s} hides it.",
    "Send states over an unreliable channel (UDP, WebRTC with ordered: false and maxRetransmits: 0,"
    " QUIC datagrams): a newer state makes the lost one useless. Over UDP it is the receiver that"
    " stalls, or Wi-Fi: arrivals do not tell these apart.",
    f"bursts of {SIZE} and more messages within a tenth of a period of each other, the first of"
    f" which was under way {HEIGHT:g} periods longer than usual",
    f"{LEAST} such bursts, and arrivals that are not on frames of the receiver",
    'M. Scharf, S. Kiesel, "Head-of-line Blocking in TCP and SCTP", GLOBECOM 2006',
    detect,
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=without_late,
    rank=40,
)
