"""What a difference can look like, as a value."""

from __future__ import annotations

import enum
from dataclasses import dataclass


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
