"""Tests of the engine against the slow oracle of the original program, on random recordings."""

import random
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.recordings import EXHAUSTIVE, cut, draw, examples

SEPARATORS = (" , ", " , ", " / ", " , ", " , ", " / ", "\n")


def line_of(fields: list[str]) -> str:
    return "".join(field + after for field, after in zip(fields, SEPARATORS, strict=True))


def assert_same_as_the_oracle(data: bytes, size: int = 65536) -> None:
    stdout, stderr = oracle.demo(data)
    drawn = draw(cut(data, size))
    assert drawn.rows == stdout
    silent = sum(oracle.scan_line(piece) is None for piece in oracle.remarks(data))
    assert len(drawn.problems) == stderr.count(oracle.ERROR) - silent


# ---------------------------------------------------------------------------------- long files


def smooth(rng: random.Random) -> Iterator[str]:
    """Yield the packets of a slow walk with small accelerations, 10 packets a second."""
    position, velocity = [0.0, 0.0, 0.0], [1.0, -2.0, 0.5]
    for index in range(5000):
        velocity = [v + rng.gauss(0, 0.1) for v in velocity]
        position = [p + v * 0.1 for p, v in zip(position, velocity, strict=True)]
        yield line_of([f"{x:.6g}" for x in (*position, *velocity, (index + 1) * 0.1)])


def wild(rng: random.Random) -> Iterator[str]:
    """Yield packets that are unrelated to each other; timestamps go back, repeat and leap."""
    time = 0.0
    for _ in range(5000):
        time += rng.choice((0, 0.001, 0.05, 0.1, -0.2, rng.expovariate(5)))
        yield line_of([f"{rng.uniform(-100, 100):.4f}" for _ in range(6)] + [f"{time:.4f}"])


def wide(rng: random.Random) -> Iterator[str]:
    """Yield packets with values of all sizes up to ten million, and with all digits of a double."""
    time = 0.0
    for _ in range(5000):
        time += rng.uniform(0, 0.2)
        values = [rng.choice((-1, 1)) * 10 ** rng.uniform(-7, 7) for _ in range(6)]
        yield line_of([repr(value) for value in values] + [repr(time)])


@pytest.mark.parametrize("lines", [smooth, wild, wide])
def test_thousands_of_lines(lines: Callable[[random.Random], Iterator[str]]) -> None:
    many = 5000 if EXHAUSTIVE else 1500
    data = "".join(islice(lines(random.Random(20060)), many))
    assert data.count("\n") == many
    assert_same_as_the_oracle(data.encode("ascii"))


# -------------------------------------------------------------------------------- special values

ODD_VALUES = (
    *("inf", "-inf", "nan", "-nan", "+nan", "infinity", "1e39", "-1e39", "3.4028235e38"),
    *("-0", "0", "1e-45", "-1e-46", "0x1p-149", "1", "-2.5", "16777217.0000000001"),
)


@pytest.mark.parametrize("seed", range(8))
def test_numbers_that_are_not_finite_spread_as_they_do_there(seed: int) -> None:
    rng = random.Random(seed)
    lines, time = [], 0.0
    for _ in range(400):
        time += rng.choice((0.0, 0.02, 0.05, 0.1, 0.15, -0.3, 1.0))
        timestamp = rng.choice((f"{time:.2f}",) * 8 + ("nan", "-nan", "-inf", "-2"))
        values = [
            rng.choice(ODD_VALUES) if rng.random() < 0.3 else f"{rng.uniform(-9, 9):.3f}"
            for _ in range(6)
        ]
        lines.append(line_of([*values, timestamp]))
    assert_same_as_the_oracle("".join(lines).encode("ascii"))


@pytest.mark.parametrize("second", ["nan", "-nan", "inf", "-inf", "1"])
@pytest.mark.parametrize("first", ["nan", "-nan", "inf", "-inf", "1"])
def test_the_sign_of_a_nan_is_the_one_that_sse_keeps(first: str, second: str) -> None:
    data = (
        f"{first},{second},0 / {second},{first},{first} / 0.1\n"
        f"{second},{first},0 / {first},{second},{second} / 0.2\n"
        f"0,0,0 / {first},{second},0 / 0.3\n"
    )
    assert_same_as_the_oracle(data.encode("ascii"))


def test_minus_nan_is_printed() -> None:
    assert b"pos: -nan,-nan,-nan " in draw(b"inf,-inf,INFINITY/0,0,0/0.1\n").rows
    assert b"pos: nan,-nan," in draw(b"nan,-nan,0/0,0,0/0.1\n").rows


# ------------------------------------------------------------------------------------------ fuzz

GOOD_TOKENS = st.one_of(
    st.floats(width=32).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.from_regex(r"[+-]?(0[xX][0-9a-f]{1,9}|[0-9]{1,9})\.?[0-9]{0,9}", fullmatch=True),
    st.sampled_from((*ODD_VALUES, "1e", "2E+", "0x1p-", "0x.", ".5e3", "5.")),
)
ODD_TOKENS = st.one_of(
    st.from_regex(r"[0-9.eExXpP+-]{0,9}", fullmatch=True),
    st.sampled_from(("", ".", "-", "- 1", "0x", "infi", "nan(1)", "1f", "1_0", "--1", "\xa01")),
)
GOOD_STAMPS = st.floats(-1, 20).map(lambda time: f"{time:.3f}") | st.sampled_from(
    ("nan", "-inf", "-2", "1e1", "0x1p2", "2.", ".5", "1e", "0.1f", "1,", "3/")
)
ODD_STAMPS = st.sampled_from(("", "x", "0x", "-", "infi", "nam"))
TAILS = st.sampled_from(("\n", "\r\n", " \n", "abc\n", ",\n", " # a note\n", "\0,1\n", " x=1\n"))


@st.composite
def lines(draw_from: st.DrawFn) -> str:
    """Yield lines of packet text, half of which have one mistake."""
    parts = []
    for separator in ",,/,,/":
        blanks = draw_from(st.sampled_from(("", " ", "\t", "\v", "\f", "\r")))
        parts += [draw_from(GOOD_TOKENS), blanks + separator]
    parts.append(draw_from(GOOD_STAMPS))
    if draw_from(st.booleans()):
        place = draw_from(st.integers(0, 12))
        if place == 12:
            parts[place] = draw_from(ODD_STAMPS)
        else:
            parts[place] = draw_from(st.sampled_from(";/,\0\n ") if place % 2 else ODD_TOKENS)
    return "".join([*parts, draw_from(TAILS)])


@given(data=st.lists(lines(), max_size=12).map("".join), size=st.integers(1, 99))
@examples(100)
def test_any_line_of_tokens_is_read_as_there(data: str, size: int) -> None:
    assert_same_as_the_oracle(data.encode("latin-1"), size)


@given(data=st.binary(max_size=300))
@examples(300)
def test_any_bytes_are_read_as_there(data: bytes) -> None:
    assert_same_as_the_oracle(data)


# -------------------------------------------------------------------- where the original hangs


@pytest.mark.parametrize("time", ["inf", "1e39", "1048575.9375", "1048575.9062500001", "2e6"])
def test_a_time_that_the_original_never_reaches_is_refused(time: str) -> None:
    hopeless = f"1,2,3 / 4,5,6 / {time}\n".encode("ascii")
    before, after = b"1,2,3 / 4,5,6 / 0.1\n", b"2,3,4 / 4,5,6 / 0.2\n"
    with pytest.raises(oracle.EndlessLoop):
        oracle.demo(hopeless)
    drawn = draw(before + hopeless + after)
    assert drawn.rows == oracle.demo(before + after)[0]
    [problem] = drawn.problems
    assert (problem.line, problem.column) == (2, hopeless.index(time.encode("ascii")) + 1)
    assert ("--clock exact" in problem.expected) <= (float(time) < 1e15)
