"""States that are only sent when they are further than a threshold from what receivers have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.arrays import lengths, median, quantile
from epic_cli.metrics.digits import number
from epic_cli.metrics.traffic import FEWEST_STATES, USUAL_RATES, Flags, Floats, Stream, Traffic

#: This share of the intervals allows for one threshold.
FITS = 0.85

#: The same distance in intervals that differ by this much (90th percentile over the 10th), and by
#: this many frames, or else many are of a single one: two longer ones that are neighbours allow for
#: one threshold whatever it moves like.
UNEVEN, FRAMES = 1.35, 2

#: In usual intervals: longer ones are rests, losses, or heartbeats (at least this many).
SHORT, BEATS = 3.0, 4

#: At least this many rests end with a state which has passed the threshold, by this much of it.
RESTS, NEARLY, LONGER = 4, 0.97, 1.5

#: A share of what was passed, from below, of which accidents are left out.
LEAST = 0.02

#: A less usual measure fits more of the intervals by this share.
CLEARLY = 0.02

#: Single frames say nothing at an even speed: they have to pass distances that differ by this much.
PACES = 1.1

#: The distances that were passed are within this (90th percentile over the 10th).
ALIKE = 3.0


def detect(traffic: Traffic) -> list[Finding]:
    """The one distance that each interval passed with its last moment, and not before."""
    return worst(map(_of, traffic.streams))


def _of(stream: Stream) -> Finding | None:
    intervals = stream.intervals
    if len(intervals) < 2 * FEWEST_STATES:
        return None
    frame = _frame(intervals)
    if not frame:
        return None
    counted = ~stream.teleports[1:] & (stream.follows | (not stream.numbered))
    counted &= ~_beats(intervals, frame)
    usual = counted & (
        intervals <= SHORT * median(intervals[counted] if counted.any() else intervals)
    )
    used, single = usual & (intervals > 1.5 * frame), usual & (intervals < 1.5 * frame)
    if used.sum() < FEWEST_STATES:
        return None
    short, long = quantile(intervals[used], 0.1), quantile(intervals[used], 0.9)
    uneven = long >= UNEVEN * short and round((long - short) / frame) >= FRAMES
    several = single.sum() >= FEWEST_STATES  # what is sent in the next frame has passed it, too
    # what is missed by an extrapolation in a single frame is small, and noise is as large
    guessed = stream.has_velocities and uneven and used.sum() >= 0.5 * len(intervals)
    rests = counted & ~usual
    best: tuple[float, float, _Measure] | None = None
    for measure in _measures(stream, frame, guessed):
        groups = [used, single] if several and not measure.guesses else [used]
        passed = measure.passed
        if not _spread(passed[used]) < ALIKE:
            continue
        every = np.logical_or.reduce(groups)
        least = passed * measure.share
        size = _between_most(least[every], passed[every])
        fit = (least <= size) & (size < passed)
        fits = min(float(fit[group].mean()) for group in groups)
        # at an even speed, what it had passed after a rest says the same
        enough = size * NEARLY < passed[rests]
        rested = rests.sum() >= RESTS and float((enough & (passed[rests] < LONGER * size)).mean())
        told = uneven or (several and _spread(passed[single]) > PACES) or rested > FITS
        if told and fits >= FITS and (best is None or fits > best[0] + CLEARLY):
            # each has passed it, some by next to nothing, unless a frame is longer than that
            if len(groups) == 1:
                size = quantile(np.sort(passed[every & fit]), LEAST)
            best = fits, size, measure
    if best is None:
        return None
    fits, size, measure = best
    values: dict[str, float | str] = {
        "size": size,
        "what": f"{number(size)}{measure.unit} from {measure.against}",
        "against": measure.against,
        "rate": 1 / frame,
        "mean": 1 / float(intervals.mean()),
    }
    return Finding("threshold", fits, fits, FITS, values, None, None, stream.entities)


class _Measure(NamedTuple):
    """What a threshold may be of: how much was ``passed`` (n), and the ``share`` a frame before."""

    against: str
    passed: Floats
    share: Floats
    unit: str = ""
    guesses: bool = False


def _measures(stream: Stream, frame: float, guessed: bool) -> Iterator[_Measure]:
    """Yield what a sender may compare with a threshold, the usual first."""
    before = 1 - frame / stream.intervals  # how far it was when it was not yet sent
    moved = np.diff(stream.positions, axis=0)
    last = "the last state that was sent"
    yield _Measure(last, stream.steps, before)
    yield _Measure(f"{last}, on one axis", np.abs(moved).max(axis=1), before)
    if not guessed:
        return
    missed = moved - stream.velocities[:-1] * stream.intervals[:, None]
    yield _Measure("its extrapolation", lengths(missed), before * before, guesses=True)
    on_axis = np.abs(missed).max(axis=1)
    yield _Measure("its extrapolation, on one axis", on_axis, before * before, guesses=True)
    ways = stream.velocities[:-1], stream.velocities[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = (ways[0] * ways[1]).sum(axis=1) / (lengths(ways[0]) * lengths(ways[1]))
    turned = np.degrees(np.arccos(np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)))
    yield _Measure("the direction that was sent last", turned, before, " degrees", True)


def _beats(intervals: Floats, frame: float) -> Flags:
    """Which intervals are those of a heartbeat: the longest one, often."""
    most = quantile(np.sort(intervals), 0.995)
    beats = np.abs(intervals - most) < 0.5 * frame
    return np.asarray(beats & (beats.sum() >= BEATS) & (most > SHORT / 2 * median(intervals)))


def _frame(intervals: Floats) -> float:
    """The time (s) of which all are multiples, of the slowest usual rate; 0: of none."""
    for rate in USUAL_RATES:
        turns = intervals * rate
        if np.mean(np.abs(turns - np.round(turns)) < 0.05) > 0.95:
            return 1 / rate
    return 0.0


def _spread(values: Floats) -> float:
    """The 90th percentile over the 10th."""
    low, high = quantile(values, 0.1), quantile(values, 0.9)
    return high / low if low > 0 else math.inf


def _between_most(least: Floats, most: Floats) -> float:
    """The value that lies between most pairs of these."""
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
    "share of the intervals in which the same distance was passed with the last moment",
    f"{FITS} of them, where intervals differ by {UNEVEN} and {FRAMES} frames (10-90 %), and"
    " of those of a single frame",
    "definition of sending by a threshold; IEEE 1278.1 of that against an extrapolation",
    detect,
    rank=47,
    explains=("send-rate", "on-change", "server-stall"),
)
