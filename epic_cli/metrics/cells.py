"""What was measured, cell by cell: sums over short stretches of time, which can be added again.

Figures of any selection of cells are those of their sums: that is what makes resampling cheap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics import SUMS, TURN_SUMS
from epic_cli.metrics.metric import DrawnRows
from epic_cli.metrics.sampled_truth import JUMP_FACTOR, JUMP_FLOOR
from epic_cli.metrics.turned import judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.lag import Lag
    from epic_cli.metrics.measurement import Measurement
    from epic_cli.metrics.sampled_truth import SampledTruth
    from epic_cli.metrics.weights import Weights

#: A recording is cut into so many cells, fewer where it has many entities ...
MOST_CELLS = 256
MOST_CELLS_OF_ALL = 20_000
FEWEST_CELLS = 16
#: Of very many recordings each is one of the units that are drawn: few cells will do.
FEWEST_OF_MANY = 4
#: ... none of which is shorter than so many seconds.
SHORTEST = 0.1

#: Half the width (s) of the parabola whose vertex is the lag, and how many rows it goes through.
_LAG_STEP = 0.01
_LAG_ROWS = 5000

#: Differences of so many rows are in memory at a time.
_STRETCH = 65_536

#: What is known of all rows together only: each has its share of it.
SPREAD = ("backward", "overshoots", "recoveries", "recovery_seconds")

#: What the lag adds up, and with ``turn_`` before it that of the rotation.
_LAG = (
    "lag_rows",
    "lag_squares",
    "charged_rows",
    "charged_seconds",
    "told_rows",
    "told_seconds",
)

#: What adds up over rows, the columns of what ``tally`` returns.
FIELDS = (
    "rows",
    "squares",
    "speed_squares",
    "jumps",
    "fours",
    "third",
    "truth_third",
    *(name for name in SUMS if name not in TURN_SUMS),
    *_LAG,
    *SPREAD,
    *TURN_SUMS,
    *(f"turn_{name}" for name in _LAG),
)

#: From this column on they are of rotations.
TURN_FIELDS = FIELDS.index(TURN_SUMS[0])


class Grid(NamedTuple):
    """Cells of ``length`` seconds, ``size`` of them from ``start`` on: the same for all."""

    start: float
    length: float
    size: int

    def places(self, times: Floats) -> NDArray[np.int64]:
        """The cell of each time."""
        places = ((times - self.start) / self.length).astype(np.int64)
        return np.clip(places, 0, self.size - 1)


def grid(times: Sequence[Floats], share: int = 1) -> Grid:
    """The cells of a recording, from the ticks of its entities; it is one of about ``share``."""
    start = min(float(one[0]) for one in times)
    span = max(float(one[-1]) for one in times) - start
    fewest = FEWEST_CELLS if share == 1 else FEWEST_OF_MANY
    most = max(fewest, min(MOST_CELLS, MOST_CELLS_OF_ALL // (len(times) * share)))
    length = max(SHORTEST, span / most)
    return Grid(start, length, max(1, math.ceil(span / length)))


def tally(
    cells: Grid,
    drawn: DrawnRows,
    added: Mapping[str, Floats],
    counted: Integers,
    errors: Floats,
    measured: Measurement,
) -> Floats:
    """The sums (cells, fields) of what one participant drew.

    ``added`` (n each) is what the metrics add up over rows. ``counted`` (n) is the segment of the
    rows that count, -1 of the others, ``errors`` the distances of those; ``measured`` is what they
    come to.
    """
    shown, sampled = drawn.shown, drawn.truth
    places = cells.places(sampled.times)
    sums = np.zeros((cells.size, len(FIELDS)))

    def add(field: str, rows: NDArray[np.intp], values: Floats | None = None) -> None:
        sums[:, FIELDS.index(field)] += np.bincount(places[rows], values, cells.size)

    rows = np.flatnonzero(counted >= 0)
    if not len(rows):
        return sums
    add("rows", rows)
    add("squares", rows, np.square(errors))
    add("speed_squares", rows, _squared(sampled.velocities)[rows])
    pairs = np.flatnonzero((counted[1:] >= 0) & (counted[1:] == counted[:-1])) + 1
    steps = np.sqrt(_squared(shown[1:] - shown[:-1])[pairs - 1])
    floor = JUMP_FLOOR * sampled.usual_step + 2 * measured.resolution
    add("jumps", pairs[steps > JUMP_FACTOR * sampled.step_limit[pairs - 1] + floor])
    run = pairs[2:][(pairs[2:] - pairs[:-2] == 2)]
    add("fours", run)
    add("third", run, _squared_thirds(shown, run))
    add("truth_third", run, _squared_thirds(sampled.positions, run))
    for name, values in added.items():
        add(name, rows, values[rows])
    share = sums[:, 0] / len(rows)
    for field in SPREAD:
        sums[:, FIELDS.index(field)] = float(getattr(measured, field)) * share
    _add_lag(sums, places, sampled, shown, counted, rows, measured.lag)
    if measured.turned is not None and drawn.rotations is not None:
        own = judged(drawn, counted)
        rows, turning = np.flatnonzero(own >= 0), measured.turned.lag
        _add_lag(sums, places, sampled, drawn.rotations, own, rows, turning, "turn_")
    return sums


def _add_lag(
    sums: Floats,
    places: NDArray[np.int64],
    sampled: SampledTruth,
    shown: Floats,
    counted: Integers,
    rows: NDArray[np.intp],
    lag: Lag,
    prefix: str = "",
) -> None:
    """The part that each cell has in the lag, and in what the lag leaves.

    The mean square as a function of the shift is a parabola near its minimum; its vertex moves
    by the mean of its slopes in the cells over its bend (the influence of each cell on it).
    With a ``prefix`` it is that of the rotations.
    """
    truth = sampled.turns.turns if prefix and sampled.turns else sampled.truth
    told = not math.isnan(lag.seconds)
    shift = lag.seconds if told else 0.0
    some = rows[:: max(1, len(rows) // _LAG_ROWS)]
    squares = []
    for off in (-_LAG_STEP, 0.0, _LAG_STEP):
        times = sampled.times[some] - (shift + off)
        segments = sampled.truth.at(sampled.times[some], shift + off).segments
        distances = truth.away(times, shown[some])
        squares.append(np.where(segments == counted[some], distances, np.nan))
    left, centre, right = squares
    fits = np.isfinite(left + centre + right)
    if not fits.any():
        return
    left, centre, right, some = left[fits], centre[fits], right[fits], some[fits]
    total = float(centre.sum())
    # as many rows as the lag rests on, however few were looked at
    each = np.full(len(some), lag.rows / len(some))

    def add(field: str, values: Floats) -> None:
        place = FIELDS.index(prefix + field)
        sums[:, place] += np.bincount(places[some], values * each, len(sums))

    add("lag_rows", np.ones(len(some)))
    add("lag_squares", centre * (lag.residual**2 * len(some) / total if total > 0 else 1.0))
    slopes = np.zeros(len(some))
    if told:
        bend = float(np.mean(left - 2 * centre + right))
        slopes = (left - right) / (2 * bend) * _LAG_STEP if bend > 0 else np.full(len(some), np.nan)
        slopes -= slopes.mean()
        add("told_rows", np.ones(len(some)))
        add("told_seconds", shift + slopes)
    if not math.isnan(lag.charged):
        add("charged_rows", np.ones(len(some)))
        add("charged_seconds", lag.charged + math.copysign(1.0, shift) * slopes)


def _squared(vectors: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))


def _squared_thirds(path: Floats, last: NDArray[np.intp]) -> Floats:
    squares = np.empty(max(0, len(path) - 3))
    for begin in range(0, len(squares), _STRETCH):
        part = path[begin : begin + _STRETCH + 3]
        thirds = (part[3:] - part[:-3]) - (part[2:-1] - part[1:-2]) * 3
        squares[begin : begin + _STRETCH] = _squared(thirds)
    return np.asarray(squares[last - 3])


_PLACES = {name: place for place, name in enumerate(FIELDS)}


class ResampledLag(NamedTuple):
    """The lag in each draw, the residual, and what the lag counts as."""

    seconds: Floats
    residual: Floats
    charged: Floats


@dataclass(frozen=True)
class Resampled:
    """What ``Measurement`` has, as arrays over the draws, for metrics that have an interval.

    ``sums`` (draws, fields) are those of the cells that were drawn, ``total`` (fields) of all.
    """

    sums: Floats
    total: Floats
    resolution: float
    tick: float
    weights: Weights

    def __getattr__(self, field: str) -> Floats:
        """How much each draw has of what ``Measurement`` counts under the same name."""
        if field not in _PLACES:
            raise AttributeError(field)
        return np.asarray(self.sums[:, _PLACES[field]])

    def _mean(self, field: str, rows: str) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(getattr(self, field) / getattr(self, rows))

    @property
    def error(self) -> Floats:
        """Root mean square distance from the truth."""
        return np.asarray(np.sqrt(self._mean("squares", "rows")))

    @property
    def speed(self) -> Floats:
        """Root mean square speed of the truth."""
        return np.asarray(np.sqrt(self._mean("speed_squares", "rows")))

    @property
    def lag(self) -> ResampledLag:
        """The lag, as the influence of each cell on it has it, and what it leaves."""
        return self._lag("")

    @property
    def turn_lag(self) -> ResampledLag:
        """That of the rotation."""
        return self._lag("turn_")

    def _lag(self, prefix: str) -> ResampledLag:
        def mean(field: str, rows: str) -> Floats:
            return self._mean(prefix + field, prefix + rows)

        return ResampledLag(
            mean("told_seconds", "told_rows"),
            np.asarray(np.sqrt(mean("lag_squares", "lag_rows"))),
            # what it counts as is a length of time, however far a draw moves it
            np.abs(mean("charged_seconds", "charged_rows")),
        )

    @property
    def overshoot_rms(self) -> Floats:
        """Root mean square of how far it is ahead of the truth."""
        return np.asarray(np.sqrt(self._mean("overshoots", "rows")))

    @property
    def jerk_rms(self) -> Floats:
        """Root mean square jerk of what was drawn."""
        return np.asarray(np.sqrt(self._mean("third", "fours")) / self.tick**3)

    @property
    def truth_jerk(self) -> Floats:
        """Root mean square jerk of the truth in the same rows."""
        return np.asarray(np.sqrt(self._mean("truth_third", "fours")) / self.tick**3)

    @property
    def usual_jerk(self) -> Floats:
        """The truth's jerk, in a draw that has hardly any of it a third of what all rows have."""
        third, fours = (float(self.total[_PLACES[field]]) for field in ("truth_third", "fours"))
        usual = math.sqrt(third / fours) / self.tick**3 if fours else math.nan
        return np.asarray(np.maximum(self.truth_jerk, usual / 3))

    def mean(self, name: str) -> Floats:
        """The mean over rows of what a metric adds up under this name (``Metric.sums``)."""
        return self._mean(name, "rows")
