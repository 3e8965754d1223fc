"""``epic replay`` on a real terminal: no prompts, and rows appear as packets arrive."""

from pathlib import Path
from typing import Any

import pexpect
import pytest
from support.places import SAMPLES
from support.running import EPIC, PACKET, ROWS, environment, epic

ROWS_SHOWN = ROWS.replace(b"\n", b"\r\n")


def spawn(*args: str) -> Any:
    """Start ``epic`` on a terminal of its own that does not echo typed text."""
    return pexpect.spawn(
        EPIC[0], [*EPIC[1:], *args], env=environment(TERM="xterm"), timeout=120, echo=False
    )


def status(child: Any) -> int:
    """Return the program's exit status; its remaining output is in ``child.before``."""
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    assert child.signalstatus is None
    return int(child.exitstatus)


def test_replay_answers_line_by_line() -> None:
    child = spawn("replay", "--color", "never")
    child.sendline(PACKET.rstrip())
    child.expect_exact(ROWS_SHOWN)
    assert child.before == b""  # no banner, no prompt
    child.sendline(b"hello")
    child.expect_exact(b"<stdin>:2:1: ")
    child.sendeof()
    assert status(child) == 1


def test_interrupt() -> None:
    child = spawn("replay")
    child.sendline(PACKET.rstrip())
    child.expect_exact(ROWS_SHOWN)
    child.sendintr()
    assert status(child) == 130
    assert child.before.strip() == b""


@pytest.mark.parametrize(
    "options",
    [["--output", "rows.txt"], ["--strict"]],
    ids=lambda options: options[0],
)
def test_session_refuses_what_it_cannot_heed(options: list[str]) -> None:
    child = spawn(*options)
    assert status(child) == 2
    assert b"%s is an option of 'epic replay'" % options[0].encode() in child.before


@pytest.mark.parametrize(
    "args",
    [
        ("replay", "-f", "csv"),
        ("replay", "-f", "tsv"),
        ("replay", "-f", "table"),
        ("compare", "-s", "epic,snapshot", "--by", "entity", "-f", "csv"),
        ("compare", "-s", "epic,snapshot", "--by", "entity"),
        ("compare", "-s", "epic,snapshot", "--by", "entity", "-f", "markdown"),
    ],
    ids=" ".join,
)
def test_no_name_steers_the_terminal(tmp_path: Path, args: tuple[str, ...]) -> None:
    recording = tmp_path / "packets.txt"
    rows = [f"{k},0,0 / 1,0,0 / {k} entity=a\x1b[31mb arrival={k + 0.1}\n" for k in range(20)]
    recording.write_text("".join(rows))
    child = spawn(*args, "--color", "never", "--tick", "0.5", str(recording))
    assert status(child) == 0
    assert b"\\x1b" in child.before  # a table cuts the rest
    assert b"\x1b[31m" not in child.before


@pytest.mark.parametrize(
    "args",
    [
        ("listen", "0", "--duration", "0", "--record"),
        ("listen", "0", "--duration", "0", "-o"),
        ("diagnose", str(SAMPLES / "jitter.txt"), "--link-out"),
        ("compare", str(SAMPLES / "jitter.txt"), "-s", "lerp", "--html"),
        ("compare", *[str(SAMPLES / "jitter.txt")] * 2, "-s", "lerp", "--journal"),
        ("simulate", "--movement", "circle,duration=1", "--truth-out"),
    ],
    ids=" ".join,
)
def test_no_name_of_an_output_begins_a_line(tmp_path: Path, args: tuple[str, ...]) -> None:
    for _ in range(1 + ("--journal" in args)):  # a journal is read again
        done = epic(*args, str(tmp_path / "one\nTWO.csv"))
        assert not any(line.startswith(b"TWO") for line in done.stderr.splitlines())
