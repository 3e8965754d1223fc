"""Two clocks that run apart, or one that is set while it runs."""

from __future__ import annotations

import numpy as np

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.messages import Messages
from epic_cli.analysis.diagnosis.robust import (
    Floats,
    Line,
    lattice,
    lower_envelope,
    middles,
    robust_line,
    sigma,
)
from epic_cli.analysis.diagnosis.traffic import Traffic

#: So many standard errors are no chance.
ERRORS = 8.0

#: Seconds of drift in all, below which nothing is said.
LEAST = 0.0015

#: The same where neighbouring delays vary by no more than this (s, sigma): frames may, too.
STEADY, STILL = 0.004, 0.0003

#: More (s/s) is no clock: stamps and arrivals are in different units.
MOST = 0.02

#: What quartz clocks drift by (s/s).
USUAL = 50e-6

#: Times are rounded to steps below this (s), as so many of them show.
ROUNDED, MANY = 0.003, 2000

WINDOWS = 24


def detect(traffic: Traffic) -> list[Finding]:
    """A line through the delays that is not level."""
    messages = traffic.arrived
    tried = _tried(messages)
    if not tried:
        return []
    line, rise, errors = max(tried, key=lambda one: one[2])
    # two clocks are that far apart in nothing; a beat against the receiver's frames is below one
    if not (_least(messages) < abs(rise) and abs(line.slope) < MOST and errors > ERRORS):
        return []
    return [
        Finding(
            "clock-drift",
            min(1.0, abs(rise) / 0.1),
            errors,
            ERRORS,
            {
                "drift": abs(line.slope) * 1e6,
                "which": "slower" if line.slope > 0 else "faster",
                "rise": abs(rise),
                "minute": abs(line.slope) * 60,
            },
        )
    ]


def unseen(messages: Messages) -> tuple[float, float]:
    """The least drift (s/s) that shows in these messages, and in which time (s) ``USUAL`` would."""
    tried = _tried(messages)
    if not tried:
        return 0.0, 0.0
    length = float(np.ptp(messages.sent))
    spread, least = ERRORS * min(line.error for line, _, _ in tried), _least(messages)
    return max(least / length, spread), max(least / USUAL, length * (spread / USUAL) ** (2 / 3))


def _least(messages: Messages) -> float:
    """The least rise that counts (s).

    Times that are rounded, or read once a frame, beat against the sender's ticks, unless jitter is
    wider than that.
    """
    rounded = lattice(messages.arrivals[:MANY]) + lattice(messages.sent[:MANY])
    step = max(messages.frame, rounded if rounded < ROUNDED else 0.0)
    jitter = messages.delay_of(0.9) - messages.delay_of(0.1)
    steady = sigma(np.diff(messages.delays)) < STILL
    least = STEADY if steady else LEAST
    return least if jitter > 1.5 * step else max(least, 1.25 * step)


def _tried(messages: Messages) -> list[tuple[Line, float, float]]:
    if len(messages.sent) < 4 * WINDOWS or not np.ptp(messages.sent):
        return []
    return [
        _drift(times, levels)
        for times, levels in (
            lower_envelope(messages.sent, messages.unread, WINDOWS),
            middles(messages.sent, messages.unread, WINDOWS),
        )
        if np.ptp(times) > 0  # a clock that was set can leave one stamp for nearly all
    ]


def _drift(times: Floats, levels: Floats) -> tuple[Line, float, float]:
    """The line, by how much it rises, and in how many standard errors; 0: it is no line."""
    line = robust_line(times, levels)
    rise = line.slope * float(times[-1] - times[0])
    # stamps and arrivals are rounded: no spread at all is no certainty
    errors = abs(line.slope) / max(line.error, 1e-6 / float(np.ptp(times)))
    residuals = np.abs(levels - line.start - line.slope * times)
    # half of the rise in one place is a step
    return line, rise, errors if float(residuals.max()) < 0.35 * abs(rise) else 0.0


DETECTOR = Detector(
    "clock-drift",
    "the clocks run apart",
    "The sender's clock runs {drift:number} ppm {which} than the receiver's: {minute:s} a minute.",
    "A delay that is right at the start is wrong some minutes later: buffers slowly run empty or"
    " fill up; strategies that set their clock once drift away from the truth.",
    "Keep the client's clock in step with the server's all the time, not only at the start.",
    "slope of the Theil-Sen lines through the least and the median delays of 24 windows, in"
    " standard errors",
    "8 standard errors, 1.5 ms over the recording, more where times are rounded or read once a"
    " frame, and no window off the line by a third of the rise",
    'V. Paxson, "On Calibrating Measurements of Packet Transit Times", SIGMETRICS 1998',
    detect,
    needs=(ARRIVALS,),
    rank=20,
)
