"""Short commands do not load libraries that they do not need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import PACKET, environment

import epic_cli
from epic_cli.shell.commands import COMMANDS

LISTING = """
import sys
before = set(sys.modules)
texts = set()

def listen(event, told):
    if event == "compile" and told[1] == "<string>" and not told[0].startswith(b"lambda"):
        texts.add("<annotation>")

sys.addaudithook(listen)
from epic_cli.main import main
status = main(sys.argv[1:])
print(*set(sys.modules) - before, *texts, file=sys.stderr)
sys.exit(status)
"""

#: Where the package is, which an installation in place does not have in the path.
PLACES = [str(Path(place).parent) for place in epic_cli.__path__]

HEAVY = {"prompt_toolkit", "rich", "numpy"}
RARE = {"csv", "json", "fractions", "importlib.metadata", "difflib", "tempfile"}

#: What a plain replay does without: each would take 2 to 10 % of its time. The last is one
#: of a named tuple that is text (``from __future__ import annotations``), which is compiled.
SLOW = {
    "click", "ast", "dis", "inspect", "pathlib", "shutil", "tokenize", "<annotation>",
    "epic_cli.engine.refusals",
}  # fmt: skip


def loaded(*args: str | Path, stdin: bytes = b"", program: str = LISTING) -> set[str]:
    """Return the modules that a run of ``epic`` loads; ``<annotation>`` where it compiles one."""
    # -S: how epic is installed may load some before
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *args],
        check=True,
        input=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(PYTHONPATH=os.pathsep.join([*PLACES, *sys.path])),
    )
    return set(done.stderr.decode().split())


def test_little_is_loaded_before_an_interrupt_is_silent() -> None:
    code = "import sys, epic_cli.main; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        check=True,
        capture_output=True,
        env=environment(PYTHONPATH=os.pathsep.join([*PLACES, *sys.path])),
    )
    names = set(found.stdout.decode().split())
    assert {name for name in names if name.startswith("epic_cli")} == {"epic_cli", "epic_cli.main"}
    assert not names & {"typing", "re", "enum", "signal"}


@pytest.mark.parametrize(
    "args", [[], ["replay"], ["--format", "csv", "--strategy", "epic+calc_ahead=0.1"]]
)
def test_packet_text_needs_nothing_rare(args: list[str]) -> None:
    modules = loaded(*args, stdin=PACKET)
    assert "epic_cli.engine.replay" in modules
    assert not modules & (HEAVY | RARE)


@pytest.mark.parametrize("args", [[], ["replay"], ["replay", "-s", "lerp", "-f", "csv"]])
def test_a_plain_replay_needs_no_parser(args: list[str]) -> None:
    modules = loaded(*args, stdin=PACKET)
    assert "epic_cli.engine.replay" in modules
    assert not modules & SLOW


@pytest.mark.parametrize(
    ("file", "needed"), [("two_tanks.csv", {"csv"}), ("hop.jsonl", {"json"}), ("turn.txt", set())]
)
def test_recording_loads_its_own_format(file: str, needed: set[str]) -> None:
    modules = loaded("replay", "--format", "table", SAMPLES / file)
    assert modules & (HEAVY | RARE) == needed


def test_help_of_a_command_loads_nothing_heavy() -> None:
    each = "max(main([command, '--help']) for command in sys.argv[1:])"
    every = LISTING.replace("main(sys.argv[1:])", each)
    assert not loaded(*COMMANDS, program=every) & HEAVY


def test_convert_loads_what_captures_need_for_captures_alone() -> None:
    modules = loaded("convert", "-q", "--to", "csv", SAMPLES / "turn.txt")
    assert "epic_cli.recordings.writing" in modules
    assert not modules & {
        "epic_cli.recordings.datagrams.ingest",
        "asyncio",
    }


@pytest.mark.parametrize(
    ("command", "needless"),
    [
        ("", HEAVY | {"tomllib"}),
        ("--version", HEAVY | {"epic_cli.engine.replay.playback"}),
        ("--help", HEAVY | {"epic_cli.jobs.replay.command"}),
        ("strategies", {"prompt_toolkit", "numpy"}),
        ("session", HEAVY),
        ("simulate -q --movement circle,duration=0", HEAVY),
        ("play -q --duration 0.1", HEAVY),
        (
            "compare turn.txt",
            {"importlib.metadata", "numpy.ma", "xml.etree.ElementTree", "zipfile"},
        ),
    ],
)
def test_a_small_job_loads_only_what_it_needs(command: str, needless: set[str]) -> None:
    modules = loaded(*command.replace("turn.txt", str(SAMPLES / "turn.txt")).split(), stdin=PACKET)
    assert not modules & needless
    play = [name for name in modules if name.startswith("epic_cli.play")]
    assert bool(play) == command.startswith("play")
