"""Patterns in the differences of numbers, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.text import COLUMNS
from epic_cli.jobs.check.differences import (
    Difference,
    DifferenceCause,
    Group,
    Pattern,
    RowCells,
    RowTable,
    find_tick,
)
from epic_cli.jobs.check.spec import NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Largest deviation that single precision causes, as a share of a column's largest number.
_SINGLE = 2.0**-21

#: Rows in which printed digits are counted.
_SAMPLE = 100

#: Digits that distinguish all single-precision numbers.
_SINGLE_DIGITS = 9

#: Largest share of the deviation that may be left by a pattern.
_LEFT = 0.1

_MOST_TICKS = 8

#: First rows that differ, which are examined by themselves.
_MOST_AT_FIRST, _LEAST_AT_FIRST = 64, 3

#: Least deviation at which a difference begins, as a share of the largest.
_NOTHING = 1e-3

#: Least share of the variation that a line explains if a deviation grows.
_TREND = 0.8


class Numbers(NamedTuple):
    """The numbers of expected and drawn rows.

    ``ours`` and ``theirs`` (n, columns), NaN where missing.
    """

    columns: tuple[str, ...]
    ours: Floats
    theirs: Floats
    steps: Floats  # half of the last printed digit, by column; 0: all digits are printed
    significant: int  # the most digits that one of theirs is printed with

    def from_columns(self, names: str) -> tuple[Floats, Floats]:
        """Return the columns of these names, of ``ours`` and of ``theirs``."""
        places = [self.columns.index(part) for part in names.split() if part in self.columns]
        return self.ours[:, places], self.theirs[:, places]


def collect_numbers(difference: Difference, group: Group) -> Numbers:
    """Return the numbers of the group's rows that both sides have.

    The group has at least one such row.
    """
    columns = tuple(column for column in difference.columns if column in COLUMNS[:7])
    both = [pair for pair in group.pairs if pair.expected and pair.drawn]
    ours = _select_cells(difference.expected, columns, (pair.expected for pair in both))
    theirs = _select_cells(difference.drawn, columns, (pair.drawn for pair in both))
    steps = np.zeros(len(columns))
    if difference.expected.row_format == "epic":
        digits = [
            max(len(cell.partition(".")[2]) for cell in column)
            for column in zip(*ours, strict=True)
        ]
        steps = 0.5 * 10.0 ** -np.array(digits, float)
    significant = max(_count_digits(cell) for row in theirs[:_SAMPLE] for cell in row)
    return Numbers(columns, _parse_values(ours), _parse_values(theirs), steps, significant)


def _select_cells(
    table: RowTable, columns: Sequence[str], rows: Iterable[RowCells | None]
) -> list[list[str]]:
    places = [table.find_column(column) for column in columns]
    return [[row.cells[place] for place in places] for row in rows if row]


def _parse_values(cells: list[list[str]]) -> Floats:
    """Return the cells as numbers; cells that are not finite numbers become NaN."""
    values = np.array([[float(cell or "nan") for cell in row] for row in cells])
    return np.where(np.isfinite(values), values, np.nan)


def _measure_largest_values(values: Floats, axis: int = 0) -> Floats:
    """Return the largest absolute value along an axis; 0 without numbers."""
    sizes: Floats = np.abs(np.nan_to_num(values)).max(axis=axis, initial=0.0)
    return sizes


def _compute_column_medians(values: Floats) -> Floats:
    """Return the median of each column; 0 without numbers."""
    known = np.isfinite(values)
    return np.array(
        [
            np.median(column[here]) if here.any() else 0.0
            for column, here in zip(values.T, known.T, strict=True)
        ]
    )


def _count_digits(cell: str) -> int:
    """Return the number of digits of a printed number, without leading zeros."""
    mantissa = cell.lower().partition("e")[0]
    return len("".join(filter(str.isdigit, mantissa)).lstrip("0"))


def iterate_patterns(group: Group, numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield the matching causes, most specific first. ``NONE`` always matches and comes last."""
    apart = {cell.column for pair in group.pairs for cell in pair.apart}
    if apart == {"status"}:
        kinds = {(c.expected, c.drawn) for pair in group.pairs for c in pair.apart}
        if len(kinds) == 1:
            ((expected, drawn),) = kinds
            yield DifferenceCause(Pattern.STATUS, what=f"{drawn} instead of {expected}")
        yield DifferenceCause(Pattern.STATUS)
        return
    with np.errstate(all="ignore"):
        yield from _match_digits(group, numbers)
        yield from _match_rounding(numbers)
        if sum(bool(pair.apart) for pair in group.pairs) == 1 < len(group.pairs):
            yield DifferenceCause(Pattern.SCATTERED)  # one row shows no more
        yield from _match_times(numbers, apart)
        yield from _match_shifts(group, numbers)
        yield from _match_axes(numbers)
        yield from _match_factors(numbers)
        yield from _match_first_factor(numbers)
        yield from _match_offsets(numbers)
        yield from _match_deviation_course(group, numbers)
    yield DifferenceCause(Pattern.NONE)


def _match_digits(group: Group, numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause if the numbers of one side only are single-precision numbers."""
    if numbers.steps.any():
        return  # numbers that are cut when they are printed show nothing
    ours, theirs = numbers.ours[:, 1:], numbers.theirs[:, 1:]
    if numbers.columns[0] != "time":
        ours, theirs = numbers.from_columns("x y z vx vy vz")
    apart = (ours != theirs) & np.isfinite(ours) & np.isfinite(theirs)
    here, there = (values == values.astype(np.float32) for values in (ours, theirs))
    total = int(apart.sum())
    if not total or np.all(here) == np.all(there):
        return
    as_single = np.array_equal(ours.astype(np.float32)[apart], theirs.astype(np.float32)[apart])
    if np.all(here) and as_single and numbers.significant <= _SINGLE_DIGITS:
        yield DifferenceCause(Pattern.FEW_DIGITS, count=total, total=total)
    longer = int((apart & ~(there if np.all(here | ~np.isfinite(ours)) else here)).sum())
    kind = Pattern.DOUBLE if np.all(here | ~np.isfinite(ours)) else Pattern.SINGLE
    size = float(_measure_largest_values(ours).max(initial=0.0))
    large = _measure_largest_values(theirs - ours, axis=1) > _SINGLE * size
    begins = int(apart.any(axis=1).argmax())  # rounding comes first, what it tips later
    if longer < 0.5 * total or large[begins]:
        return
    rows = [pair for pair in group.pairs if pair.expected and pair.drawn]
    first = rows[int(large.argmax())].time if large.any() else 0.0
    yield DifferenceCause(kind, count=longer, total=total, time=first, more=int(large.sum()))


def _match_rounding(numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause if deviations are so small that the number of printed digits explains them."""
    off = np.abs(numbers.theirs - numbers.ours)
    printed = off <= 2 * numbers.steps * (1 + 1e-6) + 1e-15
    if numbers.steps.any() and np.all(printed | np.isnan(off)):
        yield DifferenceCause(Pattern.LAST_DIGIT)
    size = _measure_largest_values(numbers.ours)
    size = np.where(
        np.arange(len(size)) == numbers.columns.index("time"), size, _measure_vector_sizes(numbers)
    )
    relative = _measure_largest_values(off / np.where(size > 0, size, 1.0)).max(initial=0.0)
    if relative <= _SINGLE and next(_match_factors(numbers), None) is None:  # it has no direction
        yield DifferenceCause(Pattern.PRECISION, float(relative))


def _measure_vector_sizes(numbers: Numbers) -> Floats:
    """Return for each column the largest absolute number of its vector, over all axes."""
    size = _measure_largest_values(numbers.ours)
    for names in (NUMBERS[1:4], NUMBERS[4:7]):
        places = [numbers.columns.index(name) for name in names if name in numbers.columns]
        if places:
            size[places] = size[places].max()
    return size


def _match_times(numbers: Numbers, apart: set[str]) -> Iterator[DifferenceCause]:
    if apart != {"time"}:
        return
    ours, theirs = numbers.from_columns("time")
    off = (theirs - ours)[:, 0]
    middle = float(_compute_column_medians(off[:, None])[0])
    if _measure_largest_values(off - middle) <= _LEFT * abs(middle):
        yield DifferenceCause(Pattern.TIMES, middle)
    elif len(off) > 3 and abs(off[-1]) > 2 * abs(off[len(off) // 4]):
        yield DifferenceCause(Pattern.CLOCK, float(off[-1]))


def _explains_deviation(left: Floats, before: Floats) -> bool:
    """Return True if a correction removes nearly all of a deviation, even without the worst row."""
    rest, whole = np.nansum(left**2, axis=1), np.nansum(before**2, axis=1)
    most = int(whole.argmax())
    others = whole.sum() - whole[most]
    return bool(
        rest.sum() <= _LEFT**2 * whole.sum()
        and others > 0
        and rest.sum() - rest[most] <= _LEFT**2 * others
    )


def _match_shifts(group: Group, numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause if the rows equal the expected rows of some ticks earlier or later."""
    ours, theirs = numbers.from_columns("x y z")
    found: list[tuple[float, int]] = []
    for ticks in (*range(1, _MOST_TICKS + 1), *range(-1, -_MOST_TICKS - 1, -1)):
        if len(ours) - abs(ticks) < 4:
            continue
        late, soon = slice(abs(ticks), None), slice(None, -abs(ticks))
        there, here = (late, soon) if ticks > 0 else (soon, late)
        left, before = theirs[there] - ours[here], (theirs - ours)[there]
        if _explains_deviation(left, before):
            found.append((round(float(np.nansum(left**2) / np.nansum(before**2)), 12), ticks))
    if found:
        # where the movement repeats itself, the shortest of the shifts that explain it as well
        _, ticks = min(found, key=lambda each: (each[0], abs(each[1])))
        rows = [pair.expected for pair in group.pairs if pair.expected]
        yield DifferenceCause(Pattern.SHIFTED, ticks, what=f"{abs(ticks) * find_tick(rows):.4g}")


def _match_axes(numbers: Numbers) -> Iterator[DifferenceCause]:
    ours, theirs = numbers.from_columns("x y z")
    axes = "xyz"[: ours.shape[1]]
    for order in permutations(range(len(axes))):
        for signs in product((1, -1), repeat=len(axes)):
            if order == tuple(range(len(axes))) and all(sign == 1 for sign in signs):
                continue
            if _explains_deviation(theirs - ours[:, order] * np.array(signs), theirs - ours):
                moved = [
                    f"{axis} is {'-' if sign < 0 else ''}{axes[place]}"
                    for axis, place, sign in zip(axes, order, signs, strict=True)
                    if axis != axes[place]
                    or (sign < 0 and _measure_largest_values(ours[:, place]) > 0)
                ]
                yield DifferenceCause(Pattern.AXES, what=", ".join(moved))


def _match_factors(numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause if the numbers have a common factor.

    All, only positions, or only velocities.
    """
    for names, what in (
        ("x y z vx vy vz", "everything"),
        ("x y z", "positions"),
        ("vx vy vz", "velocities"),
    ):
        factor = _find_factor(*numbers.from_columns(names))
        if factor is not None and (what != "everything" or "vx" in numbers.columns):
            yield DifferenceCause(Pattern.FACTOR, factor, what)
            return


def _find_factor(ours: Floats, theirs: Floats) -> float | None:
    whole = np.nansum(ours**2)
    if not ours.size or not whole > 0:
        return None
    factor = float(np.nansum(ours * theirs) / whole)
    return (
        factor
        if factor != 1 and _explains_deviation(theirs - factor * ours, theirs - ours)
        else None
    )


def _match_first_factor(numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause if only the first wrong rows have a factor: a strategy reads its output."""
    for names, what in (("vx vy vz", "velocities"), ("x y z", "positions")):
        ours, theirs = numbers.from_columns(names)
        if not ours.size:
            continue
        differ = np.nonzero(np.any(np.abs(theirs - ours) > 0, axis=1))[0]
        first = int(differ[0]) if len(differ) else 0
        for rows in range(min(len(ours) - first, _MOST_AT_FIRST), _LEAST_AT_FIRST - 1, -1):
            factor = _find_factor(ours[first : first + rows], theirs[first : first + rows])
            if factor is not None and abs(factor - 1) > _SINGLE:
                yield DifferenceCause(Pattern.FACTOR_AT_FIRST, factor, what, count=rows)
                return


def _match_offsets(numbers: Numbers) -> Iterator[DifferenceCause]:
    off = numbers.theirs - numbers.ours
    middle = _compute_column_medians(off)
    if _explains_deviation(off - middle, off):
        worst = int(np.argmax(np.abs(middle)))
        yield DifferenceCause(Pattern.OFFSET, float(middle[worst]), numbers.columns[worst])


def _match_deviation_course(group: Group, numbers: Numbers) -> Iterator[DifferenceCause]:
    """Yield a cause for deviations that grow, that begin at some time, or that are scattered."""
    rows = [pair for pair in group.pairs if pair.expected and pair.drawn]
    ours, theirs = numbers.from_columns("x y z")
    size = np.nan_to_num(np.linalg.norm(theirs - ours, axis=1))
    slope = _find_trend(np.array([row.time for row in rows]), size)
    if slope:
        yield DifferenceCause(Pattern.GROWING, slope)
    wrong = list(size > _NOTHING * size.max()) if size.any() else [bool(row.apart) for row in rows]
    begins = wrong.index(True)
    if begins > 2 and sum(wrong[begins:]) > 0.8 * len(wrong[begins:]):
        yield DifferenceCause(Pattern.BEGINS_AT, time=rows[begins].time, count=sum(wrong))
    if sum(wrong) < 0.5 * len(wrong):
        yield DifferenceCause(Pattern.SCATTERED, count=sum(wrong))


def _find_trend(times: Floats, size: Floats) -> float:
    """Return the slope of a line through the deviations (units/s); 0 if no line fits."""
    if len(size) < 8 or not np.isfinite(times).all() or not times[-1] > times[0]:
        return 0.0
    quarters = [float(part.mean()) for part in np.array_split(size, 4)]
    if not quarters[0] < quarters[1] < quarters[2] < quarters[3] > 3 * quarters[0]:
        return 0.0
    t, apart = times - times.mean(), size - size.mean()
    slope = float((t @ apart) / (t @ t))
    left = apart - slope * t
    return slope if left @ left <= (1 - _TREND) * (apart @ apart) else 0.0
