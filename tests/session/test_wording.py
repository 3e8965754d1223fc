"""Tests of the session's messages beside its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.typed_session import TypedSession

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.replay.playback import Timing
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session import journal as journals
from epic_cli.session.journal import SessionJournal
from epic_cli.session.state import DrawingStopped
from epic_cli.session.terminal import describe_failure

TWO = ("0,0,0 / 10,0,0 / 0 entity=a", "5,0,0 / 0,9,0 / 0 entity=b", "1,0,0 / 10,0,0 / 0.1 entity=a")


def test_rows_that_wait_for_other_entities_are_told() -> None:
    typed = TypedSession()
    assert "wait" not in typed.type(TWO[0])
    assert (
        typed.type(TWO[1]) == "no row yet: rows are drawn up to 0.15 s, beyond this packet's time\n"
    )
    waiting = "rows up to 0.25 s wait for the other entities' packets (:rows draws them now)\n"
    assert typed.type(TWO[2]) == waiting
    drawn = typed.type("6,0,0 / 0,9,0 / 0.2 entity=b")
    assert [line.split()[0] for line in drawn.splitlines()[:-1] if "." in line.split()[0]] == [
        "0.200", "0.200", "0.250", "0.250",
    ]  # fmt: skip


def test_a_resumed_session_counts_no_line_that_was_refused_before(tmp_path: Path) -> None:
    typed = TypedSession(journal=SessionJournal(tmp_path, print))
    typed.type(TWO[0], "1,0,0 / 1,0,0 / 1e9")
    assert typed.session.refused == 1
    assert typed.journal is not None
    typed.journal.close()
    path = journals.find_newest(tmp_path)
    assert path is not None
    again = TypedSession()
    again.resuming = True
    again.run_quietly(journals.read(path), path.name)
    assert again.output.getvalue() == b""
    assert again.session.refused == 0
    assert again.lines == typed.lines


@pytest.mark.parametrize(
    ("packets", "rows"),
    [
        (["0,0,0 / 1,0,0 / 60000"], "1,200,00"),
        (["0,0,0 / 1,0,0 / 0 arrival=5", "0,0,0 / 1,0,0 / 0 arrival=2000000"], "39,999,8"),
    ],
)
def test_a_flood_is_asked_about(packets: list[str], rows: str) -> None:
    typed = TypedSession()
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    typed.confirm = no
    output = typed.type(*packets)
    assert output.endswith("no packet was added\n")
    assert len(asked) == 1
    assert f"asks for about {rows}" in asked[0]
    assert len(typed.session.lines) == len(packets) - 1


def test_what_an_interrupt_leaves() -> None:
    typed = TypedSession(ReplaySpec(timing=Timing(clock="exact")))

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(DrawingStopped) as stopped:
        typed.session.add(TWO[0].encode(), interrupt)
    assert stopped.value.drawn is None
    assert stopped.value.clock == pytest.approx(0.15)
    assert typed.lines == [TWO[0].encode() + b"\n"]
    assert len(typed.session.lines) == 1
    # the clock has gone on as if the rows had been drawn
    assert typed.type("1,0,0 / 10,0,0 / 0.1 entity=a").split("\n")[1].split()[0] == "0.200"


def test_a_failure_of_a_strategy_is_said_in_its_own_words() -> None:
    failed = StrategyFailed("mine.Own", "update", "raised ValueError")
    assert describe_failure(failed) == str(failed)
    assert describe_failure(KeyError("x")) == "KeyError: 'x'"
