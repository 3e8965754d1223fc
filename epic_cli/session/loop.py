"""The session on a terminal: opens it, runs its loop, closes it."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from epic_cli import __version__
from epic_cli.engine.places import named_in_data
from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.metrics.digits import counted
from epic_cli.session import journal as journals
from epic_cli.session.dialogue import Dialogue, Preferences
from epic_cli.session.interpreter import Interpreter
from epic_cli.session.journal import Journal
from epic_cli.session.screen import Screen
from epic_cli.session.session import Session
from epic_cli.shell.console import has_cursor
from epic_cli.shell.errors import accessing

if TYPE_CHECKING:
    from typing import Protocol

    from epic_cli.session.command_table import CommandTable
    from epic_cli.session.terminal import QuietTerminal

    class InputReader(Protocol):
        """Where lines come from."""

        def read(self) -> str:
            """The next line, or lines; raises ``EOFError`` and ``KeyboardInterrupt``."""


FIRST_SCREEN = f"""\
epic {__version__}: type packets and see what a player would see; q leaves
:help lists the commands"""


class Opening(NamedTuple):
    """How a session is opened.

    ``row_format`` None is the table on a terminal. ``init`` is a script that is run first, which
    names code only with ``trust``; ``resume`` goes on with the last session; ``history`` keeps
    typed lines.
    """

    view: ReplaySpec
    row_format: str | None
    color: bool
    init: str | None
    trust: bool
    resume: bool
    history: bool
    preferences: Preferences


def run(opening: Opening) -> None:
    """Opens a session on this process's terminal and stays until it is left.

    Raises ``CannotAccess`` for an ``--init`` file that cannot be read.
    """
    screen = Screen.standard(opening.color)
    screen.choose_format(opening.row_format or ("table" if sys.stdout.isatty() else "epic"))
    directory = journals.state_directory()
    path = journals.newest(directory) if opening.resume else None
    dialogue = Dialogue(
        Session(ReplaySpec() if path else opening.view),
        screen,
        Journal(directory, screen.warn, path),
        opening.preferences,
    )
    screen.say(FIRST_SCREEN)
    with _terminal(dialogue) as terminal:
        interpreter = Interpreter(dialogue, load_commands)
        reader = _reader(interpreter, terminal, directory if opening.history else None)
        try:
            _begin(interpreter, opening, path)
            converse(interpreter, reader)
        finally:
            dialogue.end_listening()
            screen.clear_prompt()


def load_commands() -> CommandTable:
    """The session's commands."""
    from epic_cli.session.commands import COMMANDS  # packets can be typed before they are loaded

    return COMMANDS


def _begin(interpreter: Interpreter, opening: Opening, path: Path | None) -> None:
    """What a session begins with: the one it resumes, or the ``--init`` file."""
    dialogue = interpreter.dialogue
    if opening.resume and path is None:
        dialogue.screen.say("there is no session to resume")
    if path is not None:
        journal, dialogue.journal = dialogue.journal, None  # it has all that already
        dialogue.resuming = True
        try:
            with accessing("read", path):
                interpreter.run_quietly(journals.read(path), path.name)
        finally:
            dialogue.journal = journal
            dialogue.resuming = False
        _show(dialogue, "resumed")
    if opening.init is not None:
        with accessing("read", opening.init):
            script = Path(opening.init).read_bytes()
        with named_in_data(opening.trust):
            interpreter.run_quietly(script, opening.init)
        _show(dialogue, opening.init)


def _show(dialogue: Dialogue, what: str) -> None:
    session = dialogue.session
    if session.packets:
        dialogue.draw_tail()
        packets = counted(len(session.packets), "packet")
        dialogue.screen.say(f"{what}: {packets}, strategy {session.view.strategy.name}")


def converse(interpreter: Interpreter, reader: InputReader) -> None:
    """Reads and runs until the session is left; an interrupt only drops the line."""
    dialogue = interpreter.dialogue
    while not dialogue.ended:
        try:
            line = reader.read()
            if dialogue.listening is not None:
                dialogue.listening.catch_up()
            interpreter.run(line.encode("utf-8", "surrogateescape"))
        except KeyboardInterrupt:
            dialogue.screen.leave_line()
        except EOFError:
            dialogue.screen.leave_line()
            return


@contextlib.contextmanager
def _terminal(dialogue: Dialogue) -> Iterator[QuietTerminal | None]:
    """The terminal with its first prompt, if it has a cursor; None: it can only scroll."""
    if not has_cursor(sys.stdout):
        yield None
        return
    from epic_cli.session.terminal import QuietTerminal

    with QuietTerminal(sys.stdin.fileno()).held() as terminal:
        dialogue.screen.has_cursor = True
        dialogue.screen.released = terminal.released
        dialogue.screen.show_early(dialogue.prompt)
        yield terminal


def _reader(
    interpreter: Interpreter, terminal: QuietTerminal | None, history_directory: Path | None
) -> InputReader:
    """The reader that this terminal has the means for."""
    dialogue = interpreter.dialogue
    if terminal is None:
        messages = sys.stdout if sys.stdout.isatty() else sys.stderr
        return PlainReader(dialogue, messages.buffer)
    gc.disable()  # nothing of what is loaded now is garbage
    from prompt_toolkit.history import InMemoryHistory

    from epic_cli.session.journal import StateHistory
    from epic_cli.session.prompt import PromptReader

    gc.enable()
    history = (
        StateHistory(history_directory, dialogue.screen.warn)
        if history_directory
        else InMemoryHistory()
    )
    return PromptReader(interpreter, history, terminal.suspend)


#: A longer line comes in pieces, so that input without line ends takes no memory.
_LONGEST_INPUT = 1 << 20


class PlainReader:
    """Reads lines where there is no cursor to move: TERM=dumb, or rows that go into a file."""

    def __init__(self, dialogue: Dialogue, messages: BinaryIO) -> None:
        self._dialogue = dialogue
        self._messages = messages
        self.lines: list[str] = []
        dialogue.earlier_lines = lambda: self.lines
        dialogue.confirm = self._confirm

    def read(self) -> str:
        """The next line with its end; raises ``EOFError`` and ``KeyboardInterrupt``."""
        line = self._ask(self._dialogue.prompt)
        if line.strip():
            self.lines.append(line.rstrip("\r\n"))
        return line

    def _ask(self, what: str) -> str:
        self._messages.write(what.encode())
        self._messages.flush()
        raw = sys.stdin.buffer.readline(_LONGEST_INPUT)
        if not raw:
            raise EOFError
        return raw.decode("utf-8", "surrogateescape")

    def _confirm(self, question: str) -> bool:
        return self._ask(f"{question} (y/n) ").strip().lower() in ("y", "yes")


def run_script(opening: Opening, script: bytes, name: str) -> bool:
    """Runs it as if it was typed, without a journal; whether all of it could be done."""
    screen = Screen.standard(opening.color)
    screen.choose_format(opening.row_format or "epic")
    dialogue = Dialogue(Session(opening.view), screen, None, opening.preferences)
    with named_in_data(opening.trust):
        Interpreter(dialogue, load_commands).run(script, name)
    return not (dialogue.session.refused or screen.complaints)
