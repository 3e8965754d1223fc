"""What SIGTERM and SIGHUP leave behind where several things are to be put right."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

NESTED = """
import os, signal, sys
from epic_cli.ui.io.output import open_sink
from epic_cli.formats.output_files import cleaning_up

with cleaning_up(lambda: print("terminal", flush=True)):
    with open_sink("a") as one, open_sink("b") as two:
        one.write(b"x")
        two.write(b"y")
        assert len(os.listdir(".")) == 2
        os.kill(os.getpid(), int(sys.argv[1]))
"""

AFTERWARDS = """
import os, signal, sys
from epic_cli.ui.io.output import open_sink

before = signal.getsignal(int(sys.argv[1]))
with open_sink("a") as one:
    one.write(b"x")
assert signal.getsignal(int(sys.argv[1])) == before
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
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
