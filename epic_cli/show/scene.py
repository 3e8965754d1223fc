"""Scenes of a comparison: the truth, the packets and the drawn rows, for pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock, Status
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    SEQUENCE,
    TIME,
    choose_places,
    compute_lengths,
    compute_positive_median,
    compute_rms,
    make_packet_table,
)
from epic_cli.metrics.digits import format_three_digits
from epic_cli.metrics.recovery import LONGEST, Events
from epic_cli.metrics.truth import JUMP_FACTOR, SampledTruth, Truth
from epic_cli.metrics.turns import measure_angles
from epic_cli.recordings import LENGTHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Flags, Floats
    from epic_cli.metrics.measurement import Entity


#: All pictures of a comparison together hold about this many drawn positions.
MOST_POSITIONS = 220_000

#: An entity's strategy has at least this many, where there are many of both.
_FEWEST = 200

#: Seconds around the most important moments in which every row is kept.
AROUND = 3.0

#: Most runs of a band of statuses.
MOST_RUNS = 4000

#: The error's histogram has this many bins for each factor of ten, over this many factors.
BINS, DECADES = 8, 6

#: Statuses in the order in which a band shows them where runs are too short to be seen.
_RARE_FIRST = (Status.NONE, Status.HELD, Status.EXTRAPOLATED, Status.INTERPOLATED)


class Histogram(NamedTuple):
    """A histogram of drawn errors: bin k is from 10^(k/8) to 10^((k+1)/8) lengths.

    ``first`` is the number k of the first bin, ``counts`` are rows per bin. Smaller errors are
    counted in the first bin.
    """

    first: int
    counts: Rows


class StrategyTrace(NamedTuple):
    """The positions, errors and statuses that one strategy drew in a scene, at n ``times``.

    ``positions`` (n, 3) are NaN where nothing is drawn. ``distances`` (n) are the distances to the
    truth, NaN where the truth is not known; in undrawn rows the distance is that of the last state
    received. ``errors`` (n) are equal to ``distances``, but NaN in rows that are not judged.
    ``across`` (n) is the share of each error that is perpendicular to the truth's direction, 0 to
    1. A row that is all NaN keeps lines from being drawn across a teleport.

    ``run_times`` (r) are the beginnings of the ``run_statuses`` (r, numbers of ``Status``).
    ``recoveries`` has, for each interruption of the scene, the seconds until this strategy had
    recovered, NaN if not known. ``rms`` is the root mean square error of all rows of the span, kept
    or not. ``rotations`` (n, 4) are NaN where no rotation is drawn; ``angles`` (n, degrees) are the
    angles to the truth in judged rows; both are None if the entity does not turn. ``blur`` is that
    of ``Scene``, for this strategy alone.
    """

    label: str
    times: Floats
    positions: Floats
    distances: Floats
    errors: Floats
    across: Floats
    run_times: Floats
    run_statuses: Rows
    lag: LagSeries
    histogram: Histogram
    recoveries: tuple[float, ...]
    rms: float
    rotations: Floats | None = None
    angles: Floats | None = None
    blur: Floats | None = None


class Scene(NamedTuple):
    """One entity with its truth and the drawn rows of each strategy, for pictures.

    ``times`` (n) are in seconds and the truth (n, 3) is NaN where it is not known. Where a new
    segment of the truth begins, one row is NaN too, so that no line bridges the cut. ``packets``
    (m, 3) are the positions received, ``packet_times`` (m) the times of sending and ``arrivals``
    (m) the times of arrival, NaN if not known. ``deliveries`` has all packets of the recording.
    ``rows`` is the number of the comparison's rows in this span. If pictures cannot hold all rows,
    every line keeps the rows at the ``shared`` times (s) and the rows that matter to that line; the
    truth has the rows of all lines. ``blur`` (s, lengths): from each shared time to the next, the
    largest distance of a left-out row from the straight line between its kept neighbors; None if
    every row is kept. ``rotations`` (n, 4) are the truth's, None if the recording has none. Lengths
    are in the ``unit``; rows are ``tick`` (s) apart.
    """

    entity: str
    times: Floats
    truth: Floats
    packet_times: Floats
    packets: Floats
    arrivals: Floats
    drawn: tuple[StrategyTrace, ...]
    rows: int
    deliveries: Deliveries
    interruptions: tuple[Interruption, ...]
    rotations: Floats | None = None
    shared: Floats | None = None
    blur: Floats | None = None
    unit: str = LENGTHS
    tick: float = 0.05


#: Each entity's rows in pictures are thinned to about this many.
PICTURE_ROWS = 100_000


class Selection(NamedTuple):
    """The rows that a scene shows: from ``start`` to ``end`` (s), about ``most`` for each line.

    A comparison with such a ``selection`` makes scenes while it has the rows.
    """

    most: int = PICTURE_ROWS
    start: float = -math.inf
    end: float = math.inf

    def share_rows(self, pictures: int) -> Selection:
        """Return the selection for one of ``pictures`` pictures that share the number of rows."""
        share = max(_FEWEST, MOST_POSITIONS // max(pictures, 1))
        return self._replace(most=min(self.most, share))

    def select_rows(self, times: Floats) -> slice:
        """Return the slice of the rows from ``start`` to ``end``."""
        first, last = np.searchsorted(times, [self.start, self.end])
        return slice(int(first), int(last))

    def draw_trace(
        self,
        label: str,
        shown: Floats,
        status: NDArray[np.int32],
        entity: Entity,
        recoveries: Sequence[float],
        rotations: Floats | None = None,
        lags: bool = True,
    ) -> StrategyTrace:
        """Return the trace of one strategy; metrics of all rows are computed by ``measure``.

        ``recoveries`` are the strategy's seconds to recover from each of the entity's events.
        Without ``lags``, which take longest to compute, the trace has none.
        """
        sampled, events = entity.truth, entity.events
        chosen = self.select_rows(sampled.times)
        times, statuses = sampled.times[chosen], status[chosen]
        positions = np.array(shown[chosen])
        # a strategy that has gone out of all bounds would leave a picture of nothing else
        positions[~(np.abs(positions) < LARGEST).all(axis=1)] = np.nan
        # an undrawn row is judged as the last state that was received, but nothing is drawn there
        apart = positions - sampled.positions[chosen]
        distances = compute_lengths(apart)
        along = sampled.square_along(apart, sampled.velocities[chosen])
        with np.errstate(invalid="ignore", divide="ignore"):
            across = np.sqrt(np.maximum(1 - along / distances**2, 0.0))
        positions[statuses == int(Status.NONE)] = np.nan
        turned = []
        if rotations is not None and sampled.turns is not None:
            own = np.where((statuses == int(Status.NONE))[:, None], np.nan, rotations[chosen])
            off = measure_angles(own, sampled.turns.rotations[chosen])
            turned = [own, np.where(sampled.counted[chosen], off, np.nan)]
        errors = np.where(sampled.counted[chosen], distances, np.nan)
        broken = (
            np.flatnonzero(mark_snaps(sampled, positions, chosen))
            if len(times)
            else np.empty(0, int)
        )
        shared, most = _select_shared_rows(times, events, self.most), self.most
        kept = np.arange(len(times))
        if len(shared) < len(times):
            worst = times[[int(np.nanargmax(errors))]] if np.isfinite(errors).any() else times[:0]
            kept = unite_rows(
                len(times),
                shared,
                choose_kept_rows([errors, *turned[1:]], most // 4),
                _select_rows_around(times, worst, most // 8),
                find_edges(positions),
                # the two rows of a snap: the hole stands between them
                broken,
                broken + 1,
            )
        at = np.searchsorted(kept, broken + 1)
        starts, bands = summarize_runs(statuses, min(MOST_RUNS, most), _RARE_FIRST)
        turned = [np.insert(values[kept], at, np.nan, axis=0) for values in turned]
        return StrategyTrace(
            label,
            np.insert(times[kept], at, times[broken]),
            np.insert(positions[kept], at, np.nan, axis=0),
            np.insert(distances[kept], at, np.nan),
            np.insert(errors[kept], at, np.nan),
            np.insert(across[kept], at, np.nan),
            times[starts],
            bands,
            measure_lag_over_time(sampled, positions, chosen) if lags else NO_LAGS,
            make_histogram(errors),
            tuple(recoveries),
            compute_rms(errors[np.isfinite(errors)]),
            turned[0] if turned else None,
            turned[1] if turned else None,
            measure_blur(times, positions, kept, shared),
        )

    def make_scene(
        self, entity: Entity, offset: float, shown: Sequence[StrategyTrace], unit: str = LENGTHS
    ) -> Scene:
        """Return the scene of an entity with its drawn traces; ``unit`` is the unit of its lengths.

        ``offset`` (s) is added to the packets' times.
        """
        sampled, events = entity.truth, entity.events
        chosen = self.select_rows(sampled.times)
        times, truth = sampled.times[chosen], sampled.positions[chosen].copy()
        begun = np.cumsum(sampled.begins)[chosen]
        truth[1:][begun[1:] > np.maximum(begun[:-1], 1)] = np.nan
        turns = None if sampled.turns is None else sampled.turns.rotations[chosen]
        shared = _select_shared_rows(times, events, self.most)
        of_all = np.searchsorted(times, np.concatenate([trace.times for trace in shown] or [times]))
        kept = unite_rows(len(times), shared, of_all, find_edges(truth))
        blurs = [trace.blur for trace in shown] + [measure_blur(times, truth, kept, shared)]
        known_blurs = [values for values in blurs if values is not None]
        deliveries = make_deliveries(entity.packets, offset, sampled.truth)
        sent = deliveries.sent
        inside = np.flatnonzero((sent >= self.start) & (sent <= self.end))
        if len(inside):
            delays = (deliveries.arrivals - sent)[inside]
            series = [*deliveries.positions[inside].T, delays]
            inside = inside[choose_kept_rows(series, MOST_POSITIONS // 8)]
        return Scene(
            entity.name,
            times[kept],
            truth[kept],
            sent[inside],
            deliveries.positions[inside],
            deliveries.arrivals[inside],
            tuple(shown),
            len(times),
            deliveries,
            list_interruptions(events),
            None if turns is None else turns[kept],
            times[shared] if known_blurs else None,
            np.max(known_blurs, axis=0) if known_blurs else None,
            unit,
            sampled.tick,
        )


def _select_shared_rows(times: Floats, events: Events, most: int) -> Rows:
    """Return the rows that every line keeps, including the rows around the longest outages."""
    longest = events.arrivals[np.argsort(-events.silences, kind="stable")[:100]]
    return choose_shared_rows(len(times), most, _select_rows_around(times, longest, most // 8))


def _select_rows_around(times: Floats, middles: Floats, most: int) -> Rows:
    """Return at most ``most`` row numbers around these moments."""
    kept = [np.empty(0, np.int64)]
    for middle in middles.tolist():
        first, at, last = np.searchsorted(times, [middle - AROUND, middle, middle + AROUND])
        first, last = max(first, at - most // 2), min(last, at + most - most // 2)
        most -= int(last - first)
        kept.append(np.arange(first, last))
        if most <= 0:
            break
    return np.concatenate(kept)


def make_histogram(errors: Floats) -> Histogram:
    """Return the histogram of the errors (n); NaN is not counted."""
    known = errors[np.isfinite(errors)]
    largest = float(known.max()) if len(known) else 0.0
    if not largest > 0:
        return Histogram(0, np.array([len(known)], np.int64))
    last = math.floor(BINS * math.log10(largest))
    first = last - BINS * DECADES
    with np.errstate(divide="ignore"):
        bins = np.clip(np.floor(BINS * np.log10(known)), first, last).astype(np.int64)
    lowest = int(bins.min())
    return Histogram(lowest, np.bincount(bins - lowest).astype(np.int64))


#: Most lost packets whose times are given; of more, only the number is.
MOST_LOST = 20_000


class Deliveries(NamedTuple):
    """The packets of one entity in order of sending, and an estimate of the lost ones.

    ``sent`` (m) and ``arrivals`` (m, NaN if not known) are in seconds, ``positions`` (m, 3) in the
    recording's unit. ``numbered`` is True if the packets have sequence numbers, without which
    losses cannot be seen. ``lost_times`` (k) are the times at which the missing numbers were sent,
    assuming even sending, ``lost`` (k, 3) the entity's positions at these times; ``lost_count`` is
    the number of lost packets.
    """

    sent: Floats
    arrivals: Floats
    positions: Floats
    numbered: bool
    lost_times: Floats
    lost: Floats
    lost_count: int

    @property
    def interval(self) -> float:
        """The median time between two packets (s); NaN for fewer than two packets."""
        return compute_positive_median(np.diff(self.sent))

    @property
    def delays(self) -> Floats:
        """The delays (s) of the packets that have an arrival time."""
        took = self.arrivals - self.sent
        return took[np.isfinite(took)]


def make_deliveries(packets: PacketBlock, offset: float, truth: Truth) -> Deliveries:
    """Return the deliveries of one entity; ``offset`` (s) is added to the times of sending."""
    table = make_packet_table(packets)
    usable = (np.abs(table[:4]) < LARGEST).all(axis=0)
    order = np.flatnonzero(usable)[np.argsort(table[TIME, usable], kind="stable")]
    sent = table[TIME, order] + offset
    arrivals = table[ARRIVAL, order]
    numbers = np.nan_to_num(table[SEQUENCE, order], nan=-1).astype(np.int64)
    missing = _estimate_lost_times(numbers, sent)
    times = missing[choose_places(len(missing), MOST_LOST)]
    return Deliveries(
        sent,
        np.where(np.abs(arrivals) < LARGEST, arrivals, np.nan),
        table[POSITION, order].T,
        bool(len(numbers) and (numbers >= 0).all() and len(np.unique(numbers)) > 1),
        times,
        truth.interpolate(np.ascontiguousarray(times)).positions,
        len(missing),
    )


def _estimate_lost_times(numbers: Rows, sent: Floats) -> Floats:
    """Return the sending times of missing sequence numbers, evenly between their neighbors."""
    if not len(numbers) or (numbers < 0).any():
        return np.empty(0)
    known, first = np.unique(numbers, return_index=True)
    at = np.maximum.accumulate(sent[first])
    gaps = np.diff(known) - 1
    # a counter that starts again far away is no loss
    holes = np.flatnonzero((gaps > 0) & (gaps < 10_000))
    if not len(holes):
        return np.empty(0)
    counts = gaps[holes]
    owner = np.repeat(np.arange(len(holes)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    share = place / (counts[owner] + 1)
    begin, end = at[holes][owner], at[holes + 1][owner]
    return np.asarray(begin + share * (end - begin))


Kind = Literal["teleport", "outage"]


class Interruption(NamedTuple):
    """A teleport, or a time without packets, from ``start`` to ``end`` (receiver's seconds)."""

    start: float
    end: float
    kind: Kind


def list_interruptions(events: Events) -> tuple[Interruption, ...]:
    """Return all teleports and outages in order; each ends when the next packet arrives."""
    seen = ~events.corrections
    columns = (events.arrivals[seen], events.silences[seen], events.teleports[seen])
    return tuple(
        Interruption(end - silence, end, "teleport" if teleport else "outage")
        for end, silence, teleport in zip(*(column.tolist() for column in columns), strict=True)
    )


def mark_snaps(sampled: SampledTruth, shown: Floats, span: slice) -> Flags:
    """Mark the n - 1 steps of the ``shown`` positions (n, 3) that jump across a cut of the truth.

    These are steps soon after the cut that are at least half as long as the cut is wide, and longer
    than the truth's. They are no movement, so no line is drawn for them.
    """
    times = sampled.times[span]
    steps = compute_lengths(np.diff(shown, axis=0))
    across = np.zeros(len(steps), bool)
    usual = JUMP_FACTOR * sampled.top_speed * sampled.tick
    for begin, end, wide in _find_cuts(sampled):
        first, last = np.searchsorted(times, [begin, end + LONGEST])
        part = slice(max(int(first) - 1, 0), int(last))
        across[part] |= (steps[part] > max(0.5 * wide, usual)) & (wide > 0)
    return across


def _find_cuts(sampled: SampledTruth) -> Sequence[tuple[float, float, float]]:
    """Return the start time (s), end time (s) and length of each jump of the truth at the ticks."""
    rows = np.flatnonzero(sampled.begins)[1:]
    known = np.isfinite(sampled.positions[:, 0])
    last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    before = last[rows - 1]
    rows, before = rows[before >= 0], before[before >= 0]
    apart = compute_lengths(sampled.positions[rows] - sampled.positions[before])
    columns = (sampled.times[before], sampled.times[rows], apart)
    return list(zip(*(column.tolist() for column in columns), strict=True))


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

    Rows = NDArray[np.int64]


def choose_kept_rows(series: Sequence[Floats], most: int) -> Rows:
    """Return the numbers of about ``most`` rows to keep, the same for several series (n each).

    All rows are kept if there are no more. Otherwise the rows are cut into stretches of equal
    length; of each stretch the rows with the least and the largest value of every series are kept,
    as are the first and the last row of all. Where a series is broken (NaN) between two kept rows,
    a row of the hole is kept too, so that no line bridges the hole; many holes thus add rows.
    """
    count = len(series[0])
    if count <= most:
        return np.arange(count)
    stretches = max(1, most // (2 * len(series)))
    size = -(-count // stretches)
    keep = np.zeros(count, bool)
    keep[[0, -1]] = True
    first = np.arange(0, count, size)
    for values in series:
        padded = np.full(len(first) * size, np.nan)
        padded[:count] = values
        table = padded.reshape(-1, size)
        some = ~np.isnan(table).all(axis=1)
        keep[first[some] + np.nanargmax(table[some], axis=1)] = True
        keep[first[some] + np.nanargmin(table[some], axis=1)] = True
    unknown = [np.flatnonzero(np.isnan(values)) for values in series]
    rows = np.flatnonzero(keep)
    while True:
        for holes in unknown:
            keep[_find_rows_in_holes(holes, rows)] = True
        # a row that is kept for one series may stand between two holes of another
        before, rows = len(rows), np.flatnonzero(keep)
        if len(rows) == before:
            return rows


def choose_shared_rows(count: int, most: int, moments: Rows) -> Rows:
    """Return the rows out of ``count`` that every line keeps.

    All, or every k-th and the ``moments``. Whatever is left out of a line, at these rows all lines
    are exact.
    """
    every = 1 if count <= most else -(-3 * count // (2 * most))
    return unite_rows(count, np.arange(0, count, every), np.arange(count)[-1:], moments)


def unite_rows(count: int, *rows: Rows) -> Rows:
    """Return the sorted union of arrays of row numbers below ``count``.

    Faster than ``np.unique``.
    """
    wanted = np.zeros(count, bool)
    for some in rows:
        wanted[some] = True
    return np.flatnonzero(wanted)


def find_edges(positions: Floats) -> Rows:
    """Return the rows on both sides of each change between known and unknown positions (n, 3)."""
    flips = np.flatnonzero(np.diff(np.isnan(positions).any(axis=1)))
    return np.concatenate([flips, flips + 1])


def measure_blur(times: Floats, positions: Floats, kept: Rows, shared: Rows) -> Floats | None:
    """Return the largest distance from the drawn line to the rows left out of it, per shared row.

    ``positions`` are (n, 3) at ``times`` (n). Each distance is over the rows until the next shared
    row, and 0 after the last. None if all rows are ``kept``.
    """
    if len(kept) == len(times):
        return None
    straight = [np.interp(times, times[kept], axis[kept]) for axis in positions.T]
    apart = np.sqrt(np.square(np.stack(straight, axis=1) - positions).sum(axis=1))
    apart[kept] = 0.0
    return np.asarray(np.maximum.reduceat(np.nan_to_num(apart), shared))


def _find_rows_in_holes(unknown: Rows, rows: Rows) -> Rows:
    """Return one of the ``unknown`` rows between each two neighboring ``rows`` that have any."""
    at = np.searchsorted(unknown, rows[:-1], side="left")
    there = at < len(unknown)
    there[there] = unknown[at[there]] < rows[1:][there]
    return unknown[at[there]]


def summarize_runs(
    values: NDArray[np.integer], most: int, order: Sequence[int]
) -> tuple[Rows, Rows]:
    """Return the first rows and the values of about ``most`` runs of equal values.

    If there are more runs, the rows are cut into stretches of equal length, each with its value
    that comes first in ``order``: rare values that matter are not lost.
    """
    count = len(values)
    if not count:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    shown = values[starts]
    if len(starts) > most:
        rank = np.empty(max(order) + 1, np.int64)
        rank[list(order)] = np.arange(len(order))
        first = np.arange(0, count, -(-count // most))
        least = np.minimum.reduceat(rank[values], first)
        new = np.append(True, least[1:] != least[:-1])
        starts, shown = first[new], np.asarray(order)[least[new]]
    return starts, shown.astype(np.int64)


#: A window is at least this many seconds long, and no shorter than this share of the whole.
WINDOW, SHARE = 1.0, 1 / 400

#: Windows overlap: each consists of this many parts, and the next one begins a part later.
_PARTS = 4

#: About this many rows of a part are looked at.
_ROWS = 10

#: The shifts that are tried, in seconds.
_SHIFTS = np.arange(-12, 61) * 0.025


class LagSeries(NamedTuple):
    """The lag (n, seconds) in windows around ``times`` (n); NaN where it is unknown."""

    times: Floats
    seconds: Floats


NO_LAGS = LagSeries(np.empty(0), np.empty(0))


@np.errstate(invalid="ignore", divide="ignore")
def measure_lag_over_time(sampled: SampledTruth, shown: Floats, chosen: slice) -> LagSeries:
    """Return the lag of the ``shown`` positions (n, 3) in the ``chosen`` n ticks, window by window.

    In each window the lag is the shift s that brings shown(t) nearest to truth(t - s), by least
    squares. The lag is unknown (NaN) if the best shift is the first or the last, if all shifts fit
    about equally well, or if fewer than half of the rows are judged.
    """
    times = sampled.times[chosen]
    if len(times) < _PARTS:
        return NO_LAGS
    whole = float(times[-1] - times[0])
    parts = max(_PARTS, round(_PARTS * whole / max(WINDOW, SHARE * whole)))
    edges = np.linspace(0, len(times), min(parts, len(times)) + 1).astype(int)
    index = choose_places(len(times), _ROWS * (len(edges) - 1))
    begins = np.searchsorted(index, edges[:-1])

    def sum_windows(values: Floats | Flags) -> Floats:
        sums = np.cumsum(np.append(0, np.add.reduceat(values, begins)))
        return np.asarray(sums[_PARTS:] - sums[:-_PARTS])

    counted = sampled.counted[chosen][index] & np.isfinite(shown[index]).all(axis=1)
    rows = sum_windows(counted)
    squares = np.full((len(_SHIFTS), len(rows)), np.nan)
    for number, shift in enumerate(_SHIFTS):
        apart = np.square(shown[index] - sampled.truth.interpolate(times[index], shift).positions)
        known = counted & np.isfinite(apart).all(axis=1)
        total, count = sum_windows(np.where(known, apart.sum(axis=1), 0.0)), sum_windows(known)
        squares[number] = np.where(2 * count >= rows, total / count, np.nan)
    enough = 2 * rows >= sum_windows(np.ones(len(index)))
    middles = (times[edges[:-_PARTS]] + times[edges[_PARTS:] - 1]) / 2
    return LagSeries(middles, np.where(enough, _find_best_shift(squares), np.nan))


def _find_best_shift(squares: Floats) -> Floats:
    """Return the shift with the least of mean squares (shifts, windows), refined by a parabola."""
    filled = np.where(np.isnan(squares), np.inf, squares)
    best = filled.argmin(axis=0)
    column = np.arange(squares.shape[1])
    inside = np.clip(best, 1, len(_SHIFTS) - 2)
    left, middle, right = (squares[inside + k, column] for k in (-1, 0, 1))
    step = _SHIFTS[1] - _SHIFTS[0]
    move = np.clip((left - right) / (2 * (left - 2 * middle + right)), -0.5, 0.5) * step
    highest = np.max(np.where(np.isnan(squares), 0.0, squares), axis=0)
    clear = (best == inside) & (filled.min(axis=0) < 0.5 * highest)
    return np.where(clear, _SHIFTS[inside] + move, np.nan)


def choose_ground_axes(scene: Scene) -> tuple[int, int]:
    """Return the two axes with the widest movement, which span the view "from above".

    Games disagree about whether y or z is up; in neither of them entities move most along that
    axis.
    """
    known = np.concatenate((scene.truth, scene.packets))
    known = known[np.isfinite(known).all(axis=1)]
    if not len(known):
        return 0, 1
    spread = np.ptp(known, axis=0)
    first, second = sorted(int(axis) for axis in np.argsort(-spread, kind="stable")[:2])
    return first, second


def select_chosen(scene: Scene, labels: Sequence[str]) -> list[tuple[int, StrategyTrace]]:
    """Return the strategies with these labels and their ranks from 0, the best one last.

    The last one is drawn above all others. Without labels all strategies are returned.
    """
    by_label = {row.label: row for row in scene.drawn}
    found = [by_label[label] for label in labels or by_label if label in by_label]
    return list(enumerate(found))[::-1]


def describe_packets(deliveries: Deliveries) -> str:
    """Describe the number of packets, their span and their interval."""
    count = len(deliveries.sent)
    if not count:
        return "no packets"
    words = f"{count:,} packets, sent from {deliveries.sent[0]:.2f} to {deliveries.sent[-1]:.2f} s"
    if math.isfinite(deliveries.interval):
        words += f", usually one every {format_three_digits(deliveries.interval * 1000)} ms"
    return words


def describe_network(deliveries: Deliveries) -> str:
    """Describe the latency and the losses of the packets, or say that they are not known."""
    delays = deliveries.delays * 1000
    if len(delays):
        low, middle, high = (format_three_digits(q) for q in np.quantile(delays, (0.05, 0.5, 0.95)))
        words = f"latency {middle} ms (90 % from {low} to {high} ms)"
    else:
        words = "no arrival times: packets light up when they were sent"
    if not deliveries.numbered:
        return f"{words}; no sequence numbers, so which packets were lost is not known"
    share = deliveries.lost_count / max(deliveries.lost_count + len(deliveries.sent), 1)
    return f"{words}; {deliveries.lost_count:,} lost ({share:.1%}), by their sequence numbers"


def describe_scene(scene: Scene, shown: Sequence[str]) -> dict[str, str]:
    """Return the description of each picture of a scene, by the picture's name.

    ``shown`` are the strategies that are visible at first.
    """
    chosen = [row for label in shown for row in scene.drawn if row.label == label]
    name = scene.entity or "the entity"
    a, b = choose_ground_axes(scene)
    span = f"from {scene.times[0]:.2f} to {scene.times[-1]:.2f} s"
    known = scene.truth[np.isfinite(scene.truth).all(axis=1)]
    room = np.ptp(known, axis=0) if len(known) else np.zeros(3)
    within = (
        f"{format_three_digits(float(room[a]))} by {format_three_digits(float(room[b]))}"
        f" {scene.unit}"
    )
    return {
        "above": f"Path from above, {'xyz'[b]} over {'xyz'[a]}: {span}, {name} moves within"
        f" {within}. {_join_sentences(chosen, _describe_worst_moment)}",
        "error": f"Error over time, {span}. {_join_sentences(chosen, _describe_error)}",
        **(
            {}
            if scene.rotations is None
            else {"angle": f"Angle over time, {span}. {_join_sentences(chosen, _describe_angle)}"}
        ),
        "lag": f"Lag over time, {span}. {_join_sentences(chosen, _describe_lag)}",
        "status": f"Status over time, {span}. {_join_sentences(chosen, _describe_statuses)}",
        "packets": f"Packets over time: {describe_packets(scene.deliveries)};"
        f" {describe_network(scene.deliveries)}. {_describe_interruptions(scene)}",
        "histogram": f"How often which error is drawn. {_join_sentences(chosen, _describe_median)}",
    }


def _join_sentences(chosen: Sequence[StrategyTrace], words: Callable[[StrategyTrace], str]) -> str:
    return " ".join(f"{trace.label}: {words(trace)}." for trace in chosen)


def _describe_worst_moment(one: StrategyTrace) -> str:
    if not np.isfinite(one.errors).any():
        return "nothing that counts"
    row = int(np.nanargmax(one.errors))
    return f"furthest from the truth at {one.times[row]:.2f} s"


def _describe_error(one: StrategyTrace) -> str:
    return _describe_maximum(one, one.errors)


def _describe_angle(one: StrategyTrace) -> str:
    return "does not turn" if one.angles is None else _describe_maximum(one, one.angles, " degrees")


def _describe_maximum(one: StrategyTrace, values: Floats, unit: str = "") -> str:
    if not np.isfinite(values).any():
        return "no row counts"
    row = int(np.nanargmax(values))
    return f"at most {format_three_digits(float(values[row]))}{unit}, at {one.times[row]:.2f} s"


def _describe_lag(one: StrategyTrace) -> str:
    known = one.lag.seconds[np.isfinite(one.lag.seconds)] * 1000
    if not len(known):
        return "unknown"
    return f"{known.min():.0f} to {known.max():.0f} ms, usually {np.median(known):.0f} ms"


def _describe_statuses(one: StrategyTrace) -> str:
    if not len(one.run_times):
        return "nothing drawn"
    ends = np.append(one.run_times[1:], one.times[-1])
    lasted = np.bincount(one.run_statuses, np.maximum(ends - one.run_times, 0), len(Status))
    total = float(lasted.sum()) or 1.0
    parts = [
        f"{lasted[status] / total:.0%} {status.name.lower()}"
        for status in (Status.INTERPOLATED, Status.EXTRAPOLATED, Status.HELD, Status.NONE)
        if lasted[status] > 0
    ]
    return ", ".join(parts) or "nothing drawn"


def _describe_median(one: StrategyTrace) -> str:
    total = np.cumsum(one.histogram.counts)
    if not total[-1]:
        return "no row counts"
    return (
        f"half of the rows below {_find_quantile(one, 0.5)}, 95 % below {_find_quantile(one, 0.95)}"
    )


def _find_quantile(one: StrategyTrace, share: float) -> str:

    total = np.cumsum(one.histogram.counts)
    at = int(np.searchsorted(total, share * total[-1])) + 1 + one.histogram.first
    return format_three_digits(10.0 ** (at / BINS))


def _describe_interruptions(scene: Scene) -> str:
    if not scene.interruptions:
        return "No teleport, no gap and no outage."
    few = scene.interruptions[:8]
    said = ", ".join(f"{row.kind} at {row.start:.2f} s" for row in few)
    more = len(scene.interruptions) - len(few)
    return f"Interruptions: {said}{f' and {more} more' if more else ''}."
