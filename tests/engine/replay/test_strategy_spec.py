from __future__ import annotations

import pickle

import pytest

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_assignment, read_specs
from epic_cli.engine.strategies import list_remote_names


def test_without_names_all_take_part() -> None:
    assert [spec.label for spec in read_specs()] == list_remote_names()


def test_variants_have_settings_of_their_own() -> None:
    plain, near = read_specs(["epic", "epic+calc_ahead=0.1+start=packet"])
    assert (plain.label, plain.name, plain.settings) == ("epic", "epic", {})
    assert near.label == "epic+calc_ahead=0.1+start=packet"
    assert near.settings == {"calc_ahead": "0.1", "start": "packet"}


def test_a_plus_sign_in_a_number_separates_nothing() -> None:
    (one,) = read_specs(["epic+calc_ahead=1e+0"])
    assert one.settings == {"calc_ahead": "1e+0"}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["epci"], "did you mean 'epic'"),
        (["epic+calc=1"], "did you mean 'calc_ahead'"),
        (["epic+calc_ahead=61"], "must be 0 to 60 s"),
        (["epic", "epic"], "epic is given twice"),
        (["epic+calc_ahead=x"], "must be 0 to 60 s"),
        (["correction:sorce"], "choose from snap, source"),
    ],
)
def test_what_is_refused(wanted: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_specs(wanted)


def test_a_label_is_how_it_is_written_unless_given() -> None:
    assert StrategySpec("epic", {"calc_ahead": 0.1, "start": "packet"}).label == (
        "epic+calc_ahead=0.1+start=packet"
    )
    assert StrategySpec("epic", {"calc_ahead": 0.1}, "mine").label == "mine"


def test_it_goes_to_other_processes() -> None:
    spec = StrategySpec("epic", {"calc_ahead": "0.1"}, "mine")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert repr(spec.make()) == "Epic(calc_ahead=0.1)"


@pytest.mark.parametrize("text", ["calc_ahead", "=1", " =1"])
def test_what_is_no_assignment(text: str) -> None:
    with pytest.raises(ValueError, match="key=value"):
        read_assignment(text)
