"""The progress of a longer run is shown in bytes, over all files."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.terminals import Terminal

from epic_cli.jobs.replay.output import write_rows
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.shell import progress

FILES = (str(SAMPLES / "turn.txt"), str(SAMPLES / "jitter.txt"))


class Told(progress.Progress):
    """A callback that stores its arguments."""

    told: list[tuple[int, int]] = []  # noqa: RUF012 - of all of them

    def __call__(self, done: int, total: int) -> None:
        self.told.append((done, total))


def test_a_replay_into_a_file_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "Progress", Told)
    monkeypatch.setattr(Told, "told", [])
    write_rows(ReplaySpec(), FILES, str(tmp_path / "rows.txt"))
    first, second = (Path(file).stat().st_size for file in FILES)
    assert set(Told.told) == {(first, first + second), (first + second, first + second)}
    assert Told.told[-1][0] == first + second


def test_a_replay_among_whose_rows_a_bar_would_stand_has_none(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(progress, "Progress", Told)
    monkeypatch.setattr(Told, "told", [])
    write_rows(ReplaySpec(), FILES[:1])
    assert Told.told == []
    assert capfdbinary.readouterr().out.startswith(b"pos: ")


def test_a_file_whose_size_nobody_knows_counts_nothing() -> None:
    told: list[tuple[int, int]] = []
    first, second = progress.report_each(lambda *one: told.append(one), ["-", FILES[0]])
    size = Path(FILES[0]).stat().st_size
    first(0)
    second(size)
    assert told == [(0, size), (size, size)]


#: The command line, with a bar at once instead of soon.
AT_ONCE = """
import sys
from epic_cli.shell import progress
progress.PATIENCE = 0.001
from epic_cli.main import main
sys.exit(main(sys.argv[1:]))
"""

WAITING = {
    "comparing": ("compare", "-s", "lerp", "long.csv"),
    "diagnosing": ("diagnose", "long.csv"),
    "lerp, best": ("tune", "-s", "lerp", "--trials", "8", "long.csv"),
    "inspecting": ("inspect", "long.csv"),
    "checking": ("check", "."),
    "sending": ("send", "--movement", "strafe,duration=0.2", "127.0.0.1:9"),
}


@pytest.fixture
def long(tmp_path: Path) -> Path:
    lines = ["time,x,y\n", *(f"{at / 50},{at % 97},{at % 31}\n" for at in range(9000))]
    (tmp_path / "long.csv").write_text("".join(lines))
    (tmp_path / "case.toml").write_text('recording = "long.csv"\nstrategy = "all"\n')
    return tmp_path


@pytest.mark.parametrize("words", WAITING)
def test_a_wait_has_a_bar_on_a_terminal(words: str, long: Path) -> None:
    with Terminal(long, WAITING[words], command=[sys.executable, "-c", AT_ONCE]) as terminal:
        terminal.wait_until(lambda: words.encode() in terminal.raw, words)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("screen", "patience", "in_thread", "is_shown"),
    [
        (Screen(), 60.0, False, False),
        (Screen(), 0.0, False, True),
        (Screen(), 0.0, True, False),
        (io.StringIO(), 0.0, False, False),
    ],
)
def test_longer_work_of_the_main_thread_has_a_bar_on_a_terminal(
    screen: io.StringIO,
    patience: float,
    in_thread: bool,
    is_shown: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.Progress("comparing") as bar:
        if in_thread:
            thread = threading.Thread(target=bar, args=(1, 2))
            thread.start()
            thread.join()
        else:
            bar(1, 2)
    assert ("comparing" in screen.getvalue()) is is_shown


def test_a_bar_opens_no_stream_that_is_closed(long: Path) -> None:
    words = [sys.executable, "-c", AT_ONCE, *WAITING["comparing"]]
    with Terminal(long, command=["bash", "-c", 'exec "$@" >&-', "-", *words]) as terminal:
        terminal.wait_until(lambda: b"it is closed" in terminal.raw, "a message")
        assert b"Traceback" not in terminal.raw
