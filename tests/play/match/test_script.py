"""Scripts: parsing, refused lines, and recording a match."""

import io

import pytest
from support.play_links import match, script

from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec
from epic_cli.play.match import Recorder, Unrecordable
from epic_cli.play.run import Row, iterate_rows
from epic_cli.play.script import Input, parse_script
from epic_cli.play.spec import Change
from epic_cli.play.statistics import MatchStatistics
from epic_cli.play.world import Weapon
from epic_cli.recordings.tables import TableRefusal


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


@pytest.mark.parametrize("of", ["late", "late.C", "apart.a", "key.A", "remote", "bytes", ""])
def test_a_placeholder_that_nothing_measures_is_refused_at_its_place(of: str) -> None:
    with pytest.raises(TableRefusal, match="is not a placeholder") as refused:
        script(f"0 say {{{of}}} and {{late.B}}\n")
    assert refused.value.problem.column == 7


def test_a_caption_is_filled_from_what_was_before_a_change_at_the_same_time() -> None:
    played = match(
        "set latency=0.1\n1 set latency=0.2\n1 say {latency} {frames} {key}\n1.5 say {rtt}\n"
    )
    MatchStatistics(played)
    played.run_until(2)
    said = [event.details["text"] for event in played.take_events() if event.what == "say"]
    assert said == ["100 ms 30 -", "400 ms"]  # no frames were added


def test_bytes_that_are_no_text_are_told() -> None:
    with pytest.raises(TableRefusal, match="UTF-8"):
        parse_script(io.BytesIO(b"1 A \xff"), "AB")


@pytest.mark.parametrize(
    ("clock", "taken"),
    [("1e6,0.01", True), ("-1e6,100", True), ("1000001", False), ("0,0.0099", False),
     ("0,101", False), ("nan", False)],
)  # fmt: skip
def test_a_clock_is_within_its_limits(clock: str, taken: bool) -> None:
    text = f"set clock.A={clock}\n"
    if taken:
        assert script(text).beginning[0].name == "clock.A"
    else:
        with pytest.raises(TableRefusal, match=r"clock\.A=.* is not |0\.01 to 100"):
            script(text)


def test_a_recorded_match_is_the_same_to_the_last_bit() -> None:
    settings = MatchSpec(
        link=TwoWays.from_conditions(LinkConditions(latency=0.08, jitter=0.03, loss=0.1)),
        seed=9,
        smoothing=0.2,
        smoothing_curve="exponential",
        smooth_above=0.01,
        snap_above=2.5,
        clock_sync="netfox",
        lag_compensation="mirror",
    )
    changes = script(
        "2 set latency=0.2 jitter=0\n3 set send=7hz clock_sync=ggpo\n"
        "3.5 set lag_compensation=source\n4 set local=predicted\n"
        "4.5 set rewind=off remote_strategy=dead-reckoning remote.correction=snap\n"
    )
    first: list[Row] = []
    played = Match(settings, changes, on_frame=lambda _: first.extend(iterate_rows(played)))
    recorder = Recorder(played)
    played.run_until(6)
    text = recorder.write_script()
    again: list[Row] = []
    replayed = Match(
        MatchSpec(), script(text), on_frame=lambda _: again.extend(iterate_rows(replayed))
    )
    replayed.run_until(6)
    assert again == first
    assert "aim=" in text
    assert script(text).duration == 6


def test_a_match_that_is_too_long_for_a_script_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.play.match.MOST_LINES", 60)
    played = Match(MatchSpec())
    recorder = Recorder(played)
    played.run_until(1)
    assert recorder.write_script().count("\n") < 60
    played.run_until(30)
    with pytest.raises(Unrecordable, match="at most 60 lines"):
        recorder.write_script()


@pytest.mark.parametrize("aim", ["3,4", "-1,0", "0,1e-9", "1e150,0"])
def test_an_aim_is_a_direction(aim: str) -> None:
    (found,) = script(f"1 A throw aim={aim}\n").inputs["A"]
    assert found.aim == tuple(map(float, aim.split(",")))


@pytest.mark.parametrize(
    "aim", ["0,0", "nan,1", "1,nan", "inf,1", "1,inf", "1e200,0", "1", "a,b", ""]
)
def test_what_is_no_direction_is_no_aim(aim: str) -> None:
    with pytest.raises(TableRefusal, match="is not a target"):
        script(f"1 A throw aim={aim}\n")


def test_who_says_nothing_aims_where_he_runs() -> None:
    played = match("0 A left up\n1 A shoot\n")
    played.run_until(2)
    [shot] = [event for event in played.take_events() if event.what == "predicted effect"]
    assert shot.details["hit"] is False


def test_a_strategy_without_data_to_aim_at_is_no_problem() -> None:
    played = match("0 A shoot aim=B\n")
    played.run_until(1)
    assert next(event.what for event in played.take_events()) == "predicted effect"
