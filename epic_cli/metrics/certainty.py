"""The bootstrap: by how much a metric would differ if its units were drawn again.

Units are independent of each other: recordings, simulated networks, or blocks of time long enough
to forget each other. As many units are drawn, with replacement, as there are; all strategies are
judged on the same draws, so that their differences are paired.

- Blocks of time: Carlstein 1986. Their length: Politis and White 2004, corrected by Patton,
  Politis and White 2009 (the circular block bootstrap's).
- Where the delay wanders as slowly as a few blocks, each draw has another mean delay, by a
  first-order autoregression of the delay: Kendall 1954 on what short series hide of its memory.
- Two ways, over blocks and entities, with the product of both weights: Owen and Eckles 2012.
- Percentile intervals, expanded by Student's t for few units: Hesterberg 2015, "What Teachers
  Should Know About the Bootstrap", section 4.3.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.measure import compute_running_medians
from epic_cli.metrics import METRICS, find_metric
from epic_cli.metrics.arrays import (
    ARRIVAL,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    VELOCITY,
    compute_median,
    compute_quantile,
    find_edges,
)
from epic_cli.metrics.measurement import (
    FIELDS,
    SENT_FIELDS,
    SPREAD,
    TURN_FIELDS,
    Measurement,
    Resampled,
)
from epic_cli.metrics.metric import Better, Metric, Weights
from epic_cli.metrics.traffic import Flags, Numbers, Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats


#: Probability that an interval contains the value.
CONFIDENCE = 0.95

#: Number of bootstrap draws; a seed gives the same draws on every machine.
DRAWS = 2000

#: Random numbers in memory at a time: all draws of thousands of units would fill it.
_DRAWN_AT_ONCE = 1_000_000

#: Fewest units for an interval.
FEWEST_UNITS = 6

_NORMAL = NormalDist()

#: Standard deviations from the middle to the end of an interval.
_TAIL = _NORMAL.inv_cdf(0.5 + CONFIDENCE / 2)


def iterate_draws(units: int, seed: int, purpose: int = 0, count: int = DRAWS) -> Iterator[Floats]:
    """Yield bootstrap weights: how often each unit occurs in each draw, as arrays (draws, units).

    Each row adds up to ``units``.
    """
    # raw bits: only these are promised to stay the same in later versions of numpy
    source = np.random.PCG64(np.random.SeedSequence([seed, purpose]))
    step = max(1, _DRAWN_AT_ONCE // units)
    for begin in range(0, count, step):
        some = min(step, count - begin)
        chosen = (source.random_raw(some * units) % np.uint64(units)).astype(np.int64)
        chosen += np.repeat(np.arange(some) * units, units)
        yield np.bincount(chosen, minlength=some * units).reshape(some, units).astype(float)


def choose_block_length(series: Floats) -> float:
    """Return the length of a bootstrap block, in cells, for a series with one value per cell (n).

    The length is at least 1.
    """
    largest = float(np.abs(series).max()) if len(series) else 0.0
    values = series / (largest or 1.0)  # whose squares are numbers
    values = values - values.mean()
    count = len(values)
    variance = float(values @ values) / count
    if count < 4 or not variance > 0:
        return 1.0
    most = min(count - 1, math.ceil(math.sqrt(count)) + 5)
    covariances = np.array([values[lag:] @ values[: count - lag] for lag in range(most + 1)])
    covariances /= count
    small = np.abs(covariances / variance) < 2 * math.sqrt(math.log10(count) / count)
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(count))))
    memory = next(
        (
            lag
            for lag in range(most + 1)
            if small[lag + 1 : lag + 1 + in_a_row].all() and lag + 1 <= most
        ),
        most,
    )
    window = np.clip(2 * (1 - np.arange(most + 1) / max(2 * memory, 1)), 0, 1)
    both = np.where(np.arange(most + 1) > 0, 2, 1) * window * covariances
    slope, level = float(both @ np.arange(most + 1)), float(both.sum())
    if not level > 0:
        return 1.0
    length = (2 * slope**2 / (4 / 3 * level**2)) ** (1 / 3) * count ** (1 / 3)
    most = math.ceil(min(3 * math.sqrt(count), count / 3))
    return float(max(1.0, min(length, most)))


def compute_interval(replicates: Floats, units: int) -> tuple[float, float] | None:
    """Return the confidence interval of a metric from its values in the draws; None if unknown."""
    if not np.isfinite(replicates).all():
        return None
    # quantiles at these places of the sorted draws, from those around them: numpy's own take longer
    place = _NORMAL.cdf(-expand_interval(units)) * (len(replicates) - 1)
    at, part = int(place), place % 1
    ends = at, at + 1, -at - 2, -at - 1
    low, lower, upper, high = np.partition(replicates, [end % len(replicates) for end in ends])[
        list(ends)
    ].tolist()
    return low + part * (lower - low), high + part * (upper - high)


def expand_interval(units: int) -> float:
    """Return an interval's half-width, in standard deviations of the draws of ``units`` units.

    Draws of n units vary too little, by sqrt((n - 1) / n), and their deviation is as uncertain as
    Student's t with n - 1 degrees of freedom says.
    """
    return compute_student_quantile(units - 1) * math.sqrt(units / (units - 1))


def compute_student_quantile(freedom: float) -> float:
    """Return the two-sided quantile of Student's t, to 0.001 for 5 degrees of freedom or more.

    Abramowitz and Stegun 1964, 26.7.5.
    """
    x = _TAIL
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def join_cells(cells: Floats, length: int) -> Floats:
    """Sum cells (axis 0) in blocks of ``length`` cells; the last block takes the remainder."""
    blocks = max(1, len(cells) // length)
    starts: NDArray[np.int64] = np.arange(blocks) * length
    return np.asarray(np.add.reduceat(cells, starts, axis=0))


#: A packet this many intervals later than its neighbors counts as lost.
LATE = 2.0

#: Neighbors of a packet on each side; also the packets compared before and after a route change.
AROUND = 8

#: A route change moves delays by this many of their own deviations, and by this share of the
#: interval.
DEVIATIONS, SHARE = 4.0, 0.25

#: Events that happen at most this often in such a recording may be missing by chance, with 97.5 %
#: confidence (-log 0.025; "rule of three") ...
UNSEEN = 3.7

#: ... and, since rare events are of any size, by this much more divided by their number: found by
#: trial (``tests/endurance/coverage.py``).
TAIL = 200.0

#: Fewer rare events do not show how bad they can be.
FEWEST_EVENTS = 5

#: A link that loses fewer packets than this, in fewer seconds, may yet lose in bursts.
FEWEST_LOST, PROVEN = 3, 40.0

#: A silence is longer than this many intervals between stamps.
SILENT = 2.5

#: A longer gap in the sequence numbers begins another session.
LONGEST = 1000

#: Losses are linked if chance explains them less often than this.
CHANCE = 0.05

#: Standard errors of the share of pairs within which losses may yet be linked.
PAIRED = 1.0

#: Stamps show losses if this share of their intervals is within a quarter of the usual one.
STEADY = 0.8


#: Numbers of packets in a row that are left out on trial; only up to two if all losses were single.
IN_A_ROW = (1, 2, 4, 8)
PAIRS = 2


def _compute_upper_bound(seen: int) -> float:
    """Return the upper bound of the expected number of events, if ``seen`` occurred.

    The bound has 97.5 % confidence: that of a Poisson mean, by Wilson and Hilferty 1931.
    """
    more = seen + 1
    return more * (1 - 1 / (9 * more) + _TAIL / (3 * math.sqrt(more))) ** 3


class NetworkEvents(NamedTuple):
    """Counts of rare network events (bursts, delay changes, silences) in all recordings together.

    ``bursts`` counts losses of two or more packets in a row (too late counts as lost), ``pairs``
    the packets lost right behind another, ``lost`` the lost ones of ``sent``, ``changes`` the
    lasting changes of the delay. ``waver`` (s) is the likely difference of the first delay, to
    which some strategies set their clocks, from the usual one. ``watched`` (s) is the time in which
    losses would have shown. ``silences`` counts pauses in which nothing was sent, though nothing is
    missing.
    """

    bursts: int = 0
    pairs: int = 0
    lost: int = 0
    sent: int = 0
    changes: int = 0
    waver: float = 0.0
    watched: float = 0.0
    silences: int = 0

    @property
    def linked(self) -> bool:
        """True if losses follow each other more often than chance explains (Poisson)."""
        expected = self.lost**2 / max(self.sent, 1)
        if self.pairs < 1 or self.pairs > 50 + 3 * expected:
            return self.pairs > 0
        below = math.fsum(
            math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) if expected else k == 0
            for k in range(self.pairs)
        )
        return 1 - below < CHANCE

    @property
    def events(self) -> int:
        """The number of rare events; a few cannot show the tail of their distribution."""
        return self.bursts * self.linked + -(-self.changes // 2)

    @property
    def unproven(self) -> bool:
        """True if hardly a packet was lost, but the recording is too short to exclude losses."""
        return self.lost < FEWEST_LOST and 0 < self.watched < PROVEN

    @property
    def few(self) -> bool:
        """True if there are too few events to know how frequent or how severe they can be."""
        return self.unproven or 0 < self.events < FEWEST_EVENTS

    @property
    def by_chance(self) -> bool:
        """True if losses are single, and too few are adjacent to show the effect of bursts."""
        return self.lost > 0 and not self.linked and self.bursts < FEWEST_EVENTS

    @property
    def tried(self) -> bool:
        """True if the effect of additional losses must be simulated."""
        return self.few or self.by_chance

    @property
    def in_a_row(self) -> tuple[int, ...]:
        """The burst lengths to simulate, in packets."""
        return IN_A_ROW if self.few else IN_A_ROW[:PAIRS]

    @property
    def unseen(self) -> Floats:
        """Numbers of losses that a recording may have missed: an array (scenarios, burst lengths).

        The lengths are ``in_a_row``. Each scenario has other losses. The numbers are upper bounds
        with 97.5 % confidence. Where few losses were seen, bursts longer than two have as many
        packets in all as pairs have. A few losses do not show whether losses follow each other: the
        share that does is the upper end that the seen pairs leave open (Wilson 1927).
        """
        if self.few:
            single = 0.0 if self.linked else _compute_upper_bound(self.lost) - self.lost
            pairs = _compute_upper_bound(self.bursts) - self.bursts
            return np.diag([single, *(pairs * PAIRS / size for size in IN_A_ROW[1:])])
        most = _compute_upper_bound(self.lost)
        z, share = PAIRED, self.pairs / self.lost
        wide = z * math.sqrt(share * (1 - share) / self.lost + z * z / (4 * self.lost**2))
        share = (share + z * z / (2 * self.lost) + wide) / (1 + z * z / self.lost)
        single, pairs = most - self.lost, max(share, most / max(self.sent, 1)) * most
        return np.array([[single, 0], [0, pairs], [single, pairs]])

    @property
    def missed(self) -> float:
        """The number of seconds, as bad as the worst second, that the data may lack."""
        return UNSEEN + (TAIL / self.events if self.events else 0.0)


def add_network_events(several: Iterable[NetworkEvents]) -> NetworkEvents:
    """Return the sum of the network events of several recordings."""
    found = list(several)
    sums = NetworkEvents(*map(sum, zip(*found, NetworkEvents(), strict=True)))
    return sums._replace(waver=max((events.waver for events in found), default=0.0))


@np.errstate(all="ignore")
def count_network_events(table: Floats, begin: float, end: float) -> NetworkEvents:
    """Count the network events among packets (``make_packet_table``) from ``begin`` to ``end`` (s).

    Packets without arrival times count as arrived when they were sent.
    """
    stamps, arrivals = table[TIME], table[ARRIVAL]
    arrivals = np.where(np.isfinite(arrivals), arrivals, stamps)
    known = np.isfinite(stamps) & (arrivals >= begin) & (arrivals <= end)
    stamps, arrivals, numbers = stamps[known], arrivals[known], table[SEQUENCE][known]
    if len(stamps) < 2 * AROUND:
        return NetworkEvents()
    if np.isnan(numbers).any():
        numbers = stamps
    order = np.argsort(numbers, kind="stable")
    order = order[np.append(True, np.diff(numbers[order]) > 0)]
    numbers, stamps = numbers[order], stamps[order]
    delays = arrivals[order] - stamps
    steps = np.diff(numbers)
    usual, interval = compute_median(steps), compute_median(np.diff(stamps))
    if len(steps) < 2 * AROUND or not (usual > 0 and interval > 0):
        return NetworkEvents()
    level = _compute_running_median(delays)
    noise = delays - level
    spread = 1.4826 * compute_median(np.abs(noise))
    waver = max(interval / 2, min(2 * spread, compute_quantile(np.abs(noise), CONFIDENCE)))
    most = max(DEVIATIONS * spread, SHARE * interval)
    changes = len(find_edges(np.abs(level[AROUND:] - level[:-AROUND]) > most)[0])
    watched = 0.0
    if numbers is stamps or np.mean(np.abs(steps - usual) <= usual / 4) >= STEADY:
        watched = float(np.ptp(stamps)) if np.isfinite(table[ARRIVAL]).any() else 0.0
        left_out = np.round(steps / usual) - 1
        missing = np.where(left_out > LONGEST, 0, left_out).astype(np.int64)
        if numbers is stamps:  # what is only sent when it changes misses nothing where it rests
            missing[_find_rests(table, known, order)] = 0
    else:
        missing = np.zeros(len(steps), np.int64)
    # of all packets that were sent, which were lost or late
    places = np.append(0, np.cumsum(missing + 1))
    flags = np.ones(places[-1] + 1, bool)
    flags[places[noise <= LATE * interval]] = False
    begins, ends = find_edges(flags)
    sizes = ends - begins
    return NetworkEvents(
        int((sizes >= 2).sum()),
        int((sizes - 1).sum()),
        int(flags.sum()),
        len(flags),
        changes,
        waver,
        watched,
        int(((np.diff(stamps) > SILENT * interval) & (missing == 0)).sum()),
    )


def _find_rests(table: Floats, known: Flags, order: Numbers) -> Numbers:
    """Return the indices of the intervals between packets in which the entity rests."""
    columns = table[:, known][:, order]
    positions, velocities = columns[POSITION].T, columns[VELOCITY].T
    nothing = np.full(len(order), np.nan), np.full(len(order), np.nan)
    teleports, turns = columns[TELEPORT] > 0, np.empty((len(order), 0))
    return Stream(
        "", columns[TIME], positions, velocities, *nothing, teleports, turns, np.empty(0)
    ).rests


def _compute_running_median(values: Floats) -> Floats:
    """Return the running median of the values, over ``AROUND`` neighbors on each side."""
    medians = np.empty(len(values))
    compute_running_medians(np.pad(values, AROUND, mode="edge"), 2 * AROUND + 1, 1, medians)
    return medians


#: Events within this many seconds are never independent: packets and buffers wait for each other
#: ...
SHORTEST_BLOCK = 0.5

#: ... nor within these, if there are ``FEWEST_BLOCKS`` of them: a running player still runs.
BLOCK, FEWEST_BLOCKS = 3.0, 7

#: Most blocks of a recording: delays change slowly.
MOST_BLOCKS = 12

#: Parts of a recording, of at least half a second, whose delays are compared. If fewer than a
#: quarter of them are independent, the delay wanders, and blocks do not cover that; over more than
#: a quarter of the recording it is a trend.
MOST_PARTS, FEWEST_PARTS, PART, SLOW = 40, 20, 0.5, 0.25

#: Half of the last digit of a lag that is written (s).
LAG_RESOLUTION = 0.0005

#: What is missing may be as bad as the worst part of a run, of this many seconds.
WORST = 1.0

#: The share of the recording in which a few route changes may lie, or not.
ALONE = 0.15

#: A part's own lag leaves at least this share (squares) of what the lag of all runs leaves there.
LEFT = 0.01

#: Most numbers of a product of draws in memory.
_AT_ONCE = 2_000_000


class Unit(enum.Enum):
    """A unit of the bootstrap: data that is taken to be independent of other data."""

    RUN = enum.auto()
    BLOCK = enum.auto()
    BLOCK_AND_ENTITY = enum.auto()
    NOTHING = enum.auto()


@dataclass(frozen=True)
class Certainty:
    """A description of the data behind the confidence intervals.

    ``units`` is the number of bootstrap units, ``seconds`` the length of blocks. ``Unit.NOTHING``:
    there are too few ``units``. ``entities`` counts the entities that are drawn beside blocks.
    ``delay_pieces`` is the number of independent pieces of a delay that wanders; infinite: it does
    not wander. ``rare`` are the network's rare events; where these are ``few``, an interval has one
    end. ``tried``: the effect of more losses on the best candidate has been simulated.
    """

    unit: Unit
    units: int
    seconds: float = 0.0
    entities: int = 0
    confidence: float = CONFIDENCE
    delay_pieces: float = math.inf
    rare: NetworkEvents = NetworkEvents()  # noqa: RUF009 - never changed
    tried: bool = False


@dataclass(frozen=True)
class Piece:
    """One run's sums (cells, fields) for each entity, with the length of a cell in seconds.

    ``losses`` (fields of each of ``IN_A_ROW``) is the change by one more loss of that length; None:
    not simulated. The sums of many entities are in a file.
    """

    entities: Sequence[Floats]
    seconds: float
    losses: Floats | None = None

    @cached_property
    def whole(self) -> Floats:
        """The sums (cells, fields) of all entities together."""
        found = np.array(self.entities[0])
        for sums in self.entities[1:]:
            found += sums
        return found

    @property
    def cells(self) -> int:
        """The number of time cells of the run."""
        return len(self.entities[0])

    def sum_entities(self) -> Floats:
        """Return the sums (fields) of all entities and cells together."""
        each = [np.asarray(sums).sum(axis=0) for sums in self.entities]
        return np.asarray(np.sum(each, axis=0))

    def stack_sums(self) -> Floats:
        """Return the sums of all entities as one array (cells, entities, fields)."""
        return np.stack([np.asarray(sums) for sums in self.entities], axis=1)


class CandidateSums(NamedTuple):
    """One candidate's metric values (empty if it has none), and its sums by run (``pieces``).

    ``waver`` (s) is the likely difference of the candidate's lag in another session. ``beside`` are
    runs that have no part in the values, but may have worse seconds. Very many runs have ``sums``
    (runs, fields) instead of pieces, and ``beside`` has the worst seconds.
    """

    values: Mapping[str, float]
    pieces: Sequence[Piece]
    waver: float = 0.0
    beside: Sequence[Piece] = ()
    sums: Floats | None = None


class CandidateDraws(NamedTuple):
    """One candidate's sums in the bootstrap ``draws``, and in variations of all data.

    ``more`` has all data, first as they are, then with each second added as often as it may be
    missing (``NetworkEvents.missed``). ``alone`` has all data, then parts of the runs by themselves
    (``sum_run_parts``): a few changes of the route are in some of these only. Where runs are drawn,
    the draws contain that already. ``tried``: ``more`` contains the effect of more losses.
    """

    draws: Resampled
    more: Resampled
    alone: Resampled
    tried: bool = False


def resample_sums(
    shown: Sequence[CandidateSums],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: NetworkEvents,
) -> tuple[Certainty, list[CandidateDraws] | None]:
    """Return the certainty, and each candidate's bootstrap draws.

    None if there are too few data.
    """
    certainty, units = _find_units(shown)
    tried, worlds = (
        any(_list_loss_effects(each, rare) for each in shown),
        len(rare.unseen) if rare.tried else 0,
    )
    certainty = replace(certainty, rare=rare, tried=tried)
    if certainty.unit is Unit.NOTHING:
        return certainty, None
    found = []
    drawn = _draw_sums(certainty, units, seed)
    if certainty.unit is not Unit.RUN:
        latency = _estimate_latency(shown[0].pieces)
        certainty = replace(certainty, delay_pieces=latency.delay_pieces)
        _vary_delay(
            drawn, [candidate.pieces for candidate in shown], latency, certainty.units, seed
        )
    for place, (one, sums, own) in enumerate(zip(shown, drawn, units, strict=True)):
        whole = own.sum(axis=(0, 1))
        if one.waver:
            _vary_lag(sums, whole, one.waver, np.random.SeedSequence([seed, 2, place]))
        more = whole + rare.missed * sum_run_parts([*one.pieces, *one.beside], WORST)
        losses = _list_loss_effects(one, rare)
        if tried:  # those there were may all have been harmless
            added = rare.unseen @ np.mean(losses, axis=0) if losses else np.zeros_like(whole)
            more = np.concatenate((more, np.broadcast_to(whole + added, (worlds, len(whole)))))
        if rare.changes or rare.silences or math.isfinite(certainty.delay_pieces):
            more = np.concatenate((more, [_shift_lag_in_half(whole, one.waver)]))
        alone = whole[None]
        if rare.few and rare.changes and certainty.unit is not Unit.RUN:
            cells = max(run.cells * run.seconds for run in one.pieces)
            alone = sum_run_parts(one.pieces, cells * ALONE)
            alone[0] = whole
            _apply_own_lag(alone)
        every = (sums, _scale_to_rows(more, whole), _scale_to_rows(alone, whole))
        resampled = [Resampled(values, whole, resolution, tick, weights) for values in every]
        drawn_again, with_more, alone_again = resampled
        found.append(CandidateDraws(drawn_again, with_more, alone_again, bool(losses)))
    return certainty, found


def _list_loss_effects(one: CandidateSums, rare: NetworkEvents) -> list[Floats]:
    """Return the change of a candidate's sums by a simulated loss, for each run that has it."""
    size = len(rare.in_a_row) if rare.tried else 0
    found = [piece.losses for piece in one.pieces if piece.losses is not None]
    return [losses[:size] for losses in found if len(losses) >= size > 0]


@np.errstate(all="ignore")
def find_least_score(
    measured: Sequence[Measurement], events: NetworkEvents, resolution: float
) -> float:
    """Return a candidate's lowest score over the plausible additional losses.

    -inf if not simulated.
    """
    losses = [each.losses for each in measured if each.losses is not None]
    if not losses:
        return -math.inf
    whole = sum(np.asarray(each.sums).sum(axis=0) for each in measured if each.sums is not None)
    worse = whole + events.unseen @ sum(losses)
    one = measured[0]
    score = find_metric("score").value(Resampled(worse, whole, resolution, one.tick, one.weights))
    return float(np.nanmin(score))


def _shift_lag_in_half(whole: Floats, waver: float) -> Floats:
    """Return all sums (fields) as if the lag changed by ``waver`` (s) in half of the session.

    A strategy that sets its clock once may set it again in the middle of a session.
    """
    at, found = FIELDS.index, whole.copy()
    squares = whole[at("speed_squares")] * whole[at("lag_rows")] / whole[at("rows")]
    found[at("lag_squares")] += (waver / 2) ** 2 * squares
    return found


def sum_run_parts(pieces: Sequence[Piece], seconds: float) -> Floats:
    """Return the sums (fields) of each part of ``seconds`` of the runs, scaled to one second.

    In each run a part begins at each cell. The first row has zeros.
    """
    parts = [np.zeros((1, len(FIELDS)))]
    for run in pieces:
        size = max(1, round(seconds / run.seconds))
        ends = np.cumsum(np.pad(run.whole, ((1, 0), (0, 0))), axis=0)
        parts.append((ends[size:] - ends[:-size]) / (size * run.seconds))
    return np.concatenate(parts)


def _apply_own_lag(alone: Floats) -> None:
    """Replace the error left at the common lag by that left at each row's own lag, in place."""
    at = FIELDS.index
    lags = alone[:, at("told_seconds")] / alone[:, at("told_rows")]
    apart = np.nan_to_num(lags - lags[0]) ** 2
    less = apart * alone[:, at("speed_squares")] * alone[:, at("lag_rows")] / alone[:, at("rows")]
    left = alone[:, at("lag_squares")]
    alone[:, at("lag_squares")] = np.maximum(left - less, LEFT * left)


def _scale_to_rows(several: Floats, whole: Floats) -> Floats:
    """Scale each row of sums to the number of rows that all data have."""
    rows = FIELDS.index("rows")
    return np.asarray(several * (whole[rows] / several[:, rows])[:, None])


class _LatencyError(NamedTuple):
    """The likely error (s) of the mean delay in another session.

    ``delay_pieces`` is the number of independent pieces of the delay.
    """

    deviation: float
    delay_pieces: float


def _estimate_latency(pieces: Sequence[Piece]) -> _LatencyError:
    """Estimate how much the mean delay varies between sessions, from a first-order autoregression.

    The autoregression's memory is that of the recording's parts, corrected for what few parts hide
    (Kendall 1954).
    """
    variance = delay_pieces = cells = looked = 0.0
    for run in pieces:
        rows, delays = _compute_mean_delays(run)
        size = max(len(rows) // MOST_PARTS, math.ceil(PART / run.seconds))
        whole = join_cells(np.stack((rows, delays * rows), axis=1), size)
        parts = whole[:, 1] / whole[:, 0]
        count = len(parts)
        off = parts - parts.mean()
        squares = float(off @ off)
        cells += len(rows)
        if count < FEWEST_PARTS or not squares > 0:
            continue
        memory = (count * float(off[1:] @ off[:-1]) / squares + 1) / (count - 3)
        memory = min(max(memory, 0.0), math.exp(-1 / (SLOW * count)))
        # their mean varies by this much more than that of independent ones, and they around it
        longer = (1 + memory) / (1 - memory)
        more = longer - 2 * memory * (1 - memory**count) / (count * (1 - memory) ** 2)
        variance += len(rows) ** 2 * squares / count * more / (count - more)
        delay_pieces += count / longer
        looked += count
    deviation = math.sqrt(variance) / max(cells, 1.0)
    wanders = deviation > LAG_RESOLUTION and delay_pieces < SLOW * looked
    return _LatencyError(deviation, delay_pieces if wanders else math.inf)


def _compute_mean_delays(run: Piece) -> tuple[Floats, Floats]:
    """Return the number of rows and the mean delay (s) of each cell that has rows."""
    cells = run.whole
    rows = cells[:, FIELDS.index("rows")]
    used = rows > 0
    return rows[used], cells[used, FIELDS.index("delays")] / rows[used]


#: Fields that no delay changes, and fields that may be negative.
_GIVEN = [
    name.endswith(("rows", "fours", "_rates", "_of"))
    or name in ("delays", "speed_squares", "truth_third", *SPREAD, *FIELDS[SENT_FIELDS:])
    for name in FIELDS
]
_SIGNED = [name.endswith("told_seconds") for name in FIELDS]


def _vary_delay(
    drawn: Sequence[Floats],
    several: Sequence[Sequence[Piece]],
    latency: _LatencyError,
    units: int,
    seed: int,
) -> None:
    """Shift the mean delay of each draw (draws, fields) at random, as it differs between sessions.

    The effect on a field is its slope over the delay, from cell to cell. Draws of blocks contain a
    part of the variation already.
    """
    if not math.isfinite(latency.delay_pieces):
        return
    rows, delays = FIELDS.index("rows"), FIELDS.index("delays")
    means = drawn[0][:, delays] / drawn[0][:, rows]
    far = (
        compute_student_quantile(max(2.0, latency.delay_pieces))
        / expand_interval(units)
        * latency.deviation
    )
    extra = far**2 - float(means.var())
    if not extra > 0:
        return
    raw = np.random.PCG64(np.random.SeedSequence([seed, 3])).random_raw(2 * len(means)) / 2.0**64
    radius = np.sqrt(-2 * np.log1p(-raw[: len(means)]))
    shifts = math.sqrt(extra) * radius * np.cos(2 * math.pi * raw[len(means) :])
    for sums, pieces in zip(drawn, several, strict=True):
        more = sums + np.outer(shifts * sums[:, rows], _fit_slopes(pieces))
        sums[:] = np.where(_SIGNED, more, np.maximum(more, LEFT * sums))


def _fit_slopes(pieces: Sequence[Piece]) -> Floats:
    """Return each field's change (per row) with each second of delay, by least squares."""
    across, squares = np.zeros(len(FIELDS)), 0.0
    for run in pieces:
        rows, delays = _compute_mean_delays(run)
        off = delays - np.average(delays, weights=rows)
        cells = run.whole
        across += off @ cells[cells[:, FIELDS.index("rows")] > 0]
        squares += float((rows * off) @ off)
    return np.where(_GIVEN, 0.0, across / (squares or 1.0))


def _vary_lag(sums: Floats, whole: Floats, waver: float, seed: np.random.SeedSequence) -> None:
    """Shift the lag of each draw (draws, fields) at random, as it differs between sessions."""
    at = FIELDS.index
    lag = float(whole[at("told_seconds")]) / (float(whole[at("told_rows")]) or math.nan)
    if math.isnan(lag):
        return
    shifts = (np.random.PCG64(seed).random_raw(len(sums)) / 2.0**63 - 1) * waver
    sums[:, at("told_seconds")] += shifts * sums[:, at("told_rows")]
    sums[:, at("charged_seconds")] += math.copysign(1, lag) * shifts * sums[:, at("charged_rows")]
    more = sums[:, at("speed_squares")] * (2 * lag * shifts + shifts**2)
    for name in ("squares", "along"):  # later is further behind on the same way
        sums[:, at(name)] = np.maximum(sums[:, at(name)] + more, 0.0)


def _find_units(shown: Sequence[CandidateSums]) -> tuple[Certainty, list[Floats]]:
    """Choose the units of the bootstrap; return each candidate's sums (units, entities, fields)."""
    many = [candidate.sums[:, None] for candidate in shown if candidate.sums is not None]
    if many or not shown:
        runs = len(many[0]) if many else 0
        return Certainty(Unit.RUN if runs >= FEWEST_UNITS else Unit.NOTHING, runs), many
    several = [candidate.pieces for candidate in shown]
    runs = len(several[0])
    if runs >= FEWEST_UNITS:
        return Certainty(Unit.RUN, runs), [
            np.array(
                [[sum(np.asarray(sums).sum(axis=0) for sums in run.entities)] for run in pieces]
            )
            for pieces in several
        ]
    parts: list[list[Floats]] = [[] for _ in several]
    seconds = 0.0
    for run in range(runs):
        cell = several[0][run].seconds
        rows = [pieces[run].whole[:, FIELDS.index("rows")] for pieces in several]
        used = np.sum(rows, axis=0) > 0
        count = int(used.sum())
        most = max(1, count // FEWEST_UNITS)
        length = _choose_block_length([pieces[run].whole[used] for pieces in several])
        blocks = min(MOST_BLOCKS, max(FEWEST_BLOCKS, int(count * cell / BLOCK)))
        length = max(length, count // blocks)
        length = max(min(length, most), math.ceil(SHORTEST_BLOCK / cell))
        seconds = max(seconds, length * cell)
        for part, pieces in zip(parts, several, strict=True):
            cells = join_cells(pieces[run].stack_sums()[used], length)
            part.append(cells if runs == 1 else cells.sum(axis=1, keepdims=True))
    entities = parts[0][0].shape[1]
    units = [np.concatenate(part) for part in parts]
    count = len(units[0])
    if count < FEWEST_UNITS:
        return Certainty(Unit.NOTHING, count, seconds), units
    if entities >= FEWEST_UNITS:
        return Certainty(Unit.BLOCK_AND_ENTITY, count, seconds, entities), units
    units = [unit.sum(axis=1, keepdims=True) for unit in units]
    return Certainty(Unit.BLOCK, count, seconds), units


def _choose_block_length(several: Sequence[Floats]) -> int:
    """Return the bootstrap block length, cells: the median over the candidates' squared errors."""
    rows, squares = FIELDS.index("rows"), FIELDS.index("squares")
    found = []
    for cells in several:
        means = cells[:, squares] / np.maximum(cells[:, rows], 1)
        if np.isfinite(means).all():
            found.append(choose_block_length(means))
    return math.ceil(compute_median(np.array(found))) if found else 1


def _draw_sums(certainty: Certainty, several: Sequence[Floats], seed: int) -> list[Floats]:
    """Return each candidate's sums (draws, fields) in the bootstrap draws."""
    count = len(several[0])
    if certainty.unit is not Unit.BLOCK_AND_ENTITY:
        drawn: list[list[Floats]] = [[] for _ in several]
        for some in iterate_draws(count, seed):
            for found, units in zip(drawn, several, strict=True):
                parts = np.split(units[:, 0], [TURN_FIELDS, SENT_FIELDS], 1)
                found.append(np.concatenate([some @ part for part in parts], 1))
        return [np.concatenate(found) for found in drawn]
    weights = np.concatenate(list(iterate_draws(count, seed)))
    entities = several[0].shape[1]
    both = np.concatenate(list(iterate_draws(entities, seed, purpose=1)))
    step = max(1, _AT_ONCE // (entities * len(FIELDS)))
    return [
        np.concatenate(
            [
                np.einsum(
                    "bef,be->bf",
                    (weights[begin : begin + step] @ units.reshape(count, -1)).reshape(
                        -1, entities, len(FIELDS)
                    ),
                    both[begin : begin + step],
                )
                for begin in range(0, DRAWS, step)
            ]
        )
        for units in several
    ]


#: Scores that differ by less are equal: no reader needs more digits.
RESOLUTION = 0.05

#: Differences with a smaller deviation over the draws do not vary.
_STILL = 1e-9


class Gap(NamedTuple):
    """The lead of one score over another, in points, with its confidence interval.

    ``low`` to ``high`` hold for all gaps at once. ``seen`` is the low end if no rare event were
    missing from the data.
    """

    points: float
    low: float
    high: float
    seen: float = math.nan

    @property
    def sure(self) -> bool:
        """True if the lead is statistically significant."""
        return self.low > 0 and self.points >= RESOLUTION


class Ranking(NamedTuple):
    """The ``ranks`` of n scores, and the ``gaps`` between the highest score and each score."""

    ranks: list[int]
    gaps: list[Gap]


def rank_candidates(
    scores: Floats,
    replicates: Floats,
    units: int,
    more: Floats | None = None,
    tried: Sequence[bool] | None = None,
) -> Ranking:
    """Rank n scores; ``replicates`` (n, draws) are their values in the same bootstrap draws.

    ``more`` (n, seconds + 1) are the scores with each second added, first as they are: a gap is
    what the worst second for it leaves. Where rare events were few, their effect has been ``tried``
    for some scores, and only these may be ahead of others. That effect is so large that it does not
    come together with an unlucky draw: squares add up. A rank is one more than the number of scores
    that are clearly better; the first rank is shared by all scores that none is clearly better
    than. An interval reaches as far to either side as the largest of all studentized differences to
    one candidate does in 95 % of the draws (max-t; Romano and Wolf 2005): among many strategies one
    is always lucky.
    """
    if more is None:
        more = scores[:, None]
    reach = _measure_largest_deviation(scores, replicates) * expand_interval(units) / _TAIL
    better = np.zeros(len(scores), int)
    best = int(np.argmax(scores))
    found: list[Gap] = []
    for index in range(len(scores)):
        between = _measure_gaps(index, scores, replicates, more, reach, tried is not None)
        better += [gap.sure and (tried is None or tried[index]) for gap in between]
        if index == best:
            found = between
    return Ranking([1 + int(count) for count in better], found)


def _measure_largest_deviation(scores: Floats, replicates: Floats) -> float:
    furthest = 0.0
    for index in range(len(scores)):
        drawn = replicates[index] - replicates
        deviations = drawn.std(axis=1)
        varying = deviations > _STILL
        if varying.any():
            off = np.abs(drawn - (scores[index] - scores)[:, None])[varying]
            largest = (off / deviations[varying][:, None]).max(axis=0)
            furthest = max(furthest, compute_quantile(largest, CONFIDENCE))
    return furthest


def _measure_gaps(
    one: int, scores: Floats, replicates: Floats, more: Floats, reach: float, few: bool
) -> list[Gap]:
    points = scores[one] - scores
    off = reach * (replicates[one] - replicates).std(axis=1)
    moved = more[one] - more
    moved -= moved[:, :1]
    add = np.hypot if few else np.add
    low, high = points - add(off, -moved.min(axis=1)), points + add(off, moved.max(axis=1))
    return [Gap(*map(float, gap)) for gap in zip(points, low, high, points - off, strict=True)]


def find_sole_best(
    keys: Sequence[float],
    replicates: Sequence[Floats | None],
    units: int,
    more: Sequence[Floats | None] = (),
) -> int | None:
    """Return the index of the smallest key if it is clearly smaller than all others; else None.

    An infinite key takes no part. Each pair is tested at its own level, since a false winner has to
    beat the true one as well. ``more`` are the keys with each second added, as for
    ``rank_candidates``.
    """
    order = sorted((each for each in range(len(keys)) if keys[each] < np.inf), key=keys.__getitem__)
    if len(order) < 2:
        return None
    best = order[0]
    for other in order[1:]:
        mine, its = replicates[best], replicates[other]
        if mine is None or its is None:
            return None
        between = compute_interval(np.asarray(its - mine), units)
        if between is None or between[0] <= 0:
            return None
        with_more = (more[best], more[other]) if more else (None, None)
        if with_more[0] is not None and with_more[1] is not None:
            moved = with_more[1] - with_more[0]
            if between[0] + np.nanmin(moved - moved[0], initial=0.0) <= 0:
                return None
    return best


@dataclass(frozen=True)
class Standing:
    """One candidate's rank and the confidence intervals of its metrics.

    ``intervals`` are by metric; an unknown end is NaN. ``rank`` is by score, 1 the best, None
    without a score. ``gap`` is the distance of its score to the best. ``ahead``: the metrics in
    which only this candidate is clearly the best.
    """

    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rank: int | None = None
    gap: Gap | None = None
    ahead: frozenset[str] = frozenset()


#: The standing of a candidate of which nothing is known.
UNKNOWN = Standing()


@np.errstate(all="ignore")  # what has diverged has infinite values, and no intervals
def assess(
    candidates: Sequence[CandidateSums],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: NetworkEvents = NetworkEvents(),  # noqa: B008 - never changed
) -> tuple[Certainty, list[Standing]]:
    """Return the certainty of a comparison, and each candidate's rank and intervals.

    All candidates that have values have been measured in the same runs, entities and cells.
    ``rare`` are the events of all runs. The same ``seed`` gives the same draws.
    """
    shown = [candidate for candidate in candidates if candidate.values]
    certainty, sampled = resample_sums(shown, tick, weights, resolution, seed, rare)
    standings = iter(_make_standings([candidate.values for candidate in shown], sampled, certainty))
    return certainty, [next(standings) if candidate.values else UNKNOWN for candidate in candidates]


@np.errstate(all="ignore")
def compute_difference(
    one: CandidateSums,
    other: CandidateSums,
    value: Callable[[Resampled], Floats],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: NetworkEvents = NetworkEvents(),  # noqa: B008 - never changed
) -> tuple[float, float] | None:
    """Return the paired interval of the difference of ``value``: second candidate minus first.

    None if the difference is unknown. See ``assess`` for the other parameters.
    """
    certainty, sampled = resample_sums([one, other], tick, weights, resolution, seed, rare)
    if sampled is None:
        return None
    before, after = ((value(each.draws), value(each.more)) for each in sampled)
    between = compute_interval(np.asarray(after[0] - before[0]), certainty.units)
    down, up = _measure_largest_moves(after[1] - before[1])
    share = _compute_missed_share(rare)
    return between and (between[0] + share * down, between[1] + share * up)


def _compute_missed_share(rare: NetworkEvents) -> float:
    """Return the share of a missed event's effect that counts if its sign is unknown.

    Both signs are equally likely: at most half of the effect counts.
    """
    return 1 - UNSEEN / 2 / rare.missed


def _measure_largest_moves(more: Floats) -> tuple[float, float]:
    """Return a metric's largest decrease (0 or less) and increase from its first value."""
    moved = more - more[0]
    moved = moved[np.isfinite(moved)]
    return float(moved.min(initial=0.0)), float(moved.max(initial=0.0))


class _MetricDraws(NamedTuple):
    """One candidate's values of a metric, in each draw and variation of ``CandidateDraws``."""

    draws: Floats
    more: Floats
    alone: Floats


def _find_interval(
    metric: Metric, sampled: _MetricDraws, value: float, certainty: Certainty
) -> tuple[float, float] | None:
    """Return a metric's interval: that of the draws, widened by what the draws may have missed."""
    between = compute_interval(sampled.draws, certainty.units)
    if between is None or math.isnan(value):
        return None
    # what is drawn is skewed; a value is never outside its own interval
    low, high = min(between[0], value), max(between[1], value)
    down, up = _measure_largest_moves(sampled.more)
    least, most = _measure_largest_moves(sampled.alone)
    low, high = min(low, value + least), max(high, value + most)
    if metric.better is Better.NEAR_ZERO:
        low, high = min(low, value - LAG_RESOLUTION), max(high, value + LAG_RESOLUTION)
    few = certainty.rare.few
    match metric.better:  # what was missed makes it worse
        case Better.LOW:
            return low, math.nan if few else high + up
        case Better.HIGH:
            return math.nan if few else max(low + down, 0.0), high
        case _:
            share = _compute_missed_share(certainty.rare)
            return low + share * down, math.nan if few else high + share * up


def _make_standings(
    values: Sequence[Mapping[str, float]],
    sampled: Sequence[CandidateDraws] | None,
    certainty: Certainty,
) -> list[Standing]:
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in values]
    ahead: list[set[str]] = [set() for _ in values]
    scores: list[_MetricDraws] | None = None
    few, units = certainty.rare.few, certainty.units
    tried = [each.tried for each in sampled or ()]
    for metric in METRICS:
        drawn: list[_MetricDraws | None] = [None] * len(values)
        if metric.interval and sampled is not None:
            drawn = [
                _MetricDraws(*(np.asarray(metric.value(all_)) for all_ in each[:3]))
                for each in sampled
            ]
            for own, draws, record in zip(intervals, drawn, values, strict=True):
                between = draws and _find_interval(
                    metric, draws, record.get(metric.name, math.nan), certainty
                )
                if between:
                    own[metric.name] = between
            if metric.name == "score":
                scores = [draws for draws in drawn if draws is not None]
        if metric.better is Better.NEITHER:
            continue
        known = [record.get(metric.name, math.nan) for record in values]
        keys = [
            math.inf if math.isnan(value) else float(metric.compute_key(value)) for value in known
        ]
        best = find_sole_best(
            keys,
            [draws and np.asarray(metric.compute_key(draws.draws)) for draws in drawn],
            units,
            [draws and np.asarray(metric.compute_key(draws.more)) for draws in drawn],
        )
        if best is not None and (not few or tried[best]):
            ahead[best].add(metric.name)
    ranks, behind = _rank_scores(values, scores, tried, certainty)
    if list(ranks.values()).count(1) > 1:  # no winner where several may be the best
        for names in ahead:
            names.discard("score")
    return [
        Standing(intervals[place], ranks.get(place), behind.get(place), frozenset(ahead[place]))
        for place in range(len(values))
    ]


def _rank_scores(
    values: Sequence[Mapping[str, float]],
    scores: Sequence[_MetricDraws] | None,
    tried: Sequence[bool],
    certainty: Certainty,
) -> tuple[dict[int, int], dict[int, Gap]]:
    """Return the ranks of the candidates that have a score, and their gaps to the best score."""
    places = [place for place, one in enumerate(values) if math.isfinite(one["score"])]
    ranks = dict.fromkeys(places, 1)
    if not places or scores is None:
        return ranks, {}  # none is clearly better
    points = np.array([values[place]["score"] for place in places])
    # where no draw can be judged (it has diverged), the score is what it is
    drawn, more, alone = (
        np.array(
            [
                np.where(np.isfinite(scores[place][kind]), scores[place][kind], own)
                for place, own in zip(places, points, strict=True)
            ]
        )
        for kind in range(3)
    )
    few = certainty.rare.few
    if few:
        more = np.concatenate((more, alone), axis=1)
    own = [tried[place] for place in places] if few else None
    found = rank_candidates(points, drawn, certainty.units, more, own)
    if own and not own[int(points.argmax())]:  # of both the worse end is open
        return ranks, {
            place: gap._replace(low=math.nan, high=math.nan)
            for place, gap in zip(places, found.gaps, strict=True)
        }
    ranks = dict(zip(places, found.ranks, strict=True))
    return ranks, dict(zip(places, found.gaps, strict=True))
