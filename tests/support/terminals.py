"""A terminal with a screen for tests: a program in a pty, and its output."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
import pyte

from support.running import EPIC, environment

#: Seconds until a test gives up; nothing takes so long unless it never comes.
PATIENCE = 120.0


def end(child: Any) -> None:
    """Kill a program on a terminal, and wait for its end."""
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.wait()
    child.ptyproc.delayafterclose = 0  # it has ended: there is nothing to wait for
    child.close()


class Shown(NamedTuple):
    """The output on a terminal, the output in the pipe of the other stream, and the status."""

    terminal: bytes
    pipe: bytes
    status: int


def on_terminal(
    *args: str | Path,
    stdin: bytes = b"",
    stderr: bool = False,
    env: Mapping[str, str] | None = None,
) -> Shown:
    """Run ``epic`` to its end with a terminal as its stdout, or as its ``stderr``."""
    ours, theirs = pty.openpty()
    pipe = subprocess.PIPE
    streams = (pipe, theirs) if stderr else (theirs, pipe)
    with subprocess.Popen(
        [*EPIC, *args], stdin=pipe, stdout=streams[0], stderr=streams[1],
        env=environment(TERM="xterm") if env is None else env,
    ) as child:  # fmt: skip
        os.close(theirs)
        assert child.stdin
        child.stdin.write(stdin)
        child.stdin.close()
        said = b""
        with contextlib.suppress(OSError):  # so Linux says that the other end is closed
            while piece := os.read(ours, 65536):
                said += piece
        os.close(ours)
        other = child.stdout or child.stderr
        assert other
        return Shown(said, other.read(), child.wait())


class Screen(pyte.Screen):
    """A screen that remembers what scrolled away and answers where its cursor is.

    ``pyte.HistoryScreen`` does more, and takes half of the time of a test for it.
    """

    def __init__(self, columns: int, lines: int, answer: Callable[[bytes], None]) -> None:
        self._above: list[Mapping[int, Any]] = []
        super().__init__(columns, lines)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        self._answer(data.encode())

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom:
            self._above.append(self.buffer[top])
        super().index()

    def reset(self) -> None:
        self._above.clear()
        super().reset()

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        super().erase_in_display(how, *args, **kwargs)
        if how == 3:
            self._above.clear()

    def row(self, number: int) -> str:
        return self._read(self.buffer[number])

    def everything(self) -> list[str]:
        """Return all lines, also those that have scrolled away."""
        return [self._read(row).rstrip() for row in self._above] + self.shown()

    def shown(self) -> list[str]:
        return [self.row(number).rstrip() for number in range(self.lines)]

    def _read(self, row: Mapping[int, Any]) -> str:
        return "".join([row[column].data for column in range(self.columns)])


class Terminal:
    """A run of ``epic`` (or another module) on a terminal of its own."""

    def __init__(
        self,
        state: Path,
        arguments: Sequence[str] = (),
        *,
        columns: int = 100,
        lines: int = 30,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        answers: bool = True,
    ) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("EPIC_", "XDG_", "LC_"))}
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
            kept.pop(name, None)
        given = {
            "TERM": "xterm",
            "XDG_STATE_HOME": str(state),
            "XDG_CONFIG_HOME": str(state),
            "LC_ALL": "C.UTF-8",
        }
        command = command or [sys.executable, "-m", "epic_cli"]
        self.child: Any = pexpect.spawn(
            command[0],
            [*command[1:], *arguments],
            env={**kept, **given, **(environment or {})},
            dimensions=(lines, columns),
            cwd=str(state),
        )
        self.child.delaybeforesend = None
        self.raw = b""
        self._waiting = b""
        self.screen = Screen(columns, lines, self._queue if answers else lambda _: None)
        self._stream = pyte.ByteStream(self.screen)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        end(self.child)

    def _queue(self, data: bytes) -> None:
        self._waiting += data

    # ------------------------------------------------------------- talking

    def pump(self, seconds: float = 0.05) -> bool:
        """Move bytes both ways; return False once the program has closed the terminal."""
        descriptor = self.child.child_fd
        writable = [descriptor] if self._waiting else []
        can_read, can_write, _ = select.select([descriptor], writable, [], seconds)
        if can_read:
            try:
                data = os.read(descriptor, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            self.raw += data
            self._stream.feed(data)
        if can_write:
            sent = os.write(descriptor, self._waiting[:1024])
            self._waiting = self._waiting[sent:]
        return True

    def wait_until(self, done: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end or not (self.pump() or done()):
                raise AssertionError(f"never seen: {what}\n" + "\n".join(self.everything()))

    def wait_for(self, pattern: str) -> None:
        """Wait until the screen shows a match."""
        self.wait_until(lambda: re.search(pattern, self.text, re.M) is not None, pattern)

    def prompt(self, strategy: str = "epic") -> None:
        """Wait for a prompt that accepts input: the cursor is behind it, bracketed paste is on."""
        begin = f"{strategy}> "

        def there() -> bool:
            row = self.screen.row(self.screen.cursor.y)
            at_prompt = row.startswith(begin) and self.screen.cursor.x == len(begin)
            at_prompt &= self.raw.rfind(b"\x1b[?2004h") > self.raw.rfind(b"\x1b[?2004l")
            return at_prompt and not self._waiting and not self._more()

        self.wait_until(there, begin)

    def _more(self) -> bool:
        return bool(select.select([self.child.child_fd], [], [], 0.04)[0])

    def send(self, text: str | bytes) -> None:
        self._queue(text.encode() if isinstance(text, str) else text)

    def type(self, line: str, strategy: str = "epic") -> None:
        """Type a line, wait until it is shown, press Enter and wait for a prompt."""
        self.send(line)
        shown = line[-20:].strip()
        self.wait_until(lambda: shown in self.text.replace("\n", ""), f"echo of {line}")
        self.enter(strategy)

    def enter(self, strategy: str = "epic") -> None:
        """Press Enter, and wait until the line has been taken and there is a prompt."""
        left = self.raw.count(b"\x1b[?2004l")
        self.send("\r")
        self.wait_until(lambda: self.raw.count(b"\x1b[?2004l") > left, "a line to be taken")
        self.prompt(strategy)

    def resize(self, lines: int, columns: int) -> None:
        self.screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    # ------------------------------------------------------------- looking

    @property
    def text(self) -> str:
        return "\n".join(self.screen.shown())

    def everything(self) -> list[str]:
        """Return all lines, also those that have scrolled away."""
        return self.screen.everything()

    def shown(self) -> list[str]:
        """Return all lines up to the last that is not empty."""
        lines = self.everything()
        while lines and not lines[-1]:
            lines.pop()
        return lines

    # ------------------------------------------------------------- ending

    def status(self) -> int:
        """Wait for the program's end; return its exit status, or minus the signal."""
        end = time.monotonic() + PATIENCE
        while self.pump() and time.monotonic() < end:
            pass
        while self.child.isalive() and time.monotonic() < end:
            time.sleep(0.01)
        assert not self.child.isalive(), "\n".join(self.everything())
        if self.child.exitstatus is None:
            return -int(self.child.signalstatus or 0)
        return int(self.child.exitstatus)

    def hang_up(self) -> int:
        """Close the terminal; return the program's exit status, or minus the signal."""
        self.child.ptyproc.fileobj.close()
        self.child.wait()
        return -int(self.child.signalstatus or 0) or int(self.child.exitstatus or 0)

    def signal(self, number: int) -> None:
        assert self.child.pid is not None
        os.kill(self.child.pid, number)

    def kill(self) -> None:
        """Kill the program as if the machine had stopped."""
        self.signal(signal.SIGKILL)
        self.status()
