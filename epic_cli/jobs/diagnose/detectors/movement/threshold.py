"""States sent only when they differ from the receivers' state by a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.metrics.arrays import compute_lengths, compute_median, compute_quantile
from epic_cli.metrics.digits import format_number
from epic_cli.metrics.traffic import FEWEST_STATES, USUAL_RATES, Flags, Floats, Stream, Traffic

#: Least share of the intervals that fit one threshold.
FITS = 0.85

#: Intervals have to differ by this factor (90th percentile over the 10th), and by this many frames,
#: unless many are of a single frame: two longer neighbors fit one threshold in any movement.
UNEVEN, FRAMES = 1.35, 2

#: Longest interval in usual ones: longer ones are rests, losses, or heartbeats (at least this
#: many).
SHORT, BEATS = 3.0, 4

#: At least this many rests end with a state that has passed the threshold by this factor.
RESTS, NEARLY, LONGER = 4, 0.97, 1.5

#: Lowest share of the passed distances, which is left out as accidents.
LEAST = 0.02

#: Share of the intervals by which a less usual measure has to fit better.
CLEARLY = 0.02

#: Factor by which distances passed in single frames have to differ: at an even speed they prove
#: nothing.
PACES = 1.1

#: Largest ratio of the passed distances (90th percentile over the 10th).
ALIKE = 3.0


def detect(traffic: Traffic) -> list[Finding]:
    """Find a distance that every interval exceeds in its last frame, and not before."""
    return select_worst(map(_detect_in_stream, traffic.streams))


def _detect_in_stream(stream: Stream) -> Finding | None:
    intervals = stream.intervals
    if len(intervals) < 2 * FEWEST_STATES:
        return None
    frame = _find_frame(intervals)
    if not frame:
        return None
    counted = ~stream.teleports[1:] & (stream.follows | (not stream.numbered))
    counted &= ~_mark_heartbeats(intervals, frame)
    usual = counted & (
        intervals <= SHORT * compute_median(intervals[counted] if counted.any() else intervals)
    )
    used, single = usual & (intervals > 1.5 * frame), usual & (intervals < 1.5 * frame)
    if used.sum() < FEWEST_STATES:
        return None
    short, long = compute_quantile(intervals[used], 0.1), compute_quantile(intervals[used], 0.9)
    uneven = long >= UNEVEN * short and round((long - short) / frame) >= FRAMES
    several = single.sum() >= FEWEST_STATES  # what is sent in the next frame has passed it, too
    # what is missed by an extrapolation in a single frame is small, and noise is as large
    guessed = stream.has_velocities and uneven and used.sum() >= 0.5 * len(intervals)
    rests = counted & ~usual
    best: tuple[float, float, _ThresholdMeasure] | None = None
    for measure in _iterate_measures(stream, frame, guessed):
        groups = [used, single] if several and not measure.guesses else [used]
        passed = measure.passed
        if not _compute_quantile_ratio(passed[used]) < ALIKE:
            continue
        every = np.logical_or.reduce(groups)
        least = passed * measure.share
        size = _find_value_between(least[every], passed[every])
        fit = (least <= size) & (size < passed)
        fits = min(float(fit[group].mean()) for group in groups)
        # at an even speed, what it had passed after a rest says the same
        enough = size * NEARLY < passed[rests]
        rested = rests.sum() >= RESTS and float((enough & (passed[rests] < LONGER * size)).mean())
        told = (
            uneven or (several and _compute_quantile_ratio(passed[single]) > PACES) or rested > FITS
        )
        if told and fits >= FITS and (best is None or fits > best[0] + CLEARLY):
            # each has passed it, some by next to nothing, unless a frame is longer than that
            if len(groups) == 1:
                size = compute_quantile(np.sort(passed[every & fit]), LEAST)
            best = fits, size, measure
    if best is None:
        return None
    fits, size, measure = best
    values: dict[str, float | str] = {
        "size": size,
        "what": f"{format_number(size)}{measure.unit} from {measure.against}",
        "against": measure.against,
        "rate": 1 / frame,
        "mean": 1 / float(intervals.mean()),
    }
    return Finding("threshold", fits, fits, FITS, values, None, None, stream.entities)


class _ThresholdMeasure(NamedTuple):
    """A quantity with a threshold: ``passed`` (n) at sending, a ``share`` of it a frame before."""

    against: str
    passed: Floats
    share: Floats
    unit: str = ""
    guesses: bool = False


def _iterate_measures(stream: Stream, frame: float, guessed: bool) -> Iterator[_ThresholdMeasure]:
    """Yield the differences that a sender may compare with a threshold, the usual ones first."""
    before = 1 - frame / stream.intervals  # how far it was when it was not yet sent
    moved = np.diff(stream.positions, axis=0)
    last = "the last state that was sent"
    yield _ThresholdMeasure(last, stream.steps, before)
    yield _ThresholdMeasure(f"{last}, on one axis", np.abs(moved).max(axis=1), before)
    if not guessed:
        return
    missed = moved - stream.velocities[:-1] * stream.intervals[:, None]
    yield _ThresholdMeasure(
        "its extrapolation", compute_lengths(missed), before * before, guesses=True
    )
    on_axis = np.abs(missed).max(axis=1)
    yield _ThresholdMeasure(
        "its extrapolation, on one axis", on_axis, before * before, guesses=True
    )
    ways = stream.velocities[:-1], stream.velocities[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = (ways[0] * ways[1]).sum(axis=1) / (
            compute_lengths(ways[0]) * compute_lengths(ways[1])
        )
    turned = np.degrees(np.arccos(np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)))
    yield _ThresholdMeasure("the direction that was sent last", turned, before, " degrees", True)


def _mark_heartbeats(intervals: Floats, frame: float) -> Flags:
    """Mark the intervals of a heartbeat: the intervals of the longest length, if frequent."""
    most = compute_quantile(np.sort(intervals), 0.995)
    beats = np.abs(intervals - most) < 0.5 * frame
    return np.asarray(
        beats & (beats.sum() >= BEATS) & (most > SHORT / 2 * compute_median(intervals))
    )


def _find_frame(intervals: Floats) -> float:
    """Return the frame time (s), by the slowest usual rate of which all times are multiples.

    0 if there is no such rate.
    """
    for rate in USUAL_RATES:
        periods = intervals * rate
        if np.mean(np.abs(periods - np.round(periods)) < 0.05) > 0.95:
            return 1 / rate
    return 0.0


def _compute_quantile_ratio(values: Floats) -> float:
    """Return the 90th percentile divided by the 10th."""
    low, high = compute_quantile(values, 0.1), compute_quantile(values, 0.9)
    return high / low if low > 0 else math.inf


def _find_value_between(least: Floats, most: Floats) -> float:
    """Return the value that the most intervals from ``least`` to ``most`` contain."""
    ends = np.sort(np.concatenate((least, most)))
    middles = (ends[1:] + ends[:-1]) / 2
    counts = np.searchsorted(np.sort(least), middles) - np.searchsorted(np.sort(most), middles)
    best = np.flatnonzero(counts == counts.max())
    return float(middles[best[len(best) // 2]])


DETECTOR = Detector(
    "threshold",
    "states are only sent when they differ by a threshold",
    "A state is sent by a threshold, when it is {what}: {mean:number} a second on average, at most"
    " {rate:number}.",
    "Intervals say how fast it moves, not how late packets are: a buffer that counts on a send rate"
    " waits for states that are not coming, and creeps.",
    "Let receivers predict as the sender does, and send at least once a second and once more at"
    " rest; 'epic tune --bytes' says what a threshold costs.",
    "share of the intervals in which the same distance was passed in their last frame",
    f"it is {FITS}, intervals differ by a factor of {UNEVEN} and by {FRAMES} frames (10-90 %), and"
    " it is as high among intervals of a single frame",
    "definition; IEEE 1278.1 for a threshold against an extrapolation",
    detect,
    rank=47,
    explains=("send-rate", "on-change", "server-stall"),
)
