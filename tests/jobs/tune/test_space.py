"""A strategy's settings as a search space, as their declarations define it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.jobs.tune.trials import Point, Space, make_space, spread

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


def test_what_is_held_is_no_axis_and_in_every_setting() -> None:
    space = make_space("snapshot", {"interpolation_time": "100ms", "clock": "pll"})
    assert not {"interpolation_time", "clock"} & {axis.name for axis in space.axes}
    for point in spread(20, space.axes):
        assert (
            space.make_settings(point).items()
            >= {"interpolation_time": 0.1, "clock": "pll"}.items()
        )


def test_points_are_spread_over_every_axis_and_always_the_same() -> None:
    space: Space = make_space("kalman", {})
    points = spread(64, space.axes)
    assert points == [*spread(40, space.axes), *spread(24, space.axes, skip=40)]
    for at, axis in enumerate(space.axes):
        if axis.numeric:
            shares = sorted(point.shares[at] for point in points)
            gaps = [b - a for a, b in zip([0.0, *shares], [*shares, 1.0], strict=True)]
            assert max(gaps) < 4 / 64
        counts = [sum(point.kinds[at] == kind for point in points) for kind in range(axis.kinds)]
        assert min(counts) >= 0.7 * 64 / axis.kinds
