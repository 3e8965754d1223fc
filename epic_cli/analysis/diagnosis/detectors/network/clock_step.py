"""A clock that was set while packets went on as before."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.shifts import ERRORS, LEAST, shifted, shifts, without
from epic_cli.analysis.diagnosis.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Lasting changes of the delays at which the stamps have jumped."""
    messages = traffic.arrived
    found = [one for one in shifts(messages) if one.of_clock]
    return shifted(
        "clock-step",
        messages,
        found,
        1.0,
        lambda worst: {
            "way": "forward" if worst.delays < 0 else "back",
            "times": float(len(found)),
        },
    )


def mended(traffic: Traffic) -> Traffic:
    """The stamps go on as before."""
    return without(traffic, [one for one in shifts(traffic.arrived) if one.of_clock])


DETECTOR = Detector(
    "clock-step",
    "the sender's clock was set while it ran",
    "The stamps jump {way} by {step:s} while packets go on arriving as before.",
    "Until the strategy has found its delay again it stands still or runs ahead; after a jump back,"
    " packets are dropped as late.",
    "Stamp packets with a clock that is never set (a steady or monotonic one, or a tick count), or"
    " reset the stream with a teleport.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival; whether the stamps or the arrivals jump there",
    f"{LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, lasting",
    "change point by the difference of running medians",
    detect,
    needs=(ARRIVALS,),
    explains=("queue", "route-change", "server-stall", "clock-drift", "teleport", "velocity"),
    mended=mended,
    rank=15,
)
