"""Expected rows beside drawn ones: which differ, where first, how much, what it can look like."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from epic_cli.jobs.check.case import NUMBERS, Tolerances
from epic_cli.jobs.check.rows import Row, Table

#: Rows belong together whose times are no further apart than this share of a tick.
_SAME_TICK = 0.25


class Apart(NamedTuple):
    """A cell that differs: by how much (NaN: these are no numbers, or not finite)."""

    column: str
    expected: str
    drawn: str
    amount: float


class Pair(NamedTuple):
    """A row that was expected, the one that was drawn at its time, and the cells that differ.

    None: there is no such row.
    """

    expected: Row | None
    drawn: Row | None
    apart: tuple[Apart, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether they are not the same."""
        return bool(self.apart) or self.expected is None or self.drawn is None

    @property
    def time(self) -> float:
        """When it is drawn (s)."""
        row = self.expected or self.drawn
        return row.time if row else math.nan


class Group(NamedTuple):
    """The rows of one entity (of one strategy, of one file), in their order."""

    names: tuple[str, ...]
    pairs: list[Pair]


class Difference(NamedTuple):
    """All that differs between two tables of rows.

    ``columns`` are those that were compared, ``ignored`` those that only one of them has.
    ``written``: the values are the same, but they are written in another way or order.
    """

    expected: Table
    drawn: Table
    columns: tuple[str, ...]
    ignored: tuple[str, ...]
    groups: list[Group]
    written: bool = False

    def pairs(self) -> Iterator[Pair]:
        """All rows."""
        for group in self.groups:
            yield from group.pairs

    @property
    def differing(self) -> list[Pair]:
        """The rows that are on both sides and differ."""
        return [one for one in self.pairs() if one.apart]

    @property
    def missing(self) -> list[Pair]:
        """The expected rows that were not drawn."""
        return [one for one in self.pairs() if one.drawn is None]

    @property
    def extra(self) -> list[Pair]:
        """The rows that were drawn and not expected."""
        return [one for one in self.pairs() if one.expected is None]

    @property
    def first(self) -> tuple[Group, int]:
        """The first row that differs, in the order of the expected rows: its group, its place."""
        found = [
            (group, next(index for index, pair in enumerate(group.pairs) if pair.differs))
            for group in self.groups
            if any(pair.differs for pair in group.pairs)
        ]
        return min(found, key=lambda one: _line(one[0].pairs[one[1]]))

    @property
    def largest(self) -> tuple[Pair, Apart] | None:
        """The largest deviation of a number; None: there is none."""
        cells = ((pair, cell) for pair in self.pairs() for cell in pair.apart)
        known = [one for one in cells if not math.isnan(one[1].amount)]
        positions = [one for one in known if one[1].column in NUMBERS[1:4]]
        return max(positions or known, key=lambda one: abs(one[1].amount), default=None)


def _line(pair: Pair) -> float:
    row = pair.expected or pair.drawn
    return row.line if row else math.inf


def compare(
    expected: Table, drawn: Table, tolerances: Tolerances, *, literal: bool = False
) -> Difference | None:
    """What differs; None: nothing does.

    Numbers are compared as numbers, a quaternion is its negative; ``literal`` and without
    tolerances both are as they are written, as everything else is. Columns that ``drawn`` has
    not, or ``expected`` has not, are left out.
    """
    columns = tuple(one for one in expected.columns if one in drawn.columns)
    ignored = tuple(one for one in (*expected.columns, *drawn.columns) if one not in columns)
    names = tuple(one for one in columns if one not in NUMBERS and one != "status")
    compared = tuple(one for one in columns if one not in names)
    cells = _Cells(expected, drawn, compared, tolerances, literal and tolerances.exact)
    theirs = _by_names(drawn, names)
    groups = []
    for key, rows in _by_names(expected, names).items():
        groups.append(Group(key, list(_aligned(rows, theirs.pop(key, []), cells))))
    for key, rows in theirs.items():
        groups.append(Group(key, [Pair(None, row) for row in rows]))
    if not any(pair.differs for group in groups for pair in group.pairs):
        return None
    return Difference(expected, drawn, columns, ignored, groups)


_QUATERNION = ("qx", "qy", "qz", "qw")


class _Cells:
    """Compares the cells of two rows."""

    def __init__(
        self,
        expected: Table,
        drawn: Table,
        columns: Sequence[str],
        tolerances: Tolerances,
        literal: bool,
    ) -> None:
        self._places = [
            (one, expected.place(one), drawn.place(one), tolerances.of(one)) for one in columns
        ]
        self._literal = literal
        turn = [place[1:3] for place in self._places if place[0] in _QUATERNION]
        self._turn = turn if len(turn) == 4 and not literal else []

    def _negative(self, expected: Row, drawn: Row) -> bool:
        """Whether their rotations are nearer with the signs of one turned over: it is the same."""
        turns = [(expected.cells[here], drawn.cells[there]) for here, there in self._turn]
        return all(map(all, turns)) and sum(float(a) * float(b) for a, b in turns) < 0

    def pair(self, expected: Row, drawn: Row) -> Pair:
        """The two, and which cells differ."""
        apart = []
        negative = self._negative(expected, drawn)
        for column, here, there, tolerance in self._places:
            one, other = expected.cells[here], drawn.cells[there]
            over = negative and column in _QUATERNION
            if one == other and not over:
                continue
            if column not in NUMBERS or not (one and other):
                apart.append(Apart(column, one, other, math.nan))
                continue
            a, b = float(one), -float(other) if over else float(other)
            if self._literal or not tolerance.allows(a, b):
                amount = b - a
                finite = math.isfinite(amount)
                apart.append(Apart(column, one, other, amount if finite else math.nan))
        return Pair(expected, drawn, tuple(apart))


def _by_names(table: Table, names: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    places = [table.place(one) for one in names]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in table.rows:
        groups.setdefault(tuple(row.cells[one] for one in places), []).append(row)
    return groups


def tick_of(rows: Sequence[Row]) -> float:
    """The usual time from one row to the next; NaN: there is none."""
    steps = sorted(b.time - a.time for a, b in pairwise(rows))
    return steps[len(steps) // 2] if steps else math.nan


def _aligned(expected: Sequence[Row], drawn: Sequence[Row], cells: _Cells) -> Iterator[Pair]:
    """Rows of about the same time belong together; what is left over is missing or extra."""
    tick = tick_of(expected if len(expected) > 1 else drawn)
    near = _SAME_TICK * tick if tick > 0 else 1e-3
    here = there = 0
    while here < len(expected) and there < len(drawn):
        ours, theirs = expected[here], drawn[there]
        # not a number is beside whatever there is
        apart = theirs.time - ours.time
        if abs(apart) <= near or math.isnan(apart):
            yield cells.pair(ours, theirs)
            here, there = here + 1, there + 1
        elif apart > 0:
            yield Pair(ours, None)
            here += 1
        else:
            yield Pair(None, theirs)
            there += 1
    yield from (Pair(row, None) for row in expected[here:])
    yield from (Pair(None, row) for row in drawn[there:])


# ---------------------------------------------------------------- what it looks like


class Pattern(enum.Enum):
    """What a difference looks like."""

    STATUS = enum.auto()  # only statuses differ
    ENDS_EARLY = enum.auto()  # rows are missing at the end, the others are the same
    BEGINS_LATE = enum.auto()
    GOES_ON = enum.auto()  # rows too many at the end
    BEGINS_EARLY = enum.auto()
    SHIFTED = enum.auto()  # drawn some ticks late or early
    TIMES = enum.auto()  # only the times are off, by as much everywhere
    CLOCK = enum.auto()  # only the times are off, by more and more
    AXES = enum.auto()  # axes are swapped or mirrored
    FACTOR = enum.auto()  # positions, velocities or both are multiplied by something
    OFFSET = enum.auto()  # something is added to a column
    DOUBLE = enum.auto()  # double precision where single is computed here
    SINGLE = enum.auto()  # the other way round
    FEW_DIGITS = enum.auto()  # single-precision numbers, printed with fewer digits than they need
    FACTOR_AT_FIRST = enum.auto()  # a factor in the first rows that differ; errors feed back then
    LAST_DIGIT = enum.auto()  # no more than the last digit that is printed
    PRECISION = enum.auto()  # as far as single precision reaches
    GROWING = enum.auto()  # the further on, the larger
    BEGINS_AT = enum.auto()  # the same up to some row, apart from there on
    SCATTERED = enum.auto()  # now and then
    NONE = enum.auto()


@dataclass(frozen=True)
class Diagnosis:
    """A pattern with its evidence.

    ``amount`` is the ticks of a shift, the factor, the offset (in the columns' unit), the largest
    relative deviation, or the growth in a second; ``what`` names columns or axes; ``count`` of
    ``total`` rows (of numbers, where it is about digits) show it; ``time`` is where it begins (s).
    ``more`` rows are off by more than the pattern explains, from ``time`` on.
    """

    pattern: Pattern
    amount: float = 0.0
    what: str = ""
    count: int = 0
    total: int = 0
    time: float = 0.0
    more: int = 0
