"""The session on a terminal: opens it, runs its loop, closes it."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from epic_cli import __version__
from epic_cli.repl import journal as journals
from epic_cli.repl.interpreter import Interpreter, Switches, counted
from epic_cli.repl.journal import Journal
from epic_cli.repl.screen import Screen
from epic_cli.repl.session import Session, View
from epic_cli.terminal.color import PLAIN_TERMINALS
from epic_cli.terminal.errors import CannotAccess

FIRST_SCREEN = f"""\
epic {__version__}: type packets and see what a player would see; q leaves
:help lists the commands"""


class Options(NamedTuple):
    """How a session is opened."""

    view: View
    row_format: str | None = None
    color: bool = False
    init: str | None = None
    resume: bool = False
    history: bool = True
    switches: Switches = Switches()


class Reader(Protocol):
    """Where lines come from."""

    def read(self) -> str:
        """The next line, or lines; raises ``EOFError`` and ``KeyboardInterrupt``."""


def run(options: Options) -> None:
    """Opens a session on this process's terminal and stays until it is left.

    Raises ``CannotAccess`` for an ``--init`` file that cannot be read.
    """
    screen = Screen.standard(options.color)
    screen.choose_format(options.row_format or ("table" if sys.stdout.isatty() else "epic"))
    directory = journals.state_directory()
    path = journals.newest(directory) if options.resume else None
    interpreter = Interpreter(
        Session(View() if path else options.view),
        screen,
        Journal(directory, screen.warn, path),
        options.switches,
    )
    screen.say(FIRST_SCREEN)
    with _reader(interpreter, directory, options.history) as reader:
        try:
            _open(interpreter, options, path)
            converse(interpreter, reader)
        finally:
            screen.clear_prompt()


def _open(interpreter: Interpreter, options: Options, path: Path | None) -> None:
    """What a session begins with: the one it resumes, or the ``--init`` file."""
    if options.resume and path is None:
        interpreter.screen.say("there is no session to resume")
    if path is not None:
        journal, interpreter.journal = interpreter.journal, None  # it has all that already
        try:
            interpreter.run_quietly(journals.read(path), path.name)
        except OSError as error:
            raise CannotAccess("read", str(path), error) from error
        finally:
            interpreter.journal = journal
        _show(interpreter, "resumed")
    if options.init is not None:
        try:
            script = Path(options.init).read_bytes()
        except OSError as error:
            raise CannotAccess("read", options.init, error) from error
        interpreter.run_quietly(script, options.init)
        _show(interpreter, options.init)


def _show(interpreter: Interpreter, what: str) -> None:
    session = interpreter.session
    if session.lines:
        interpreter.draw_tail()
        packets = counted(len(session.lines), "packet")
        interpreter.screen.say(f"{what}: {packets}, strategy {session.view.strategy}")


def converse(interpreter: Interpreter, reader: Reader) -> None:
    """Reads and runs until the session is left; an interrupt only drops the line."""
    while not interpreter.ended:
        try:
            interpreter.run(reader.read().encode("utf-8", "surrogateescape"))
        except KeyboardInterrupt:
            interpreter.screen.leave_line()
        except EOFError:
            interpreter.screen.leave_line()
            return


@contextlib.contextmanager
def _reader(interpreter: Interpreter, directory: Path, keep_history: bool) -> Iterator[Reader]:
    """The reader that this terminal has the means for."""
    if not sys.stdout.isatty() or os.environ.get("TERM") in PLAIN_TERMINALS:
        from epic_cli.repl.plain import PlainReader

        notes = sys.stdout if sys.stdout.isatty() else sys.stderr
        yield PlainReader(interpreter, notes.buffer)
        return
    from epic_cli.repl.terminal import QuietTerminal

    with QuietTerminal(sys.stdin.fileno()).held() as terminal:
        interpreter.screen.has_cursor = True
        interpreter.screen.foretell(interpreter.prompt)
        gc.disable()  # nothing of what is loaded now is garbage
        from prompt_toolkit.history import InMemoryHistory

        from epic_cli.repl.history import StateHistory
        from epic_cli.repl.prompt import PromptReader

        gc.enable()
        history = StateHistory(directory, interpreter.screen.warn) if keep_history else None
        yield PromptReader(interpreter, history or InMemoryHistory(), terminal.suspend)
