"""``epic`` on a slow source, and the files that an interrupt leaves behind."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running import PACKET, ROWS, started

PATIENCE = 120


class Live:
    """The program ``epic`` with pipes to all its streams, both ends open."""

    def __init__(self, *args: str) -> None:
        # an interrupt within an import leaves the module's file to Python's collector
        unclosed = "ignore:unclosed file:ResourceWarning"
        self.process = started(*args, python=("-W", unclosed))

    def send(self, data: bytes) -> None:
        """Write into its stdin, which stays open."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def expect(self, expected: bytes, stream: str = "stdout") -> None:
        """Wait until it has printed this."""
        descriptor = getattr(self.process, stream).fileno()
        said = b""
        while len(said) < len(expected):
            ready, _, _ = select.select([descriptor], [], [], PATIENCE)
            assert ready, f"nothing comes after {said!r}"
            piece = os.read(descriptor, len(expected) - len(said))
            assert piece, f"the end comes after {said!r}"
            said += piece
        assert said == expected

    def wait_for(self, folder: Path, files: int) -> None:
        """Wait until there are this many files."""
        while len(list(folder.iterdir())) < files:
            assert self.process.poll() is None

    def end(self) -> tuple[int, bytes, bytes]:
        """Close its stdin; return its status and the rest of its output."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stdout, stderr

    def interrupt(self) -> tuple[int, bytes, bytes]:
        """Press Ctrl-C, with its stdin still open."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        return self.end()

    def quit(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def live(request: pytest.FixtureRequest) -> Iterator[Live]:
    """Start ``epic`` with the options that a test names."""
    started = Live(*getattr(request, "param", ()))
    yield started
    started.quit()


def options(*args: str) -> pytest.MarkDecorator:
    """Name the options with which ``live`` starts."""
    return pytest.mark.parametrize("live", [args], indirect=True, ids=[" ".join(args)])


def test_rows_come_as_packets_come(live: Live) -> None:
    live.send(PACKET)
    live.expect(ROWS)
    live.send(b"1,2,3 / 4,5,")
    live.send(b"6 / 0.2\n")
    live.expect(b"pos: 1.58,2.62,3.67  vel: 2.250,3.750,5.250  time: 0.300\n")
    live.expect(b"pos: 1.69,2.81,3.94  vel: 2.250,3.750,5.250  time: 0.350\n")
    assert live.end() == (0, b"", b"")


@options("--strict")
def test_strict_ends_before_the_source_does(live: Live) -> None:
    live.send(PACKET + b"nonsense\n")
    live.expect(ROWS)
    assert live.process.wait(PATIENCE) == 1


def test_quit_ends_before_the_source_does(live: Live) -> None:
    live.send(PACKET + b"q\n")
    live.expect(ROWS)
    assert live.process.wait(PATIENCE) == 0


def test_interrupt_while_it_draws(live: Live) -> None:
    live.send(b"0,0,0 / 0,0,0 / 100000\n")  # two million rows
    live.expect(b"pos: ")
    live.process.send_signal(signal.SIGINT)
    status, _, errors = live.end()
    assert (status, errors.strip()) == (130, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_old_file_and_no_other(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "rows").write_text("old")
    live = Live("-o", str(tmp_path / "rows"))
    live.send(PACKET)
    live.wait_for(tmp_path, 2)
    live.process.send_signal(number)
    assert live.process.wait(PATIENCE) == (130 if number == signal.SIGINT else -number)
    live.quit()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("rows", "old")]


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        live = Live("-o", str(tmp_path / "rows"))
    finally:
        signal.signal(signal.SIGHUP, before)
    live.wait_for(tmp_path, 1)
    live.process.send_signal(signal.SIGHUP)
    live.send(PACKET)
    assert live.end()[0] == 0
    assert (tmp_path / "rows").read_bytes() == ROWS


def has_temporary_file(process: int) -> bool:
    """Return whether the program has an open file that is in no folder."""
    for path in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):  # it is closed by now
            if "(deleted)" in str(path.readlink()):
                return True
    return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's list of open files")
@pytest.mark.parametrize("to_file", [False, True])
def test_interrupt_while_rows_of_a_grouped_file_wait(tmp_path: Path, to_file: bool) -> None:
    rows = [f"{k},{k},0,0,e{entity}" for entity in range(3) for k in (0, 10, 20)]
    rows += [f"{k},{k},0,0,e3" for k in range(0, 2_000_000, 1_000)]  # forty million rows
    (tmp_path / "a.csv").write_text("\n".join(["time,x,y,z,entity", *rows]) + "\n")
    output = ("--output", str(tmp_path / "rows.csv")) if to_file else ()
    replaying = Live("--format", "csv", *output, str(tmp_path / "a.csv"))
    while not has_temporary_file(replaying.process.pid):
        assert replaying.process.poll() is None
    replaying.process.send_signal(signal.SIGINT)
    status, drawn, errors = replaying.end()
    assert status == 130
    assert b"Traceback" not in errors
    times = [float(row.split(b",")[0]) for row in drawn.splitlines()[1:]]
    assert times == sorted(times)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    names = {row.rsplit(b",", 1)[-1] for row in drawn.splitlines()[1:]}
    assert names == (set() if to_file else {b"e0", b"e1", b"e2", b"e3"})
    assert (b"interrupted: the rows are those" in errors) is not to_file
