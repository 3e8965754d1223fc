"""Delays that are others from one moment on: another route, another access point, a VPN."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.shifts import ERRORS, LEAST, shifted, shifts, without
from epic_cli.analysis.diagnosis.traffic import Traffic

#: Levels that come and go more often are a queue's.
MOST = 2


def detect(traffic: Traffic) -> list[Finding]:
    """Lasting changes of the delays at which the arrivals have jumped."""
    messages = traffic.arrived
    found = [one for one in shifts(messages) if not one.of_clock]
    return shifted(
        "route-change",
        messages,
        found if len(found) <= MOST else [],
        0.2,
        lambda worst: {"way": "longer" if worst.delays > 0 else "less long"},
    )


def mended(traffic: Traffic) -> Traffic:
    """The way stays as it was."""
    return without(traffic, [one for one in shifts(traffic.arrived) if not one.of_clock])


DETECTOR = Detector(
    "route-change",
    "the route has changed",
    "From then on every packet takes {step:s} {way}.",
    "A fixed delay that was right before is wrong now; a clock that is set once is off by that"
    " much.",
    "Use a strategy whose delay follows the network, or a delay with {step:s} to spare.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival",
    f"{LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, lasting, twice at most",
    'V. Paxson, "End-to-End Routing Behavior in the Internet", SIGCOMM 1996',
    detect,
    needs=(ARRIVALS,),
    explains=("queue", "clock-drift"),
    mended=mended,
    rank=61,
)
