"""The figures: drawn error and lag, compared with the chapter's statements."""

import math
from typing import Any

import pytest
from support.play_links import dropping, match

from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec
from epic_cli.play.legend import describe_measurements as shown
from epic_cli.play.run import iterate_rows
from epic_cli.play.statistics import DrawnError, MatchStatistics


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


def test_hits_are_those_that_count() -> None:
    hits = {}
    for rewind in (True, False):
        game = Match(MatchSpec(rewind=rewind))  # a hunter and a runner
        statistics = MatchStatistics(game)
        game.run_until(10)
        shots = statistics.count_shots("A")
        assert shots.hits == (shots.rewound if rewind else shots.present)
        assert dict(figure[:2] for figure in shots.list_lines())["hits"] == shots.hits
        lines = shown(game.participants[0], "B", statistics.get_remote_errors("A", "B"), shots)
        (line,) = (line for line in lines if "hits" in line)
        assert line.startswith(f"hits {shots.hits} of {shots.judged} ")
        hits[rewind] = shots.hits
    assert hits[True] > hits[False]
