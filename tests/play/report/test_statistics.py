"""The figures: drawn error and lag, compared with the chapter's statements."""

import math
from typing import Any

import pytest
from support.play_links import OPEN, dropping, match

from epic_cli.network.link_spec import TwoWays
from epic_cli.network.sender import SenderSpec
from epic_cli.play import LinkConditions, Match, MatchSpec
from epic_cli.play.legend import describe_measurements as shown
from epic_cli.play.run import iterate_rows
from epic_cli.play.statistics import DrawnError, MatchStatistics
from epic_cli.play.world import SPEED


@pytest.mark.parametrize("lag", [0.0, 0.033, 0.1, 0.25, 0.5])
def test_the_lag_of_a_shifted_circle_is_the_shift(lag: float) -> None:
    meter = DrawnError(0.033)

    def at(time: float) -> tuple[float, float]:
        return (5 * math.cos(time), 5 * math.sin(time))

    for frame in range(300):
        time = frame * 0.033
        meter.add(at(time - lag), at(time))
    assert meter.lag == pytest.approx(lag, abs=0.002)
    assert meter.mean == pytest.approx(2 * 5 * math.sin(lag / 2), abs=1e-9)
    assert meter.largest == pytest.approx(meter.mean)


def test_nothing_moved_has_no_lag() -> None:
    meter = DrawnError(0.033)
    for _ in range(100):
        meter.add((1.0, 1.0), (1.0, 1.0))
    assert math.isnan(meter.lag)


def played(text: str, **settings: Any) -> tuple[Match, MatchStatistics]:
    settings.setdefault("trace", dropping())
    game = match(text, **settings)
    statistics = MatchStatistics(game)
    game.on_frame = statistics.add_frame
    game.run_until(5)
    return game, statistics


CIRCLING = "".join(
    f"{0.4 * turn} B {keys}\n"
    for turn, keys in enumerate(["right", "right up", "up", "left up", "left", "down left"] * 2)
)


def test_interpolation_lags_by_the_latency_and_the_period() -> None:
    """Figure 8.3: half the round-trip time and the interpolation period, here 66.7 ms."""
    rules = OPEN._replace(step=0.016667)
    game, statistics = played(
        CIRCLING,
        send=SenderSpec(15.0),
        rules=rules,
        remote_strategy="local-perception",
        remote_settings=(("period", 1 / 15),),
    )
    assert game.settings.remote_strategy == "local-perception"
    # the state is up to a frame older when it is sent than at its network tick
    assert statistics.get_remote_errors("A", "B").lag == pytest.approx(0.05 + 1 / 15, abs=0.02)


def test_a_dumb_terminal_lags_by_half_the_round_trip_and_shows_each_state_four_times() -> None:
    """The match is figure 8.2 of Glazer & Madhav: 60 frames and 15 states a second."""
    rules = OPEN._replace(step=0.016667)
    game = match("0 B up\n", trace=dropping(), send=SenderSpec(15.0), rules=rules,
                 remote_strategy="dumb-terminal")  # fmt: skip
    shown = []
    for frame in range(60, 120):
        game.run_until(frame * 0.016667)
        sample = game.participants[0].client.remotes[1].sample
        assert sample is not None
        shown.append(sample.position[1])
    assert 14 <= len(set(shown)) <= 16


def test_dead_reckoning_is_right_until_something_unexpected() -> None:
    """Figure 8.5: extrapolation is a straight line, and wrong after a turn for one latency."""
    text = "0 B right\n2 B up\n"
    game = match(
        text,
        trace=dropping(delay=0.2),
        send=SenderSpec(60.0),
        remote_strategy="dead-reckoning",
        remote_settings=(("correction", "snap"),),
    )
    errors = []
    for frame in range(90):
        game.run_until(frame * 0.033)
        drawn = game.participants[0].client.list_drawn_remotes().get(1)
        if drawn and frame > 30:
            errors.append(math.dist(drawn, game.server.get_body(1).position))
    # what is extrapolated to now is up to a frame ahead of the server, which applies moves
    assert max(errors[:25]) <= 8 * 0.033
    # for 200 ms he was thought to go on: 40 units/s^2 away from the old path
    assert max(errors[28:]) > 0.5 * 40 * 0.2**2


def test_rows_tell_truth_and_every_screen() -> None:
    game = match("0 A right\n")
    game.run_until(1)
    found = list(iterate_rows(game))
    assert [(row.view, row.player) for row in found] == [
        ("server", "A"), ("server", "B"), ("A", "A"), ("A", "B"), ("B", "A"), ("B", "B"),
    ]  # fmt: skip
    truth = {row.player: (row.x, row.y) for row in found if row.view == "server"}
    for row in found:
        assert row.error == math.dist((row.x, row.y), truth[row.player])


def test_a_packet_that_arrives_twice_makes_up_for_no_lost_one() -> None:
    """A packet that is lost and duplicated arrives once, as in netem."""
    link = TwoWays.from_conditions(LinkConditions(loss=0.5, duplicate=0.5))
    game, statistics = played("", trace=None, link=link)
    figures = {one.name: one.value for one in statistics.list_lines(game.participants[0])}
    assert 0.15 < figures["packets up lost"] < 0.35
    assert 0.15 < figures["packets down lost"] < 0.35


@pytest.mark.parametrize("latency", [0.05, 0.2])
def test_prediction_is_nearer_to_where_a_move_leads_than_a_dumb_terminal(latency: float) -> None:
    own = {}
    for mode in ("dumb-terminal", "predicted", "reconciled", "corrected"):
        link = dropping(delay=latency)
        game, statistics = played(CIRCLING.replace(" B ", " A "), local=mode, trace=link)
        figures = statistics.list_lines(game.participants[0])
        own[mode] = next(figure.value for figure in figures if figure.name == "own error")
    assert own["predicted"] == own["reconciled"] == own["corrected"] == 0
    # a round trip and the wait for the next state, at most at the pace of a runner
    assert 8 * latency < own["dumb-terminal"] < SPEED * (2 * latency + 0.083)


def test_hits_are_those_that_count() -> None:
    hits = {}
    for rewind in (True, False):
        game = Match(MatchSpec(rewind=rewind))  # a hunter and a runner
        statistics = MatchStatistics(game)
        game.run_until(20)
        shots = statistics.count_shots("A")
        assert shots.hits == (shots.rewound if rewind else shots.present)
        assert dict(figure[:2] for figure in shots.list_lines())["hits"] == shots.hits
        lines = shown(game.participants[0], "B", statistics.get_remote_errors("A", "B"), shots)
        (line,) = (line for line in lines if "hits" in line)
        assert line.startswith(f"hits {shots.hits} of {shots.judged} ")
        hits[rewind] = shots.hits
    assert hits[True] > hits[False]


def test_the_input_delay_is_a_round_trip_for_a_dumb_terminal_and_none_with_prediction() -> None:
    delays = {}
    for mode in ("dumb-terminal", "predicted", "reconciled"):
        game, statistics = played("0 A right\n", local=mode)
        delays[mode] = statistics.list_lines(game.participants[0])[0].value
    assert delays["predicted"] == delays["reconciled"] == 0
    assert 0.1 <= delays["dumb-terminal"] <= 0.1 + 0.05 + 0.033
