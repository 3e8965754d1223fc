"""Strategies in a user's own file: how they are named, set, and blamed for what they do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support import running

SOURCE = '''\
from epic_cli import Sample

ORIGIN = (0.0, 0.0, 0.0)


class Half:
    """Draws a share of the newest position."""

    def __init__(self, gain: float = 0.5):
        self.gain = gain

    def reset(self):
        self.packet = None

    def update(self, packet, now):
        self.packet = packet
        return True

    def read(self, at):
        if self.packet is None:
            return Sample(at, ORIGIN, ORIGIN, "none")
        position = tuple(x * self.gain for x in self.packet.position)
        return Sample(at, position, self.packet.velocity, "held")


class Late(Half):
    def update(self, packet, now):
        if packet.time > 0.15:
            raise LookupError("too\\nlate")
        return super().update(packet, now)


class Mute(Half):
    def read(self, at):
        return None if at > 0.1 else super().read(at)


class Leaving(Half):
    def read(self, at):
        raise SystemExit(0)


class Pipe(Half):
    def read(self, at):
        raise BrokenPipeError


class Unmakable(Half):
    def __init__(self):
        raise OSError(2, "no device")
'''

PACKETS = "".join(f"{n},0,0 / 10,0,0 / {n / 10} arrival={n / 10}\n" for n in range(4))


def epic(*words: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """``epic`` as its script runs: the current folder is not where modules are looked for."""
    return running.epic(*words, cwd=cwd, env=running.environment(PYTHONSAFEPATH="1", **settings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(SOURCE)
    (tmp_path / "boom.py").write_text("import own\n\n1 / 0\n")
    (tmp_path / "packets.txt").write_text(PACKETS)
    return tmp_path


@pytest.mark.parametrize("name", ["own:Half", "./own.py:Half", "own.py:Half"])
def test_a_class_in_the_current_folder_is_a_strategy(folder: Path, name: str) -> None:
    command = ("replay", "-s", f"{name}+gain=0.25", "-f", "csv", "packets.txt")
    done = epic(*command, cwd=folder)
    assert done.stderr == b""
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].split(b",")[1] == b"0.75"


def test_a_file_elsewhere_finds_what_stands_beside_it(folder: Path, tmp_path: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "mine.py").write_text("from beside import Half\n\nclass Own(Half): pass\n")
    (folder / "deep" / "beside.py").write_text(SOURCE)
    done = epic("replay", "-s", "deep/mine.py:Own", "packets.txt", cwd=tmp_path)
    assert done.stderr == b""
    assert done.returncode == 0


BROKEN = [
    (
        "own:Late",
        "own:Late failed in update with packet 3 (packets.txt:3): LookupError: too late"
        " (own.py, line 29)",
    ),
    (
        "./own.py:Mute",
        "./own.py:Mute failed in read at 0.15 s, after packet 2 (packets.txt:2): it returned None,"
        " not a Sample: it has no position, velocity, status (own.py, line 34)",
    ),
    (
        "own:Leaving",
        "own:Leaving failed in read at 0 s, after packet 1 (packets.txt:1): SystemExit: 0"
        " (own.py, line 40)",
    ),
    (
        "own:Pipe",
        "own:Pipe failed in read at 0 s, after packet 1 (packets.txt:1): BrokenPipeError"
        " (own.py, line 45)",
    ),
    (
        "own:Unmakable",
        "own:Unmakable failed while being created: FileNotFoundError: [Errno 2] no device"
        " (own.py, line 50)",
    ),
    (
        "boom:Any",
        "boom failed while loading: ZeroDivisionError: division by zero (boom.py, line 3)",
    ),
]


@pytest.mark.parametrize(("name", "message"), BROKEN)
def test_what_a_strategy_does_wrong_is_told_with_its_own_line(
    folder: Path, name: str, message: str
) -> None:
    done = epic("replay", "-s", name, "packets.txt", cwd=folder)
    assert done.stderr.decode() == f"epic: strategy {message}\n"
    assert done.returncode == 4


def test_an_output_file_is_not_left_behind(folder: Path) -> None:
    done = epic("replay", "-s", "own:Late", "-o", "rows", "packets.txt", cwd=folder)
    assert done.returncode == 4
    assert sorted(path.name for path in folder.glob("*row*")) == []


def test_a_comparison_goes_on_without_it_and_says_so_at_the_end(folder: Path) -> None:
    done = epic("compare", "-s", "epic,own:Late,own:Half", "packets.txt", cwd=folder)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 4
    head = next(index for index, line in enumerate(lines) if line.startswith("strategy"))
    scores = {line.split()[0]: line.split()[2] for line in lines[head + 1 : head + 4]}
    assert scores["own:Late"] == "failed"
    assert scores["own:Half"] != "failed"
    note = "Note: own:Late: it failed in update with packet 3 (time 0.2): LookupError: too late"
    assert note in " ".join(lines)


@pytest.mark.parametrize(
    "command",
    [
        ("play", "-s", "own:Late", "--duration", "1"),
        ("play", "-s", "own:Unmakable", "--duration", "1"),
        ("strategies", "boom:Any"),
        ("compare", "-s", "own:Unmakable", "packets.txt"),
        ("compare", "-s", "boom:Any", "packets.txt"),
    ],
)
def test_every_command_has_the_same_status_for_it(folder: Path, command: tuple[str, ...]) -> None:
    done = epic(*command, cwd=folder)
    assert done.returncode == 4
    assert done.stderr.startswith(b"epic: strategy ")
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own:Nobody", "module 'own' has no attribute 'Nobody'"),
        ("./nothing.py:Half", "./nothing.py: No such file or directory"),
        ("nothing:Half", "No module named 'nothing'"),
        ("own.py:ORIGIN", "own.py:ORIGIN is not a class"),
        ("json:Half", "has no attribute 'Half'; for the file in this folder, write ./json.py:NAME"),
    ],
)
def test_a_wrong_name_is_wrong_usage(folder: Path, name: str, words: str) -> None:
    (folder / "json.py").write_text(SOURCE)
    done = epic("replay", "-s", name, "packets.txt", cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr.decode()


def test_its_settings_are_explained(folder: Path) -> None:
    shown = epic("strategies", "own:Half", cwd=folder).stdout.decode()
    assert "own:Half: Draws a share of the newest position." in shown
    assert "gain  0.5  a number" in shown


def test_its_file_is_completed(folder: Path) -> None:
    done = epic(cwd=folder, _EPIC_COMPLETE="bash_complete", COMP_LINE="epic replay -s ./o")
    assert done.stdout == b"file\t./o\t\n"
