"""Output files are complete or untouched after SIGTERM, SIGHUP and SIGQUIT."""

import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from epic_cli.recordings import files
from epic_cli.recordings.files import write_whole

NESTED = """
import os, signal, sys
from epic_cli.shell.console import open_sink
from epic_cli.recordings.files import clean_up_on_signal

signal.signal(int(sys.argv[1]), signal.SIG_DFL)  # a shell's background jobs ignore some
with clean_up_on_signal(lambda: print("terminal", flush=True)):
    with open_sink("a") as one, open_sink("b") as two:
        one.write(b"x")
        two.write(b"y")
        assert len(os.listdir(".")) == 2
        os.kill(os.getpid(), int(sys.argv[1]))
"""


AFTERWARDS = """
import os, signal, sys
from epic_cli.shell.console import open_sink

before = signal.getsignal(int(sys.argv[1]))
with open_sink("a") as one:
    one.write(b"x")
assert signal.getsignal(int(sys.argv[1])) == before
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_everything_is_put_right_and_the_signal_ends_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NESTED, str(int(number))],
        check=False, capture_output=True, cwd=tmp_path, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-number, "terminal\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_means_what_it_did_afterwards(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AFTERWARDS, str(int(signal.SIGTERM))]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert (tmp_path / "a").read_bytes() == b"x"


KILLED = """
import os, sys
from pathlib import Path
from epic_cli.recordings.files import open_whole

with open_whole(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("there", flush=True)
    sys.stdin.read()
"""


def started(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a run, and return it once it has written half of a file."""
    done = subprocess.Popen(
        [sys.executable, "-c", KILLED, name],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout is not None
    assert done.stdout.readline() == b"there\n"
    return done


def test_what_a_killed_run_has_left_is_removed_by_the_next_of_the_same_output(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "a") as killed, started(tmp_path, "b") as other:
        with started(tmp_path, "a") as going_on:
            killed.kill()
            killed.wait()
            other.kill()
            other.wait()
            assert len(list(tmp_path.iterdir())) == 3
            write_whole(str(tmp_path / "a"), b"whole")
            # that of b may still be wanted, and that of the run that goes on is
            assert len(list(tmp_path.glob(".epic-*.part"))) == 2
            going_on.communicate()
        write_whole(str(tmp_path / "b"), b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"half"
    assert (tmp_path / "b").read_bytes() == b"whole"


def test_an_input_of_the_run_is_not_written(tmp_path: Path) -> None:
    read, link = tmp_path / "a", tmp_path / "b"
    read.write_bytes(b"mine")
    link.symlink_to(read)
    with files.guard_files() as run:
        run.register_input(str(read))
        with pytest.raises(FileExistsError):
            write_whole(str(link), b"")
        write_whole(str(tmp_path / "c"), b"")
    assert read.read_bytes() == b"mine"
    write_whole(str(read), b"another run")
    assert read.read_bytes() == b"another run"


def test_other_threads_never_see_another_umask(tmp_path: Path) -> None:
    """Files that they make at the same time have the usual permissions."""
    seen: set[int] = set()
    done = threading.Event()

    def make() -> None:
        while not done.is_set():
            path = tmp_path / "other"
            path.touch()
            seen.add(stat.S_IMODE(path.stat().st_mode))
            path.unlink()

    before = os.umask(0o027)
    try:
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(make)
            for number in range(300):
                write_whole(str(tmp_path / f"{number}"), b"")
            done.set()
            made.result()
    finally:
        os.umask(before)
    assert seen == {0o640}
