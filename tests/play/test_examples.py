"""The examples in the documentation, and the comments of the scripts, checked against runs."""

import doctest
from itertools import pairwise
from pathlib import Path

import pytest
from support.play_links import script
from support.running import epic

import epic_cli.play
from epic_cli.play.script import SCENARIOS
from epic_cli.play.script import __doc__ as grammar


def test_examples() -> None:
    result = doctest.testmod(epic_cli.play)
    assert result.attempted >= 4
    assert result.failed == 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_says_what_to_look_at_and_ends_in_a_pause(name: str) -> None:
    read = script(SCENARIOS[name].read_text())
    assert set(read.inputs) == {"A", "B"}  # neither is a bot
    last, change = read.changes[-1]
    assert (last, str(change)) == (read.duration, "speed=0.0")
    speeds = [(0.0, change) for change in read.beginning] + [*read.changes]
    said = [(0.0, ""), *read.captions]
    assert len(said) > 2
    for (time, text), (until, _) in pairwise(said):
        times = {time, until, *(at for at, _ in speeds if time < at < until)}
        seconds = 0.0
        for begin, end in pairwise(sorted(times)):
            speed = [c.value for at, c in speeds if c.name == "speed" and at <= begin][-1]
            seconds += (end - begin) / speed
        assert seconds >= len(text) / 20, f"no one reads that in {seconds:.1f} s: {text}"


def test_the_grammar_that_is_documented_is_the_one_that_is_read() -> None:
    assert grammar
    example = "".join(f"{line[4:]}\n" for line in grammar.splitlines() if line.startswith("    "))
    # what stands after the blanks is an explanation
    lines = [line.partition("   ")[0].partition("#")[0] for line in example.splitlines()]
    read = script("\n".join(lines))
    assert len(read.inputs["A"]) == 3
    assert len(read.changes) == len(read.beginning) == 2


@pytest.mark.parametrize("when", ["", "1 "])
def test_a_script_does_not_change_a_recorded_network(tmp_path: Path, when: str) -> None:
    (tmp_path / "net.csv").write_text("send_time,recv_time\n0,0.05\n0.05,0.11\n")
    (tmp_path / "a.script").write_text(f"{when}set latency=50ms\n")
    done = epic("play", "--link", "trace=net.csv", "a.script", cwd=tmp_path)
    assert done.returncode == 2
    assert b"latency: the link of a recorded network cannot be changed" in done.stderr
