from __future__ import annotations

import math

import pytest

from epic_cli.metrics.conditions import (
    Condition,
    ConditionError,
    check_sense,
    check_strategies,
    parse_condition,
    parse_expectation,
)


@pytest.mark.parametrize(
    ("text", "metric", "relation", "limit", "strategy"),
    [
        ("error>0.3", "error", ">", 0.3, None),
        (" score ( snapshot ) <= 60 ", "score", "<=", 60.0, "snapshot"),
        ("lag(epic+calc_ahead=0.1)>=120ms", "lag", ">=", 0.12, "epic+calc_ahead=0.1"),
        ("lag<-0.05", "lag", "<", -0.05, None),
        ("held>5%", "held", ">", 0.05, None),
        ("error_max<1e3", "error_max", "<", 1000.0, None),
        ("tick<1/60", "tick", "<", 1 / 60, None),
    ],
)
def test_what_is_written(
    text: str, metric: str, relation: str, limit: float, strategy: str | None
) -> None:
    found = parse_condition(text)
    assert (found.metric, found.relation, found.strategy) == (metric, relation, strategy)
    assert found.limit == pytest.approx(limit)
    assert found.text == text


def test_an_expectation_has_its_metric_beside_it() -> None:
    assert parse_expectation("error", "<0.3") == Condition("error<0.3", "error", "<", 0.3)
    assert parse_expectation("lag", " >= 20ms", "epic").strategy == "epic"
    with pytest.raises(ConditionError, match="did you mean 'error'"):
        parse_expectation("eror", "<0.3")


@pytest.mark.parametrize("figures", [{}, {"error": math.nan}])
def test_what_is_not_known_fulfils_nothing(figures: dict[str, float]) -> None:
    for relation in ("<", "<=", ">", ">="):
        one = parse_condition(f"error{relation}0.3")
        assert not one.is_met(figures)
        assert not one.is_known(figures)


def test_a_strategy_that_does_not_take_part_is_told() -> None:
    labels = ["epic", "snapshot"]
    check_strategies([parse_condition("score<60"), parse_condition("score(epic)<60")], labels)
    with pytest.raises(ConditionError, match="'snapshott' does not take part; did you mean 'snap"):
        check_strategies([parse_condition("score(snapshott)<60")], labels)
    with pytest.raises(ConditionError, match="these do: epic, snapshot"):
        check_strategies([parse_condition("score(zzz)<60")], labels)
    assert parse_condition("score<60").is_about("epic")
    assert not parse_condition("score(snapshot)<60").is_about("epic")


def test_conditions_that_leave_no_value_are_told() -> None:
    for several in (["error>0.3", "error<=0.3"], ["error<0.5", "error>0.3"]):
        with pytest.raises(ConditionError, match="cover every value"):
            check_sense([parse_condition(name) for name in several])
    check_sense(
        [parse_condition(word) for word in ("error<0.1", "error>0.3", "lag<1", "error>0.2")]
    )
    check_sense([parse_condition("error>0.3"), parse_condition("error<0.3")])
    check_sense([parse_condition("error(a)>0.3"), parse_condition("error(b)<=0.3")])
