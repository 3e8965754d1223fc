"""Text to numbers: glibc's grammar, and one rounding to float and to double."""

import math
import struct
from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle
from support.recordings import draw_samples, examples, scan_packets, scan_problems

from epic_cli.engine.text import TextScanner


def bits(number: float) -> bytes:
    """Return a number's bits, which distinguish 0 from -0 and nan from -nan."""
    return struct.pack("<d", number)


def single(token: str) -> float:
    """Return the float32 that the engine makes of a token.

    Epic shows it if it shows packets at once.
    """
    line = f"0,0,0 / {token},0,0 / 0\n"
    return draw_samples(line.encode("ascii"), display_behind=0)[0].velocity[0]


def double(token: str) -> float:
    """Return the double that the engine makes of a token."""
    [packet] = scan_packets(TextScanner(), f"0,0,0 / {token},0,0 / 0\n".encode("ascii"))
    assert packet.velocity
    return packet.velocity[0]


EXPONENT = "([eE][+-]?[0-9]{1,3})?"
DECIMAL = st.from_regex(
    rf"[+-]?([0-9]{{1,25}}\.?[0-9]{{0,25}}|\.[0-9]{{1,25}}){EXPONENT}", fullmatch=True
)
POWER = "([pP][+-]?[0-9]{1,3})?"
HEXADECIMAL = st.from_regex(
    rf"[+-]?0[xX]([0-9a-fA-F]{{1,20}}\.?[0-9a-f]{{0,9}}|\.[0-9a-f]{{1,9}}){POWER}", fullmatch=True
)
LAX = st.sampled_from(
    ("1e", "1E+", "2.5e-", "0x1p", "0x1p+", "0x.", "-0x.", "nan", "-NaN", "iNf", "-infinity")
)


@given(token=st.one_of(DECIMAL, HEXADECIMAL, LAX))
@examples(800)
@example("16777217.0000000001")
@example("0.00000000000000000000000000000000000001")
@example("3.4028235677973366e38")
@example("9" * 19)
@example("9" * 20)
@example("18446744073709551616")
def test_a_token_is_the_float_that_the_original_scans(token: str) -> None:
    scanned = oracle.scan_number(token.encode("ascii"), 0)
    assert scanned is not None
    assert scanned[1] == len(token)
    assert bits(single(token)) == bits(scanned[0])


@given(token=DECIMAL)
@examples(500)
def test_a_decimal_token_is_the_double_that_python_reads(token: str) -> None:
    assert bits(double(token)) == bits(float(token))


@given(token=HEXADECIMAL)
@examples(200)
def test_a_hexadecimal_token_is_the_double_that_python_reads(token: str) -> None:
    try:
        expected = float.fromhex(token)
    except OverflowError:
        expected = math.copysign(math.inf, -1 if token.startswith("-") else 1)
    assert bits(double(token)) == bits(expected)


def half_way_after(low: int) -> tuple[Decimal, float, float, float]:
    """Return the exact midpoint of a float32 and the next, both of them, and the one with an even
    last bit.
    """
    below, above = (struct.unpack("<f", struct.pack("<I", n))[0] for n in (low, low + 1))
    with localcontext(prec=300):
        return (Decimal(below) + Decimal(above)) / 2, below, above, (below, above)[low % 2]


@given(low=st.integers(0, 0x7F7FFFFE), beyond=st.sampled_from((-1, 0, 1)))
@examples(300)
def test_text_close_to_half_way_between_two_floats_is_rounded_once(low: int, beyond: int) -> None:
    half_way, below, above, even = half_way_after(low)
    with localcontext(prec=300):
        text = f"{half_way + beyond * half_way.scaleb(-60):f}"
    assert single(text) == {-1: below, 0: even, 1: above}[beyond]


@given(low=st.integers(0x20000000, 0x60000000), digits=st.integers(14, 19))
@examples(500)
def test_a_double_that_is_half_way_does_not_hide_on_which_side_the_text_is(
    low: int, digits: int
) -> None:
    half_way, below, above, even = half_way_after(low)
    text = f"{half_way:.{digits - 1}e}"  # often the double next to it is half_way itself
    for written in (text, f"{Decimal(text):f}"):
        exact = Decimal(written)
        assert single(written) == (
            below if exact < half_way else above if exact > half_way else even
        )


NO_NUMBERS = ["", ".", "-", "-.", "--1", "+-1", "- 1", "e5", "0x", "0xg", "0xp1", "infi", "infinit"]


@pytest.mark.parametrize("token", [*NO_NUMBERS, "in", "na", "$1", '"1"'])
def test_what_is_no_number_is_refused_where_it_stands(token: str) -> None:
    for name, before, after in (
        ("x", "", ",2,3 / 4,5,6 / 0.1"),
        ("vx", "1,2,3 / ", ",5,6 / 0.1"),
        ("t", "1,2,3 / 4,5,6 / ", ""),
    ):
        line = before + token + after
        [found] = scan_problems(TextScanner(), line.encode("ascii"))
        assert found.what == f"{name} is {'not a number' if token else 'missing'}"
        assert (found.caret, found.column) == (len(before), len(before) + 1)


@pytest.mark.parametrize("token", ["1..2", "1ee5", "1f", "1_000", "1;", "inff", "nan(1)", "0o7"])
def test_what_follows_a_number_must_be_the_separator_unless_it_is_the_last(token: str) -> None:
    first = f"{token},2,3 / 4,5,6 / 0.1".encode("ascii")
    [found] = scan_problems(TextScanner(), first)
    assert found.what == "no ',' after x"
    assert len(scan_packets(TextScanner(), f"1,2,3 / 4,5,6 / {token}".encode("ascii"))) == 1
