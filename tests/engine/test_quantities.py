"""Tests of numbers with units, which are parsed exactly."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.parameters import Number, SettingError, parse_quantity

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9)
UNITS = {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "": Decimal(1)}


@given(DECIMALS, st.sampled_from(sorted(UNITS)), st.sampled_from(["", " "]))
def test_what_is_read_is_the_double_nearest_to_what_is_written(
    number: Decimal, word: str, blank: str
) -> None:
    text = f" {number}{blank}{word} "
    assert parse_quantity(text, "s") == float(number * UNITS[word])
    assert parse_quantity(text.upper(), "s") == parse_quantity(text, "s")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1/60", "s", 1 / 60),
        ("100/3 ms", "s", 1 / 30),
        ("20hz", "Hz", 20.0),
        ("1.5 kHz", "Hz", 1500.0),
        ("2%", "", 0.02),
        (".5", "", 0.5),
        ("1e2ms", "s", 0.1),
        ("inf", "s", math.inf),
        ("-5us", "s", -5e-6),
        ("1/4", "length units", 0.25),
    ],
)
def test_each_quantity_has_its_units(text: str, unit: str, value: float) -> None:
    assert parse_quantity(text, unit) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ms",
        "1e",
        "1 km",
        "5min",
        "1_000",
        "nan",
        "1/0",
        "1/",
        "--1ms",
        "1e5e5ms",
        "0x10",
        "1,5",
    ],
)
def test_what_is_none_is_told_with_the_units(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time: .*\(units: s, ms, us\)"):
        parse_quantity(text, "s")


@pytest.mark.parametrize("text", ["5%", "5m", "5 units", "nan"])
def test_a_length_has_no_unit_of_ours(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a length: write 0\.5"):
        parse_quantity(text, "length units")


def test_a_setting_takes_the_units_of_its_own_unit() -> None:
    delay = Number("delay", 0.1, "", "s", 0, 1)
    rate = Number("rate", 20, "", "Hz", 0, 100)
    assert delay.check("50ms") == 0.05
    assert rate.check("60hz") == 60
    with pytest.raises(SettingError, match="delay=50hz is not allowed: it must be 0 to 1 s; write"):
        delay.check("50hz")
    with pytest.raises(SettingError):
        Number("size", 1, "", "ticks", 0, 100).check("5ms")
