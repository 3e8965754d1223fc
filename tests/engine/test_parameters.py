"""Tests of the kinds of parameters: accepted values, descriptions, and converted values."""

import math
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli import Choice, Number, Setting, SettingError, Switch
from epic_cli.engine.parameters import Converted, Span, Value


class Way(IntEnum):
    NEAR = 0
    FAR_AWAY = 1


class Model(IntEnum):
    STILL = 1
    MOVING = 2
    TURNING = 3


SPEED = Number("speed", 1.0, "how fast", "m/s", -2, 10)
COUNT = Number("count", 3, "how many", "", 1, 9, whole=True)
DELAY = Number("delay", "auto", "how late", "s", 0, 1, unset="auto")
WRAPS = Switch("wraps", "on", "at the border")
WAY = Choice("way", "near", "which way", Way)
WAIT = Span("wait", 0.1, "how long", 0.001, 9)
MODEL = Choice("model", "moving", "which model", Model, numbered=True)
KINDS = (SPEED, COUNT, DELAY, WAIT, WRAPS, WAY, MODEL)


@pytest.mark.parametrize(
    ("setting", "value", "written"),
    [
        (SPEED, 3, 3.0),
        (SPEED, "3.5", 3.5),
        (SPEED, " 1e1 ", 10.0),
        (SPEED, -2, -2.0),
        (COUNT, "9", 9.0),
        (COUNT, 2.0, 2.0),
        (DELAY, "auto", "auto"),
        (DELAY, "0.5", 0.5),
        (WAIT, "20ms", 0.02),
        (WAIT, " 1.80I ", "1.8i"),
        (WAIT, "1000i", "1000i"),
        (WRAPS, "off", "off"),
        (WAY, "far-away", "far-away"),
        (MODEL, "turning", "turning"),
        (MODEL, "3", 3.0),
        (MODEL, 1, 1.0),
    ],
)
def test_a_value_in_range_is_taken(setting: Setting, value: object, written: Value) -> None:
    assert setting.check(value) == written
    assert type(setting.check(value)) is type(written)


@pytest.mark.parametrize("setting", KINDS, ids=lambda setting: setting.name)
@pytest.mark.parametrize(
    "value", ["", "x", "nan", math.nan, math.inf, -2.1, 10.5, 1e300, 10**400, None, [1], "NEAR"]
)
def test_a_value_out_of_range_is_refused_with_the_range(setting: Setting, value: object) -> None:
    with pytest.raises(SettingError) as refused:
        setting.check(value)
    shown = value if value != "" else repr(value)
    message = f"{setting.name}={shown} is not allowed: it must be {setting.range}"
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("setting", [COUNT, MODEL], ids=lambda setting: setting.name)
@pytest.mark.parametrize("value", [0, 10, 2.5, "2.5", "far", math.nextafter(9, 10)])
def test_a_whole_number_has_no_fraction(setting: Setting, value: object) -> None:
    with pytest.raises(SettingError, match="a whole number from 1 to"):
        setting.check(value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (SPEED, "-2 to 10 m/s"),
        (COUNT, "a whole number from 1 to 9"),
        (DELAY, "auto or 0 to 1 s"),
        (WAIT, "0.001 to 9 s or 0.001i to 1000i"),
        (WRAPS, "on or off"),
        (WAY, "near or far-away"),
        (MODEL, "still, moving, turning or a whole number from 1 to 3"),
        (Number("x", 0.0, "", "", 0, 0.1 + 0.2), "0 to 0.3"),
        (Choice("x", "still", "", Model), "still, moving or turning"),
    ],
)
def test_a_range_in_words(setting: Setting, words: str) -> None:
    assert setting.range == words


@pytest.mark.parametrize(
    ("setting", "written", "used"),
    [
        (SPEED, 3.5, 3.5),
        (COUNT, 9.0, 9),
        (DELAY, 0.5, 0.5),
        (WAIT, "1.8i", -1.8),
        (WRAPS, "on", True),
        (WRAPS, "off", False),
        (WAY, "far-away", Way.FAR_AWAY),
        (MODEL, "turning", Model.TURNING),
        (MODEL, 3.0, Model.TURNING),
    ],
)
def test_a_setting_arrives_as_what_is_used(
    setting: Setting, written: Value, used: Converted
) -> None:
    assert setting.convert(written) == used
    assert type(setting.convert(written)) is type(used)


def test_no_number_arrives_as_nan() -> None:
    arrived = DELAY.convert("auto")
    assert isinstance(arrived, float)
    assert math.isnan(arrived)


@given(value=st.floats())
def test_a_number_is_taken_exactly_if_it_is_in_range(value: float) -> None:
    try:
        assert SPEED.check(value) == value
    except SettingError:
        assert not -2 <= value <= 10
    else:
        assert -2 <= value <= 10
