"""States that are only sent when they are further than a threshold from what receivers have."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.arrays import lengths, median, quantile
from epic_cli.metrics.traffic import FEWEST_STATES, USUAL_RATES, Floats, Stream, Traffic

#: This share of the intervals allows for one threshold.
FITS = 0.85

#: The same distance in intervals that differ by this much (90th percentile over the 10th), and by
#: this many frames, or else many are of a single one: two longer ones that are neighbours allow for
#: one threshold whatever it moves like.
UNEVEN, FRAMES = 1.35, 2

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
    usual = intervals <= 3 * median(intervals)  # longer ones are rests, heartbeats, losses
    usual &= ~stream.teleports[1:] & (stream.follows | (not stream.numbered))
    used, single = usual & (intervals > 1.5 * frame), usual & (intervals < 1.5 * frame)
    if used.sum() < FEWEST_STATES:
        return None
    short, long = quantile(intervals[used], 0.1), quantile(intervals[used], 0.9)
    uneven = long >= UNEVEN * short and round((long - short) / frame) >= FRAMES
    several = single.sum() >= FEWEST_STATES  # what is sent in the next frame has passed it, too
    if not (several or uneven):
        return None
    before = 1 - frame / intervals  # how far it was when it was not yet sent
    groups = [used, single] if several else [used]
    candidates = [("the last state that was sent", stream.steps, before, groups)]
    # what extrapolation misses in a single frame is small, and noise is as large
    if stream.has_velocities and uneven and used.sum() >= 0.5 * len(intervals):
        guess = stream.velocities[:-1] * intervals[:, None]
        missed = lengths(np.diff(stream.positions, axis=0) - guess)
        candidates.append(("its extrapolation", missed, before * before, [used]))
    for against, passed, share, groups in candidates:
        if not _spread(passed[used]) < ALIKE:
            continue
        if not (uneven or _spread(passed[single]) > PACES):
            continue
        every = np.logical_or.reduce(groups)
        least = passed * share
        size = _between_most(least[every], passed[every])
        fit = (least <= size) & (size < passed)
        fits = min(float(fit[group].mean()) for group in groups)
        if fits >= FITS:
            values: dict[str, float | str] = {
                "size": size, "against": against, "rate": 1 / frame,
                "mean": 1 / float(intervals.mean()),
            }  # fmt: skip
            return Finding("threshold", fits, fits, FITS, values, None, None, stream.entities)
    return None


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
    "A state is sent when it is {size:number} from {against}: {mean:number} a second on average,"
    " at most {rate:number}.",
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
