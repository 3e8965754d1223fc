"""Sender and receiver clocks that drift apart, or a clock that is set while it runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.delay_lines import (
    BEAT,
    BENT,
    ERRORS,
    WINDOWS,
    TriedLine,
    has_steady_delays,
    try_lines,
)
from epic_cli.jobs.diagnose.remedies import Remedy, make_buffer, write_option
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.digits import format_seconds
from epic_cli.metrics.traffic import (
    SLOWEST_FRAMES,
    MessageLog,
    Traffic,
    estimate_sigma,
    measure_network,
)

#: Largest drift (s/s): beyond, stamps and arrivals are in different units; and the largest of a
#: clock: beyond, it is a count of ticks that are not as long as said.
MOST, CLOCK = 0.25, 0.002

#: Usual drift of quartz clocks (s/s), and the largest of two good ones.
USUAL, QUARTZ = 50e-6, 100e-6

#: Seconds by which a delay is off when a player may notice.
NOTICED = 0.05

#: Least number of messages over which a rise is measured that is too fast for a clock, and its
#: least size in standard errors.
APART, SURE = 8, 4


def detect(traffic: Traffic) -> list[Finding]:
    """Find a line through the delays that rises or falls."""
    tried = try_lines(traffic.arrived)
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
    if abs(line.slope) > BEAT and ticks and has_steady_delays(traffic.arrived):
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
        "usual": "" if drift > QUARTZ else _USUAL.format(format_seconds(NOTICED / drift)),
        "rate": _RATE.format(f"{100 / (1 + slope):.4g} %") if counts else "",
    }


_USUAL = " That is usual of two quartz clocks: they are 50 ms apart after {}."


_RATE = (
    " But no clock is that wrong. If stamps count ticks, their rate is {} of the one that is given"
    " (--read unit=ticks@HZ): let the loop keep it by an accumulator of a monotonic clock, since"
    " setInterval and sleep wait for longer. Else a queue grows from beginning to end: send less."
)


def _select_likeliest(tried: list[TriedLine]) -> TriedLine:
    return max(tried, key=lambda one: one.errors * (abs(one.rise) > one.least))


def remove_drift(traffic: Traffic) -> Traffic:
    """Return the traffic with arrivals on the sender's clock."""
    messages = traffic.arrived
    line = _select_likeliest(try_lines(messages)).line
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
    length, tried = float(np.ptp(messages.sent)), try_lines(messages)
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


DETECTOR = Detector(
    "clock-drift",
    "the clocks run apart",
    "The sender's clock runs {apart} {which} than the receiver's: {minute:s} a minute.{usual}",
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
