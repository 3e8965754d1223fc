"""The truth that drawn paths are judged by: given, or rebuilt from all packets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.engine.measure import Path, sum_squares_along
from epic_cli.metrics.arrays import (
    LARGEST,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    VELOCITY,
    choose_places,
    compute_lengths,
    compute_median,
    compute_quantile,
    compute_rms,
    find_edges,
    find_resolution,
    list_distinct,
    make_packet_table,
    mark_all_three,
)
from epic_cli.metrics.notes import (
    Bridged,
    Cut,
    CutOut,
    Excluded,
    ExclusionReason,
    NotJudged,
    Rested,
    StatesLeftOut,
    TooFewStates,
    TruthNote,
    Unusable,
    VelocitiesReplaced,
)
from epic_cli.metrics.traffic import Stream
from epic_cli.metrics.turns import SampledTurns, TurnTruth, make_turns, measure_angles

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Flags, Floats, Integers, Places


Origin = Literal["given", "rebuilt"]

#: A gap is an interval longer than this many usual ones, and than this many seconds.
GAP_INTERVALS = 4
GAP_SECONDS = 0.5

#: An interval this many times as long as the usual one has lost a packet, or more.
BRIDGED_INTERVALS = 1.5

#: A teleport is a step this many times as long as the usual long step, and as its neighbors.
TELEPORT_STEPS = 5

#: Longest time of a teleport that was sampled as a movement.
SMEARED_SECONDS = 0.2

#: Largest difference of velocities that are used from those of the positions, as a share.
VELOCITY_MISMATCH = 0.5


class Motion(NamedTuple):
    """Positions and velocities of an entity at n times.

    ``positions`` and ``velocities`` are (n, 3), NaN where unknown; ``segments`` (n) numbers the
    intervals of unbroken movement, -1 where unknown.
    """

    positions: Floats
    velocities: Floats
    segments: Integers


@dataclass(frozen=True)
class Truth:
    """One entity's movement, cut at teleports and gaps.

    ``starts`` and ``ends`` (s) are those of its segments; ``teleported`` marks the segments that
    begin with a teleport. ``resolution`` is the least meaningful difference of positions. ``notes``
    say what was cut out and why. ``turns`` is the rotation, if recorded. Between the times of
    ``rests`` (n, 2; s) the entity stood and nothing was sent.
    """

    path: Path
    origin: Origin
    start: float
    end: float
    starts: Floats
    ends: Floats
    teleported: Flags
    resolution: float
    notes: tuple[TruthNote, ...]
    rests: Floats
    turns: TurnTruth | None = None

    def interpolate(self, times: Floats, shift: float = 0.0) -> Motion:
        """Return the true motion at ``times - shift``."""
        count = len(times)
        motion = Motion(np.empty((count, 3)), np.empty((count, 3)), np.empty(count, np.int32))
        self.path.read(times, shift, *motion)
        return motion

    def square_distances(self, times: Floats, shown: Floats) -> Floats:
        """Return the squared distances (n) of ``shown`` (n, 3) from the positions at ``times``."""
        apart = self.interpolate(times).positions - shown
        return np.asarray(np.einsum("ij,ij->i", apart, apart))

    def square_shifted_distances(
        self, times: Floats, shown: Floats, segments: Integers, shift: float
    ) -> Floats:
        """Return the squared distances (n) of ``shown`` (n, 3) from the truth at ``times - shift``.

        NaN where the shifted time is not in the row's segment (n).
        """
        found = np.empty(len(times))
        self.path.fill_shifted_distances(times, shown, segments, shift, found)
        return found

    def sum_squares(
        self, times: Floats, shown: Floats, segments: Integers, shifts: Floats
    ) -> tuple[Floats, Integers]:
        """Return the sum of the squared distances for each shift, and the number of rows."""
        totals, counts = np.empty(len(shifts)), np.empty(len(shifts), np.int32)
        self.path.sum_squared_distances(times, shown, segments, shifts, totals, counts)
        return totals, counts

    def is_moving(self, times: Floats, resolution: float) -> bool:
        """Return True if the entity moves at all."""
        return bool(
            (np.ptp(self.interpolate(times).positions, axis=0) > max(resolution, 1e-9)).any()
        )

    @property
    def duration(self) -> float:
        """The time from the first state to the last, s."""
        return self.end - self.start


def make_truth(packets: PacketBlock, origin: Origin = "rebuilt", offset: float = 0.0) -> Truth:
    """Build the truth of one entity from its packets or recorded states; see ``build_truth``.

    ``offset`` (s) is added to the times. Raises ``TooFewStates``.
    """
    table = make_packet_table(packets)
    positions, velocities = table[POSITION].T, table[VELOCITY].T
    marks, times = table[TELEPORT] > 0, table[TIME] + offset
    truth = build_truth(times, positions, velocities, marks, origin, table[SEQUENCE])
    if not packets.turns():
        return truth
    turns = make_turns(packets, truth.path, truth.starts, truth.ends, truth.rests, offset)
    return replace(truth, turns=turns)


def make_truths(
    packets: Mapping[str, PacketBlock], origin: Origin = "rebuilt", offset: float = 0.0
) -> tuple[dict[str, Truth], list[NotJudged]]:
    """Build the truths by entity (see ``make_truth``), with a note for each entity without one."""
    truths: dict[str, Truth] = {}
    missing: list[NotJudged] = []
    for name, block in packets.items():
        try:
            truths[name] = make_truth(block, origin, offset)
        except TooFewStates as error:
            missing.append(NotJudged(name, ExclusionReason.TOO_FEW_STATES, states=error.usable))
    return truths, missing


def build_truth(
    times: Floats,
    positions: Floats,
    velocities: Floats,
    teleports: Flags | None = None,
    origin: Origin = "rebuilt",
    sequence: Floats | None = None,
) -> Truth:
    """Build a truth through n states: cubic Hermite through positions and velocities.

    ``times`` (n) in seconds, in any order; ``positions`` and ``velocities`` (n, 3); ``teleports``
    (n) marks states before which the entity was moved on purpose, ``sequence`` (n) are the numbers
    of their packets. The truth is cut there, at steps that look like teleports, and at gaps, unless
    the entity rested: where states are only sent when they change, it rests until a usual interval
    before the next one. States that are not finite are left out, of states with equal times the
    last one counts. Velocities that are all zero, that differ from the positions' own differences
    by more than half, or some of which are missing (NaN), are replaced by the differences. Raises
    ``TooFewStates`` where fewer than two states are left.
    """
    notes: list[TruthNote] = []
    marks = np.zeros(len(times), bool) if teleports is None else teleports
    numbers = np.full(len(times), np.nan) if sequence is None else sequence
    came = list_distinct(numbers[np.isfinite(numbers)])
    missing = mark_all_three(np.isnan(velocities))
    with np.errstate(invalid="ignore"):
        finite = (np.abs(times) < LARGEST) & mark_all_three(np.abs(positions) < LARGEST)
        velocities = np.where(np.abs(velocities) < LARGEST, velocities, np.nan)
    whole = bool(finite.all())
    if not whole:
        notes.append(StatesLeftOut(int((~finite).sum()), Excluded.NOT_FINITE))
    if not whole or not (times[1:] >= times[:-1]).all():
        order = np.flatnonzero(finite)[np.argsort(times[finite], kind="stable")]
        times, positions, velocities = times[order], positions[order], velocities[order]
        marks, missing, numbers = marks[order], missing[order], numbers[order]
    absent = bool(missing.any())
    last = np.append(times[1:] > times[:-1], True)[: len(times)]
    if len(times) and not last.all():
        groups = np.concatenate(([0], np.cumsum(last)[:-1]))
        marks = np.asarray(np.bincount(groups, marks) > 0)
        notes.append(StatesLeftOut(int((~last).sum()), Excluded.SAME_TIME))
        times, positions, velocities = times[last], positions[last], velocities[last]
        numbers = numbers[last]
    if len(times) < 2:
        raise TooFewStates(len(times))
    inside = _mark_teleports(times, positions)
    if inside.any():
        marks = np.asarray(np.bincount(np.cumsum(np.append(False, ~inside[:-1])), marks) > 0)
        times, positions, velocities = times[~inside], positions[~inside], velocities[~inside]
        numbers = numbers[~inside]
    resolution = find_resolution(positions)
    of = np.empty(len(times)), numbers, marks, np.empty((len(times), 0)), came
    stream = Stream("", times, positions, velocities, *of)
    rests = stream.rests[~marks[stream.rests + 1]]
    still = np.empty(0, np.intp)
    if len(rests):
        # it began to move a usual interval before it was seen to
        ends = times[rests + 1] - stream.period
        notes.append(Rested(len(rests), float((ends - times[rests]).sum())))
        still = rests + np.arange(len(rests))
        times = np.insert(times, rests + 1, ends)
        positions = np.insert(positions, rests + 1, positions[rests], axis=0)
        velocities = np.insert(velocities, rests + 1, 0.0, axis=0)
        velocities[still] = 0.0
        marks = np.insert(marks, rests + 1, False)
    standing = np.stack((times[still], times[still + 1]), axis=1)
    still = np.concatenate((still, still + 1))
    cut, gap = _find_cuts(times, positions, velocities, marks, notes, origin)
    segments = np.concatenate(([0], np.cumsum(cut))).astype(np.int32)
    velocities = _select_usable_velocities(
        times, positions, velocities, cut, segments, absent, still, notes
    )
    return Truth(
        Path(times, positions, velocities, segments),
        origin,
        float(times[0]),
        float(times[-1]),
        times[np.concatenate(([True], cut))],
        times[np.concatenate((cut, [True]))],
        np.concatenate(([False], ~gap[cut])),
        resolution,
        tuple(notes),
        standing,
    )


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _mark_teleports(times: Floats, positions: Floats) -> Flags:
    """Mark the states (n) during a teleport that was sampled as a movement.

    Such states lie in a short run of steps, each as fast as a teleport, between slower ones.
    """
    inside = np.zeros(len(times), bool)
    pace = compute_lengths(np.diff(positions, axis=0)) / np.diff(times)
    moving = pace[pace > 0]
    if len(moving) < 3:
        return inside
    fast = pace > TELEPORT_STEPS * compute_quantile(moving, 0.9)
    for first, last in zip(*find_edges(fast), strict=True):
        way = float(np.sqrt(np.square(positions[last] - positions[first]).sum()))
        straight = way > 0.9 * float((pace[first:last] * np.diff(times)[first:last]).sum())
        if last - first > 1 and straight and times[last] - times[first] <= SMEARED_SECONDS:
            inside[first + 1 : last] = True
    return inside


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _find_cuts(
    times: Floats,
    positions: Floats,
    velocities: Floats,
    marks: Flags,
    notes: list[TruthNote],
    origin: Origin,
) -> tuple[Flags, Flags]:
    """Mark the intervals (n - 1) that are not interpolated, and which of these are gaps."""
    intervals = np.diff(times)
    usual = compute_median(intervals)
    steps = compute_lengths(np.diff(positions, axis=0))
    speeds = compute_lengths(velocities)
    moving = steps[steps > 0]
    rest = 0.01 * compute_median(moving) if len(moving) else 0.0
    slow = np.where(np.isnan(speeds), 0.0, speeds) * usual <= rest
    rested = (steps <= rest) & slow[1:] & slow[:-1]
    marked = marks[1:]
    gap = (intervals > max(GAP_INTERVALS * usual, GAP_SECONDS)) & ~rested & ~marked
    # times that nearly coincide must not make a usual step look fast
    pace = steps / np.maximum(intervals, usual)
    seen = np.zeros(len(steps), bool)
    if len(moving) > 2:
        around = np.maximum(np.append(0.0, pace[:-1]), np.append(pace[1:], 0.0))
        long = compute_quantile(pace[steps > 0], 0.9)
        seen = (pace > TELEPORT_STEPS * np.maximum(long, around)) & ~gap & ~marked
    for flags, kind in (
        (marked, Cut.MARKED_TELEPORT),
        (seen, Cut.UNMARKED_TELEPORT),
        (gap, Cut.GAP),
    ):
        if flags.any():
            notes.append(CutOut(int(flags.sum()), kind, float(intervals[flags].sum())))
    cut: Flags = marked | seen | gap
    long_ones = (intervals > BRIDGED_INTERVALS * usual) & ~cut & ~rested
    if origin == "rebuilt" and long_ones.any():
        notes.append(Bridged(int(long_ones.sum()), float(intervals[long_ones].sum())))
    return cut, gap


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _select_usable_velocities(
    times: Floats,
    positions: Floats,
    velocities: Floats,
    cut: Flags,
    segments: Integers,
    absent: bool,
    still: Places,
    notes: list[TruthNote],
) -> Floats:
    """Return the velocities, or the positions' derivatives if velocities are wrong; 0 at rest."""
    kept = ~cut
    if not kept.any():
        return np.nan_to_num(velocities, nan=0.0, posinf=0.0, neginf=0.0)
    sent = (velocities[1:] + velocities[:-1]) / 2
    differences = np.diff(positions, axis=0) / np.diff(times)[:, None]
    if cut.any():
        sent, differences = sent[kept], differences[kept]
    speed = compute_lengths(differences)
    moving = speed > 0
    if absent:
        notes.append(VelocitiesReplaced(Unusable.ABSENT))
    elif not np.isfinite(velocities).all():
        notes.append(VelocitiesReplaced(Unusable.NOT_FINITE))
    elif not moving.any():
        return velocities
    elif not velocities.any():
        notes.append(VelocitiesReplaced(Unusable.ALL_ZERO))
    else:
        mismatch = compute_lengths(sent - differences)[moving]
        share = compute_median(mismatch) / compute_median(speed[moving])
        if share <= VELOCITY_MISMATCH:
            return velocities
        notes.append(VelocitiesReplaced(Unusable.MISMATCH, share))
    derived = np.zeros_like(positions)
    for segment in range(int(segments[-1]) + 1):
        mine = np.flatnonzero(segments == segment) if segments[-1] else slice(None)
        if len(times[mine]) > 1:
            derived[mine] = np.gradient(positions[mine], times[mine], axis=0)
    derived[still] = 0.0
    return derived


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Flags, Floats, Integers

    Rows = NDArray[np.intp]

#: A jump is a step longer than the truth's longest within this many seconds ...
JUMP_WINDOW = 0.5
#: ... by this factor, and by this share of the truth's usual step.
JUMP_FACTOR = 1.5
JUMP_FLOOR = 0.05

#: A drawn path overshoots if it is ahead of everywhere the truth is within this many seconds.
OVERSHOOT_WINDOW = 0.5

#: An entity rests below this share of its usual speed.
RESTING = 0.01

#: Usual warm-up after the beginning of a movement or a cut: a second, or a tenth of the movement.
WARM_UP = 1.0
WARM_UP_SHARE = 0.1


#: Shifts in time (s) among which a lag is sought, denser around 0, where it usually is.
SHIFTS = np.concatenate(
    (np.arange(-20, 40) * 0.025, np.arange(10, 20) * 0.1, np.arange(8, 21) * 0.25)
)

_ZERO = int(np.flatnonzero(np.abs(SHIFTS) < 1e-9)[0])

#: Later shifts that are tried for each earlier one, if rows are few.
LATER = 3

#: Rows that show which shifts leave enough rows.
_SOME = 2000


class SplitErrors(NamedTuple):
    """Squared distances (n) ``along`` and ``across`` a motion.

    ``total`` is the sum of both over the judged ``rows`` that are in the motion's segment.
    """

    along: Floats
    across: Floats
    total: float
    rows: int


class Window(NamedTuple):
    """The shifts to compare (s, a slice of ``SHIFTS``), and the indices of the rows to compare.

    ``beginning`` are the rows in which the movement begins, ``first`` is the time (s) of the first
    state received.
    """

    shifts: slice
    rows: Rows
    beginning: slice = slice(0)
    first: float = -math.inf


@dataclass(frozen=True)
class SampledTruth:
    """One entity's truth at n ticks.

    ``times`` (n) in seconds; ``positions`` and ``velocities`` (n, 3); ``segments`` (n), -1 where a
    row does not count; ``begins`` (n) marks the first row of each segment; ``step_limit`` (n - 1),
    the truth's longest step around each step; ``usual_step`` and ``usual_speed``, root mean squares
    over the rows that count, ``top_speed`` the largest there; ``low`` and ``high`` (3), the corners
    of the box that encloses the movement; ``window``, the shifts in time that can be compared;
    ``turns``, the rotations.
    """

    truth: Truth
    tick: float
    times: Floats
    positions: Floats
    velocities: Floats
    segments: Integers
    begins: Flags
    step_limit: Floats
    usual_step: float
    usual_speed: float
    top_speed: float
    low: Floats
    high: Floats
    window: Window
    turns: SampledTurns | None = None

    @property
    def counted(self) -> Flags:
        """The mask (n) of the rows that are judged."""
        flags: Flags = self.segments >= 0
        return flags

    @cached_property
    def speed_squares(self) -> Floats:
        """The squared speeds (n)."""
        return np.asarray(np.einsum("ij,ij->i", self.velocities, self.velocities))

    @property
    def motion(self) -> Motion:
        """The true motion at the ticks."""
        return Motion(self.positions, self.velocities, self.segments)

    def square_along(self, vectors: Floats, velocities: Floats) -> Floats:
        """Return the squares (n) of the parts of ``vectors`` (n, 3) along ``velocities`` (n, 3).

        See ``split_errors``.
        """
        segments, along = np.zeros(len(vectors), np.int32), np.empty(len(vectors))
        origin, across = np.zeros((len(vectors), 3)), np.empty(len(vectors))
        motion = Motion(origin, np.ascontiguousarray(velocities), segments)
        resting = RESTING * self.usual_speed
        sum_squares_along(np.ascontiguousarray(vectors), *motion, segments, resting, along, across)
        return along

    def split_errors(self, shown: Floats, motion: Motion) -> SplitErrors:
        """Split the squared distances of ``shown`` (n, 3) from a motion: along and across it.

        At rest, the direction is that of the movement before, or else after; without any movement
        all is across. Both are 0 where the motion is not in the segment of the row.
        """
        along, across = np.empty(len(shown)), np.empty(len(shown))
        resting = RESTING * self.usual_speed
        sums = sum_squares_along(shown, *motion, self.segments, resting, along, across)
        return SplitErrors(along, across, *sums)


def choose_warm_up(truth: Truth) -> float:
    """Return the default warm-up: a second, or a tenth of a short movement."""
    return min(WARM_UP, WARM_UP_SHARE * truth.duration)


def sample_truth(
    truth: Truth,
    times: Floats,
    tick: float,
    warm_up: float | None = None,
    first: float = -math.inf,
    since: float = -math.inf,
) -> SampledTruth:
    """Sample the truth at these ticks; ``first`` is the time (s) of the first state received.

    Rows are judged that are at least ``warm_up`` seconds into their segment of the truth, and after
    the first row: what a strategy draws while it gets to know a movement does not count. No row
    counts before ``since`` (s).
    """
    wait = choose_warm_up(truth) if warm_up is None else warm_up
    positions, velocities, segments = truth.interpolate(times)
    known = segments >= 0
    begun = np.maximum(truth.starts, times[0] if len(times) else 0.0)
    counted = known & (times - begun[segments] >= wait) & (times >= since)
    steps = compute_lengths(np.diff(positions, axis=0))
    steps[segments[1:] != segments[:-1]] = 0.0
    steps = np.nan_to_num(steps)
    pairs = counted[1:] & counted[:-1]
    speeds = compute_lengths(velocities[counted])
    judged = np.where(counted, segments, -1).astype(np.int32)
    inside = [row[known] if not known.all() else row for row in positions.T]
    return SampledTruth(
        truth,
        tick,
        times,
        positions,
        velocities,
        judged,
        known & np.append(True, segments[1:] != segments[:-1])[: len(times)],
        compute_sliding_maximum(steps, max(1, round(JUMP_WINDOW / tick))),
        compute_rms(steps[pairs]),
        compute_rms(speeds),
        float(speeds.max(initial=0.0)),
        np.array([item.min(initial=np.inf) for item in inside]),
        np.array([item.max(initial=-np.inf) for item in inside]),
        find_shift_window(truth, times, judged, first),
        None if truth.turns is None else _sample_turns(truth.turns, times, segments, counted, tick),
    )


def _sample_turns(
    turns: TurnTruth, times: Floats, segments: Integers, counted: Flags, tick: float
) -> SampledTurns:
    rotations = turns.interpolate(times)
    steps = np.nan_to_num(measure_angles(rotations[1:], rotations[:-1]))
    steps[segments[1:] != segments[:-1]] = 0.0
    limit = compute_sliding_maximum(steps, max(1, round(JUMP_WINDOW / tick)))
    usual = compute_rms(steps[counted[1:] & counted[:-1]])
    return SampledTurns(turns, rotations, limit, usual)


def find_shift_window(
    truth: Truth | TurnTruth, times: Floats, segments: Integers, first: float = -math.inf
) -> Window:
    """Return the shifts that can be compared on the same rows without leaving their segments.

    ``times`` (n) in seconds, ``segments`` (n), -1 where a row is not judged; ``first`` is the time
    (s) of the first state received. The window grows from 0 to both sides, faster to the later one,
    as long as half of the rows are left.
    """
    rows = np.flatnonzero(segments >= 0)
    inside = segments[rows]
    slack = 1e-9  # a time that was added up is not less than itself
    before = times[rows] - truth.starts[inside] + slack
    after = truth.ends[inside] - times[rows] + slack
    few = choose_places(len(rows), _SOME)
    low = high = _ZERO

    def is_enough(low: int, high: int) -> bool:
        kept = (before[few] >= SHIFTS[high]) & (after[few] >= -SHIFTS[low])
        return bool(2 * np.count_nonzero(kept) >= len(kept))

    grown = True
    while grown:
        before_this = low, high
        for _ in range(LATER):
            high += high + 1 < len(SHIFTS) and is_enough(low, high + 1)
        low -= low > 0 and is_enough(low - 1, high)
        grown = (low, high) != before_this
    first = max(first, float(truth.starts[inside[0]])) if len(rows) else first
    return Window(
        slice(low, high + 1),
        rows[(before >= SHIFTS[high]) & (after >= -SHIFTS[low])],
        slice(int(np.searchsorted(times, first)), int(rows[0]) if len(rows) else 0),
        first,
    )


def compute_sliding_maximum(values: Floats, reach: int) -> Floats:
    """Return the largest value (n) within ``reach`` indices before and after each value.

    Windows are doubled until they are long enough, so a wide one costs little.
    """
    result, width, size = values, 1, 2 * reach + 1
    padded = np.concatenate((np.full(reach, -np.inf), result, np.full(reach, -np.inf)))
    while 2 * width <= size:
        padded = np.maximum(padded[:-width], padded[width:])
        width *= 2
    rest = size - width
    return np.maximum(padded[: len(padded) - rest], padded[rest:]) if rest else padded
