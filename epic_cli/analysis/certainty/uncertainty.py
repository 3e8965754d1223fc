"""How sure the figures of a comparison are: intervals, ranks, and gaps to the best."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.certainty.bootstrap import (
    CONFIDENCE,
    DRAWS,
    FEWEST_UNITS,
    block_length,
    draws,
    interval,
    joined,
)
from epic_cli.analysis.certainty.ranking import Gap, ranking, sole_best
from epic_cli.analysis.certainty.rare import UNSEEN, Rare
from epic_cli.analysis.metrics import METRICS
from epic_cli.analysis.metrics.cells import FIELDS, Resampled
from epic_cli.analysis.metrics.metric import Better, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epic_cli.analysis.arrays import Floats
    from epic_cli.analysis.weights import Weights

#: Whatever the errors look like, what happens within so many seconds hangs together: packets
#: wait for each other, and buffers for them.
SHORTEST_BLOCK = 0.5

#: A recording has no more blocks than this: delays change slowly.
MOST_BLOCKS = 12

#: What may have been missed is as bad as the worst stretch of so many seconds.
WORST = 1.0

#: A product of draws has at most so many numbers at a time.
_AT_ONCE = 20_000_000


class Unit(enum.Enum):
    """What is drawn again: what is taken to be independent of each other."""

    RUN = enum.auto()
    BLOCK = enum.auto()
    BLOCK_AND_ENTITY = enum.auto()
    NOTHING = enum.auto()


@dataclass(frozen=True)
class Certainty:
    """What the intervals rest on: so many ``units``; of blocks, how long they are in seconds.

    ``Unit.NOTHING``: there is too little to say, ``units`` is how many there would be.
    ``entities`` is how many of them are drawn beside the blocks. ``rare`` is what the network did
    now and then; where that is too ``few`` times, an interval has one end.
    """

    unit: Unit
    units: int
    seconds: float = 0.0
    entities: int = 0
    confidence: float = CONFIDENCE
    rare: Rare = Rare()  # noqa: RUF009 - nobody changes it


@dataclass(frozen=True)
class Standing:
    """How sure the figures of one candidate are, and where it stands.

    ``intervals`` by metric; an end that is unknown is NaN. ``rank`` by score, 1 the best, None
    without one. ``gap`` is how far its score is behind the best. ``ahead``: the metrics in which it
    alone is the best, beyond doubt.
    """

    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rank: int | None = None
    gap: Gap | None = None
    ahead: frozenset[str] = frozenset()


#: Nothing is known of it.
UNKNOWN = Standing()


class Piece(NamedTuple):
    """The sums (cells, fields) of each entity in one run, and how long a cell is, in seconds."""

    entities: Sequence[Floats]
    seconds: float


class Figures(NamedTuple):
    """One candidate: its values by metric, none if it has no figures, and its pieces by run.

    ``waver`` (s) is by how much its lag may be another in another session.
    """

    values: Mapping[str, float]
    pieces: Sequence[Piece]
    waver: float = 0.0


class _Sampled(NamedTuple):
    """One candidate drawn again and again (``draws``).

    ``more`` is all of it, first as it is, then with more of each of its seconds: as much as may
    have been missed (``Rare.missed``).
    """

    draws: Resampled
    more: Resampled


@np.errstate(all="ignore")  # what has diverged has infinite figures, and no intervals
def assess(
    candidates: Sequence[Figures],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare = Rare(),  # noqa: B008 - nobody changes it
) -> tuple[Certainty, list[Standing]]:
    """How sure the figures are, and where each candidate stands.

    All candidates that have figures have been measured in the same runs, entities and cells.
    ``rare`` is what happened in all runs. The same ``seed`` draws the same.
    """
    shown = [one for one in candidates if one.values]
    certainty, sampled = _sampled(shown, tick, weights, resolution, seed, rare)
    standings = iter(_standings([one.values for one in shown], sampled, certainty))
    return certainty, [next(standings) if one.values else UNKNOWN for one in candidates]


@np.errstate(all="ignore")
def difference(
    one: Figures,
    other: Figures,
    value: Callable[[Resampled], Floats],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare = Rare(),  # noqa: B008 - nobody changes it
) -> tuple[float, float] | None:
    """From where to where the second candidate's ``value`` less the first one's goes, paired.

    None: unknown. See ``assess`` for the other parameters.
    """
    certainty, sampled = _sampled([one, other], tick, weights, resolution, seed, rare)
    if sampled is None:
        return None
    before, after = ((value(each.draws), value(each.more)) for each in sampled)
    between = interval(np.asarray(after[0] - before[0]), certainty.units)
    down, up = _moves(after[1] - before[1])
    share = _share(rare)
    return between and (between[0] + share * down, between[1] + share * up)


def _sampled(
    shown: Sequence[Figures],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare,
) -> tuple[Certainty, list[_Sampled] | None]:
    """What intervals rest on, and of each candidate what was drawn; None: there is too little."""
    certainty, units = _units([one.pieces for one in shown])
    certainty = replace(certainty, rare=rare)
    if certainty.unit is Unit.NOTHING:
        return certainty, None
    found = []
    for place, (one, sums, own) in enumerate(
        zip(shown, _drawn(certainty, units, seed), units, strict=True)
    ):
        whole = own.sum(axis=(0, 1))
        if one.waver and certainty.unit is not Unit.RUN:
            _waver(sums, whole, one.waver, np.random.SeedSequence([seed, 2, place]))
        more = _more(one.pieces, whole, rare.missed)
        found.append(
            _Sampled(*(Resampled(each, whole, resolution, tick, weights) for each in (sums, more)))
        )
    return certainty, found


def _more(pieces: Sequence[Piece], whole: Floats, missed: float) -> Floats:
    """All (fields), and then, for each second of the runs, all with so many seconds like it."""
    parts = []
    for run in pieces:
        size = max(1, round(WORST / run.seconds))
        ends = np.cumsum(np.pad(sum(run.entities), ((1, 0), (0, 0))), axis=0)
        parts.append((ends[size:] - ends[:-size]) * (missed / (size * run.seconds)))
    found = whole + np.concatenate([np.zeros((1, len(FIELDS))), *parts])
    rows = FIELDS.index("rows")
    return np.asarray(found * (whole[rows] / found[:, rows])[:, None])


def _waver(sums: Floats, whole: Floats, waver: float, seed: np.random.SeedSequence) -> None:
    """Gives each of the draws (draws, fields) another lag, as another session would have."""
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


def _share(rare: Rare) -> float:
    """How much of what was missed counts for what it may move either way: half as likely each."""
    return 1 - UNSEEN / 2 / rare.missed


def _moves(more: Floats) -> tuple[float, float]:
    """How far down and up a figure goes from its first value, 0 at least."""
    moved = more - more[0]
    moved = moved[np.isfinite(moved)]
    return float(moved.min(initial=0.0)), float(moved.max(initial=0.0))


def _units(several: Sequence[Sequence[Piece]]) -> tuple[Certainty, list[Floats]]:
    """What is drawn, and of each candidate its sums (units, entities, fields)."""
    if not several:
        return Certainty(Unit.NOTHING, 0), []
    runs = len(several[0])
    if runs >= FEWEST_UNITS:
        return Certainty(Unit.RUN, runs), [
            np.array([[sum(sums.sum(axis=0) for sums in run.entities)] for run in pieces])
            for pieces in several
        ]
    parts: list[list[Floats]] = [[] for _ in several]
    seconds = 0.0
    for run in range(runs):
        stacked = [np.stack(pieces[run].entities, axis=1) for pieces in several]
        used = sum(one[:, :, FIELDS.index("rows")].sum(axis=1) for one in stacked) > 0
        stacked = [one[used] for one in stacked]
        most = max(1, len(stacked[0]) // FEWEST_UNITS)
        length = _block_length([one.sum(axis=1) for one in stacked])
        length = max(length, len(stacked[0]) // MOST_BLOCKS)
        shortest = math.ceil(SHORTEST_BLOCK / several[0][run].seconds)
        length = max(min(length, most), shortest)
        seconds = max(seconds, length * several[0][run].seconds)
        for part, cells in zip(parts, stacked, strict=True):
            part.append(joined(cells, length))
    entities = parts[0][0].shape[1] if runs == 1 else 1
    if runs > 1:
        parts = [[one.sum(axis=1, keepdims=True) for one in part] for part in parts]
    units = [np.concatenate(part) for part in parts]
    count = len(units[0])
    if count < FEWEST_UNITS:
        return Certainty(Unit.NOTHING, count, seconds), units
    if entities >= FEWEST_UNITS:
        return Certainty(Unit.BLOCK_AND_ENTITY, count, seconds, entities), units
    units = [one.sum(axis=1, keepdims=True) for one in units]
    return Certainty(Unit.BLOCK, count, seconds), units


def _block_length(several: Sequence[Floats]) -> int:
    """In cells; of the lengths that suit the squared errors of each candidate, the median."""
    rows, squares = FIELDS.index("rows"), FIELDS.index("squares")
    found = []
    for cells in several:
        means = cells[:, squares] / np.maximum(cells[:, rows], 1)
        if np.isfinite(means).all():
            found.append(block_length(means))
    return math.ceil(float(np.median(found))) if found else 1


def _drawn(certainty: Certainty, several: Sequence[Floats], seed: int) -> list[Floats]:
    """Of each candidate, the sums (draws, fields) of what was drawn."""
    count = len(several[0])
    weights = draws(count, seed)
    if certainty.unit is not Unit.BLOCK_AND_ENTITY:
        return [weights @ units[:, 0, :] for units in several]
    entities = several[0].shape[1]
    both = draws(entities, seed, purpose=1)
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


class _Figure(NamedTuple):
    """A metric of one candidate: in each draw, and of ``_Sampled.more``."""

    draws: Floats
    more: Floats


def _ends(
    metric: Metric, figure: _Figure, value: float, certainty: Certainty
) -> tuple[float, float] | None:
    """The interval of a figure: what the draws say, and what they may have missed."""
    between = interval(figure.draws, certainty.units)
    if between is None or math.isnan(value):
        return None
    # what is drawn is skewed; a figure is never outside its own interval
    low, high = min(between[0], value), max(between[1], value)
    down, up = _moves(figure.more)
    few = certainty.rare.few
    match metric.better:  # what was missed makes it worse
        case Better.LOW:
            return low, math.nan if few else high + up
        case Better.HIGH:
            return math.nan if few else low + down, high
        case _:
            share = _share(certainty.rare)
            return low + share * down, math.nan if few else high + share * up


def _standings(
    values: Sequence[Mapping[str, float]],
    sampled: Sequence[_Sampled] | None,
    certainty: Certainty,
) -> list[Standing]:
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in values]
    ahead: list[set[str]] = [set() for _ in values]
    scores: list[_Figure] | None = None
    few, units = certainty.rare.few, certainty.units
    for metric in METRICS:
        drawn: list[_Figure | None] = [None] * len(values)
        if metric.interval and sampled is not None:
            drawn = [_Figure(*(np.asarray(metric.value(all_)) for all_ in one)) for one in sampled]
            for own, figure, figures in zip(intervals, drawn, values, strict=True):
                between = figure and _ends(
                    metric, figure, figures.get(metric.name, math.nan), certainty
                )
                if between:
                    own[metric.name] = between
            if metric.name == "score":
                scores = [one for one in drawn if one is not None]
        if metric.better is Better.NEITHER or few:
            continue
        known = [one.get(metric.name, math.nan) for one in values]
        keys = [math.inf if math.isnan(one) else float(metric.key(one)) for one in known]
        best = sole_best(
            keys,
            [one and np.asarray(metric.key(one.draws)) for one in drawn],
            units,
            [one and np.asarray(metric.key(one.more)) for one in drawn],
        )
        if best is not None:
            ahead[best].add(metric.name)
    ranks, behind = _ranked(values, scores, certainty)
    if list(ranks.values()).count(1) > 1:  # nobody wins where several may be the best
        for names in ahead:
            names.discard("score")
    return [
        Standing(intervals[place], ranks.get(place), behind.get(place), frozenset(ahead[place]))
        for place in range(len(values))
    ]


def _ranked(
    values: Sequence[Mapping[str, float]], scores: Sequence[_Figure] | None, certainty: Certainty
) -> tuple[dict[int, int], dict[int, Gap]]:
    """The ranks of those with a score, by place, and how far they are behind the best."""
    places = [place for place, one in enumerate(values) if math.isfinite(one["score"])]
    ranks = dict.fromkeys(places, 1)
    if not places or scores is None:
        return ranks, {}  # nobody is clearly better
    points = np.array([values[place]["score"] for place in places])
    # where no draw can be judged (it has diverged), the score is what it is
    drawn, more = (
        np.array(
            [
                np.where(np.isfinite(scores[place][kind]), scores[place][kind], own)
                for place, own in zip(places, points, strict=True)
            ]
        )
        for kind in range(2)
    )
    found = ranking(points, drawn, certainty.units, more)
    if not certainty.rare.few:
        ranks = dict(zip(places, found.ranks, strict=True))
    return ranks, dict(zip(places, found.gaps, strict=True))
