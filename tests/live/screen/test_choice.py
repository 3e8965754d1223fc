"""Strategies and settings, changed step by step."""

import pytest

from epic_cli.engine.parameter_base import Setting, Value
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declarations
from epic_cli.live.model import StrategyChoice, stepped

SETTINGS = [(one.name, setting) for one in declarations() for setting in one.settings]


def walk(setting: Setting, value: Value, upwards: bool) -> list[Value]:
    """The values to the end of the range."""
    values = [value]
    while len(values) < 2000:
        after = stepped(setting, values[-1], upwards)
        if after == values[-1]:
            break
        values.append(after)
    return values


def test_steps_stay_in_the_range_of_every_setting_and_come_to_its_ends() -> None:
    for strategy, setting in SETTINGS:
        up = walk(setting, setting.default, True)
        down = walk(setting, setting.default, False)
        for value in (*up, *down):
            assert setting.check(value) == value, (strategy, setting.name)
        if isinstance(setting, Number):
            numbers = [one for one in (*reversed(down), *up[1:]) if not isinstance(one, str)]
            assert numbers == sorted(set(numbers)), (strategy, setting.name)
            assert up[-1] == setting.high
            assert down[-1] == (setting.unset or setting.low)
        else:
            assert {*up, *down} == set(setting.choices)


def test_steps_are_small_where_it_matters() -> None:
    found = {(strategy, one.name): one for strategy, one in SETTINGS}
    delay = found["snapshot", "interpolation_time"]
    assert stepped(delay, 0.2, True) == 0.3
    assert stepped(delay, 0.2, False) == 0.15
    assert stepped(delay, 0.17, False) == 0.15
    assert stepped(found["epic", "display_behind"], 0.2, True) == pytest.approx(0.25)
    assert stepped(found["mirror", "buffer_limit"], 32.0, True) == 50
    assert stepped(found["gambetta", "update_rate"], "auto", True) == 2
    assert stepped(found["mirror", "quirks"], "off", False) == "on"


def test_each_strategy_keeps_its_settings() -> None:
    choice = StrategyChoice(StrategySpec("snapshot", {"interpolation_time": "300ms"}))
    assert choice.values["interpolation_time"] == 0.3
    assert choice.step(upwards=True)
    choice.use()
    choice.go(1)
    assert choice.strategy == choice.names[choice.names.index("snapshot") + 1]
    choice.select(-1)
    assert choice.selected is choice.settings[-1]
    choice.go(-1)
    assert choice.values["interpolation_time"] == 0.5
    assert choice.restore()
    assert not choice.restore()
    choice.go_back()
    assert choice.values["interpolation_time"] == 0.5
    for _ in choice.names:
        choice.go(1)
        choice.spec.make()
    assert choice.strategy == "snapshot"
