"""What strategies say of themselves, and the checks that come from it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli import (
    Declaration,
    Setting,
    SettingError,
    UnknownStrategy,
    strategies,
    strategy,
)
from epic_cli.engine.declaration import Value, nearest
from epic_cli.engine.strategies import BUILT_IN, create, declaration, find, names

SPEED = Setting("speed", 1.0, "how fast", "m/s", -2, 10)
COUNT = Setting("count", 3, "how many", low=1, high=9, whole=True)
MODE = Setting("mode", "near", "which way", choices=("near", "far"))
DELAY = Setting("delay", "auto", "how late", "s", 0, 1, choices=("auto",))
PLAIN = Declaration("plain", "a test", "tests", (), "", "", "", "", (SPEED, COUNT, MODE, DELAY))


# -------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("setting", "value", "taken"),
    [
        (SPEED, 3, 3.0),
        (SPEED, "3.5", 3.5),
        (SPEED, " 1e1 ", 10.0),
        (SPEED, -2, -2.0),
        (COUNT, "9", 9.0),
        (COUNT, 2.0, 2.0),
        (MODE, "far", "far"),
        (DELAY, "auto", "auto"),
        (DELAY, "0.5", 0.5),
    ],
)
def test_a_value_in_range_is_taken(setting: Setting, value: object, taken: Value) -> None:
    assert setting.check(value) == taken
    assert type(setting.check(value)) is type(taken)


@pytest.mark.parametrize("setting", PLAIN.settings)
@pytest.mark.parametrize(
    "value", ["", "x", "nan", math.nan, math.inf, -2.1, 10.5, 1e300, None, [1]]
)
def test_a_value_out_of_range_is_refused_with_the_range(setting: Setting, value: object) -> None:
    with pytest.raises(SettingError) as refused:
        setting.check(value)
    assert str(refused.value) == (
        f"{setting.name}={value} is not allowed: {setting.name} is {setting.range}"
    )


@pytest.mark.parametrize("value", [0, 10, 2.5, "2.5", "far", math.nextafter(9, 10)])
def test_a_whole_number_has_no_fraction(value: object) -> None:
    with pytest.raises(SettingError, match="count is a whole number from 1 to 9"):
        COUNT.check(value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (SPEED, "-2 to 10 m/s"),
        (COUNT, "a whole number from 1 to 9"),
        (MODE, "near or far"),
        (DELAY, "auto or 0 to 1 s"),
        (Setting("x", 0.0, "", low=0, high=0.1 + 0.2), "0 to 0.3"),
        (Setting("x", "a", "", choices=("a", "b", "c")), "a, b or c"),
    ],
)
def test_a_range_in_words(setting: Setting, words: str) -> None:
    assert setting.range == words


@given(value=st.floats())
def test_a_number_is_taken_exactly_if_it_is_in_range(value: float) -> None:
    try:
        assert SPEED.check(value) == value
    except SettingError:
        assert not -2 <= value <= 10
    else:
        assert -2 <= value <= 10


def test_settings_that_are_not_defaultshave_their_defaults() -> None:
    assert PLAIN.values({}) == {"speed": 1.0, "count": 3, "mode": "near", "delay": "auto"}
    assert PLAIN.values({"mode": "far"})["mode"] == "far"


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingError, match="plain has no setting 'sped'; did you mean 'speed'"):
        PLAIN.values({"sped": 1})
    with pytest.raises(SettingError, match="it has speed, count, mode, delay"):
        PLAIN.values({"qqqq": 1})
    with pytest.raises(SettingError, match="it has none"):
        PLAIN._replace(settings=()).values({"speed": 1})


def test_the_nearest_name_is_near() -> None:
    assert nearest("calcahead", ["slop_time", "calc_ahead"]) == "calc_ahead"
    assert nearest("zzz", ["slop_time", "calc_ahead"]) is None


# -------------------------------------------------------------------------------------- registry


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_strategy_declares_itself_completely(name: str) -> None:
    said = declaration(name)
    assert said.name == name
    for text in (said.summary, said.family, said.lag, said.on_loss, said.source, said.proof):
        assert text
    assert "\n" not in said.summary
    assert len({setting.name for setting in said.settings}) == len(said.settings)
    for setting in said.settings:
        assert setting.help
        assert setting.check(setting.default) == setting.default
        if setting.tune is not None:
            assert setting.tune[0] < setting.tune[1]
            assert [setting.check(end) for end in setting.tune] == [*setting.tune]
            assert setting.scale == "linear" or setting.tune[0] > 0


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_strategy_can_be_made_and_knows_its_settings(name: str) -> None:
    made = strategy(name)
    defaults = {setting.name: setting.default for setting in declaration(name).settings}
    assert made.settings == defaults  # type: ignore[attr-defined]


def test_the_catalogue_lists_every_strategy() -> None:
    assert [said.name for said in strategies()] == names()
    assert names()[: len(BUILT_IN)] == list(BUILT_IN)


def test_an_unknown_strategy_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownStrategy, match="there is no strategy 'epik'; did you mean 'epic'"):
        find("epik")
    with pytest.raises(UnknownStrategy, match="'epic strategies' lists them"):
        find("zzzzz")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("no_such_module:Thing", "No module named"),
        ("epic_cli:Thing", "has no attribute 'Thing'"),
        ("epic_cli:replay", "is no class"),
        ("epic_cli:Packet", "it has no reset, update, read"),
        (":", "cannot be loaded"),
        ("epic_cli:", "cannot be loaded"),
        (":Thing", "cannot be loaded"),
        ("..:Thing", "cannot be loaded"),
    ],
)
def test_a_class_that_cannot_be_loaded_is_refused(place: str, reason: str) -> None:
    with pytest.raises(UnknownStrategy, match=reason):
        find(place)


class Undeclared:
    """Stands still.

    Always.
    """

    def __init__(self, **settings: float) -> None:
        self.settings = settings

    def reset(self) -> None:
        """Does nothing, and the others neither."""

    update = read = reset


def test_a_class_can_be_named_outright(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.engine.contract.Undeclared", Undeclared, raising=False)
    place = "epic_cli.engine.contract:Undeclared"
    assert find(place) is Undeclared
    assert create(place, {"speed": "fast"}).settings == {"speed": "fast"}
    assert declaration(place).summary == "Stands still."


def test_a_class_that_does_not_take_the_settings_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("epic_cli.engine.contract.Undeclared", Undeclared, raising=False)
    with pytest.raises(UnknownStrategy, match="cannot be made"):
        create("epic_cli.engine.contract:Undeclared", {"self": 1})


def test_a_declared_class_gets_only_the_settings_that_were_given_and_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Declared(Undeclared):
        declaration = PLAIN

    monkeypatch.setattr("epic_cli.engine.contract.Declared", Declared, raising=False)
    place = "epic_cli.engine.contract:Declared"
    assert create(place, {"speed": "3"}).settings == {"speed": 3.0}
    with pytest.raises(SettingError, match="speed is -2 to 10 m/s"):
        create(place, {"speed": 11})
