"""Two clocks that run apart, or one that is set while it runs."""

from __future__ import annotations

import numpy as np

from epic_cli.analysis.diagnosis.detector import ARRIVALS, Detector, Finding
from epic_cli.analysis.diagnosis.robust import Floats, Line, lower_envelope, middles, robust_line
from epic_cli.analysis.diagnosis.traffic import Traffic

#: So many standard errors are no chance.
ERRORS = 8.0

#: Seconds of drift in all, below which nobody sees it.
LEAST = 0.004

WINDOWS = 24


def detect(traffic: Traffic) -> list[Finding]:
    """A line through the delays that is not level."""
    messages = traffic.arrived
    if len(messages.sent) < 4 * WINDOWS:
        return []
    tried = [
        _drift(times, levels)
        for times, levels in (
            lower_envelope(messages.sent, messages.delays, WINDOWS),
            middles(messages.sent, messages.delays, WINDOWS),
        )
        if np.ptp(times) > 0  # a clock that was set can leave one stamp for nearly all
    ]
    if not tried:
        return []
    line, rise, errors = max(tried, key=lambda one: one[2])
    if not (abs(rise) > LEAST and errors > ERRORS):
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
    "8 standard errors, 4 ms over the recording, and no window off the line by a third of the rise",
    'V. Paxson, "On Calibrating Measurements of Packet Transit Times", SIGMETRICS 1998',
    detect,
    needs=(ARRIVALS,),
    rank=20,
)
