"""Tests that a session's journal loses nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.typed_session import TypedSession

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session import journal as journals
from epic_cli.session.journal import SessionJournal

OWN = """
from epic_cli import Sample
class Own:
    def reset(self): pass
    def update(self, packet, now): return True
    def read(self, at): return Sample(at, ({}, 0, 0), (0, 0, 0), "held")
"""

PACKETS = ("0,0,0 / 10,0,0 / 0", "1,0,0 / 10,0,0 / 0.1", "2,0,0 / 0,10,0 / 0.2")


def session_with(
    directory: Path, warnings: list[str], view: ReplaySpec | None = None
) -> TypedSession:
    return TypedSession(view, SessionJournal(directory, warnings.append))


def resumed(directory: Path) -> TypedSession:
    path = journals.find_newest(directory)
    assert path is not None
    typed = TypedSession()
    typed.run_quietly(journals.read(path), path.name)
    assert typed.output.getvalue() == b""
    return typed


def test_a_journal_makes_the_session_again(tmp_path: Path) -> None:
    view = ReplaySpec(
        StrategySpec("epic", {"slop_time": 1.0}), Timing((1, 60), "exact", "demo", 0.25)
    )
    typed = session_with(tmp_path, [], view)
    typed.type(
        *PACKETS, "1,x", ":undo 2", PACKETS[2], ":strategy epic+calc_ahead=0.1", ":tick 30hz"
    )
    typed.type(":clock single", ":rows", ":nonsense", ":strategy epic+display_behind=0.5")
    typed.type(":strategy lerp", ":strategy snapshot+interpolation_time=0.2")
    assert typed.journal is not None
    typed.journal.close()
    again = resumed(tmp_path)
    assert again.session.view == typed.session.view
    assert again.lines == typed.lines
    assert again.type(":rows 99") == typed.type(":rows 99")


def test_packets_are_there_before_their_rows_are_drawn(tmp_path: Path) -> None:
    typed = session_with(tmp_path, [])
    typed.type(PACKETS[0])
    assert typed.journal is not None
    assert typed.journal.path is not None
    assert journals.read(typed.journal.path).decode() == PACKETS[0] + "\n"


def test_a_reset_is_kept_too(tmp_path: Path) -> None:
    typed = session_with(tmp_path, [])
    typed.type(*PACKETS, ":reset", PACKETS[1])
    assert typed.journal is not None
    typed.journal.close()
    assert resumed(tmp_path).lines == [PACKETS[1].encode() + b"\n"]


def test_a_session_without_packets_leaves_nothing(tmp_path: Path) -> None:
    typed = session_with(tmp_path, [])
    typed.type(":strategy epic+calc_ahead=0.1", ":rows", "1,x", ":quit")
    assert journals.find_newest(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_half_a_line_at_the_end_is_cut_off(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = folder / "x.epic"
    path.write_text(f"{PACKETS[0]}\n1,0,0 / 10")
    assert journals.read(path) == PACKETS[0].encode() + b"\n"
    typed = TypedSession(journal=SessionJournal(tmp_path, pytest.fail, path))
    typed.type(PACKETS[1])
    assert journals.read(path).decode() == f"{PACKETS[0]}\n{PACKETS[1]}\n"


@pytest.mark.parametrize("damage", [b"q", b"\0", b":", b"\xff", b" ", b"#"])
def test_a_damaged_line_costs_no_other(tmp_path: Path, damage: bytes) -> None:
    """A power cut leaves a block of zeros, or of another file."""
    whole = "".join(f"{k},0,0 / 10,0,0 / {k / 10}\n" for k in range(4)).encode()
    path = tmp_path / "journal"
    for place in range(len(whole)):
        text = whole[:place] + damage + whole[place + 1 :]
        path.write_bytes(text)
        typed = TypedSession()
        typed.run_quietly(journals.read(path), path.name)
        expected = [line for line in whole.splitlines(True) if line in text.splitlines(True)]
        assert [line for line in typed.lines if line in expected] == expected


@pytest.mark.parametrize("place", ["./own.py:Own", "own_module:Own"])
def test_a_strategy_is_that_of_the_folder_where_it_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name, answer in (("here", 1.0), ("elsewhere", 2.0)):
        (tmp_path / name).mkdir()
        for file in ("own.py", "own_module.py"):
            (tmp_path / name / file).write_text(OWN.format(answer))
    monkeypatch.chdir(tmp_path / "here")
    typed = session_with(tmp_path, [])
    typed.type(f":strategy {place}", *PACKETS, f":strategy {place}")
    assert typed.journal is not None
    typed.journal.close()
    rows = typed.type(":rows 1")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.delitem(sys.modules, "own_module", raising=False)
    assert resumed(tmp_path).type(":rows 1") == rows


def test_a_full_disk_is_one_warning(tmp_path: Path) -> None:
    warnings: list[str] = []
    typed = TypedSession(journal=SessionJournal(tmp_path, warnings.append, Path("/dev/full")))
    output = typed.type(*PACKETS)
    assert len(output.splitlines()) == 1 + 7
    assert warnings == [
        "the session is not being saved for --resume: /dev/full: No space left on device"
    ]


def test_what_a_full_disk_did_not_take_is_written_later(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.mkdir()  # cannot be opened for writing
    warnings: list[str] = []
    typed = TypedSession(journal=SessionJournal(tmp_path, warnings.append, path))
    typed.type(PACKETS[0])
    path.rmdir()
    typed.type(PACKETS[1])
    assert len(warnings) == 1
    assert journals.read(path).decode() == f"{PACKETS[0]}\n{PACKETS[1]}\n"


def test_a_directory_that_cannot_be_made_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "epic").write_text("in the way")
    warnings: list[str] = []
    typed = session_with(tmp_path / "epic", warnings)
    typed.type(*PACKETS)
    assert len(warnings) == 1
    assert len(typed.session.lines) == 3


def test_only_the_last_sessions_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in range(40):
        (folder / f"2020{number:04}.epic").write_text(PACKETS[0] + "\n")
    typed = session_with(tmp_path, [])
    typed.type(PACKETS[1])
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 20
    assert names[0] == "20200021.epic"


def test_the_state_directory_is_that_of_the_standard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert journals.find_state_directory() == tmp_path / "epic"
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    assert journals.find_state_directory() == Path.home() / ".local/state/epic"
