"""Fit lines through delays that rise or fall all the time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import (
    FittedLine,
    Floats,
    MessageLog,
    compute_middles,
    estimate_sigma,
    find_lattice,
    find_lower_envelope,
    fit_robust_line,
)

#: Least drift in standard errors.
ERRORS = 8.0

#: Least drift over the recording (s).
LEAST = 0.0015

#: The least one (s) if neighboring delays vary by no more than this (s, sigma): frames may be the
#: reason.
STEADY, STILL = 0.004, 0.0003

#: Beat of a tick per frame on a screen of 59.94 Hz (s/s): steady delays beat so, up to an interval.
BEAT = 7e-4

#: Largest step to which times may be rounded (s), and the number of times that shows it.
ROUNDED, MANY = 0.003, 2000

WINDOWS = 24

#: Largest distance of a window from the line, as a share of its rise.
BENT = 0.35

#: Least share by which the rises of all quarters are equal; a step has no such parts.
EVEN = 0.75


class TriedLine(NamedTuple):
    """A line through the delays, its rise, the rise in standard errors, and the needed rise.

    ``bent``: below this rise (s), windows are too far off the line.
    """

    line: FittedLine
    rise: float
    errors: float
    bent: float
    least: float


def try_lines(messages: MessageLog) -> list[TriedLine]:
    """Return lines through the least and the median delays of windows; none for few messages."""
    if len(messages.sent) < 4 * WINDOWS or not np.ptp(messages.sent):
        return []
    # times that are rounded, or read once a frame, beat against the sender's ticks, unless jitter
    # is wider than that
    rounded = find_lattice(messages.arrivals[:MANY]) + find_lattice(messages.sent[:MANY])
    step = rounded if rounded < ROUNDED else 0.0
    jitter = messages.find_delay(0.9) - messages.find_delay(0.1)
    usual = STEADY if has_steady_delays(messages) else LEAST
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


def has_steady_delays(messages: MessageLog) -> bool:
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


def _fit_drift(times: Floats, levels: Floats, least: float) -> TriedLine:
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
    return TriedLine(line, rise, errors, bent, least)
