"""``epic replay`` on a real terminal: rows as packets come."""

from typing import Any

import pexpect
import pytest
from running import EPIC, PACKET, ROWS, SAMPLES, environment, epic

ROWS_SHOWN = ROWS.replace(b"\n", b"\r\n")


def spawn(*args: str) -> Any:
    """``epic`` on a terminal of its own that does not echo what is typed."""
    return pexpect.spawn(
        EPIC[0], [*EPIC[1:], *args], env=environment(TERM="xterm"), timeout=30, echo=False
    )


def status(child: Any) -> int:
    """What the program ends with; whatever it still says is in ``child.before``."""
    child.expect(pexpect.EOF)
    child.close()
    assert child.signalstatus is None
    return int(child.exitstatus)


@pytest.mark.parametrize(
    "options",
    [["--output", "/dev/null"], ["--entity", "other"], ["--strict"]],
    ids=["output", "entity", "strict"],
)
def test_session_passes_over_no_option(options: list[str]) -> None:
    """It heeds them or refuses them; in both cases these rows are not shown."""
    child = spawn(*options)
    child.sendline(b"hello")
    child.sendline(PACKET.rstrip())
    child.sendeof()
    status(child)
    assert ROWS_SHOWN not in child.before


def test_replay_answers_line_by_line() -> None:
    child = spawn("replay", "--color", "never")
    child.sendline(PACKET.rstrip())
    child.expect_exact(ROWS_SHOWN)
    assert child.before == b""  # no banner, no prompt
    child.sendline(b"hello")
    child.expect_exact(b"<stdin>:2:1: ")
    child.sendeof()
    assert status(child) == 1


def test_replay_of_a_file_asks_nothing() -> None:
    child = spawn("replay", str(SAMPLES / "turn.txt"))
    assert status(child) == 0
    expected = epic("replay", SAMPLES / "turn.txt").stdout
    assert child.before == expected.replace(b"\n", b"\r\n")
