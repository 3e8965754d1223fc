"""The measurement of what a strategy drew: against the truth, in time cells, and pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from epic_cli.engine.measure import (
    accumulate_errors,
    count_backward_steps,
    measure_overshoot,
    measure_turn_overshoot,
    sum_rows,
    sum_values,
)
from epic_cli.metrics import SENT_SUMS, SUMS, TURN_SUMS
from epic_cli.metrics.arrays import (
    ARRIVAL,
    TIME,
    choose_places,
    compute_quantile,
    make_packet_table,
    sort,
)
from epic_cli.metrics.lag import Lag, find_lag
from epic_cli.metrics.metric import AIM_RANGE, SCALE, DrawnRows, Weights
from epic_cli.metrics.recovery import Events, Recovery, measure_recovery
from epic_cli.metrics.truth import JUMP_FACTOR, JUMP_FLOOR, OVERSHOOT_WINDOW, SampledTruth
from epic_cli.metrics.turns import (
    RESTING,
    align_signs,
    compute_forward,
    compute_rotation_vectors,
    find_turns_between,
    mark_known,
    measure_angles,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.sent import SentStates
    from epic_cli.metrics.spool import ArraySpool


#: |w| of a rotation within a quarter of a turn of the truth's.
_ARRIVED = math.sqrt(0.5)


def select_judged_rows(drawn: DrawnRows, counted: Integers) -> Integers:
    """Return the segments (n) of the rows whose rotations are compared; -1 for other rows."""
    turns = drawn.truth.turns
    assert turns is not None
    assert drawn.rotations is not None
    both = mark_known(turns.rotations) & mark_known(drawn.rotations)
    return np.where(both, counted, -1).astype(np.int32)


def find_turn_lag(drawn: DrawnRows, counted: Integers) -> Lag:
    """Return the lag of the drawn rotations behind the true ones."""
    turns = drawn.truth.turns
    assert turns is not None
    assert drawn.rotations is not None
    window = drawn.truth.window
    rows = select_judged_rows(drawn, counted)
    whole = (
        bool((rows[window.rows] >= 0).all()) and mark_known(drawn.rotations[window.beginning]).all()
    )
    return find_lag(
        turns.turns,
        drawn.truth.times,
        drawn.rotations,
        rows,
        window if whole else None,
        RESTING,
    )


def compute_rotation_sums(drawn: DrawnRows) -> dict[str, Floats]:
    """Return the rotation values of each row (n each), by the names of ``Metric.sums``.

    The values are computed only once.
    """
    kept = drawn.__dict__
    if "_turned" not in kept:
        kept["_turned"] = _measure_rotation_rows(drawn)
    found: dict[str, Floats] = kept["_turned"]
    return found


def _measure_rotation_rows(drawn: DrawnRows) -> dict[str, Floats]:
    truth, shown, sampled = drawn.truth, drawn.rotations, drawn.truth.turns
    assert sampled is not None
    assert shown is not None
    rows = select_judged_rows(drawn, truth.segments)
    true = sampled.rotations
    steps, true_steps = (
        find_turns_between(shown[:-1], shown[1:]),
        find_turns_between(true[:-1], true[1:]),
    )
    pairs = np.append(False, (rows[1:] >= 0) & (rows[1:] == rows[:-1]))[: len(rows)]
    turned, truly = (
        np.concatenate((np.zeros((1, 3)), compute_rotation_vectors(values)))[: len(rows)]
        for values in (steps, true_steps)
    )
    floor = JUMP_FLOOR * sampled.usual_step + 2 * RESTING
    limit = np.append(np.inf, JUMP_FACTOR * sampled.step_limit + floor)[: len(rows)]
    fours = pairs.copy()
    fours[1:] &= pairs[:-1]
    fours[2:] &= pairs[:-2]
    fours[:3] = False
    late = sampled.turns.interpolate(truth.times, drawn.turn_lag)
    rays, late_rays = (
        np.square(compute_forward(shown) - compute_forward(at)).sum(axis=1) for at in (true, late)
    )
    found = {
        "turn_rows": np.ones(len(rows)),
        "angle_squares": measure_angles(shown, true) ** 2,
        "turn_rates": np.where(pairs, np.square(truly).sum(axis=1), 0.0) / truth.tick**2,
        "aim_shares": np.where(mark_known(late), late_rays, 0.0),
        "aim_squares": rays * drawn.aim_range**2,
        "long_ways": _mark_wrong_way_turns(drawn, rows, late),
        "turn_jumps": pairs & (np.sqrt(np.square(turned).sum(axis=1)) > limit),
        "turn_overshoots": _measure_turn_overshoots(drawn, rows) ** 2,
        "turn_fours": fours,
        "turn_third": np.where(fours, _compute_second_differences(turned), 0.0),
        "turn_third_of": np.where(fours, _compute_second_differences(truly), 0.0),
    }
    return {name: np.where(rows >= 0, values, 0.0) for name, values in found.items()}


def _compute_second_differences(spins: Floats) -> Floats:
    """Return the squared second differences (n) of the rotation steps (n, 3)."""
    found = np.zeros(len(spins))
    found[2:] = np.square(spins[2:] - 2 * spins[1:-1] + spins[:-2]).sum(axis=1)
    return found


def _measure_turn_overshoots(drawn: DrawnRows, rows: Integers) -> Floats:
    """Return the angle (n, degrees) by which a row is ahead of all true rotations around it."""
    truth, shown, found = drawn.truth, drawn.rotations, np.empty(len(rows))
    assert truth.turns is not None
    true = truth.turns.rotations
    segments = np.where(mark_known(true), truth.segments, -1).astype(np.int32)
    late, reach = (round(value / truth.tick) for value in (drawn.turn_lag, OVERSHOOT_WINDOW))
    least = math.radians(RESTING)
    measure_turn_overshoot(shown, rows, true, segments, late, max(reach, 1), least, found)
    return np.degrees(found)


def _mark_wrong_way_turns(drawn: DrawnRows, rows: Integers, late: Floats) -> Floats:
    """Mark the rows (n) in which the drawn rotation gains or loses a whole turn on the truth.

    The rotation between the two, followed from row to row, then changes its sign: q has become -q.
    """
    found = np.zeros(len(rows))
    assert drawn.rotations is not None
    chosen = np.flatnonzero((rows >= 0) & mark_known(late))
    if not len(chosen):
        return found
    left = align_signs(find_turns_between(late[chosen], drawn.rotations[chosen]))[:, 3]
    arrived = np.abs(left) > _ARRIVED
    chosen, left = chosen[arrived], left[arrived]
    same = rows[chosen[1:]] == rows[chosen[:-1]]
    found[chosen[1:][same & (left[1:] * left[:-1] < 0)]] = 1.0
    return found


#: Most cells of a recording, of all its entities together, and the fewest ...
MOST_CELLS = 256
MOST_CELLS_OF_ALL = 20_000
FEWEST_CELLS = 16
#: Fewest cells of one of very many recordings, each of which is a unit of the bootstrap.
FEWEST_OF_MANY = 4
#: ... each at least this many seconds long.
SHORTEST = 0.1

#: Half the width (s) of the parabola whose vertex is the lag, and its number of rows.
_LAG_STEP = 0.01
_LAG_ROWS = 5000

#: Sums known for all rows only, which are spread evenly over them.
SPREAD = ("backward", "overshoots", "recoveries", "recovery_seconds")

#: Sums of the lag; with ``turn_`` in front, those of the rotations' lag.
_LAG = (
    "lag_rows",
    "lag_squares",
    "charged_rows",
    "charged_seconds",
    "told_rows",
    "told_seconds",
)

#: Sums over rows, the columns of ``tally_cells``; ``delays`` (s) are those of packets that
#: arrive in these rows.
FIELDS = (
    "rows",
    "delays",
    "squares",
    "speed_squares",
    "jumps",
    "fours",
    "third",
    "truth_third",
    *(name for name in SUMS if name not in (*TURN_SUMS, *SENT_SUMS)),
    *_LAG,
    *SPREAD,
    *TURN_SUMS,
    *(f"turn_{name}" for name in _LAG),
    *SENT_SUMS,
)

#: The columns that ``sum_rows`` fills.
_ROW_SUMS = (
    "rows",
    "squares",
    "speed_squares",
    "jumps",
    "fours",
    "third",
    "truth_third",
)

#: First column of rotations.
TURN_FIELDS = FIELDS.index(TURN_SUMS[0])

#: First column of what is sent.
SENT_FIELDS = FIELDS.index(SENT_SUMS[0])


class Grid(NamedTuple):
    """A grid of ``size`` cells of ``length`` seconds, from ``start`` on, for all strategies."""

    start: float
    length: float
    size: int

    def find_places(self, times: Floats) -> NDArray[np.int64]:
        """Return the index of the cell that each time lies in."""
        places = ((times - self.start) / self.length).astype(np.int64)
        return np.clip(places, 0, self.size - 1)


def make_grid(spans: Sequence[tuple[float, float]], share: int = 1) -> Grid:
    """Return a recording's grid of time cells; about ``share`` recordings share the memory.

    ``spans`` are the times (s) of the first and the last row of each entity.
    """
    start = min(begin for begin, _ in spans)
    span = max(end for _, end in spans) - start
    fewest = FEWEST_CELLS if share == 1 else FEWEST_OF_MANY
    most = max(fewest, min(MOST_CELLS, MOST_CELLS_OF_ALL // (len(spans) * share)))
    length = max(SHORTEST, span / most)
    return Grid(start, length, max(1, math.ceil(span / length)))


def tally_cells(
    cells: Grid,
    drawn: DrawnRows,
    added: Mapping[str, Floats],
    counted: Integers,
    errors: Floats,
    measured: Measurement,
    places: Integers,
    delays: Floats,
) -> Floats:
    """Return the sums (cells, fields) of what one participant drew.

    ``places`` (n) are the cells of the rows, ``added`` (n each) the sums of metrics, row by row.
    ``counted`` (n) is the segment of each judged row, -1 for others; ``errors`` are the distances
    of the judged rows, ``measured`` their measurement. ``delays`` (cells, s) are those of the
    packets.
    """
    shown, sampled = drawn.shown, drawn.truth
    sums = np.zeros((cells.size, len(FIELDS)))
    rows = np.flatnonzero(counted >= 0)
    if not len(rows):
        return sums
    movement = np.zeros((cells.size, len(_ROW_SUMS)))
    floor = JUMP_FLOOR * sampled.usual_step + 2 * measured.resolution
    sum_rows(
        places,
        counted,
        shown,
        sampled.positions,
        errors,
        sampled.speed_squares,
        sampled.step_limit,
        JUMP_FACTOR,
        floor,
        movement,
    )
    sums[:, [FIELDS.index(name) for name in _ROW_SUMS]] = movement
    sums[:, FIELDS.index("delays")] = delays * sums[:, FIELDS.index("rows")]
    for name, values in added.items():
        sum_values(places, counted, values, sums[:, FIELDS.index(name)])
    share = sums[:, 0] / len(rows)
    for field in SPREAD:
        sums[:, FIELDS.index(field)] = float(getattr(measured, field)) * share
    _add_lag(sums, places, sampled, shown, counted, rows, measured.lag)
    if measured.turned is not None and drawn.rotations is not None:
        own = select_judged_rows(drawn, counted)
        rows, turning = np.flatnonzero(own >= 0), measured.turned.lag
        _add_lag(sums, places, sampled, drawn.rotations, own, rows, turning, "turn_")
    return sums


def _add_lag(
    sums: Floats,
    places: Integers,
    sampled: SampledTruth,
    shown: Floats,
    counted: Integers,
    rows: NDArray[np.intp],
    lag: Lag,
    prefix: str = "",
) -> None:
    """Add each cell's contribution to the lag, and to the error left at the lag, to ``sums``.

    The mean square as a function of the shift is a parabola near its minimum; its vertex moves by
    the mean of its slopes in the cells over its curvature (the influence of each cell on it). With
    a ``prefix`` the lag is that of the rotations.
    """
    truth = sampled.turns.turns if prefix and sampled.turns else sampled.truth
    told = not math.isnan(lag.seconds)
    shift = lag.seconds if told else 0.0
    some = rows[choose_places(len(rows), _LAG_ROWS)]
    own = sampled.times[some], shown[some], counted[some]
    squares = [
        truth.square_shifted_distances(*own, shift + off) for off in (-_LAG_STEP, 0.0, _LAG_STEP)
    ]
    left, center, right = squares
    fits = np.isfinite(left + center + right)
    if not fits.any():
        return
    left, center, right, some = left[fits], center[fits], right[fits], some[fits]
    total = float(center.sum())
    # as many rows as the lag rests on, however few were looked at
    each = np.full(len(some), lag.rows / len(some))

    def add(field: str, values: Floats) -> None:
        place = FIELDS.index(prefix + field)
        sums[:, place] += np.bincount(places[some], values * each, len(sums))

    add("lag_rows", np.ones(len(some)))
    add(
        "lag_squares",
        center * (lag.residual * lag.residual * len(some) / total if total > 0 else 1.0),
    )
    slopes = np.zeros(len(some))
    if told:
        bend = float(np.mean(left - 2 * center + right))
        slopes = (left - right) / (2 * bend) * _LAG_STEP if bend > 0 else np.full(len(some), np.nan)
        slopes -= slopes.mean()
        add("told_rows", np.ones(len(some)))
        add("told_seconds", shift + slopes)
    if not math.isnan(lag.charged):
        add("charged_rows", np.ones(len(some)))
        add("charged_seconds", lag.charged + math.copysign(1.0, shift) * slopes)


_PLACES = {name: place for place, name in enumerate(FIELDS)}


class ResampledLag(NamedTuple):
    """The lag of each draw, its residual, and the lag as the score counts it."""

    seconds: Floats
    residual: Floats
    charged: Floats


@dataclass(frozen=True)
class Resampled:
    """The attributes of ``Measurement`` as arrays over bootstrap draws.

    Metrics with an interval are computed from them. ``sums`` (draws, fields) are those of the drawn
    cells, ``total`` (fields) those of all.
    """

    sums: Floats
    total: Floats
    resolution: float
    tick: float
    weights: Weights

    def __getattr__(self, field: str) -> Floats:
        """Return the sum of a ``Measurement`` count in each draw."""
        if field not in _PLACES:
            raise AttributeError(field)
        return np.asarray(self.sums[:, _PLACES[field]])

    def _compute_mean(self, field: str, rows: str) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(getattr(self, field) / getattr(self, rows))

    @property
    def error(self) -> Floats:
        """The root mean square distance from the truth in each draw."""
        return np.asarray(np.sqrt(self._compute_mean("squares", "rows")))

    @property
    def speed(self) -> Floats:
        """The root mean square speed of the truth in each draw."""
        return np.asarray(np.sqrt(self._compute_mean("speed_squares", "rows")))

    @property
    def lag(self) -> ResampledLag:
        """The lag of each draw, by the influence of its cells, and the error left at the lag."""
        return self._compute_lag("")

    @property
    def turn_lag(self) -> ResampledLag:
        """The lag of the rotations in each draw."""
        return self._compute_lag("turn_")

    def _compute_lag(self, prefix: str) -> ResampledLag:
        def mean(field: str, rows: str) -> Floats:
            return self._compute_mean(prefix + field, prefix + rows)

        return ResampledLag(
            mean("told_seconds", "told_rows"),
            np.asarray(np.sqrt(mean("lag_squares", "lag_rows"))),
            # what it counts as is a length of time, however far a draw moves it
            np.abs(mean("charged_seconds", "charged_rows")),
        )

    @property
    def overshoot_rms(self) -> Floats:
        """The root mean square distance ahead of the truth in each draw."""
        return np.asarray(np.sqrt(self._compute_mean("overshoots", "rows")))

    @property
    def jerk_rms(self) -> Floats:
        """The root mean square jerk of the drawn path in each draw."""
        return np.asarray(np.sqrt(self._compute_mean("third", "fours")) / self.tick**3)

    @property
    def truth_jerk(self) -> Floats:
        """The root mean square jerk of the truth, in the same rows of each draw."""
        return np.asarray(np.sqrt(self._compute_mean("truth_third", "fours")) / self.tick**3)

    @property
    def usual_jerk(self) -> Floats:
        """The truth's jerk; in draws with hardly any jerk, a third of the jerk of all rows."""
        third, fours = (float(self.total[_PLACES[field]]) for field in ("truth_third", "fours"))
        usual = math.sqrt(third / fours) / self.tick**3 if fours else math.nan
        return np.asarray(np.maximum(self.truth_jerk, usual / 3))

    def mean(self, name: str) -> Floats:
        """Return the mean over rows of one of a metric's sums (``Metric.sums``) in each draw."""
        return self._compute_mean(name, "rows")


class ErrorSummary(NamedTuple):
    """Count, sum of squares and largest of all errors, where only a sample of the errors is kept.

    The kept errors are sorted and evenly chosen.
    """

    rows: int
    squares: float
    largest: float


class JudgedErrors:
    """The errors of the judged rows, or a sample (``thinned``) with facts about all (``kept``)."""

    errors: Floats
    kept: ErrorSummary | None

    @property
    def rows(self) -> int:
        """The number of judged rows."""
        return len(self.errors) if self.kept is None else self.kept.rows

    @property
    def error(self) -> float:
        """The root mean square of all errors."""
        return math.sqrt(self._all_errors.squares / self.rows) if self.rows else 0.0

    @property
    def error95(self) -> float:
        """The 95 % quantile of the errors."""
        return compute_quantile(np.asarray(self.errors), 0.95)

    @property
    def error_max(self) -> float:
        """The largest error."""
        return self._all_errors.largest

    @property
    def _all_errors(self) -> ErrorSummary:
        if self.kept is not None:
            return self.kept
        errors = np.asarray(self.errors)
        squares = float(np.square(errors).sum())
        return ErrorSummary(len(errors), squares, float(errors.max(initial=0.0)))

    def keep_in(self, spool: ArraySpool) -> Self:
        """Return a copy whose arrays are moved to the spool."""
        chosen: Any = self
        return cast("Self", replace(chosen, errors=spool.keep(self.errors)))

    def thin_errors(self, most: int) -> Self:
        """Return a copy that keeps about ``most`` of the errors, enough for quantiles."""
        if len(self.errors) <= most:
            return self
        chosen: Any = self
        return cast(
            "Self",
            replace(chosen, errors=_choose_evenly(sort(self.errors), most), kept=self._all_errors),
        )


@dataclass(frozen=True)
class RotationErrors(JudgedErrors):
    """The angles (degrees) to the true rotations in the judged rows, and the rotations' lag."""

    errors: Floats
    lag: Lag
    kept: ErrorSummary | None = None


@dataclass(frozen=True)
class Measurement(JudgedErrors):
    """All sums over the rows of one candidate; metrics are functions of a measurement.

    ``measure`` makes a measurement for one entity, ``pool_measurements`` for several. Lengths are
    in the recording's unit.

    - ``errors``: those of the judged rows, or some of them (``thinned``) with the facts ``kept``
    - ``broken``: rows that would be judged but are not finite
    - ``excess``: by how much the longest step exceeds the truth's longest around it
    - ``overshoot``, ``overshoots``: the largest distance ahead of the truth, the sum of all squares
    - ``fours``, ``third``, ``truth_third``: runs of four rows, sums of squared third differences
    - ``statuses``: judged rows by status
    - ``beyond``, ``extent``, ``bound``: the largest distance outside of the truth's box, the box's
      diagonal, and the distance from which on that is called diverged
    - ``speed``, ``resolution``: RMS speed of the truth, least meaningful length
    - ``tick`` (s), ``weights``: those of the comparison
    - ``totals``: sums of metrics over judged rows (``Metric.sums``); ``sums``: by cell
    - ``turned``: the rotations' errors, None without rotations
    - ``losses`` (fields of each of ``IN_A_ROW``): the change of the sums by one more loss of that
      length; None: not simulated
    """

    errors: Floats
    broken: int
    lag: Lag
    excess: float
    jumps: int
    backward: int
    overshoot: float
    overshoots: float
    fours: int
    third: float
    truth_third: float
    statuses: NDArray[np.int64]
    recovery: Recovery
    beyond: float
    extent: float
    bound: float
    speed: float
    resolution: float
    tick: float
    weights: Weights
    totals: Mapping[str, float]
    kept: ErrorSummary | None = None
    sums: Floats | None = None
    turned: RotationErrors | None = None
    losses: Floats | None = None

    def keep_in(self, spool: ArraySpool) -> Self:
        """Return a copy whose arrays are moved to the spool."""
        turned = self.turned and self.turned.keep_in(spool)
        kept = super().keep_in(spool)
        return replace(kept, sums=spool.keep(self.sums), turned=turned)

    @property
    def jerk_rms(self) -> float:
        """The root mean square jerk of the drawn path, length/s^3."""
        return self._compute_jerk(self.third)

    @property
    def truth_jerk(self) -> float:
        """The root mean square jerk of the truth in the same rows, length/s^3."""
        return self._compute_jerk(self.truth_third)

    @property
    def usual_jerk(self) -> float:
        """The jerk (length/s^3) that relative jerk is measured in."""
        return self.truth_jerk

    @property
    def recoveries(self) -> int:
        """The number of teleports, outages and corrections to recover from."""
        return self.recovery.teleports + self.recovery.outages + (self.recovery.unseen > 0)

    @property
    def recovery_seconds(self) -> float:
        """The total time spent recovering, s."""
        return sum(
            (self.recovery.teleport_seconds, self.recovery.outage_seconds, self.recovery.unseen)
        )

    def _compute_jerk(self, squares: float) -> float:
        return math.sqrt(squares / self.fours) / self.tick**3 if self.fours else math.nan

    @property
    def turn_lag(self) -> Lag:
        """The lag of the drawn rotations."""
        return self.turned.lag if self.turned else Lag(math.nan, math.nan, 0)

    @property
    def overshoot_rms(self) -> float:
        """The root mean square distance ahead of the truth, over all judged rows."""
        return math.sqrt(self.overshoots / self.rows) if self.rows else math.nan

    @property
    def diverged(self) -> bool:
        """True if the drawn path went far outside of the truth's box."""
        return self.beyond > self.bound

    def mean(self, name: str) -> float:
        """Return the mean over judged rows of one of a metric's sums (``Metric.sums``)."""
        return self.totals.get(name, 0.0) / max(self.rows, 1)


def _choose_evenly(ordered: Floats, count: int) -> Floats:
    """Return ``count`` of the sorted values, each from the middle of an equal part."""
    if count == len(ordered):
        return ordered
    return ordered[((np.arange(count) + 0.5) * (len(ordered) / count)).astype(np.intp)]


def _pool_errors(measurements: Sequence[JudgedErrors]) -> tuple[Floats, ErrorSummary | None]:
    """Return errors that each stand for equally many rows, and the facts about all errors."""
    if not any(measurement.kept for measurement in measurements):
        return np.concatenate([np.asarray(each.errors) for each in measurements]), None
    every = max(each.rows / len(each.errors) for each in measurements if len(each.errors))
    parts = [
        _choose_evenly(
            np.asarray(each.errors) if each.kept else sort(np.asarray(each.errors)),
            round(each.rows / every),
        )
        for each in measurements
    ]
    known = [measurement._all_errors for measurement in measurements]
    return sort(np.concatenate(parts)), ErrorSummary(
        sum(kept.rows for kept in known),
        sum(kept.squares for kept in known),
        max(kept.largest for kept in known),
    )


#: Fields that add up over entities, and fields of which the largest counts.
_ADDED = (
    "broken", "jumps", "backward", "overshoots", "fours", "third", "truth_third", "statuses",
)  # fmt: skip
_LARGEST = ("excess", "overshoot", "resolution")


def pool_measurements(measurements: Sequence[Measurement]) -> Measurement:
    """Combine the measurements of several entities, at least one with judged rows.

    All rows count alike. The residual is what each entity's own lag leaves. The lag is the mean of
    the known lags, by rows; the lag that the score counts is the mean of the entities' charged
    lags: one entity's lag does not make up for another's lead.
    """
    if len(measurements) == 1:
        return measurements[0]
    counts = [measurement.rows for measurement in measurements]
    stray = max(
        measurements,
        key=lambda measurement: (
            measurement.beyond / measurement.bound if measurement.bound else 0.0
        ),
    )
    errors, kept = _pool_errors(measurements)
    recovered = Recovery()
    for measurement in measurements:
        recovered |= measurement.recovery
    squares = [each.speed * each.speed for each in measurements]
    pooled: dict[str, Any] = {
        **{name: sum(getattr(each, name) for each in measurements) for name in _ADDED},
        **{name: max(getattr(each, name) for each in measurements) for name in _LARGEST},
    }
    return replace(
        stray,
        errors=errors,
        lag=_pool_lag([measurement.lag for measurement in measurements]),
        recovery=recovered,
        speed=math.sqrt(float(np.average(squares, weights=counts))),
        totals={name: sum(each.totals.get(name, 0.0) for each in measurements) for name in SUMS},
        kept=kept,
        sums=None,
        turned=_pool_rotation_errors([each.turned for each in measurements if each.turned]),
        losses=None,
        **pooled,
    )


def _pool_rotation_errors(several: Sequence[RotationErrors]) -> RotationErrors | None:
    if not several:
        return None
    errors, kept = _pool_errors(several)
    return replace(
        several[0], errors=errors, kept=kept, lag=_pool_lag([turned.lag for turned in several])
    )


def _pool_lag(lags: Sequence[Lag]) -> Lag:
    def pool_mean(values: Sequence[tuple[float, int]]) -> float:
        known = [(value, rows) for value, rows in values if not math.isnan(value) and rows]
        rows = sum(kept[1] for kept in known)
        return sum(value * rows for value, rows in known) / rows if rows else math.nan

    return Lag(
        pool_mean([(lag.seconds, lag.rows) for lag in lags]),
        math.sqrt(pool_mean([(lag.residual * lag.residual, lag.rows) for lag in lags])),
        sum(lag.rows for lag in lags),
        tuple(sorted({other for lag in lags for other in lag.others}, key=abs)),
        pool_mean([(lag.charged, lag.rows) for lag in lags]),
    )


#: A step against the truth's direction is backward from this share of the usual step on, unless the
#: truth turns within this many seconds.
BACKWARD_FLOOR = 0.01
TURN_WINDOW = 0.1

#: A drawn path has diverged if it is outside of the movement by this share of its extent, and by
#: more than the entity moves in this many seconds.
STRAY_SHARE, STRAY_SECONDS = 0.5, 1.0


class CellPlaces(NamedTuple):
    """The cell of each of an entity's rows (n), and the mean delay (cells, s) of its packets."""

    places: Integers
    delays: Floats


@dataclass(frozen=True)
class Entity:
    """An entity that can be measured: its packets, its truth at the ticks, and its events."""

    name: str
    packets: PacketBlock
    truth: SampledTruth
    events: Events
    aim_range: float = AIM_RANGE
    sent: SentStates | None = None

    def place_rows(self, cells: Grid) -> CellPlaces:
        """Return the cells of the rows, and the mean delay in each cell.

        Computed once for each grid.
        """
        known: dict[Grid, CellPlaces] = self.__dict__.setdefault("_in_cells", {})
        if cells not in known:
            places = cells.find_places(self.truth.times).astype(np.int32)
            known[cells] = CellPlaces(places, self._measure_delays(cells))
        return known[cells]

    def _measure_delays(self, cells: Grid) -> Floats:
        """Return the mean delay (s) of the packets that arrive in each cell; 0 if unknown."""
        table = make_packet_table(self.packets)
        delays = table[ARRIVAL] - table[TIME]
        known = np.isfinite(delays)
        arrivals, delays = table[ARRIVAL][known], delays[known]
        if not len(delays):
            return np.zeros(cells.size)
        places = cells.find_places(arrivals)
        counts = np.bincount(places, minlength=cells.size)
        filled = np.flatnonzero(counts)
        means = np.bincount(places, delays, cells.size)[filled] / counts[filled]
        return np.interp(np.arange(cells.size), filled, means)


def measure(
    shown: Floats,
    status: Integers,
    entity: Entity,
    weights: Weights,
    cells: Grid | None = None,
    rotations: Floats | None = None,
) -> Measurement:
    """Measure what a ``Trace`` drew of an entity at n ticks against the truth.

    ``shown`` is (n, 3), ``status`` (n). An undrawn row is measured as if it held the last state
    received. ``rotations`` (n, 4) are those that were drawn. With ``cells``, sums are kept for
    each.
    """
    sampled, events = entity.truth, entity.events
    errors, counted = np.empty(len(shown)), np.empty(len(shown), np.int32)
    statuses = np.zeros(4, np.int64)
    resolution = sampled.truth.resolution
    found = accumulate_errors(
        shown,
        status,
        sampled.positions,
        sampled.segments,
        sampled.step_limit,
        JUMP_FACTOR,
        JUMP_FLOOR * sampled.usual_step + 2 * resolution,
        sampled.low,
        sampled.high,
        errors,
        counted,
        statuses,
    )
    errors = errors[: found.rows]
    lag = find_lag(
        sampled.truth,
        sampled.times,
        shown,
        counted,
        None if found.broken else sampled.window,
        resolution,
        residual=False,
    )
    shift = 0.0 if math.isnan(lag.seconds) else lag.seconds
    drawn, turned = DrawnRows(shown, status, sampled, shift, sent=entity.sent), None
    if rotations is not None and sampled.turns is not None:
        drawn = replace(drawn, rotations=rotations, aim_range=entity.aim_range)
        angular = find_turn_lag(drawn, counted)
        late = 0.0 if math.isnan(angular.seconds) else angular.seconds
        drawn = replace(drawn, turn_lag=late)
    if len(sampled.window.rows):
        lag = lag.replace_residual(drawn.late.total, drawn.late.rows)
    added = {
        name: of(drawn)
        for name, of in SUMS.items()
        if (drawn.rotations is not None or name not in TURN_SUMS)
        and (drawn.sent is not None or name not in SENT_SUMS)
    }
    if drawn.rotations is not None:
        rows = select_judged_rows(drawn, counted) >= 0
        if rows.any():
            turned = RotationErrors(np.sqrt(added["angle_squares"][rows]), angular)
    motion = drawn.late_motion
    backward = count_backward_steps(
        shown,
        counted,
        motion.velocities,
        motion.segments,
        max(1, round(TURN_WINDOW / sampled.tick)),
        BACKWARD_FLOOR * sampled.usual_speed,
        BACKWARD_FLOOR * sampled.usual_step + resolution,
    )
    ahead, squares = measure_overshoot(
        shown,
        counted,
        sampled.positions,
        sampled.segments,
        round(shift / sampled.tick),
        max(1, round(OVERSHOOT_WINDOW / sampled.tick)),
    )
    tolerance = max(SCALE * sampled.usual_speed, resolution)
    recovered = measure_recovery(shown, sampled, events, shift, motion.positions, tolerance)
    extent = float(np.linalg.norm(sampled.high - sampled.low))
    measured = Measurement(
        errors,
        found.broken,
        lag,
        found.excess if found.excess > 2 * resolution else 0.0,  # else it is rounding
        found.jumps,
        backward,
        ahead if ahead > resolution else 0.0,
        squares,
        found.fours,
        found.third,
        found.truth_third,
        statuses,
        recovered,
        found.beyond,
        extent,
        max(STRAY_SHARE * extent, STRAY_SECONDS * sampled.top_speed, resolution),
        sampled.usual_speed,
        resolution,
        sampled.tick,
        weights,
        {name: float(values[counted >= 0].sum()) for name, values in added.items()},
        turned=turned,
    )
    if cells is None:
        return measured
    in_cells = entity.place_rows(cells)
    return replace(
        measured, sums=tally_cells(cells, drawn, added, counted, errors, measured, *in_cells)
    )
