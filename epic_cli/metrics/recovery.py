"""The time until what is drawn is right again after a teleport or an outage."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import (
    ARRIVAL,
    TELEPORT,
    TIME,
    compute_lengths,
    compute_median,
    make_packet_table,
)
from epic_cli.metrics.truth import GAP_INTERVALS, GAP_SECONDS, SampledTruth, Truth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Flags, Floats

    Rows = NDArray[np.intp]

#: Longest recovery (s).
LONGEST = 5.0

#: Seconds of a silence that count as wrong if the truth was rebuilt across it: what a player saw is
#: unknown, and in a pause of the game it does not matter.
UNSEEN = 1.0

#: Seconds for which a drawn path has to stay right to have recovered.
STEADY = 0.2

#: A drawn path is right within this many times its median distance, which even half of the time
#: spent recovering hardly changes.
USUAL = 3.0

#: Moments of a silence at which the movement is checked.
LOOKED_AT = 65

#: Seconds after an outage in which a leap has to happen.
LEAPT = 0.5

#: Between two places is a point with less than this share of the way to both.
BETWEEN = 0.1


class Events(NamedTuple):
    """The n teleports, corrections and outages of one entity, ordered by the next packet's arrival.

    ``arrivals`` and ``stamps`` (n) are those of that packet, in seconds on the receiver's clock;
    ``teleports`` (n) marks teleports, ``corrections`` (n) packets marked as teleports where the
    truth goes on: a client corrected its prediction. ``silences`` (n, s) is the time without a
    packet before. ``first`` is the time of the first state, ``interval`` the median time between
    the states of two packets, infinite for fewer than two.
    """

    arrivals: Floats
    stamps: Floats
    teleports: Flags
    corrections: Flags
    silences: Floats
    first: float
    interval: float


class Recovery(NamedTuple):
    """Counts of teleports, outages and corrections, and the seconds of recovery from them.

    ``smeared`` counts teleports after which something was drawn between the old place and the new.
    ``each`` has the seconds after every single event, NaN where the next came too soon. ``unseen``
    are seconds without a packet in which the right place is unknown. ``leaps`` counts outages that
    ended in one step.
    """

    teleports: int = 0
    teleport_seconds: float = 0.0
    smeared: int = 0
    outages: int = 0
    outage_seconds: float = 0.0
    corrections: int = 0
    correction_seconds: float = 0.0
    each: tuple[float, ...] = ()
    unseen: float = 0.0
    leaps: int = 0

    def __or__(self, other: Recovery) -> Recovery:
        """Return the sum of two recoveries."""
        return Recovery(*map(operator.add, self, other))


def find_events(
    packets: PacketBlock,
    truth: Truth,
    offset: float,
    latency: float | None,
    silent: float = 0.0,
) -> Events:
    """Find an entity's teleports, corrections and outages, by its packets and its truth.

    ``offset`` (s) turns the sender's times into the receiver's. A packet without an arrival time
    arrives ``latency`` seconds after it was sent; None: every packet arrives when it was sent. Up
    to ``silent`` seconds without a packet are the sender's choice, and no outage.
    """
    table = make_packet_table(packets)
    stamps = table[TIME] + offset
    if latency is None:
        arrivals = stamps
    else:
        arrivals = np.where(np.isnan(table[ARRIVAL]), table[TIME] + latency, table[ARRIVAL])
    known = np.isfinite(stamps) & np.isfinite(arrivals)
    stamps, arrivals, marked = stamps[known], arrivals[known], table[TELEPORT][known] > 0
    if not (arrivals[1:] >= arrivals[:-1]).all():
        order = np.argsort(arrivals, kind="stable")
        stamps, arrivals, marked = stamps[order], arrivals[order], marked[order]
    earliest = float(stamps[0]) if len(stamps) else -np.inf
    # late and repeated packets are no news
    newest = np.maximum.accumulate(stamps) if len(stamps) else stamps
    fresh = np.append(True, newest[1:] > newest[:-1])[: len(stamps)]
    stamps, arrivals, marked = stamps[fresh], arrivals[fresh], marked[fresh]
    silence = np.diff(arrivals, prepend=arrivals[:1])
    usual = compute_median(silence[1:]) if len(silence) > 1 else 0.0
    longest = max(GAP_INTERVALS * usual, GAP_SECONDS) + silent
    for k in np.flatnonzero(silence > longest):
        silence[k] -= _measure_resting_time(truth, stamps[k - 1], stamps[k])
    outage = silence > longest
    teleport = np.zeros(len(stamps), bool)
    first = np.searchsorted(stamps, truth.starts[truth.teleported] - 1e-9)
    teleport[first[first < len(stamps)]] = True
    corrected = marked & ~teleport & (truth.origin == "given")
    chosen = np.flatnonzero(outage | teleport | corrected)
    return Events(
        arrivals[chosen],
        stamps[chosen],
        teleport[chosen],
        corrected[chosen],
        np.where(outage, silence, 0.0)[chosen],
        earliest,
        compute_median(np.diff(stamps)) if len(stamps) > 1 else np.inf,
    )


def _measure_resting_time(truth: Truth, start: float, end: float) -> float:
    """Return for how many seconds from ``start`` on the entity rested, as far as known."""
    (here,), low, high = truth.interpolate(np.array([start])).positions, start, end
    for _ in range(2):
        times = np.linspace(low, high, LOOKED_AT)
        away = np.abs(truth.interpolate(times).positions - here)
        moved = ~(away <= 2 * truth.resolution).all(axis=1)
        if not moved.any():
            return high - start
        first = max(int(moved.argmax()), 1)
        low, high = float(times[first - 1]), float(times[first])
    return low - start


def measure_recovery(
    shown: Floats,
    sampled: SampledTruth,
    events: Events,
    lag: float,
    late: Floats,
    tolerance: float,
) -> Recovery:
    """Measure the recovery of a strategy that draws ``shown`` (n, 3), ``lag`` seconds late.

    ``late`` (n, 3) is the true position that much earlier. The strategy has recovered when it is,
    for ``STEADY`` seconds, as near to the truth at its usual lag as it usually is (``USUAL``), or
    within ``tolerance``. The lag does not count twice: the time begins at the arrival, or when the
    strategy would show that packet.
    """
    if not len(events.arrivals):
        return Recovery()
    times, truth = sampled.times, sampled.truth
    away = compute_lengths(shown - late)
    usual = away[sampled.counted & np.isfinite(away)]
    near = max(tolerance, USUAL * compute_median(usual) if len(usual) else 0.0)
    # where nothing is known of the truth, nothing is wrong
    wrong = np.append(0, np.cumsum(~(away <= near) & ~np.isnan(late[:, 0])))
    steady = max(1, round(STEADY / sampled.tick))
    rows = np.arange(len(times))
    right = np.flatnonzero(wrong[np.minimum(rows + steady, len(times))] == wrong[rows])
    begins = np.maximum(events.arrivals, events.stamps + max(lag, 0.0))
    ends = np.minimum(np.append(events.arrivals[1:], np.inf), begins + LONGEST)
    first, last = np.searchsorted(times, begins), np.searchsorted(times, ends)
    found = np.append(right, len(times))[np.searchsorted(right, first)]
    found = np.minimum(found, last)
    seconds = (found - first) * sampled.tick
    judged = last - first >= steady
    teleports, corrections = judged & events.teleports, judged & events.corrections
    outages = judged & ~(teleports | corrections)
    return Recovery(
        int(teleports.sum()),
        float(seconds[teleports].sum()),
        _count_smeared_teleports(
            shown, sampled, events.stamps[teleports], found[teleports], lag, near
        ),
        int(outages.sum()),
        float(seconds[outages].sum()),
        int(corrections.sum()),
        float(seconds[corrections].sum()),
        tuple(np.where(judged, seconds, np.nan).tolist()),
        float(np.minimum(events.silences, UNSEEN).sum()) if truth.origin == "rebuilt" else 0.0,
        _count_leaps(shown, away, times, events.arrivals[events.silences > 0], near),
    )


def _count_leaps(shown: Floats, away: Floats, times: Floats, arrivals: Floats, near: float) -> int:
    """Count the arrivals (s) after which a single drawn step closes most of the distance."""
    steps = compute_lengths(np.diff(shown, axis=0))
    count = 0
    for arrival in arrivals.tolist():
        begin, end = np.searchsorted(times, (arrival, arrival + LEAPT)) - 1
        if begin < 0 or begin + 1 >= end:
            continue
        way = float(away[begin])
        count += bool(way > near and steps[begin:end].max() > way / 2)
    return count


def _count_smeared_teleports(
    shown: Floats, sampled: SampledTruth, stamps: Floats, recovered: Rows, lag: float, near: float
) -> int:
    """Count the teleports that are drawn as a movement from the old place to the new one.

    ``stamps`` (n) are the times (s) of the first packets after the teleports, ``recovered`` (n) the
    rows from which on the strategy has recovered.
    """
    truth, count = sampled.truth, 0
    segments = np.searchsorted(truth.starts, stamps + 1e-9) - 1
    for segment, end in zip(segments.tolist(), recovered.tolist(), strict=True):
        if segment < 1:
            continue
        begin = truth.ends[segment - 1]
        (here,) = truth.interpolate(np.array([begin])).positions
        (there,) = truth.interpolate(truth.starts[segment : segment + 1]).positions
        way = there - here
        length = float(np.sqrt(way @ way))
        if not length * BETWEEN > near:
            continue
        rows = slice(int(np.searchsorted(sampled.times, begin)), end)
        # what is still on its old way, as late as ever, is not between
        before = truth.interpolate(
            np.clip(sampled.times[rows] - lag, truth.starts[segment - 1], begin)
        )
        left = compute_lengths(shown[rows] - before.positions) > near
        beside = shown[rows] - here
        along = beside @ way / length**2
        aside = compute_lengths(beside - along[:, None] * way)
        between = (along > BETWEEN) & (along < 1 - BETWEEN) & (aside < BETWEEN * length)
        count += bool((left & between).any())
    return count
