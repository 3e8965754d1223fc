"""The local player: reconciled to the last bit, corrected as in Mirror; corrections fade."""

import itertools
import math
from typing import Any

import pytest
from support.conformance import load
from support.play_links import dropping, match
from support.play_oracle import Runner, walk, walk_into

from epic_cli.engine.strategies.correct import VisualOffset
from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, PlayerConfig
from epic_cli.play.client import (
    LOCAL_MODES,
    SMOOTHING_CURVES,
    RecordedState,
    Smoothing,
    correct_history,
)

ZIGZAG = "0.1 A right\n0.4 A right up\n0.7 A left\n0.9 A down\n1.3 A stop\n1.6 A left up\n"

NEAR = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (303.0, 300.3)))

#: When the player changes his mind between two frames that are then lost.
TURN = 20


def corrections(played: Match) -> list[float]:
    return [
        float(event.details["size"])
        for event in played.take_events()
        if event.what == "correction" and event.player == "A"
    ]


@pytest.mark.parametrize("lerp_time", [0.0, 0.02, 0.15, 1.0])
def test_a_lerped_player_goes_a_share_of_the_way_to_the_received_state(lerp_time: float) -> None:
    """The loop of the article, with the game's rules for a move."""
    played = match(ZIGZAG, smoothing=lerp_time, local="lerped")
    client = played.participants[0].client
    local, rules, compared = client.local, played.settings.rules, 0
    before = local.predicted

    def frame(participant: object) -> None:
        nonlocal before, compared
        if participant is not played.participants[0]:
            return
        move = list(local.moves)[-1]
        share = 1.0
        if lerp_time and move.duration_us / 1e6 <= lerp_time:
            share = move.duration_us / 1e6 / lerp_time
        start = before._replace(
            x=before.x + (local.received.x - before.x) * share,
            y=before.y + (local.received.y - before.y) * share,
        )
        expected = rules.simulate(start, move.control, move.duration_us).body
        assert local.compute_drawn(client.now) == expected.position
        before, compared = expected, compared + 1

    played.on_frame = frame
    played.run_until(3)
    assert compared > 80
    assert local.corrections == 0


@pytest.mark.parametrize("latency", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("jitter", [0.0, 0.04])
def test_a_predicted_player_is_never_corrected_to_the_last_bit(
    latency: float, jitter: float
) -> None:
    link = LinkConditions(latency=latency, jitter=min(jitter, latency))
    played = match(ZIGZAG + "2 A stop\n", link=TwoWays.from_conditions(link))
    played.run_until(4)
    local = played.participants[0].client.local
    assert (local.corrections, local.mispredictions) == (0, 0)
    assert local.body == played.server.get_body(0)
    assert local.body.position != (300.0, 300.0)


@pytest.mark.parametrize("lost", [{20}, {20, 21}, {5, 20, 21, 30, 31}, set(range(0, 90, 3))])
def test_threefold_sending_survives_single_and_double_losses(lost: set[int]) -> None:
    played = match(ZIGZAG, trace=dropping(lost))
    played.run_until(3)
    assert played.participants[0].client.local.mispredictions == 0
    assert corrections(played) == []


def lossy_turn(lost: set[int], turn: int = TURN) -> Match:
    at = turn * 0.033
    played = match(f"0 A right\n{at} A up\n{at + 0.033} A right\n", trace=dropping(lost))
    played.run_until(2.0)
    return played


def test_a_triple_loss_gives_the_correction_that_the_oracle_computes() -> None:
    # the move of frame 20 is in packets 20, 21 and 22
    played = lossy_turn({20, 21, 22})
    sizes = corrections(played)
    assert len(sizes) == 1
    # the server never hears of it: the next move lasts twice as long
    predicted = heard = Runner(300.0, 300.0)
    keys = [(0, 1) if frame == TURN else (1, 0) for frame in range(61)]
    apart = {}
    for frame in range(1, 61):
        predicted = walk(predicted, keys[frame], 33)
        if frame != TURN:
            heard = walk(heard, keys[frame], 66 if frame == TURN + 1 else 33)
        apart[frame] = math.dist((predicted.x, predicted.y), (heard.x, heard.y))
    # packet 23 arrives at 0.809, is in the state of 0.85, which comes in at 0.9
    newest = int(0.9 / 0.033)
    assert sizes[0] == pytest.approx(apart[newest], rel=1e-9)
    server = played.server.get_body(0)
    assert played.participants[0].client.local.body.y == pytest.approx(server.y, abs=1e-9)


def test_a_bump_gives_the_correction_that_the_oracle_computes() -> None:
    played = match("0 A right\n", NEAR, trace=dropping())
    played.run_until(0.8)
    sizes = corrections(played)
    # A makes the moves of frames 1, 2 ...; B's, 7 ms later, are empty but let it roll and brake
    a, b, predicted = Runner(300.0, 300.0), Runner(303.0, 300.3), Runner(300.0, 300.0)
    servers, alone = {0: a}, {0: predicted}
    bumped = None
    for frame in range(1, 25):
        before = b
        a, b = walk_into(a, b, (1, 0))
        if b != before and bumped is None:
            bumped = frame
        b, a = walk_into(b, a, (0, 0))
        predicted = walk(predicted, (1, 0), 33)
        servers[frame], alone[frame] = a, predicted
    assert bumped is not None
    # the first state after it, at a tick of 50 ms, and what A has done when it comes in
    tick = math.ceil((bumped * 0.033 + 0.05) / 0.05 - 1e-9) * 0.05
    heard = max(frame for frame in servers if frame * 0.033 + 0.05 <= tick + 1e-9)
    newest = int((tick + 0.05) / 0.033 + 1e-9)
    replayed = servers[heard]
    for _ in range(heard, newest):
        replayed = walk(replayed, (1, 0), 33)
    expected = math.dist((replayed.x, replayed.y), (alone[newest].x, alone[newest].y))
    assert expected > 0.05
    assert sizes[0] == pytest.approx(expected, rel=1e-6)


def test_smoothing_goes_on_from_where_the_player_was_drawn() -> None:
    jumps = {}
    for smoothing in (0.0, 0.3):
        played = match("0 A right\n", NEAR, trace=dropping(), smoothing=smoothing)
        client, drawn = played.participants[0].client, []
        for frame in range(1, 40):
            played.run_until(frame * 0.033)
            drawn.append(client.local.compute_drawn(client.now))
        jumps[smoothing] = max(math.dist(a, b) for a, b in itertools.pairwise(drawn))
    assert jumps[0.0] > 0.4
    assert jumps[0.3] < jumps[0.0] / 2 + 8 * 0.033


SOURCE = load("source_lagcomp_smoothing")
LIMITS = {
    "smooth_above": SOURCE["defaults"]["min_prediction_epsilon"],
    "snap_above": SOURCE["defaults"]["max_prediction_error"],
}


@pytest.mark.parametrize("case", SOURCE["error_decay"], ids=lambda case: str(case["age"]))
def test_a_correction_fades_as_in_source(case: dict[str, Any]) -> None:
    correction = Smoothing(case["smooth_time"]).apply(VisualOffset())
    correction.add(case["error"], 0.0, 0.0, 0.0)
    assert correction.left(case["age"]) == pytest.approx((case["offset"], 0.0, 0.0), abs=1e-12)


def test_a_second_correction_is_added_to_what_is_left_of_the_first() -> None:
    correction = Smoothing(0.1).apply(VisualOffset())
    correction.add(10.0, 0.0, 0.0, 1.0)
    correction.add(0.0, 2.0, 0.0, 1.05)
    assert correction.left(1.05) == pytest.approx((5.0, 2.0, 0.0))
    assert correction.left(1.1) == pytest.approx((2.5, 1.0, 0.0))


def test_a_snap_forgets_what_was_left_and_a_trifle_does_not() -> None:
    correction = Smoothing(0.1, **LIMITS).apply(VisualOffset())
    correction.add(10.0, 0.0, 0.0, 1.0)
    correction.add(0.1, 0.0, 0.0, 1.05)
    assert correction.left(1.075) == pytest.approx((2.5, 0.0, 0.0))
    correction.add(65.0, 0.0, 0.0, 1.08)
    assert correction.left(1.08) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("curve", SMOOTHING_CURVES)
def test_without_a_duration_nothing_is_left_at_once(curve: str) -> None:
    correction = Smoothing(0.0, curve).apply(VisualOffset())
    correction.add(1.0, 1.0, 0.0, 0.0)
    assert correction.left(0.0) == (0.0, 0.0, 0.0)


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


def test_how_far_from_the_server_a_player_comes_to_rest_after_a_bump() -> None:
    off = {}
    for mode in LOCAL_MODES:
        played = match("0 A right\n1 A stop\n", NEAR, trace=dropping(), local=mode)
        played.run_until(3)
        local = played.participants[0].client.local
        off[mode] = math.dist(local.body.position, played.server.get_body(0).position)
        assert bool(local.corrections) == (mode in ("reconciled", "corrected"))
    assert off["dumb-terminal"] == off["reconciled"] == 0
    assert off["corrected"] < 0.1  # the threshold
    assert off["predicted"] > 0.5  # it never listens


def test_where_nothing_unexpected_happens_nothing_is_corrected() -> None:
    played = match("0.1 A right\n0.7 A left up\n1.3 A stop\n", trace=dropping(), local="corrected")
    played.run_until(3)
    local = played.participants[0].client.local
    assert (local.corrections, local.mispredictions) == (0, 0)
    assert local.body == played.server.get_body(0)
