"""Tests of the names of engines and games, and of their users' words for settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.words import words_in

from epic_cli import Packet, UnknownStrategy, replay, strategy
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.engine.strategies import get_declaration, list_names, list_system_names
from epic_cli.engine.strategies.calls import CALLS, find_calls
from epic_cli.engine.strategies.parts import Easing
from epic_cli.engine.strategies.systems import (
    CLOSED,
    SYSTEMS,
    System,
    find_setting,
    find_system,
    find_word,
)

COMPOSITIONS = [system for system in SYSTEMS if system.is_composition]
PACKETS = [
    Packet((0.2 * n, n % 3 / 10, 0.0), (4.0, 0.0, 0.0), n / 20, n / 20 + 0.08 + n % 4 / 100)
    for n in range(30)
]


def title(system: System) -> str:
    return system.name


def test_each_name_is_that_of_one_system() -> None:
    found = [system.name for system in SYSTEMS]
    assert len(set(found)) == len(found)
    assert set(list_system_names()).isdisjoint(list_names())
    assert {system.name for system in SYSTEMS} <= {*list_names(), *list_system_names()}


@pytest.mark.parametrize("system", COMPOSITIONS, ids=title)
def test_a_name_draws_as_its_composition_and_takes_its_settings(system: System) -> None:
    base = read_spec(system.strategy)
    number = next(each for each in get_declaration(base.name).settings if isinstance(each, Number))
    for changes in ({}, {number.name: number.high}):
        own = replay(PACKETS, strategy(system.name, **changes))
        same = replay(PACKETS, strategy(base.name, **{**base.settings, **changes}))
        assert list(own) == list(same)


@pytest.mark.parametrize("system", COMPOSITIONS, ids=title)
def test_the_defaults_of_a_name_are_those_of_its_composition(system: System) -> None:
    own: Declaration = get_declaration(system.name)
    assert own.name == system.name
    assert own.values({}) == StrategySpec(system.base, system.settings).values
    assert own.family == get_declaration(system.base).family
    assert system.source
    assert system.license


@pytest.mark.parametrize("system", SYSTEMS, ids=title)
def test_each_word_of_an_engine_is_a_setting_and_is_found(system: System) -> None:
    settings = get_declaration(system.name).settings
    for word in system.words:
        setting = find_setting(word, settings)
        assert (system, word) in [tuple(found) for found in find_word(word.words)]
        if word.unit:
            assert setting.unit == "s"  # type: ignore[attr-defined]
    for name in (system.name, system.title, *system.known_as):
        assert system in [found.system for found in find_word(name.lower())]


@pytest.mark.parametrize("system", SYSTEMS, ids=title)
def test_the_example_of_an_engine_is_a_strategy(system: System) -> None:
    theirs, ours = system.write_example()
    assert theirs.startswith(system.title)
    spec = read_spec(ours)
    assert spec.name == system.name
    assert len(spec.settings) == len(system.example)


def test_the_usual_values_of_each_engine_are_those_that_were_looked_up(
    pytestconfig: pytest.Config,
) -> None:
    lines = [" = ".join(system.write_example()) + "\n" for system in SYSTEMS]
    words_in(Path(__file__).parent, pytestconfig)("systems", "".join(lines))


def test_units_of_engines_are_converted() -> None:
    convert = {word.words: word.convert for each in SYSTEMS for word in each.words}
    assert convert["Send Rate"]("30") == "1/30"
    assert convert["cl_timeNudge"](-10) == "-0.01"
    assert convert["cl_interp"]("0.1") == "0.1"
    assert convert["Position Interpolation Type"]("lerp") == "lerp"


def test_the_nearest_of_a_closed_system_is_a_strategy() -> None:
    for system in CLOSED:
        if system.nearest:
            read_spec(system.nearest)
        assert system in [found.system for found in find_word(system.title)]


def test_an_unknown_name_is_told_the_nearest_one() -> None:
    with pytest.raises(UnknownStrategy, match="did you mean 'pun2'"):
        read_spec("pun22")
    assert find_system("nothing") is None
    assert find_word("?") == []


def test_calls_are_found_by_their_names() -> None:
    """Names may have a class, another case and arguments; eases the order of any library."""
    for call in CALLS:
        read_spec(call.strategy).make_factory()
        for name in call.names:
            for text in (name, name.upper(), f"Vector3.{name}(a, b)"):
                assert call in find_calls(text)
    for ease in Easing:
        *ends, family = [word.capitalize() for word in ease.name.split("_")]
        if family in ("Smoothstep", "Smootherstep") or "Css" in ends:
            continue
        spec = f"chase+how=eased+time=0.1+ease={ease.name.lower().replace('_', '-')}"
        read_spec(spec).make_factory()
        both = "".join(ends)
        for text in (f"ease{both}{family}", f"{family}.ease{both}", f"Easing.{family}.{both}"):
            assert [one.strategy for one in find_calls(text)] == [spec], text
    assert not find_calls("NetworkTransform")
