"""Packets sent at an uneven rate, or less often than intended."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.metrics.arrays import compute_median, compute_quantile
from epic_cli.metrics.traffic import SILENT, USUAL_RATES, Floats, Stream, Traffic, find_lattice

#: Least width of the middle 80 % of the intervals, in usual ones.
SPREAD = 0.3

#: Least width if long and short intervals alternate, and their least correlation.
REGULAR_SPREAD, ALTERNATE = 0.08, 0.8

#: The most that packets of an accumulator are off their turns, in units of its ticks.
BEAT = 1.5

#: Least share of the intervals within a tenth of one of two modes.
TWO_MODES = 0.9


def detect(traffic: Traffic) -> list[Finding]:
    """Find the entity with most packets, if it is sent unevenly, and others that are."""
    streams = sorted(traffic.streams, key=lambda one: -len(one.times))
    found = _detect_in_stream(streams[0]) if streams else None
    if found is None:
        return []
    return select_worst([found, *map(_detect_in_stream, streams[1:])], by=lambda _: 0.0)


def _detect_in_stream(stream: Stream) -> Finding | None:
    """Measure the spread of send intervals, without the gaps of losses and rests."""
    intervals = _list_sent_intervals(stream)
    if len(intervals) < 20:
        return None
    usual = compute_median(intervals)
    low, high = compute_quantile(intervals, 0.1), compute_quantile(intervals, 0.9)
    spread = (high - low) / usual
    limit = SPREAD
    if _has_alternating_intervals(intervals):
        limit = max(REGULAR_SPREAD, 2.5 * find_lattice(stream.excerpt.times) / usual)
    if spread < limit or _keeps_beat(stream.times, low, high):
        return None
    mean = float(intervals.mean())
    worst = int(np.abs(stream.intervals - usual).argmax())
    frames = _find_frame_rate(intervals)
    return Finding(
        "send-rate",
        min(1.0, spread / 2),
        spread,
        limit,
        {
            "low": low,
            "high": high,
            "mean": 1 / mean,
            "kind": f"whole frames of {frames:g} Hz" if frames else "no fixed rate",
        },
        None,
        float(stream.times[worst]),
        stream.entities,
    )


def _keeps_beat(times: Floats, low: float, high: float) -> bool:
    """Return True for an accumulator (next += interval) on the sender's ticks or frames.

    Intervals are as many ticks as ``low`` or ``high`` (s), and each packet is sent in the first
    tick after its turn.
    """
    intervals, unit = np.diff(times), high - low
    one = intervals < high + 0.1 * unit
    usual = intervals[one]
    near = np.minimum(np.abs(usual - low), np.abs(usual - high)) < 0.1 * unit
    if near.mean() < TWO_MODES:
        return False
    counts = np.where(one, 1, np.round(intervals / usual.mean()))
    turns = np.append(0, np.cumsum(counts))
    off = times - np.polyval(np.polyfit(turns, times, 1), turns)
    return bool(np.ptp(off) < BEAT * unit)


def _has_alternating_intervals(intervals: Floats) -> bool:
    """Return True if short and long intervals alternate more than random intervals would."""
    off = intervals - compute_median(intervals)
    off = np.clip(off, *np.quantile(off, (0.05, 0.95))) - off.mean()
    square = float(np.square(off).sum())
    return square > 0 and float((off[1:] * off[:-1]).sum()) < -ALTERNATE * square


def _list_sent_intervals(stream: Stream) -> Floats:
    """Return the intervals in which no packet is known to be missing."""
    if stream.numbered:
        sent = stream.follows.copy()
        silent = stream.find_stretched(SILENT)
        sent[silent[stream.mark_rested(silent)]] = False
        return stream.intervals[sent]
    # a loss makes an interval two periods long: what could be one is none of the sender's
    periods = stream.intervals / stream.period
    whole = (np.round(periods) >= 2) & (np.abs(periods - np.round(periods)) < 0.1)
    regular = float((np.abs(periods - 1) < 0.05).mean()) > 0.5
    return stream.intervals[~whole] if regular else stream.intervals


def _find_frame_rate(intervals: Floats) -> float:
    """Return the frame rate whose neighboring multiples explain nearly all intervals; or 0."""
    for rate in USUAL_RATES:
        periods = intervals * rate
        whole = np.round(periods)
        on = np.abs(periods - whole) < 0.1
        few = np.unique(whole[on])
        if on.mean() > TWO_MODES and len(few) == 2 and few[1] - few[0] == 1 and few[0] >= 1:
            return float(rate)
    return 0.0


DETECTOR = Detector(
    "send-rate",
    "packets are not sent regularly",
    "Packets are {low:s} to {high:s} apart (10-90 % spread), {mean:number} a second on average:"
    " {kind}.",
    "A strategy that counts on the send rate (Mirror, Unity, snapshot interpolation by packets) has"
    " a delay that is too short for the long intervals.",
    "Send on a fixed tick with an accumulator (next += interval, not last = now), at a rate that"
    " divides the frame rate; tell the strategy the true interval.",
    "10-90 % spread of the stamps' intervals over their median, without the gaps that losses leave",
    "it is 0.3; or 0.08, and long and short intervals alternate",
    "quantiles; two modes on the lattice of a usual frame rate",
    detect,
    rank=71,
)
