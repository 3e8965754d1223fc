"""Packets that arrive more than once."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.metrics.traffic import Traffic

SHARE = 0.02

#: Fewest copies: one in a short recording is an accident.
LEAST = 3


def detect(traffic: Traffic) -> list[Finding]:
    """Measure the share of states that arrived again."""
    messages = traffic.arrived
    share = messages.copies / (messages.states + messages.copies)
    if share < SHARE or messages.copies < LEAST:
        return []
    return [Finding("duplicates", share, share, SHARE, {"share": share})]


DETECTOR = Detector(
    "duplicates",
    "packets arrive twice",
    "{share:share} of the packets are copies of one that had arrived before.",
    "Strategies drop them as late; one that counts arrivals overestimates the send rate.",
    "Nothing, if they are sent on purpose against loss; otherwise look for a state that is sent"
    " over two paths.",
    "share of arrivals with a stamp that has arrived before",
    f"it is 2 %, and there are {LEAST} copies",
    "RFC 5560",
    detect,
    needs=(ARRIVALS,),
    rank=51,
)
