"""``epic session`` and ``--init`` without a terminal: packets and commands from a pipe or file."""

from pathlib import Path

import pytest
from support.running import epic

SCRIPT = b"""\
0,0,0 / 1,0,0 / 0
:strategy snapshot+interpolation_time=100ms
1,0,0 / 1,0,0 / 1
"""


@pytest.mark.parametrize("piped", [True, False])
def test_a_script_runs_without_a_terminal(tmp_path: Path, piped: bool) -> None:
    script = tmp_path / "one.session"
    script.write_bytes(SCRIPT)
    done = epic("session", "--init", "-" if piped else script, stdin=SCRIPT if piped else b"")
    assert done.returncode == 0
    assert done.stdout.startswith(b"pos: ")
    assert b"strategy epic -> snapshot+interpolation_time=0.1" in done.stderr
    typed = epic("session", "--init", script, "-f", "csv")
    assert typed.stdout.startswith(b"time,x,y,z")


def test_a_script_from_standard_input() -> None:
    """``epic session < script`` is ``--init -``; ``epic < packets`` stays a replay."""
    named = epic("session", "--init", "-", stdin=SCRIPT)
    done = epic("session", stdin=SCRIPT)
    assert (done.returncode, done.stdout, done.stderr) == (0, named.stdout, named.stderr)
    replayed = epic(stdin=SCRIPT)
    assert b"expected" in replayed.stderr
    assert replayed.returncode == 1
    packets = b"".join(b"%d,0,0 / 1,0,0 / %d\n" % (k, k) for k in range(50))
    for ending in (b"", b"1,2,3\n", b"q\n1,2\n"):
        script, replay = epic("session", stdin=packets + ending), epic(stdin=packets + ending)
        assert (script.stdout, script.returncode) == (replay.stdout, replay.returncode)
    done = epic("session", "--strict", stdin=packets)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--strict is an option of 'epic replay'" in done.stderr


def test_what_cannot_be_done_is_told_with_its_line_and_status() -> None:
    done = epic("session", "--init", "-", stdin=SCRIPT + b":nonsense\n1,2\n")
    assert done.returncode == 1
    assert b"<stdin>:4: there is no command ':nonsense'" in done.stderr
    assert b"<stdin>:5:4: " in done.stderr


def test_what_a_script_without_a_terminal_does_not_heed_is_refused(tmp_path: Path) -> None:
    done = epic("session", "--init", tmp_path / "x", "--resume")
    assert (done.returncode, done.stdout) == (2, b"")
    done = epic("session", "--init", tmp_path / "none")
    assert done.returncode == 3


def test_an_option_of_another_command_is_no_misspelling() -> None:
    done = epic("replay", "--resume")
    assert done.returncode == 2
    assert b"--resume is an option of 'epic session'" in done.stderr
    assert b"Did you mean" not in done.stderr
