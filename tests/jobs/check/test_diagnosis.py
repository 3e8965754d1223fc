"""Patterns of differences: each kind of mistake is recognized."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from epic_cli.jobs.check.differences import Difference, Pattern, compare, parse
from epic_cli.jobs.check.report import describe_difference, diagnose
from epic_cli.jobs.check.spec import Tolerances

Rows = list[list[float | str]]

HEADER = "time,x,y,z,vx,vy,vz,status"


def right() -> Rows:
    """Return forty rows of a movement with corners, in double precision."""
    rows: Rows = []
    for k in range(1, 41):
        t = k * 0.05
        x, y = 10 * t + np.sin(7 * t), 3 * np.cos(5 * t) - 2
        velocity = [10 + 7 * np.cos(7 * t), -15 * np.sin(5 * t), 0.0]
        rows.append([t, x, y, 0.0, *velocity, "interpolated"])
    return rows


def text(rows: Rows, digits: str = "") -> bytes:
    lines = [
        ",".join(cell if isinstance(cell, str) else format(cell, digits) for cell in row)
        for row in rows
    ]
    return "\n".join([HEADER, *lines, ""]).encode()


def difference(theirs: Rows, ours: Rows | None = None, digits: str = "") -> Difference | None:
    expected = parse(text(right() if ours is None else ours), "csv")
    return compare(expected, parse(text(theirs, digits), "csv"), Tolerances())


def changed(change: Callable[[list[float]], list[float]], status: str = "interpolated") -> Rows:
    return [[*change([float(cell) for cell in row[:7]]), status] for row in right()]


def singles(rows: Rows) -> Rows:
    return [[*(float(np.float32(cell)) for cell in row[:7]), row[7]] for row in rows]


def late(ticks: int) -> Rows:
    rows = right()
    moved = rows[:1] * ticks + rows[: len(rows) - ticks]
    return [[row[0], *old[1:]] for row, old in zip(rows, moved, strict=True)]


def early(ticks: int) -> Rows:
    rows = right()
    moved = rows[ticks:] + rows[-1:] * ticks
    return [[row[0], *new[1:]] for row, new in zip(rows, moved, strict=True)]


NOISE = np.random.default_rng(3).uniform(-1, 1, (40, 6))


def noisy(size: float) -> Rows:
    rows = right()
    return [
        [row[0], *(float(a) + size * b for a, b in zip(row[1:7], noise, strict=True)), row[7]]
        for row, noise in zip(rows, NOISE, strict=True)
    ]


def kept(rows: Rows, *parts: slice) -> Rows:
    return [row for part in parts for row in rows[part]]


def from_row(number: int) -> Rows:
    rows = right()
    for index in range(number, len(rows)):
        rows[index][1] = float(rows[index][1]) + 1 + NOISE[index][0]
    return rows


def now_and_then() -> Rows:
    rows = right()
    for index in (5, 17, 18, 33):
        rows[index][2] = float(rows[index][2]) + NOISE[index][1]
    return rows


def further_each_time() -> Rows:
    """Return four wrong rows, one in each quarter, as from packets that should be discarded."""
    rows = right()
    for number, index in enumerate((3, 14, 25, 36), 1):
        rows[index][1] = float(rows[index][1]) + 0.3 * number
    return rows


def first_factor(begin: int, end: int) -> Rows:
    """Return rows whose velocity is 1.5 times too large for some rows, and wild behind them."""
    rows = right()
    for index in range(begin, len(rows)):
        for column in (4, 5):
            speed = float(rows[index][column])
            rows[index][column] = 1.5 * speed if index < end else speed + 9 * NOISE[index][column]
    return rows


def drift(per_second: float) -> Rows:
    return changed(lambda row: [row[0], row[1] + per_second * row[0] ** 2, *row[2:]])


Found = tuple[Pattern, dict[str, float | str]]


def pattern(
    kind: Pattern,
    amount: float | None = None,
    what: str | None = None,
    count: int | None = None,
    time: float | None = None,
) -> Found:
    """Return the pattern under test, and its evidence."""
    evidence = {"amount": amount, "what": what, "count": count, "time": time}
    return kind, {name: value for name, value in evidence.items() if value is not None}


def seen(rows: Rows, ours: Rows | None, expected: Found) -> bool:
    """Return whether the last pattern of a difference is the expected one."""
    found = difference(rows, ours)
    assert found is not None
    kind, evidence = expected
    last = diagnose(found)[-1]
    close = {
        name: value if isinstance(value, str) else pytest.approx(value, rel=1e-3)
        for name, value in evidence.items()
    }
    assert {name: getattr(last, name) for name in evidence} == close
    return last.pattern is kind


WRONG: dict[str, tuple[Rows, Found]] = {
    "a tick late": (late(1), pattern(Pattern.SHIFTED, 1, "0.05")),
    "three ticks late": (late(3), pattern(Pattern.SHIFTED, 3, "0.15")),
    "two ticks early": (early(2), pattern(Pattern.SHIFTED, -2, "0.1")),
    "the times late": (
        changed(lambda row: [row[0] + 0.001, *row[1:]]),
        pattern(Pattern.TIMES, 0.001),
    ),
    "a clock that drifts": (
        changed(lambda row: [row[0] * 1.0001, *row[1:]]),
        pattern(Pattern.CLOCK, 0.0002),
    ),
    "axes": (
        changed(lambda row: [row[0], row[2], row[1], *row[3:]]),
        pattern(Pattern.AXES, what="x is y, y is x"),
    ),
    "a mirror": (
        changed(lambda row: [row[0], row[1], -row[2], *row[3:]]),
        pattern(Pattern.AXES, what="y is -y"),
    ),
    "centimetres": (
        changed(lambda row: [row[0], *(100 * cell for cell in row[1:])]),
        pattern(Pattern.FACTOR, 100.0, "everything"),
    ),
    "positions": (
        changed(lambda row: [row[0], *(1.01 * cell for cell in row[1:4]), *row[4:]]),
        pattern(Pattern.FACTOR, 1.01, "positions"),
    ),
    "velocities": (
        changed(lambda row: [*row[:4], *(1.000001 * cell for cell in row[4:])]),
        pattern(Pattern.FACTOR, 1.000001, "velocities"),
    ),
    "velocities, in the first rows that differ": (
        first_factor(10, 16),
        pattern(Pattern.FACTOR_AT_FIRST, 1.5, "velocities", count=6),
    ),
    "an offset": (
        changed(lambda row: [*row[:2], row[2] - 0.25, *row[3:]]),
        pattern(Pattern.OFFSET, -0.25, "y"),
    ),
    "rounding": (noisy(1e-14), pattern(Pattern.PRECISION, 6.27e-16)),
    "single precision": (singles(right()), pattern(Pattern.SINGLE, count=160)),
    "drift": (drift(0.5), pattern(Pattern.GROWING, 1.025)),
    "now and then, further each time": (
        further_each_time(),
        pattern(Pattern.SCATTERED, count=4, time=0.2),
    ),
    "from some row on": (from_row(20), pattern(Pattern.BEGINS_AT, count=20, time=1.05)),
    "now and then": (now_and_then(), pattern(Pattern.SCATTERED, count=4, time=0.3)),
    "something else": (noisy(0.7), pattern(Pattern.NONE)),
    "the status": (
        changed(lambda row: row, "held"),
        pattern(Pattern.STATUS, what="held instead of interpolated"),
    ),
    "cut off": (kept(right(), slice(0, 30)), pattern(Pattern.ENDS_EARLY, count=10, time=1.55)),
    "begun late": (kept(right(), slice(4, 40)), pattern(Pattern.BEGINS_LATE, count=4, time=0.2)),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_is_told_apart(name: str) -> None:
    rows, expected = WRONG[name]
    assert seen(rows, None, expected)


def test_too_few_digits() -> None:
    found = difference(singles(right()), singles(right()), ".9g")
    assert found is not None
    assert [cause.pattern for cause in diagnose(found)] == [Pattern.FEW_DIGITS]


def test_the_last_digit_of_the_demos_rows() -> None:
    ours = b"pos: 0.50,0.00,0.00  vel: 10.000,0.000,0.000  time: 0.050\n" * 3
    theirs = ours.replace(b"0.50,", b"0.51,", 1)
    found = compare(parse(ours, "epic"), parse(theirs, "epic"), Tolerances())
    assert found is not None
    (last,) = diagnose(found)
    assert (last.pattern, last.count, last.total) == (Pattern.LAST_DIGIT, 1, 3)


def test_nothing_is_raised_by_odd_numbers() -> None:
    for odd in ("nan", "inf", "-inf", "1e300", "-0"):
        rows = right()
        for row in rows[3:9]:
            row[1] = odd
        assert difference(rows) is not None
        found = difference(rows, rows)
        assert found is None
        both = difference(right(), rows)
        assert both is not None
        assert describe_difference(both)
    one = right()[:1]
    other: Rows = [[0.05, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, "held"]]
    found = difference(other, one)
    assert found is not None
    assert describe_difference(found)[0] == "1 of 1 row differs"
