"""How sure the figures of a comparison are: intervals, ranks, and gaps to the best."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from epic_cli.analysis.metrics import METRICS
from epic_cli.analysis.metrics.cells import FIELDS, Resampled
from epic_cli.analysis.metrics.metric import Better

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epic_cli.analysis.arrays import Floats
    from epic_cli.analysis.weights import Weights

#: Whatever the errors look like, what happens within so many seconds hangs together: packets
#: wait for each other, and buffers for them.
SHORTEST_BLOCK = 0.5

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
    ``entities`` is how many of them are drawn beside the blocks.
    """

    unit: Unit
    units: int
    seconds: float = 0.0
    entities: int = 0
    confidence: float = CONFIDENCE


@dataclass(frozen=True)
class Standing:
    """How sure the figures of one candidate are, and where it stands.

    ``intervals`` by metric. ``rank`` by score, 1 the best, None without one. ``gap`` is how far
    its score is behind the best. ``ahead``: the metrics in which it alone is the best, beyond
    doubt.
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
    """One candidate: its values by metric, none if it has no figures, and its pieces by run."""

    values: Mapping[str, float]
    pieces: Sequence[Piece]


def assess(
    candidates: Sequence[Figures],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
) -> tuple[Certainty, list[Standing]]:
    """How sure the figures are, and where each candidate stands.

    All candidates that have figures have been measured in the same runs, entities and cells. The
    same ``seed`` draws the same.
    """
    shown = [one for one in candidates if one.values]
    certainty, sampled = _sampled(shown, tick, weights, resolution, seed)
    standings = iter(_standings([one.values for one in shown], sampled, certainty.units))
    return certainty, [next(standings) if one.values else UNKNOWN for one in candidates]


def difference(
    one: Figures,
    other: Figures,
    value: Callable[[Resampled], Floats],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
) -> tuple[float, float] | None:
    """From where to where the second candidate's ``value`` less the first one's goes, paired.

    None: unknown. See ``assess`` for the other parameters.
    """
    certainty, sampled = _sampled([one, other], tick, weights, resolution, seed)
    if sampled is None:
        return None
    with np.errstate(all="ignore"):
        before, after = (np.asarray(value(each)) for each in sampled)
        return interval(after - before, certainty.units)


def _sampled(
    shown: Sequence[Figures], tick: float, weights: Weights, resolution: float, seed: int
) -> tuple[Certainty, list[Resampled] | None]:
    """What intervals rest on, and of each candidate what was drawn; None: there is too little."""
    certainty, units = _units([one.pieces for one in shown])
    if certainty.unit is Unit.NOTHING:
        return certainty, None
    return certainty, [
        Resampled(sums, whole.sum(axis=(0, 1)), resolution, tick, weights)
        for sums, whole in zip(_drawn(certainty, units, seed), units, strict=True)
    ]


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


def _standings(
    values: Sequence[Mapping[str, float]], sampled: Sequence[Resampled] | None, units: int
) -> list[Standing]:
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in values]
    ahead: list[set[str]] = [set() for _ in values]
    scores: list[Floats] | None = None
    for metric in METRICS:
        drawn: list[Floats | None] = [None] * len(values)
        if metric.interval and sampled is not None:
            with np.errstate(all="ignore"):
                drawn = [np.asarray(metric.value(one)) for one in sampled]
            for own, replicates, figures in zip(intervals, drawn, values, strict=True):
                between = None if replicates is None else interval(replicates, units)
                value = figures.get(metric.name, math.nan)
                if between is not None and not math.isnan(value):
                    # what is drawn is skewed; a figure is never outside its own interval
                    own[metric.name] = min(between[0], value), max(between[1], value)
            if metric.name == "score":
                scores = [one for one in drawn if one is not None]
        if metric.better is Better.NEITHER:
            continue
        known = [one.get(metric.name, math.nan) for one in values]
        keys = [math.inf if math.isnan(one) else float(metric.key(one)) for one in known]
        drawn_keys = [None if one is None else np.asarray(metric.key(one)) for one in drawn]
        best = sole_best(keys, drawn_keys, units)
        if best is not None:
            ahead[best].add(metric.name)
    places = [place for place, one in enumerate(values) if math.isfinite(one["score"])]
    found_ranks: dict[int, int] = {}
    behind: dict[int, Gap] = {}
    if places:
        points = np.array([values[place]["score"] for place in places])
        if scores is None:
            found_ranks = dict.fromkeys(places, 1)  # nobody is clearly better
        else:
            # where no draw can be judged (it has diverged), the score is what it is
            drawn_scores = [
                np.where(np.isfinite(scores[place]), scores[place], values[place]["score"])
                for place in places
            ]
            found = ranking(points, np.array(drawn_scores), units)
            if found.ranks.count(1) > 1:  # nobody wins where several may be the best
                for names in ahead:
                    names.discard("score")
            found_ranks = dict(zip(places, found.ranks, strict=True))
            behind = dict(zip(places, found.gaps, strict=True))
    return [
        Standing(
            intervals[place], found_ranks.get(place), behind.get(place), frozenset(ahead[place])
        )
        for place in range(len(values))
    ]
