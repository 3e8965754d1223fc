"""Packets that come more than once."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.traffic import Traffic

SHARE = 0.02

#: One copy in a short recording is an accident.
LEAST = 3


def detect(traffic: Traffic) -> list[Finding]:
    """The share of states that came again."""
    messages = traffic.arrived
    share = messages.copies / (messages.states + messages.copies)
    if share < SHARE or messages.copies < LEAST:
        return []
    return [Finding("duplicates", share, share, SHARE, {"share": share})]


DETECTOR = Detector(
    "duplicates",
    "packets come twice",
    "{share:share} of the packets are copies of one that had come before.",
    "Strategies drop them as late; one that counts arrivals takes the send rate for higher.",
    "Nothing has to be done if they are sent on purpose against loss; otherwise look for a state"
    " that is sent by two paths.",
    "share of arrivals with a stamp that has arrived before",
    f"2 %, and {LEAST} copies",
    "RFC 5560",
    detect,
    needs=(ARRIVALS,),
    rank=51,
)
