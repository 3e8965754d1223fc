"""What figures are drawn from again: units of time or recordings, and what may have been missed."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.cells import FIELDS, TURN_FIELDS, Resampled
from epic_cli.metrics.certainty.bootstrap import (
    CONFIDENCE,
    DRAWS,
    FEWEST_UNITS,
    block_length,
    draws,
    joined,
)
from epic_cli.metrics.certainty.rare import Rare

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.weights import Weights

#: Whatever the errors look like, what happens within so many seconds hangs together: packets
#: wait for each other, and buffers for them.
SHORTEST_BLOCK = 0.5

#: A recording has no more blocks than this: delays change slowly.
MOST_BLOCKS = 12

#: What may have been missed is as bad as the worst stretch of so many seconds.
WORST = 1.0

#: Changes of the way that are few may be in such a share of the recording, or not.
ALONE = 0.15

#: Of what the lag of all leaves there, its own leaves such a share (squares) at least.
LEFT = 0.01

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


class Piece(NamedTuple):
    """The sums (cells, fields) of each entity in one run, and how long a cell is, in seconds."""

    entities: Sequence[Floats]
    seconds: float


class Figures(NamedTuple):
    """One candidate: its values by metric, none if it has no figures, and its pieces by run.

    ``waver`` (s) is by how much its lag may be another in another session. ``beside`` are runs that
    have no part in its values, but may have worse seconds.
    """

    values: Mapping[str, float]
    pieces: Sequence[Piece]
    waver: float = 0.0
    beside: Sequence[Piece] = ()


class Sampled(NamedTuple):
    """One candidate drawn again and again (``draws``).

    ``more`` is all of it, first as it is, then with more of each of its seconds: as much as may
    have been missed (``Rare.missed``). ``alone`` is all of it, then stretches by themselves: a few
    changes of the way are in some of them only.
    """

    draws: Resampled
    more: Resampled
    alone: Resampled


def sampled_again(
    shown: Sequence[Figures],
    tick: float,
    weights: Weights,
    resolution: float,
    seed: int,
    rare: Rare,
) -> tuple[Certainty, list[Sampled] | None]:
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
        more = whole + rare.missed * _stretches([*one.pieces, *one.beside], WORST)
        alone = whole[None]
        if rare.few and rare.changes:
            cells = max(len(run.entities[0]) * run.seconds for run in one.pieces)
            alone = _stretches(one.pieces, cells * ALONE)
            alone[0] = whole
            _own_lag(alone)
        every = (sums, _as_long(more, whole), _as_long(alone, whole))
        found.append(Sampled(*(Resampled(one, whole, resolution, tick, weights) for one in every)))
    return certainty, found


def _stretches(pieces: Sequence[Piece], seconds: float) -> Floats:
    """Nothing (fields), and then what each stretch of so many seconds has, a second of it."""
    parts = [np.zeros((1, len(FIELDS)))]
    for run in pieces:
        size = max(1, round(seconds / run.seconds))
        ends = np.cumsum(np.pad(sum(run.entities), ((1, 0), (0, 0))), axis=0)
        parts.append((ends[size:] - ends[:-size]) / (size * run.seconds))
    return np.concatenate(parts)


def _own_lag(alone: Floats) -> None:
    """Takes from what the lag of all leaves, the first, what each stretch's own does not."""
    at = FIELDS.index
    lags = alone[:, at("told_seconds")] / alone[:, at("told_rows")]
    apart = np.nan_to_num(lags - lags[0]) ** 2
    less = apart * alone[:, at("speed_squares")] * alone[:, at("lag_rows")] / alone[:, at("rows")]
    left = alone[:, at("lag_squares")]
    alone[:, at("lag_squares")] = np.maximum(left - less, LEFT * left)


def _as_long(several: Floats, whole: Floats) -> Floats:
    """Each of these with as many rows as all have."""
    rows = FIELDS.index("rows")
    return np.asarray(several * (whole[rows] / several[:, rows])[:, None])


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
        return [
            np.concatenate([weights @ part for part in np.split(units[:, 0], [TURN_FIELDS], 1)], 1)
            for units in several
        ]
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
