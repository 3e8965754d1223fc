"""``epic`` between other programs: pipes that close, fill up or do not exist."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.datagrams import wait_until
from support.places import SAMPLES
from support.running import EPIC, PACKET, ROWS, environment, epic, shell

import epic_cli


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Return a recording with more rows than a pipe holds."""
    recording = tmp_path / "many.txt"
    recording.write_text("".join(f"{n},0,0 / 10,0,0 / {n / 10}\n" for n in range(5000)))
    return recording


@contextmanager
def unread_pipe() -> Iterator[int]:
    """Return the writing end of a pipe whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


# ------------------------------------------------------------------ a reader that has had enough


@pytest.mark.parametrize(
    "command",
    [
        *("", "replay", "--help", "--version", "replay --help", "strategies", "strategies epic"),
        *("compare - -s lerp --chart x", "simulate --movement circle,duration=endless --loss 5%"),
    ],
)
def test_reader_that_is_gone(command: str) -> None:
    with unread_pipe() as stdout:
        done = subprocess.run(
            [*EPIC, *command.split()],
            check=False,
            input=PACKET + PACKET.replace(b"0.1", b"9"),
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    assert (done.returncode, done.stderr) == (0, b"")


# ------------------------------------------------------------------ nowhere to write rows to


@pytest.mark.parametrize(
    "command",
    [
        *("replay turn.txt", "replay $many", "--help", "replay -h", "--version", "strategies"),
        *("simulate", "compare turn.txt"),
    ],
)
def test_full_device(many: Path, command: str) -> None:
    done = shell(f"many={many}; epic {command} >/dev/full", cwd=SAMPLES)
    assert done.returncode == 3
    assert done.stderr == b"epic: cannot write to stdout: No space left on device\n"


@pytest.mark.parametrize("limit", [5, 7, 9, 14])
def test_a_lack_of_file_numbers_is_not_blamed_on_the_output(limit: int) -> None:
    command = f"{' '.join(EPIC)} compare -s lerp --workers 1 jitter.txt turn.txt"
    done = subprocess.run(
        ["bash", "-c", f"ulimit -n {limit}; exec {command} >/dev/null"],
        cwd=SAMPLES, env=environment(), stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.decode().count("\n") == 1
    assert b"cannot open " in done.stderr
    assert done.stderr.endswith(b": Too many open files\n")


def test_full_device_as_output() -> None:
    done = epic("replay", "--output", "/dev/full", SAMPLES / "turn.txt")
    assert done.returncode == 3
    assert done.stderr == b"epic: cannot write to /dev/full: No space left on device\n"


@pytest.mark.parametrize(
    "command",
    ["replay turn.txt", "strategies", "strategies epic", "simulate", "compare turn.txt",
     "play --duration 1"],
)  # fmt: skip
def test_closed_stdout(command: str) -> None:
    done = shell(f"epic {command} >&-", cwd=SAMPLES)
    assert done.returncode == 3
    assert done.stderr == b"epic: cannot write to stdout: it is closed\n"


@pytest.mark.parametrize("format_", ["epic", "table"])
def test_closed_stdout_does_not_matter_to_a_file(tmp_path: Path, format_: str) -> None:
    rows = tmp_path / "rows"
    done = shell(f"epic replay -f {format_} -o {rows} turn.txt >&-", cwd=SAMPLES)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rows.read_bytes() == epic("replay", "-f", format_, SAMPLES / "turn.txt").stdout


# ------------------------------------------------------------------ nowhere to write errors to


@pytest.mark.parametrize(
    ("command", "status", "place"),
    [
        ("replay broken.txt", 1, "2>&-"),
        ("replay broken.txt", 1, "2>/dev/full"),
        ("replay broken.txt", 1, "2>&$unread"),
        ("replay missing.txt", 3, "2>&-"),
        ("replay missing.txt", 3, "2>/dev/full"),
        ("replay -s epic+a=b turn.txt", 2, "2>/dev/full"),
        ("replay --no-such-option", 2, "2>&-"),
        ("replay --no-such-option", 2, "2>&$unread"),
    ],
)
def test_errors_that_cannot_be_told(command: str, status: int, place: str) -> None:
    """Rows and status are the same when stderr cannot be written."""
    expected = epic(*command.split(), cwd=SAMPLES).stdout
    # the reader of the process substitution is gone before epic starts
    unread = "exec {unread}> >(:); wait $!;"
    done = shell(f"{unread} epic {command} {place}", cwd=SAMPLES)
    assert (done.returncode, done.stdout) == (status, expected)


def test_all_closed() -> None:
    assert shell("epic replay turn.txt <&- >&- 2>&-", cwd=SAMPLES).returncode == 3


# ------------------------------------------------------------------ nothing to read from


@pytest.mark.parametrize("command", ["", "replay", "replay -", "--format csv"])
def test_closed_stdin(command: str) -> None:
    done = shell(f"epic {command} <&-")
    assert done.returncode == 3
    assert done.stderr == b"epic: cannot read <stdin>: it is closed\n"


def test_file_that_fails_while_it_is_read() -> None:
    done = epic("replay", "/proc/self/mem")  # nothing is at address 0
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"epic: cannot read /proc/self/mem: Input/output error\n"


def test_name_that_is_not_utf8(tmp_path: Path) -> None:
    done = shell(r"epic replay $'caf\xe9'", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == b"epic: cannot read caf\\xe9: No such file or directory\n"


def test_named_pipe_as_a_file(tmp_path: Path) -> None:
    done = shell("mkfifo pipe; echo '1,2,3 / 4,5,6 / 0.1' >pipe & epic replay pipe", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ROWS)


# ------------------------------------------------------------------ no room


def test_where_there_is_no_memory_it_says_so() -> None:
    code = """
import sys
from epic_cli.shell import command_line
from epic_cli.main import main

def run(args):
    raise MemoryError

command_line.run_command_line = run
sys.exit(main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (3, b"epic: there is not enough memory\n")


# ------------------------------------------------------------------ interrupts


@pytest.mark.parametrize(
    "module", ["epic_cli.shell.configuration", "click", "epic_cli.jobs.compare.command", "numpy"]
)
def test_an_interrupt_while_modules_are_loaded_is_silent(module: str) -> None:
    script = f"""
import sys
class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt)
sys.argv = ["epic", "compare", {os.fspath(SAMPLES / "turn.txt")!r}]
from epic_cli.main import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, env=environment()
    )
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize(
    ("strategies", "several"), [("./stuck.py:Stuck", False), ("lerp,./stuck.py:Stuck,epic", True)]
)
def test_the_first_interrupt_leaves_a_strategy_that_never_returns(
    strategies: str, several: bool, tmp_path: Path
) -> None:
    (tmp_path / "stuck.py").write_text(
        "class Stuck:\n"
        "    def reset(self): ...\n"
        "    def update(self, packet, now): return True\n"
        "    def read(self, at):\n"
        "        open('stuck', 'w').close()\n"
        "        while True: ...\n"
    )
    recording = os.fspath(SAMPLES / "turn.txt")
    words = ["compare", "-s", strategies, *[recording] * (1 + several)]
    with subprocess.Popen(
        [*EPIC, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        env=environment(),
    ) as running:  # fmt: skip
        try:
            wait_until((tmp_path / "stuck").exists)
            running.send_signal(signal.SIGINT)
            _, error = running.communicate(timeout=60)
        finally:
            running.kill()
    assert (running.returncode, error) == (130, b"")


# ------------------------------------------------------------------ a session's streams


def test_a_session_without_standard_output_says_so() -> None:
    done = shell("echo 0,0,0 / 1,0,0 / 0 | epic session >&-")
    assert done.stderr == b"epic: cannot write to stdout: it is closed\n"


@pytest.mark.parametrize("line", ["", ":rows", ":convert", ":strategies", ":compare -s lerp"])
def test_the_reader_of_a_session_that_is_gone(line: str, many: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(many.read_bytes() + b"".join([line.encode() + b"\n"] * 3))
    with unread_pipe() as stdout:
        done = subprocess.run(
            [*EPIC, "session", "--init", script], check=False, stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
    assert b"roken" not in done.stderr
    assert done.returncode == 0


# ------------------------------------------------------------------ the engine


def test_a_folder_without_the_compiled_engine_says_so(tmp_path: Path) -> None:
    copy = tmp_path / "epic_cli"
    shutil.copytree(
        Path(epic_cli.__file__).parent,
        copy,
        ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"),
    )
    for code in ("from epic_cli.main import run; run()", "import epic_cli; epic_cli.compare"):
        done = subprocess.run(
            [sys.executable, "-c", code], check=False, capture_output=True, text=True,
            cwd=tmp_path, env=environment(PYTHONPATH=os.fspath(tmp_path)),
        )  # fmt: skip
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert f"{tmp_path} has no compiled engine" in last
        assert "pip install -e ." in last
