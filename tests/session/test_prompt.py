"""Tests of the prompt's logic, through prompt_toolkit's own pipe input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.validation import ValidationError
from support.typed_session import TypedSession

from epic_cli.session.prompt import (
    LineCompleter,
    LineValidator,
    PromptReader,
    StateHistory,
    Suggestions,
)

PACKETS = ("0,0,0 / 10,0,0 / 0", "1,0,0 / 10,0,0 / 0.1")


class Typist:
    """A stand-in for a person who types into a prompt."""

    def __init__(self, source: PipeInput) -> None:
        self.source = source
        self.typed = TypedSession()
        self.history = InMemoryHistory()
        self.reader = PromptReader(self.typed, self.history, source=source, output=DummyOutput())

    def type(self, keys: str) -> str:
        self.source.send_text(keys)
        return self.reader.read()


@pytest.fixture
def typist() -> Iterator[Typist]:
    with create_pipe_input() as source:
        yield Typist(source)


def completions(typed: TypedSession, text: str) -> list[str]:
    found = LineCompleter(typed).get_completions(Document(text), CompleteEvent())
    return [completion.text for completion in found]


def test_several_lines_at_once_come_together(typist: Typist) -> None:
    assert typist.type("1\r2\r3\r") == "1\n2\n3\n"


def test_the_end_of_a_paste_goes_on(typist: Typist) -> None:
    assert typist.type("\x1b[200~a\r\nb\r:ro\x1b[201~") == "a\nb\n"
    assert typist.type("ws\r") == ":rows"


def test_a_paste_goes_where_the_cursor_is(typist: Typist) -> None:
    assert typist.type("1,2,3 / \x1b[200~4,5,6\x1b[201~ / 0\r") == "1,2,3 / 4,5,6 / 0"
    assert typist.type("aows\x1b[D\x1b[D\x1b[D\x1b[200~b\n:r\x1b[201~") == "ab\n"
    assert typist.type("\r") == ":rows"


def test_interrupts_and_ends(typist: Typist) -> None:
    with pytest.raises(KeyboardInterrupt):
        typist.type("1,2\x03")
    with pytest.raises(EOFError):
        typist.type("\x04")


def test_an_interrupt_behind_a_line_does_not_take_it_back(typist: Typist) -> None:
    assert typist.type("1,2\r3\x03") == "1,2\n"


def test_right_accepts_the_proposal(typist: Typist) -> None:
    typist.typed.type(*PACKETS)
    assert typist.type("\x1b[C\r") == "2,0,0 / 10,0,0 / 0.2"


def test_the_proposal_can_be_turned_off(typist: Typist) -> None:
    typist.typed.type(*PACKETS)
    typist.typed.proposals = False
    assert typist.type("\x1b[C:rows\r") == ":rows"


def test_the_history_suggests_commands(typist: Typist) -> None:
    buffer = Buffer(history=typist.history)
    for line in (":tick 1", ":tick 2", ":undo"):
        typist.history.append_string(line)
    found = Suggestions(typist.typed).get_suggestion(buffer, Document(":ti"))
    assert found is not None
    assert found.text == "ck 2"
    typist.typed.hints = False
    assert Suggestions(typist.typed).get_suggestion(buffer, Document(":ti")) is None


def test_short_pastes_are_kept_in_the_history_and_long_ones_are_not(typist: Typist) -> None:
    typist.type("\x1b[200~1\n2\n\x1b[201~")
    typist.type("\x1b[200~" + "3\n" * 100 + "\x1b[201~")
    assert typist.history.get_strings() == ["1", "2"]
    assert "pasted 100 lines" in typist.typed.output.getvalue().decode()


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("1,2,3 / 4,5,6 / x", 16, "t is not a number; expected x,y,z / vx,vy,vz / t"),
        ("1,2;3", 3, "no ',' after y"),
        ("ä,2,3", 0, "x is not a number"),
        ("1,2,3 / 4,5,6 / 7 entity=ä arrival=x", 35, "arrival is not a finite number"),
        (":nonsense", 0, "no command ':nonsense'"),
        ("  :tick x", 8, "x is not a tick"),
        (":help \udcff", None, ""),
        ("", None, ""),
        ("q and what follows", None, ""),
        (":undo --help", None, ""),
        ("1,2,3 / 4,5,6 / 7", None, ""),
    ],
)
def test_where_the_cursor_goes(line: str, column: int | None, message: str) -> None:
    validator = LineValidator(TypedSession())
    if column is None:
        validator.validate(Document(line))
        return
    with pytest.raises(ValidationError) as caught:
        validator.validate(Document(line))
    assert caught.value.cursor_position == column
    assert message in caught.value.message
    assert caught.value.message.endswith(" (Ctrl-C drops the line)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":str", ["strategy", "strategies"]),
        (":strategy ep", ["epic"]),
        (":strategy epic+disp", ["epic+display_behind="]),
        (":strategy epic+start=", ["epic+start=origin", "epic+start=packet"]),
        (":strategy epic+calc_ahead=1+slop", ["epic+calc_ahead=1+slop_time="]),
        (":pacing a", ["arrival", "auto"]),
        (":form ", ["epic", "table", "tsv", "csv", "jsonl"]),
        (":compare -s epi", ["epic"]),
        (":plot xy -s epi", ["epic"]),
        (":compare --quie", ["--quiet"]),
        (":save x --fo", ["--force"]),
        ("1,2", []),
        ("1,2,3 / 4,5,6 / ", []),
        ("1,2,3 / 4,5,6 / 7 r", ["rotation=", "roll="]),
        (
            "1,2,3 / 4,5,6 / 7 entity=a yaw=3 ",
            ["arrival=", "seq=", "teleport=", "delta=", "pitch=", "roll=", "spin="],
        ),
        ("1,2,3 / 4,5,6 / 7 rotation=0,0,0,1 y", []),
        ("1,2,3 / 4,5,6 / 7 sp", ["spin="]),
        ("1,2,3 / 4,5,6 / 7 yaw=", []),
        ("1,2,x / 4,5,6 / 7 y", []),
        (":nonsense x", []),
    ],
)
def test_completion(text: str, expected: list[str]) -> None:
    assert [
        name for name in completions(TypedSession(), text) if not name.startswith("epic-")
    ] == expected


def test_completion_of_files(tmp_path: Path) -> None:
    (tmp_path / "packets.txt").touch()
    assert completions(TypedSession(), f":load {tmp_path}/pack") == ["ets.txt"]


def test_a_history_on_a_full_disk_is_told_of_once(tmp_path: Path) -> None:
    warnings: list[str] = []
    (tmp_path / "history").symlink_to("/dev/full")
    history = StateHistory(tmp_path, warnings.append)
    history.store_string("a" * 100_000)
    history.store_string("b" * 100_000)
    assert warnings == [f"no history: {tmp_path}: No space left on device"]
