"""States sent more than once: faster than the simulation steps, or again by a second message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.jobs.diagnose.remedies import Remedy, make_buffer, write_option
from epic_cli.jobs.diagnose.remedies.packets import measure_needed_delay, send_once
from epic_cli.metrics.repeats import BLOCK, SHARE, drop_repeats, find_repeats
from epic_cli.metrics.traffic import Stream, Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Find positions that change at an even rate, lower than the send rate."""
    need = measure_needed_delay(traffic)
    return select_worst(
        (_detect_in_stream(stream.excerpt, need) for stream in traffic.streams),
        lambda one: one.share,
    )


def _detect_in_stream(stream: Stream, need: float) -> Finding | None:
    """Detect the repeated states of one stream.

    ``need`` is the delay (s) that is enough for 95 % of its packets.
    """
    found = find_repeats(stream)
    if found is None:
        return None
    share, times = 1 - 1 / found.between, found.ratio
    kind = {2: "each state is sent twice", 3: "each state is sent three times"}.get(
        int(times) if times.denominator == 1 else 0,
        f"{times.numerator} packets carry {times.denominator} states",
    )
    if not found.stepped:
        kind = f"{share * 100:.0f} % of them repeat one of the last states under a newer timestamp"
    first = int(np.flatnonzero(found.again)[0])
    step = found.step
    rate = 1 / step
    # rarer states need a longer delay, and stamps are up to a packet later than their steps
    later = step if times.denominator > 1 or not found.stepped else step - stream.period
    buffer = make_buffer(need + later)
    command = f"each state sent once, with {write_option(buffer)}"
    remedy = Remedy(command, "step_error", buffer, send_once)
    values: dict[str, float | str] = {
        "kind": kind, "rate": float(times) * rate, "changes": rate,
        "share": share, "step": step,
    }  # fmt: skip
    return Finding(
        "repeats", share, share, SHARE, values, float(stream.times[first]), None, stream.entities,
        remedy=remedy,
    )  # fmt: skip


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic with each state once."""
    return replace(traffic, streams=tuple(map(drop_repeats, traffic.streams)))


DETECTOR = Detector(
    "repeats",
    "states are sent more than once",
    "Positions change {changes:number} times a second, packets come {rate:number} times: {kind}.",
    "What is drawn stands and goes on in turn; velocities by the positions are too large, or zero,"
    " while those that are sent may be right.",
    "Send each state once, every {step:s}, with its own time as the stamp; receivers skip a packet"
    " that repeats one of the last positions while the entity moves.",
    "packets from one change of the position to the next while the entity moves",
    f"{SHARE * 100:g} % of the packets repeat a position, and changes come every n packets, or one"
    f" more or less, also over {BLOCK} changes in a row; or repeats come between changes that are"
    " even",
    "definition",
    detect,
    explains=(
        "velocity",
        "fixed-step",
        "stamps",
        "frozen",
        "on-change",
        "noise",
        "send-rate",
        "delta-chain",
    ),
    mended=remove_cause,
    rank=44,
)
