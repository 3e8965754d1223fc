"""A recorded past that is corrected instead of played again, as Mirror does it."""

import math
from typing import Any

import pytest
from support.conformance import load
from support.play_links import dropping, match

from epic_cli.play import Match, PlayerConfig
from epic_cli.play.client.correction import RecordedState, correct_history

CASES = load("mirror_prediction")["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["correction_t"]))
def test_the_history_is_corrected_as_in_mirror(case: dict[str, Any]) -> None:
    xs = case["history_x"]
    history = [
        RecordedState(time, (float(x),), (float(x - (xs[index - 1] if index else x)),))
        for index, (time, x) in enumerate(zip(case["history_t"], xs, strict=True))
    ]
    corrected = correct_history(history, case["correction_t"], (case["correction_x"],))
    assert (corrected is not None) == case["sample_ok"]
    assert corrected is not None
    for state, expected in zip(corrected, case["history_after"], strict=True):
        assert state.time == expected["t"]
        assert state.values[0] == pytest.approx(expected["x"], abs=1e-6)
        assert state.delta[0] == pytest.approx(expected["delta"], abs=1e-6)
    assert corrected[-1].values[0] == pytest.approx(case["final_x"], abs=1e-6)
    # what comes after the first state is what the file counts as its share
    after = case["after_index"]
    before_t, after_t = case["history_t"][after - 1], case["history_t"][after]
    if case["sample_t"]:
        fraction = (case["correction_t"] - before_t) / (after_t - before_t)
        assert fraction == pytest.approx(case["sample_t"])


@pytest.mark.parametrize("time", [-0.1, 2.1])
def test_a_time_that_was_not_recorded_corrects_nothing(time: float) -> None:
    history = [RecordedState(t, (float(t),), (1.0,)) for t in range(3)]
    assert correct_history(history, time, (5.0,)) is None
    assert correct_history(history[:1], 0.0, (5.0,)) is None


def bumped(mode: str) -> Match:
    players = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (303.0, 300.3)))
    played = match("0 A right\n1 A stop\n", players, trace=dropping(), local=mode)
    played.run_until(3)
    return played


def test_a_corrected_player_comes_to_rest_within_the_threshold_of_the_server() -> None:
    played = bumped("corrected")
    local = played.participants[0].client.local
    off = math.dist(local.body.position, played.server.body(0).position)
    assert off < 0.1
    assert local.corrections > 0
    alone = bumped("predicted")
    assert math.dist(alone.participants[0].client.local.body.position,
                     alone.server.body(0).position) > 0.5  # fmt: skip


def test_where_nothing_unexpected_happens_nothing_is_corrected() -> None:
    played = match("0.1 A right\n0.7 A left up\n1.3 A stop\n", trace=dropping(), local="corrected")
    played.run_until(3)
    local = played.participants[0].client.local
    assert (local.corrections, local.mispredictions) == (0, 0)
    assert local.body == played.server.body(0)
