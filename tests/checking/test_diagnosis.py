"""What a difference looks like: each kind of mistake is told apart, in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from epic_cli.checking.case import Tolerances
from epic_cli.checking.differences import Difference, compare
from epic_cli.checking.pattern import Pattern
from epic_cli.checking.rows import parse
from epic_cli.views.check.words import difference_words

Rows = list[list[float | str]]

HEADER = "time,x,y,z,vx,vy,vz,status"


def right() -> Rows:
    """Forty rows of a movement with corners, in double precision."""
    rows: Rows = []
    for k in range(1, 41):
        t = k * 0.05
        x, y = 10 * t + np.sin(7 * t), 3 * np.cos(5 * t) - 2
        velocity = [10 + 7 * np.cos(7 * t), -15 * np.sin(5 * t), 0.0]
        rows.append([t, x, y, 0.0, *velocity, "interpolated"])
    return rows


def text(rows: Rows, digits: str = "") -> bytes:
    lines = [
        ",".join(one if isinstance(one, str) else format(one, digits) for one in row)
        for row in rows
    ]
    return "\n".join([HEADER, *lines, ""]).encode()


def difference(theirs: Rows, ours: Rows | None = None, digits: str = "") -> Difference | None:
    expected = parse(text(right() if ours is None else ours), "csv")
    return compare(expected, parse(text(theirs, digits), "csv"), Tolerances())


def changed(change: Callable[[list[float]], list[float]], status: str = "interpolated") -> Rows:
    return [[*change([float(one) for one in row[:7]]), status] for row in right()]


def singles(rows: Rows) -> Rows:
    return [[*(float(np.float32(one)) for one in row[:7]), row[7]] for row in rows]


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


def drift(per_second: float) -> Rows:
    return changed(lambda row: [row[0], row[1] + per_second * row[0] ** 2, *row[2:]])


WRONG: dict[str, tuple[Rows, str]] = {
    "a tick late": (late(1), "everything is drawn 1 tick (0.05 s) late"),
    "three ticks late": (late(3), "everything is drawn 3 ticks (0.15 s) late"),
    "two ticks early": (early(2), "everything is drawn 2 ticks (0.1 s) early"),
    "the times late": (
        changed(lambda row: [row[0] + 0.001, *row[1:]]),
        "all times are 0.001 s later, and the rest is the same",
    ),
    "a clock that drifts": (
        changed(lambda row: [row[0] * 1.0001, *row[1:]]),
        "the clock drifts, by 0.0002 s up to the last row",
    ),
    "axes": (
        changed(lambda row: [row[0], row[2], row[1], *row[3:]]),
        "axes are mixed up: x is y, y is x",
    ),
    "a mirror": (
        changed(lambda row: [row[0], row[1], -row[2], *row[3:]]),
        "axes are mixed up: y is -y",
    ),
    "centimetres": (
        changed(lambda row: [row[0], *(100 * one for one in row[1:])]),
        "everything is 100 times what is expected, which no rounding makes",
    ),
    "positions": (
        changed(lambda row: [row[0], *(1.01 * one for one in row[1:4]), *row[4:]]),
        "positions are 1.01 times what is expected",
    ),
    "velocities": (
        changed(lambda row: [*row[:4], *(1.000001 * one for one in row[4:])]),
        "velocities are 1.000001 times what is expected, which no rounding makes",
    ),
    "an offset": (
        changed(lambda row: [*row[:2], row[2] - 0.25, *row[3:]]),
        "y is 0.25 less throughout",
    ),
    "rounding": (noisy(1e-14), "rounding: no more than "),
    "single precision": (
        singles(right()),
        "it computes in single precision, and not in double: ",
    ),
    "drift": (drift(0.5), "the deviation grows, by about "),
    "from some row on": (
        from_row(20),
        "all is the same (but for rounding) up to 1.05 s, and hardly anything after that",
    ),
    "now and then": (now_and_then(), "now and then, in 4 of 40 rows, the first time at 0.3 s"),
    "something else": (noisy(0.7), "no pattern that this program knows, in 40 of 40 rows"),
    "the status": (
        changed(lambda row: row, "held"),
        "only the status is another one, held instead of interpolated, in 40 of 40 rows;",
    ),
    "cut off": (kept(right(), slice(0, 30)), "it ends early: nothing from 1.55 s on"),
    "begun late": (kept(right(), slice(4, 40)), "it begins late: nothing up to 0.2 s"),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_mistake_has_its_words(name: str) -> None:
    rows, words = WRONG[name]
    found = difference(rows)
    assert found is not None
    said = [line for line in difference_words(found) if line.startswith("it looks like this: ")]
    assert [line.removeprefix("it looks like this: ")[: len(words)] for line in said] == [words]


def test_rows_that_nobody_expects() -> None:
    for ours, words in (
        (kept(right(), slice(0, 30)), "it goes on where it should have ended, from 1.55 s on"),
        (kept(right(), slice(4, 40)), "it begins early: rows up to 0.2 s where none are expected"),
    ):
        found = difference(right(), ours)
        assert found is not None
        assert difference_words(found)[-1] == f"it looks like this: {words}"


def test_double_precision_where_single_is_computed() -> None:
    found = difference(right(), singles(right()))
    assert found is not None
    words = difference_words(found)[-1]
    assert words.startswith(
        "it looks like this: it computes in double precision, and not in single"
    )
    assert "tips" not in words
    tipped = [*right()[:20], *late(1)[20:]]
    found = difference(tipped, singles(right()))
    assert found is not None
    assert difference_words(found)[-1].endswith(
        "that tips a comparison, so that 20 rows are off by more than rounding from 1.05 s on"
    )


def test_too_few_digits() -> None:
    found = difference(singles(right()), singles(right()), ".9g")
    assert found is not None
    assert "but are printed with too few digits" in difference_words(found)[-1]


def test_the_last_digit_of_the_demos_rows() -> None:
    ours = b"pos: 0.50,0.00,0.00  vel: 10.000,0.000,0.000  time: 0.050\n" * 3
    theirs = ours.replace(b"0.50,", b"0.51,", 1)
    found = compare(parse(ours, "epic"), parse(theirs, "epic"), Tolerances())
    assert found is not None
    assert difference_words(found)[-1] == (
        "it looks like this: rounding: no more than the last digit that is printed, in 1 of 3 rows"
    )


def test_every_pattern_has_words_and_is_tried_here() -> None:
    from epic_cli.views.check.patterns import _WORDS

    assert set(_WORDS) == set(Pattern)


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
        assert difference_words(both)
    one = right()[:1]
    other: Rows = [[0.05, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, "held"]]
    found = difference(other, one)
    assert found is not None
    assert difference_words(found)[0] == "1 of 1 row differs"
