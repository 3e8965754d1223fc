"""Tests of the declarations of strategies, and of the checks made from them."""

from enum import IntEnum
from typing import Any

import pytest

from epic_cli import Choice, Declaration, Number, SettingError, Switch, strategies, strategy
from epic_cli.engine.declaration import LagVariation, Need
from epic_cli.engine.strategies import get_declaration, list_names


class Way(IntEnum):
    NEAR = 0
    FAR = 1


PLAIN = Declaration(
    name="plain",
    summary="a test",
    family="tests",
    settings=(
        Number("speed", 1.0, "how fast", "m/s", -2, 10),
        Number("count", 3, "how many", "", 1, 9, whole=True),
        Choice("way", "near", "which way", Way),
        Switch("wraps", "off", "at the border"),
    ),
)


def test_settings_that_are_not_given_have_their_defaults() -> None:
    assert PLAIN.values({}) == {"speed": 1.0, "count": 3, "way": "near", "wraps": "off"}
    assert PLAIN.values({"way": "far"})["way"] == "far"


def test_all_settings_arrive_converted() -> None:
    arrived = PLAIN.converted(PLAIN.values({"way": "far", "count": "4"}))
    assert arrived == {"speed": 1.0, "count": 4, "way": Way.FAR, "wraps": False}
    assert type(arrived["count"]) is int


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingError, match="plain has no setting 'sped'; did you mean 'speed'"):
        PLAIN.values({"sped": 1})
    with pytest.raises(SettingError, match="it has speed, count, way, wraps"):
        PLAIN.values({"qqqq": 1})
    with pytest.raises(SettingError, match="it has none"):
        PLAIN._replace(settings=()).values({"speed": 1})


@pytest.mark.parametrize("said", strategies(), ids=lambda said: said.name)
def test_every_strategy_declares_itself_completely(said: Declaration) -> None:
    assert get_declaration(said.name) == said
    for text in (said.summary, said.family, said.lag, said.on_loss, said.source, said.proof):
        assert text
    assert "\n" not in said.summary
    assert len({setting.name for setting in said.settings}) == len(said.settings)
    for setting in said.settings:
        assert setting.help
        assert setting.check(setting.default) == setting.default
        if isinstance(setting, Number) and setting.tune is not None:
            assert setting.tune[0] < setting.tune[1]
            assert [setting.check(end) for end in setting.tune] == [*setting.tune]
            assert setting.scale == "linear" or setting.tune[0] > 0


@pytest.mark.parametrize("name", list_names())
def test_every_strategy_can_be_made_and_knows_its_settings(name: str) -> None:
    made: Any = strategy(name)
    assert made.settings == {
        setting.name: setting.default for setting in get_declaration(name).settings
    }


@pytest.mark.parametrize("said", strategies(), ids=lambda said: said.name)
def test_a_setting_stands_in_the_attribute_of_its_name(said: Declaration) -> None:
    """Most settings have an attribute of the same name, with the value that the strategy uses."""
    others = {
        setting.name: next(value for value in _values_of(setting) if value != setting.default)
        for setting in said.settings
    }
    made: Any = strategy(said.name, **others)
    assert made.settings == others
    for name, value in said.converted(others).items():
        if hasattr(type(made), name):
            assert getattr(made, name) == pytest.approx(value, rel=1e-6)


def _values_of(setting: Any) -> list[float | str]:
    if isinstance(setting, Number):
        return [setting.low, setting.high]
    return list(setting.choices)


def test_needs_are_told_apart_by_what_they_are_and_not_by_their_wording() -> None:
    for needs, wanted in (
        ((Need.VELOCITY,), True),
        ((Need.VELOCITY.unless(" (or none, as one likes)"),), True),
        (("velocity-like data",), False),
        ((Need.ARRIVALS, "a fast computer"), False),
        (("",), False),
    ):
        assert PLAIN._replace(needs=needs).uses_velocity is wanted


@pytest.mark.parametrize("period", [0.1, 0.2])
@pytest.mark.parametrize("frame", [0.05, 0.3])
def test_a_lag_varies_more_where_rows_and_packets_are_far_apart(
    period: float, frame: float
) -> None:
    far = LagVariation("", 0.01, periods=2, frames=3, frame_above=1, period_above=0.15)
    more = 2 * period + 3 * frame if (period, frame) == (0.2, 0.3) else 0
    assert far.compute_most(period, frame) == pytest.approx(0.01 + more)


@pytest.mark.parametrize("tune", [True, False])
def test_what_has_a_few_values_is_tuned_unless_it_says_no(tune: bool) -> None:
    said: dict[str, Any] = {} if tune else {"tune": False}
    for made in (Choice("way", "near", "", Way, **said), Switch("wraps", "off", "", **said)):
        assert (made.tune is not None and made.tune is not False) == tune
