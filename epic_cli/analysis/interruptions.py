"""Teleports, holes in the truth and outages of the network, and how long it takes to recover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.analysis.truth import GAP_INTERVALS, GAP_SECONDS, lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.sampled_truth import SampledTruth
    from epic_cli.analysis.truth import Flags, Floats

#: How long after an interruption a strategy is watched, and how long it must hold what it has
#: reached; in seconds.
WATCHED, HELD = 5.0, 0.25

#: What a strategy has recovered to: the distance that this share of its other rows does not exceed.
USUAL = 0.9

Kind = Literal["teleport", "gap", "outage"]


class Interruption(NamedTuple):
    """From ``start`` to ``end`` (seconds) no usual packet came, or the truth is not continuous."""

    start: float
    end: float
    kind: Kind


def cuts(sampled: SampledTruth) -> list[tuple[Interruption, float]]:
    """Where the truth is not continuous at the ticks, and how far apart its two sides are."""
    known = np.isfinite(sampled.positions[:, 0])
    rows = np.flatnonzero(sampled.begins)
    if len(rows) < 2:
        return []
    last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    found = []
    for row in rows[1:].tolist():
        before = int(last[row - 1])
        if before >= 0:
            start, end = float(sampled.times[before]), float(sampled.times[row])
            apart = float(np.linalg.norm(sampled.positions[row] - sampled.positions[before]))
            kind: Kind = "gap" if end - start > GAP_SECONDS else "teleport"
            found.append((Interruption(start, end, kind), apart))
    return found


def outages(arrivals: Floats) -> list[Interruption]:
    """Stretches without any packet, of the sorted times (m, seconds) at which packets came.

    They are longer than half a second and than four usual intervals.
    """
    intervals = np.diff(arrivals)
    if not len(intervals):
        return []
    least = max(GAP_SECONDS, GAP_INTERVALS * float(np.median(intervals)))
    return [
        Interruption(float(arrivals[i]), float(arrivals[i + 1]), "outage")
        for i in np.flatnonzero(intervals > least).tolist()
    ]


def snaps(sampled: SampledTruth, shown: Floats, chosen: slice) -> Flags:
    """Which of the n - 1 steps of what is ``shown`` (n, 3) lead across a cut of the truth.

    They are those soon after it that are half as long as the cut is wide: no movement, which no
    line should suggest.
    """
    times = sampled.times[chosen]
    steps = lengths(np.diff(shown, axis=0))
    across = np.zeros(len(steps), bool)
    for cut, apart in cuts(sampled):
        first, last = np.searchsorted(times, [cut.start, cut.end + WATCHED])
        part = slice(max(int(first) - 1, 0), int(last))
        across[part] |= (steps[part] > 0.5 * apart) & (apart > 0)
    return across


def recoveries(
    interruptions: Sequence[Interruption], times: Floats, distances: Floats, least: float = 0.0
) -> tuple[float, ...]:
    """After how many seconds what is drawn is as near to the truth as usual, for each one.

    ``distances`` (n) are those from the truth at ``times`` (n). The usual one is what nine of ten
    rows outside of interruptions do not exceed, ``least`` at least; it must be held for a quarter
    of a second. NaN: not within five seconds, nor before the next interruption, or there is
    nothing to go by.
    """
    outside = np.isfinite(distances)
    for one in interruptions:
        first, last = np.searchsorted(times, [one.start, one.end + 1.0])
        outside[first:last] = False
    if not outside.any():
        return tuple(math.nan for _ in interruptions)
    usual = max(float(np.quantile(distances[outside], USUAL)), least)
    found = []
    for index, one in enumerate(interruptions):
        later = [other.start for other in interruptions[index + 1 :] if other.start > one.end]
        end = min([one.end + WATCHED, *later[:1]])
        first, last = np.searchsorted(times, [one.end, end])
        found.append(_settled(times[first:last] - one.end, distances[first:last] <= usual))
    return tuple(found)


def _settled(since: Floats, good: Flags) -> float:
    """The first of the times ``since`` from which all is ``good`` for long enough."""
    bad = np.flatnonzero(~good)
    starts = np.concatenate(([0], bad + 1))
    ends = np.concatenate((bad, [len(good)]))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if start < end and since[end - 1] - since[start] >= HELD:
            return float(since[start])
    return math.nan
