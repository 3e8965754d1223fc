"""Sender and receiver clocks that drift apart, or a clock that is set while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.remedies import Remedy, make_buffer, write_option
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import (
    SLOWEST_FRAMES,
    FittedLine,
    Floats,
    MessageLog,
    Traffic,
    compute_middles,
    estimate_sigma,
    find_lattice,
    find_lower_envelope,
    fit_robust_line,
    measure_network,
)

#: Least drift in standard errors.
ERRORS = 8.0

#: Least drift over the recording (s).
LEAST = 0.0015

#: The least one (s) if neighboring delays vary by no more than this (s, sigma): frames may be the
#: reason.
STEADY, STILL = 0.004, 0.0003

#: Largest drift (s/s): beyond, stamps and arrivals are in different units; and the largest of a
#: clock: beyond, it is a count of ticks that are not as long as said.
MOST, CLOCK = 0.25, 0.002

#: Beat of a tick per frame on a screen of 59.94 Hz (s/s): steady delays beat so, up to an interval.
BEAT = 7e-4

#: Usual drift of quartz clocks (s/s).
USUAL = 50e-6

#: Largest step to which times may be rounded (s), and the number of times that shows it.
ROUNDED, MANY = 0.003, 2000

WINDOWS = 24

#: Least number of messages over which a rise is measured that is too fast for a clock, and its
#: least size in standard errors.
APART, SURE = 8, 4

#: Largest distance of a window from the line, as a share of its rise.
BENT = 0.35

#: Least share by which the rises of all quarters are equal; a step has no such parts.
EVEN = 0.75


def detect(traffic: Traffic) -> list[Finding]:
    """Find a line through the delays that rises or falls."""
    tried = _try_lines(traffic.arrived)
    if not tried:
        return []
    # two clocks are that far apart in nothing; a beat against the receiver's frames is below one
    line, rise, errors, _, least = _select_likeliest(tried)
    if not (least < abs(rise) and abs(line.slope) < MOST and errors > ERRORS):
        return []
    if abs(line.slope) > CLOCK and not _rises_everywhere(traffic.arrived, line.slope):
        return []
    interval = traffic.arrived.period
    ticks = abs(rise) < interval < 1.01 / SLOWEST_FRAMES
    if abs(line.slope) > BEAT and ticks and _has_steady_delays(traffic.arrived):
        return []
    return [
        Finding(
            "clock-drift",
            min(1.0, abs(rise) / 0.1),
            errors,
            ERRORS,
            _list_values(line.slope, rise),
            remedy=_make_drift_remedy(traffic),
        )
    ]


def _rises_everywhere(messages: MessageLog, slope: float) -> bool:
    """Return True if the delays rise by ``slope`` (s/s) after most messages, not after a few."""
    count = len(messages.sent)
    # over more messages where jitter hides the rise over few
    doubt = SURE * estimate_sigma(np.diff(messages.delays)) / np.sqrt(count)
    hidden = doubt / (BENT * abs(slope) * (np.ptp(messages.sent) / count))
    apart = int(min(max(APART, hidden), count / WINDOWS))
    rises = messages.delays[apart:] - messages.delays[:-apart]
    times = messages.sent[apart:] - messages.sent[:-apart]
    return abs(compute_median(rises) / (slope * compute_median(times)) - 1) < BENT


def _list_values(slope: float, rise: float) -> dict[str, float | str]:
    drift, which = abs(slope), "slower" if slope > 0 else "faster"
    counts = drift > CLOCK
    slower = abs(1 - 1 / (1 + slope))  # in time of the receiver's clock
    return {
        "drift": drift * 1e6,
        "apart": f"{100 * slower:.3g} %" if counts else f"{drift * 1e6:,.0f} ppm",
        "which": which,
        "rise": abs(rise),
        "minute": drift * 60,
        "rate": _RATE.format(f"{100 / (1 + slope):.4g} %") if counts else "",
    }


_RATE = (
    " But no clock is that wrong. If stamps count ticks, their rate is {} of the one that is given"
    " (--read unit=ticks@HZ): let the loop keep it by an accumulator of a monotonic clock, since"
    " setInterval and sleep wait for longer. Else a queue grows from beginning to end: send less."
)


def _select_likeliest(tried: list[_TriedLine]) -> _TriedLine:
    return max(tried, key=lambda one: one.errors * (abs(one.rise) > one.least))


def remove_drift(traffic: Traffic) -> Traffic:
    """Return the traffic with arrivals on the sender's clock."""
    messages = traffic.arrived
    line = _select_likeliest(_try_lines(messages)).line
    return replace(
        traffic,
        messages=messages.move_messages(0.0, line.slope * (messages.sent[0] - messages.sent)),
    )


def _make_drift_remedy(traffic: Traffic) -> Remedy:
    """Return a buffer whose clock follows the drift, with the delay needed without drift."""
    buffer = make_buffer(measure_network(remove_drift(traffic).arrived).needed[1])
    return Remedy(write_option(buffer), "lag", buffer, beside=True)


def measure_unseen_drift(messages: MessageLog) -> tuple[float, float]:
    """Return the least visible drift (s/s), and the time (s) in which ``USUAL`` is visible."""
    length, tried = float(np.ptp(messages.sent)), _try_lines(messages)
    if not tried:
        return 0.0, 0.0
    # what windows are off the line by is as large in a longer recording, and a slope less unsure
    return min(
        (
            max(max(each.least, each.bent) / length, ERRORS * each.line.error),
            max(
                max(each.least, each.bent) / USUAL,
                length * (ERRORS * each.line.error / USUAL) ** (2 / 3),
            ),
        )
        for each in tried
    )


class _TriedLine(NamedTuple):
    """A line through the delays, its rise, the rise in standard errors, and the needed rise.

    ``bent``: below this rise (s), windows are too far off the line.
    """

    line: FittedLine
    rise: float
    errors: float
    bent: float
    least: float


def _try_lines(messages: MessageLog) -> list[_TriedLine]:
    if len(messages.sent) < 4 * WINDOWS or not np.ptp(messages.sent):
        return []
    # times that are rounded, or read once a frame, beat against the sender's ticks, unless jitter
    # is wider than that
    rounded = find_lattice(messages.arrivals[:MANY]) + find_lattice(messages.sent[:MANY])
    step = rounded if rounded < ROUNDED else 0.0
    jitter = messages.find_delay(0.9) - messages.find_delay(0.1)
    usual = STEADY if _has_steady_delays(messages) else LEAST
    frame = max(messages.frame, step)
    least = usual if jitter > 1.5 * frame else max(usual, 1.25 * frame)
    tried = [
        (find_lower_envelope(messages.sent, messages.unread, WINDOWS), least),
        (compute_middles(messages.sent, messages.unread, WINDOWS), least),
    ]
    if messages.frame:
        # where ticks meet frames everywhere, some packet of each window has hardly waited
        waited = max(step, _find_unmet_part(messages) * messages.frame)
        envelope = find_lower_envelope(messages.sent, messages.delays, WINDOWS)
        tried.append((envelope, max(usual, 1.25 * waited)))
    # a clock that was set can leave one stamp for nearly all
    return [_fit_drift(*line, least) for line, least in tried if np.ptp(line.times) > 0]


def _has_steady_delays(messages: MessageLog) -> bool:
    """Return True if most neighboring delays are equal."""
    return estimate_sigma(np.diff(messages.delays)) < STILL


def _find_unmet_part(messages: MessageLog) -> float:
    """Return the largest part of a frame (0 to 1) in which no packet of a window was sent."""
    gaps = np.diff(np.sort(messages.arrivals))
    halves = gaps / messages.frame % 1
    frame = messages.frame / (2 if np.mean((halves > 0.25) & (halves < 0.75)) > 0.01 else 1)
    counts = np.round(gaps / frame)
    frame = float(gaps.sum() / max(counts.sum(), 1.0))  # its rate is not exactly the usual one
    per = len(messages.sent) // WINDOWS
    phases = np.sort(messages.sent[: per * WINDOWS].reshape(WINDOWS, per) / frame % 1, axis=1)
    around = np.append(phases, phases[:, :1] + 1, axis=1)
    return float(np.diff(around, axis=1).max())


def _fit_drift(times: Floats, levels: Floats, least: float) -> _TriedLine:
    """Return a line that fits all windows, or that rises equally in each quarter."""
    line = fit_robust_line(times, levels)
    rise = line.slope * float(times[-1] - times[0])
    # stamps and arrivals are rounded: no spread at all is no certainty
    rounded = 1e-6 / float(np.ptp(times))
    errors = abs(line.slope) / max(line.error, rounded)
    residuals = np.abs(levels - line.start - line.slope * times)
    # on the lattices of stamps and frames most of what wavers has no spread: by least squares
    spread = float(np.sqrt(np.square(residuals).mean() / len(levels)) / np.std(times))
    steep = abs(line.slope) / max(spread, rounded)
    # half of the rise in one place is a step, and so is a quarter of the time without its part
    quarters = np.diff([compute_median(part) for part in np.array_split(levels, 4)]) / (
        rise / 4 or 1.0
    )
    bent = float(residuals.max()) / BENT
    if abs(line.slope) < BEAT and float(abs(quarters - 1).max()) < EVEN and steep > ERRORS:
        errors = max(errors, steep)
    elif bent >= abs(rise):
        errors = 0.0
    return _TriedLine(line, rise, errors, bent, least)


DETECTOR = Detector(
    "clock-drift",
    "the clocks run apart",
    "The sender's clock runs {apart} {which} than the receiver's: {minute:s} a minute.",
    "A delay that is right at the start is wrong some minutes later: buffers slowly run empty or"
    " fill up; strategies that set their clock once drift away from the truth.",
    "Keep the client's clock in step with the server's during the whole session, not only at the"
    " start.{rate}",
    "slope of the Theil-Sen lines through the least and the median delays of 24 windows, in"
    " standard errors",
    "it is 8 standard errors, rises by 1.5 ms over the recording (more where times are rounded or"
    " read once a frame), and no window is off the line by a third of the rise; or, up to 700 ppm,"
    " it rises in each quarter",
    'V. Paxson, "On Calibrating Measurements of Packet Transit Times", SIGMETRICS 1998',
    detect,
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=remove_drift,
    rank=20,
)
