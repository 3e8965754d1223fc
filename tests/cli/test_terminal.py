"""``epic`` on a real terminal: the demo's dialogue, and rows as packets come."""

from collections.abc import Iterator
from typing import Any

import pexpect
import pytest
from running import EPIC, PACKET, ROWS, SAMPLES, environment, epic

BANNER = b"Input successively reveived data packets. Type 'q' to quit.\r\n"
PROMPT = b"pos/vel/time> "
ERROR = b"error: input format x,y,z / x,y,z / t\r\n"
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


def typed(child: Any, line: bytes) -> bytes:
    """Types a line and gives all that is said up to the next prompt."""
    child.sendline(line)
    child.expect_exact(PROMPT)
    return bytes(child.before)


@pytest.fixture
def session() -> Iterator[Any]:
    """``epic`` that waits at its first prompt."""
    child = spawn()
    child.expect_exact(PROMPT)
    assert child.before == BANNER
    yield child
    child.close(force=True)


def test_dialogue_is_the_demos(session: Any) -> None:
    assert typed(session, PACKET.rstrip()) == ROWS_SHOWN
    assert typed(session, b"hello") == ERROR
    assert typed(session, b"") == ERROR
    assert typed(session, b"0,0,0 / 0,0,0 / 0") == b""  # late, dropped without a word
    session.sendline(b"q")
    assert status(session) == 0
    assert session.before == b""


def test_ctrl_d_leaves(session: Any) -> None:
    session.sendeof()
    assert status(session) == 0
    assert session.before == b""


def test_ctrl_d_twice_takes_an_unfinished_line(session: Any) -> None:
    session.send(PACKET.rstrip())
    session.sendeof()
    session.sendeof()
    session.expect_exact(ROWS_SHOWN + PROMPT)
    session.sendeof()
    assert status(session) == 0


def test_ctrl_c_interrupts(session: Any) -> None:
    session.sendintr()
    assert status(session) == 130
    assert session.before.strip() == b""


def test_time_that_the_clock_never_passes_is_explained(session: Any) -> None:
    answer = typed(session, b"1,2,3 / 4,5,6 / inf")
    assert answer.startswith(b"<stdin>:1:17: ")
    assert typed(session, PACKET.rstrip()) == ROWS_SHOWN


def test_long_line_is_read_in_pieces(session: Any) -> None:
    session.sendline(b"x" * 1500)
    for _ in range(2):
        session.expect_exact(PROMPT)
        assert session.before == ERROR
    session.sendline(b"q")
    assert status(session) == 0


def test_session_takes_options() -> None:
    child = spawn("--format", "csv", "--tick", "0.1", "--clock", "exact")
    child.expect_exact(BANNER + PROMPT)
    header, first, _ = typed(child, b"1,0,0/0,0,0/0").split(b"\r\n", 2)
    assert header == b"time,x,y,z,vx,vy,vz,status,entity"
    assert first == b"0.1,0.5,0,0,5,0,0,interpolated,"
    child.sendline(b"q")
    assert status(child) == 0


def test_session_draws_what_is_left_when_it_ends(session: Any) -> None:
    assert typed(session, b"0,0,0/1,0,0/0 arrival=0") == b""  # not before the next arrival
    session.sendline(b"q")
    assert status(session) == 0
    assert session.before.startswith(b"pos: 0.00,0.00,0.00  vel: 1.000,0.000,0.000  time: 0.000")


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
