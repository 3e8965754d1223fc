"""Causes of lasting changes of the delay: a clock that is set, or another route."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.shifts.search import (
    ERRORS,
    LEAST,
    Shift,
    select_shifts,
)
from epic_cli.jobs.diagnose.detectors.network.shifts.undoing import undo_shifts
from epic_cli.metrics.traffic import WRAPS, MessageLog, Traffic

#: Most route changes: levels that come and go more often are a queue's.
MOST = 2


def detect_clock_steps(traffic: Traffic) -> list[Finding]:
    """Find lasting changes of the delay at which the stamps jumped."""
    found = select_shifts(traffic.arrived, clock=True)
    if found or not traffic.wraps:
        none: dict[str, float | str] = {"wraps": "", "unwrap": ""}
        return _make_finding("clock-step", traffic.arrived, found, 1.0, ("forward", "back"), none)
    wrap = next(iter(traffic.wraps.values()))
    values: dict[str, float | str] = {
        "step": wrap.length,
        "way": "back",
        "wraps": f": they wrap, as {WRAPS[wrap.length]} do",
        "unwrap": "Send more bits, or add what is missing whenever a stamp falls by more than half"
        " of that. ",
    }
    return [Finding("clock-step", 1.0, wrap.length, LEAST, values, wrap.first, None)]


def detect_route_changes(traffic: Traffic) -> list[Finding]:
    """Find lasting changes of the delay at which the arrivals jumped."""
    found = select_shifts(traffic.arrived, clock=False)
    found = found if len(found) <= MOST else []
    return _make_finding("route-change", traffic.arrived, found, 0.2, ("less long", "longer"), {})


def _make_finding(
    cause: str,
    messages: MessageLog,
    found: list[Shift],
    whole: float,
    ways: tuple[str, str],
    more: dict[str, float | str],
) -> list[Finding]:
    """Return a finding for these changes; changes of ``whole`` seconds concern the whole recording.

    The worst change goes one of the ``ways``: to shorter delays, or to longer ones.
    """
    if not found:
        return []
    worst = max(found, key=lambda one: abs(one.delays))
    step = abs(worst.delays)
    first, most = (float(messages.sent[messages.in_order[row.place]]) for row in (found[0], worst))
    values: dict[str, float | str] = {"step": step, "way": ways[worst.delays > 0], **more}
    return [Finding(cause, min(1.0, step / whole), step, LEAST, values, first, most)]


CLOCK_STEP = Detector(
    "clock-step",
    "the sender's clock was set while it ran",
    "The stamps jump {way} by {step:s} while packets go on arriving as before{wraps}.",
    "Until the strategy has found its delay again it stands still or runs ahead; after a jump back,"
    " packets are dropped as late.",
    "{unwrap}Stamp packets with a clock that is never set (a steady or monotonic one, or a tick"
    " count), or reset the stream with a teleport.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival; whether the stamps or the arrivals jump there",
    f"it is {LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, and lasts",
    "change point by the difference of running medians",
    detect_clock_steps,
    needs=(ARRIVALS,),
    explains=(
        "queue",
        "route-change",
        "server-stall",
        "clock-drift",
        "teleport",
        "velocity",
        "reordering",
        "send-rate",
        "stamps",
        "on-change",
        "duplicates",
    ),
    mended=lambda traffic: undo_shifts(traffic, select_shifts(traffic.arrived, clock=True)),
    rank=15,
)

ROUTE_CHANGE = Detector(
    "route-change",
    "the route has changed",
    "From then on every packet takes {step:s} {way}.",
    "A fixed delay that was right before is wrong now; a clock that is set once is off by that"
    " much.",
    "Use a strategy whose delay follows the network, or a delay with {step:s} to spare.",
    "difference of the median delays of the 16 messages before and after each, in the order of"
    " arrival",
    f"it is {LEAST * 1e3:g} ms and {ERRORS:g} robust standard deviations, lasts, and happens twice"
    " at most",
    'V. Paxson, "End-to-End Routing Behavior in the Internet", SIGCOMM 1996',
    detect_route_changes,
    needs=(ARRIVALS,),
    explains=("queue", "clock-drift"),
    mended=lambda traffic: undo_shifts(traffic, select_shifts(traffic.arrived, clock=False)),
    rank=61,
)
