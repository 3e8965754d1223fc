"""Scripts: what they say, what is wrong with them, and recording one."""

import io

import pytest
from support.play_links import match, script

from epic_cli.network import TableRefusal
from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec
from epic_cli.play.match import Recorder, Unrecordable
from epic_cli.play.run import Row, rows
from epic_cli.play.script import Input, parse_script
from epic_cli.play.spec import Change
from epic_cli.play.world import Weapon


def test_a_script_says_what_players_do() -> None:
    read = script(
        "set latency=0.1 local=predicted  # to begin with\n"
        "\n"
        "0.5 A left up\n"
        "1 B right shoot aim=A\n"
        "1 A throw aim=3,4\n"
        "2.25 set rewind=off remote.interpolation_time=0.3\n"
    )
    assert read.beginning == [Change("latency", 0.1), Change("local", "predicted")]
    assert read.inputs == {
        "A": [
            Input(0.5, "A", -1, 1),
            Input(1.0, "A", 0, 0, Weapon.THROW, (3.0, 4.0)),
        ],
        "B": [Input(1.0, "B", 1, 0, Weapon.SHOT, "A")],
    }
    assert read.changes == [
        (2.25, Change("rewind", False)),
        (2.25, Change("remote.interpolation_time", "0.3")),
    ]


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("x A left", 1, "not a time"),
        ("-1 A left", 1, "not a time"),
        ("nan A left", 1, "not a time"),
        ("1e9 A left", 1, "not a time"),
        ("1 A left\n0.5 A up", 1, "goes back"),
        ("1", 2, "ends after its time"),
        ("1 C left", 3, "no player"),
        ("1 A lefft", 5, "not something a player can do"),
        ("1 A left left", 5, "twice"),
        ("1 A aim=C", 5, "not a target"),
        ("1 A aim=0,0", 5, "not a target"),
        ("1 A aim=1e200,1e200", 5, "not a target"),
        ("1 set", 6, "nothing is set"),
        ("1 say # nothing", 3, "nothing is said"),
        ("1 say \x1b[31m", 3, "no control characters"),
        ("1 set latency", 7, "has no value"),
        ("1 set latency=-1", 7, "0 to 60 s"),
        ("1 set latency=nan", 7, "0 to 60 s"),
        ("1 set loss=2", 7, "0 to 1"),
        ("1 set remote_strategy=lerpp", 7, "did you mean"),
        ("1 set local=best", 7, "it must be"),
        ("1 set clock_sync=ntp", 7, "must be free-running, netfox, lightyear or ggpo"),
        ("1 set lag_compensation=off", 7, "must be view, mirror or source"),
        (
            "1 set smoothing_curve=cubic",
            7,
            "must be linear, exponential, frames, ",
        ),
        ("1 set snap_above=nan", 7, "must be inf or 0 length units or more"),
        ("1 set rewind=1", 7, "on or off"),
        ("1 set seed=4", 3, "seed"),
        ("1 set players=3", 3, "players cannot change during the match"),
        ("1 set clock.B=1", 3, "clock.B cannot change during the match"),
        ("set players=9", 5, "a whole number from 2 to 8"),
        ("set clock.B=1,0", 5, "write AHEAD"),
        ("set step=1", 5, "0.005 to 0.1 s"),
        ("set gemodel=2", 5, "0 to 1"),
        ("set distribution=flat", 5, "must be uniform"),
        ("set duration=-1", 5, "0 to 1000000 s"),
        ("1 A left\nset loss=0", 1, "no time before"),
        ("1 A " + "left " * 1000, 1, "too long"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, column: int, what: str) -> None:
    with pytest.raises(TableRefusal) as refused:
        script(text)
    problem = refused.value.problem
    assert what in problem.what
    assert problem.column == column
    assert problem.line == text.count("\n") + 1
    assert problem.expected


def test_bytes_that_are_no_text_are_told() -> None:
    with pytest.raises(TableRefusal, match="UTF-8"):
        parse_script(io.BytesIO(b"1 A \xff"), "AB")


def test_a_recorded_match_is_the_same_to_the_last_bit() -> None:
    settings = MatchSpec(
        link=TwoWays.both(LinkConditions(latency=0.08, jitter=0.03, loss=0.1)),
        seed=9,
        smoothing=0.2,
        smoothing_curve="exponential",
        smooth_above=0.01,
        snap_above=2.5,
        clock_sync="netfox",
        lag_compensation="mirror",
    )
    changes = script(
        "2 set latency=0.2 jitter=0\n3 set send_rate=7 clock_sync=ggpo\n"
        "3.5 set lag_compensation=source\n4 set local=predicted\n"
        "4.5 set rewind=off remote_strategy=dead-reckoning remote.correction=snap\n"
    )
    first: list[Row] = []
    played = Match(settings, changes, on_frame=lambda _: first.extend(rows(played)))
    recorder = Recorder(played)
    played.run_until(6)
    text = recorder.script()
    again: list[Row] = []
    replayed = Match(MatchSpec(), script(text), on_frame=lambda _: again.extend(rows(replayed)))
    replayed.run_until(6)
    assert again == first
    assert "aim=" in text
    assert script(text).duration == 6


def test_a_match_that_is_too_long_for_a_script_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.play.match.MOST_LINES", 60)
    played = Match(MatchSpec())
    recorder = Recorder(played)
    played.run_until(1)
    assert recorder.script().count("\n") < 60
    played.run_until(30)
    with pytest.raises(Unrecordable, match="at most 60 lines"):
        recorder.script()


def test_who_says_nothing_aims_where_he_runs() -> None:
    played = match("0 A left up\n1 A shoot\n")
    played.run_until(2)
    [shot] = [event for event in played.take_events() if event.what == "predicted effect"]
    assert shot.details["hit"] is False


def test_a_strategy_without_data_to_aim_at_is_no_problem() -> None:
    played = match("0 A shoot aim=B\n")
    played.run_until(1)
    assert next(event.what for event in played.take_events()) == "predicted effect"
