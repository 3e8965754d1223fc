"""What pictures show of a comparison: the truth, the packets and what was drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import Status
from epic_cli.metrics.arrays import LARGEST, lengths, root_mean_square
from epic_cli.metrics.turns import angles
from epic_cli.show.scenes.events import (
    Deliveries,
    Interruption,
    deliveries_of,
    interruptions,
    snaps,
)
from epic_cli.show.scenes.series import (
    NO_LAGS,
    LagSeries,
    blur,
    distinct,
    edges,
    kept_rows,
    lag_over_time,
    runs,
    shared_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.measure import Entity
    from epic_cli.metrics.recovery import Events
    from epic_cli.show.scenes.series import Rows

#: All pictures of a comparison together hold about so many drawn positions.
MOST_POSITIONS = 500_000

#: An entity's strategy has at least so many, where there are many of both.
_FEWEST = 200

#: So many seconds before and after the moments that matter most, every row is kept.
AROUND = 3.0

#: A band of statuses has no more runs than this.
MOST_RUNS = 4000

#: The error's histogram has so many bins for each factor of ten, over so many of these.
BINS, DECADES = 8, 6

#: What a band shows first where runs are too short to be seen.
_RARE_FIRST = (Status.NONE, Status.HELD, Status.EXTRAPOLATED, Status.INTERPOLATED)


class Histogram(NamedTuple):
    """How often which error was drawn: bin k is from 10^(k/8) to 10^((k+1)/8) lengths.

    ``first`` is the number k of the first bin, ``counts`` are rows. What is smaller than the first
    bin is in it.
    """

    first: int
    counts: Rows


class Drawn(NamedTuple):
    """What one strategy drew in a scene, at n ``times``.

    ``positions`` (n, 3) are NaN where nothing is drawn; ``distances`` (n) are those from the
    truth, NaN where it is not known, of undrawn rows those of the last state received; ``errors``
    (n) are the same, NaN also in rows that do not count; ``across`` (n) is the share of each that
    is beside the truth's way, 0 to 1. A row that is all NaN keeps lines from
    being drawn across a teleport. ``run_times`` (r) are when the ``run_statuses`` (r, numbers of
    ``Status``) begin. ``recoveries`` has, for each interruption of the scene, the seconds until it
    was over for this strategy, NaN: not known. ``rms`` is the root mean square error of all rows
    of the span, kept or not. ``rotations`` (n, 4) are NaN where none is drawn, ``angles`` (n,
    degrees) those to the truth in rows that count; None: it does not turn. ``blur`` is that of
    ``Scene`` for this strategy alone.
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
    """One entity: times (n) in seconds, the truth there (n, 3), NaN where it is not known.

    Where a new segment of the truth begins, one row is NaN too, so that no line bridges the cut.

    ``packets`` (m, 3) are the positions received, ``packet_times`` (m) when they were sent and
    ``arrivals`` (m) when they came, NaN where that is not known. ``deliveries`` has all packets
    of the recording. ``rows`` is how many rows the comparison has in this span. Of more than
    pictures can hold, all keep those at the ``shared`` times (s), and each those that matter to
    it; the truth has all of these. ``blur`` (s, lengths): after each shared time, until the next
    one, no row that is left out is further than this from the straight line between its
    neighbours that are kept. None: every row is there.
    ``rotations`` (n, 4) are the truth's, None where the recording has none.
    """

    entity: str
    times: Floats
    truth: Floats
    packet_times: Floats
    packets: Floats
    arrivals: Floats
    drawn: tuple[Drawn, ...]
    rows: int
    deliveries: Deliveries
    interruptions: tuple[Interruption, ...]
    rotations: Floats | None = None
    shared: Floats | None = None
    blur: Floats | None = None


class Selection(NamedTuple):
    """Which rows a scene shows: from ``start`` to ``end`` (seconds), about ``most`` of each."""

    most: int
    start: float
    end: float

    def among(self, pictures: int) -> Selection:
        """The same for so many entities' strategies, which share what pictures may hold."""
        share = max(_FEWEST, MOST_POSITIONS // max(pictures, 1))
        return self._replace(most=min(self.most, share))

    def rows(self, times: Floats) -> slice:
        """The rows of the span."""
        first, last = np.searchsorted(times, [self.start, self.end])
        return slice(int(first), int(last))


def drawn(
    label: str,
    shown: Floats,
    status: NDArray[np.int32],
    entity: Entity,
    selection: Selection,
    recoveries: Sequence[float],
    rotations: Floats | None = None,
    lags: bool = True,
) -> Drawn:
    """What a scene shows of one strategy's rows; see ``measure`` for those of all rows.

    ``recoveries`` are the seconds until it had recovered from each of the entity's events. Without
    ``lags``, which take longest, there are none.
    """
    sampled, events = entity.truth, entity.events
    chosen = selection.rows(sampled.times)
    times, statuses = sampled.times[chosen], status[chosen]
    positions = np.array(shown[chosen])
    # a strategy that has gone out of all bounds would leave a picture of nothing else
    positions[~(np.abs(positions) < LARGEST).all(axis=1)] = np.nan
    # an undrawn row is judged as the last state that was received, but nothing is drawn there
    apart = positions - sampled.positions[chosen]
    distances = lengths(apart)
    along = sampled.squares_along(apart, sampled.velocities[chosen])
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.sqrt(np.maximum(1 - along / distances**2, 0.0))
    positions[statuses == int(Status.NONE)] = np.nan
    turned = []
    if rotations is not None and sampled.turns is not None:
        own = np.where((statuses == int(Status.NONE))[:, None], np.nan, rotations[chosen])
        off = angles(own, sampled.turns.rotations[chosen])
        turned = [own, np.where(sampled.counted[chosen], off, np.nan)]
    errors = np.where(sampled.counted[chosen], distances, np.nan)
    broken = np.flatnonzero(snaps(sampled, positions, chosen)) if len(times) else np.empty(0, int)
    shared, most = _shared(times, events, selection.most), selection.most
    kept = np.arange(len(times))
    if len(shared) < len(times):
        worst = times[[int(np.nanargmax(errors))]] if np.isfinite(errors).any() else times[:0]
        kept = distinct(
            len(times),
            shared,
            kept_rows([errors, *turned[1:]], most // 4),
            _moments(times, worst, most // 8),
            edges(positions),
            # the two rows of a snap: the hole stands between them
            broken,
            broken + 1,
        )
    at = np.searchsorted(kept, broken + 1)
    starts, bands = runs(statuses, MOST_RUNS, _RARE_FIRST)
    turned = [np.insert(one[kept], at, np.nan, axis=0) for one in turned]
    return Drawn(
        label,
        np.insert(times[kept], at, times[broken]),
        np.insert(positions[kept], at, np.nan, axis=0),
        np.insert(distances[kept], at, np.nan),
        np.insert(errors[kept], at, np.nan),
        np.insert(across[kept], at, np.nan),
        times[starts],
        bands,
        lag_over_time(sampled, positions, chosen) if lags else NO_LAGS,
        histogram(errors),
        tuple(recoveries),
        root_mean_square(errors[np.isfinite(errors)]),
        turned[0] if turned else None,
        turned[1] if turned else None,
        blur(times, positions, kept, shared),
    )


def _shared(times: Floats, events: Events, most: int) -> Rows:
    """The rows of an entity that every line keeps: of the longest outages all."""
    longest = events.arrivals[np.argsort(-events.silences, kind="stable")[:100]]
    return shared_rows(len(times), most, _moments(times, longest, most // 8))


def _moments(times: Floats, middles: Floats, most: int) -> Rows:
    """The rows around some moments, at which people look: ``most`` at most."""
    kept = [np.empty(0, np.int64)]
    for middle in middles.tolist():
        first, last = np.searchsorted(times, [middle - AROUND, middle + AROUND])
        most -= int(last - first)
        if most < 0:
            break
        kept.append(np.arange(first, last))
    return np.concatenate(kept)


def histogram(errors: Floats) -> Histogram:
    """How often which of the errors (n) there is, NaN not counted."""
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


def scene(entity: Entity, offset: float, selection: Selection, shown: Sequence[Drawn]) -> Scene:
    """A scene of what was drawn for one entity; ``offset`` (s) is added to the packets' times."""
    sampled, events = entity.truth, entity.events
    chosen = selection.rows(sampled.times)
    times, truth = sampled.times[chosen], sampled.positions[chosen].copy()
    begun = np.cumsum(sampled.begins)[chosen]
    truth[1:][begun[1:] > np.maximum(begun[:-1], 1)] = np.nan
    turns = None if sampled.turns is None else sampled.turns.rotations[chosen]
    shared = _shared(times, events, selection.most)
    of_all = np.searchsorted(times, np.concatenate([one.times for one in shown] or [times]))
    kept = distinct(len(times), shared, of_all, edges(truth))
    blurs = [one.blur for one in shown] + [blur(times, truth, kept, shared)]
    known_blurs = [one for one in blurs if one is not None]
    deliveries = deliveries_of(entity.packets, offset, sampled.truth)
    sent = deliveries.sent
    inside = np.flatnonzero((sent >= selection.start) & (sent <= selection.end))
    if len(inside):
        delays = (deliveries.arrivals - sent)[inside]
        series = [*deliveries.positions[inside].T, delays]
        inside = inside[kept_rows(series, MOST_POSITIONS // 8)]
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
        interruptions(events),
        None if turns is None else turns[kept],
        times[shared] if known_blurs else None,
        np.max(known_blurs, axis=0) if known_blurs else None,
    )
