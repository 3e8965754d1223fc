"""A strategy's settings as a search space, as their declarations define it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.jobs.tune.trials import Point, make_space

SPACES = [make_space(name, {}) for name in list_names()]


@given(st.data())
def test_every_point_is_settings_that_the_strategy_takes(data: st.DataObject) -> None:
    space = data.draw(st.sampled_from(SPACES))
    shares = tuple(data.draw(st.floats(-0.5, 1.5)) for _ in space.axes)
    kinds = tuple(data.draw(st.integers(0, axis.kinds - 1)) for axis in space.axes)
    settings = space.make_settings(Point(kinds, shares))
    declared = get_declaration(space.strategy)
    values = declared.values(settings)
    assert all(values[name] != declared.values({})[name] for name in settings)
    # a setting that is written and read again is at the same place
    assert space.make_settings(space.find_point(settings)) == settings


def test_what_is_worth_tuning_is_what_the_declarations_say() -> None:
    for space in SPACES:
        worth = {
            setting.name
            for setting in get_declaration(space.strategy).settings
            if (isinstance(setting, Number) and setting.tune is not None)
            or (isinstance(setting, Choice) and setting.tune)
        }
        assert {axis.name for axis in space.axes} == worth
        assert not worth & {"quirks", "role", "precision", "start"}


def test_every_range_worth_tuning_is_allowed_and_reaches_the_default() -> None:
    for name in list_names():
        for setting in get_declaration(name).settings:
            if isinstance(setting, Number) and setting.tune is not None:
                low, high = setting.tune
                assert setting.low <= low < high <= setting.high, (name, setting.name)
                assert low > 0 or setting.scale == "linear", (name, setting.name)
                # 0 often stands for "measured", or "not at all"
                if setting.default and not isinstance(setting.default, str):
                    assert low <= setting.default <= high, (name, setting.name)
