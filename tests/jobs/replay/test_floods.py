"""Refused lines: the first five in full, then how many of which kind."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import EPIC, PACKET, environment, epic

WRONG = b"wrong\n" * 7 + b"1,2\n" * 3
PLACE = b"<stdin>:"
COUNT = b"epic: <stdin>: 10 lines refused, 5 of them shown; --all-errors shows all\n"
KINDS = b"  7  x is not a number\n  3  no ',' after y\n"


@pytest.mark.parametrize("args", [(), ("replay",), ("compare", "-s", "epic")])
def test_five_are_shown_and_the_others_counted(args: tuple[str, ...]) -> None:
    many = b"".join(b"%d,0,0 / 1,0,0 / %d\n" % (n, n) for n in range(10))
    done = epic(*args, stdin=many + WRONG)
    assert done.stderr.count(PLACE) == 6
    assert done.stderr.endswith(COUNT + KINDS)
    assert done.returncode == 1


@pytest.mark.parametrize("args", [(), ("replay",), ("compare", "-s", "epic")])
def test_all_are_shown_on_request_and_none_when_quiet(args: tuple[str, ...]) -> None:
    text = (SAMPLES / "broken.txt").read_bytes()
    done = epic(*args, "--all-errors", stdin=text)
    assert done.stderr.count(PLACE) == 10
    quiet = epic(*args, "-q", stdin=text)
    assert (quiet.stdout, quiet.returncode, quiet.stderr) == (done.stdout, 1, b"")


def test_each_recording_has_five_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(PACKET + WRONG)
    (tmp_path / "b").write_bytes(PACKET + WRONG)
    words = epic("replay", "a", "b", cwd=tmp_path).stderr
    assert words.count(b"a:") >= 6
    assert words.count(b"\nb:") == 5
    assert words.count(KINDS) == 2


def test_what_ends_the_run_is_said_even_when_quiet() -> None:
    assert epic("-q", "--strict", stdin=b"wrong\n").stderr.startswith(b"<stdin>:1:1: ")
    assert b"there are none" in epic("-q", "--entity", "x", stdin=PACKET).stderr.replace(
        b"''", b"none"
    )


def test_an_interrupt_still_gets_the_count() -> None:
    with subprocess.Popen(
        EPIC,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(WRONG + PACKET)
        process.stdin.flush()
        shown = [process.stderr.readline() for _ in range(15)]
        assert shown[-1].startswith(b"  ^")
        os.kill(process.pid, signal.SIGINT)
        assert process.stderr.read().endswith(KINDS)
        assert process.wait() == 130


def test_reasons_are_finite() -> None:
    rows = b"".join(b"1" + b",1" * n + b"\n" for n in range(8, 300))
    done = epic(stdin=b"time,x,y,z,vx,vy,vz\n" + rows)
    assert len(done.stderr.splitlines()) == 5 * 3 + 1 + 9
    assert done.stderr.endswith(b"other reasons\n")


def test_blank_lines_and_comments_are_passed_over() -> None:
    text = (SAMPLES / "turn.txt").read_bytes()
    commented = b"# a turn\n\n" + text.replace(b"\n", b"\n \t\r\n  # " + b"x" * 1500 + b"\n")
    done = epic(stdin=commented)
    assert (done.stdout, done.stderr, done.returncode) == (epic(stdin=text).stdout, b"", 0)


def test_what_the_demo_reads_behind_a_long_comment_is_read() -> None:
    piece = b"#" * 1023 + PACKET
    assert epic(stdin=piece).stdout == epic(stdin=PACKET).stdout
