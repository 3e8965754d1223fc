"""Runs what a session is given: packets, and commands that begin with a colon.

Typed lines, pastes, ``--init`` files and the journal all come through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import click

from epic_cli.engine.text.rows import RowWriter
from epic_cli.repl.journal import Journal
from epic_cli.repl.screen import Screen
from epic_cli.repl.script import view_commands
from epic_cli.repl.session import Session
from epic_cli.terminal.errors import CannotAccess


class Switches:
    """What of the session's help can be turned off."""

    def __init__(
        self, hints: bool = True, proposals: bool = True, toolbar: bool = True, vi: bool = False
    ) -> None:
        self.hints = hints
        self.proposals = proposals
        self.toolbar = toolbar
        self.vi = vi


class WrongCommand(NamedTuple):
    """What is wrong with a command, and at which character of its line."""

    column: int
    message: str


class Interpreter:
    """A session with its screen and its journal; ``ended`` once it has been left."""

    def __init__(
        self,
        session: Session,
        screen: Screen,
        journal: Journal | None = None,
        switches: Switches | None = None,
    ) -> None:
        self.session = session
        self.screen = screen
        self.journal = journal
        self.switches = switches or Switches()
        self.earlier_lines: Callable[[], Sequence[str]] = list
        self.ended = False
        self.quiet = False
        self._recorded = False

    @property
    def prompt(self) -> str:
        """What stands in front of a typed line."""
        return f"{self.session.view.strategy}> "

    # ------------------------------------------------------------- text

    def run(self, text: bytes, name: str = "<typed>") -> None:
        """Runs lines: packets until the next command, then that, and so on.

        ``q`` at the start of a line of packets, or ``:quit``, ends the session.
        """
        try:
            for first_line, piece in _pieces(text):
                if self.ended:
                    return
                if piece.lstrip()[:1] == b":":
                    self._run_command(piece, f"{name}:{first_line}: " if b"\n" in text else "")
                else:
                    self.take(piece, name, first_line)
        except KeyboardInterrupt:
            self.screen.interrupted()

    def run_quietly(self, text: bytes, name: str) -> None:
        """Runs a script without drawing its rows; problems are told."""
        self.quiet = True
        try:
            self.run(text, name)
        finally:
            self.quiet = False
            self.ended = False

    def take(self, text: bytes, name: str, first_line: int = 1) -> None:
        """Takes lines of packets; ``first_line`` is the number that problems count from."""
        try:
            taken = self.session.take(text, self.screen.writer(), self._draw, self.record_lines)
        except CannotAccess:
            raise
        except Exception as error:  # a strategy of another package may raise anything
            self.screen.complain(f"{self.session.view.strategy} failed: {_words(error)}")
            return
        refusals = [one._replace(line=one.line + first_line - 1) for one in taken.refusals]
        self.screen.report(refusals, name)
        if b"\n" in text.rstrip(b"\r\n") and refusals and not self.quiet:
            self.screen.warn(
                f"taken: {counted(taken.packets, 'packet')}, refused: {len(refusals):,}"
            )
        self.ended = self.ended or taken.ended

    def _draw(self, rows: bytes) -> None:
        if not self.quiet:
            self.screen.draw(rows, self.session.named)

    # ------------------------------------------------------------- commands

    def _run_command(self, line: bytes, place: str) -> None:
        text = line.decode("utf-8", "replace").strip()
        try:
            self.command(text)
        except click.exceptions.Exit:
            return
        except click.ClickException as error:
            self.screen.complain(place + _reason(error))
        except (CannotAccess, ValueError) as error:
            self.screen.complain(place + str(error))
        except OSError as error:
            self.screen.complain(f"{place}{error.filename or ''}: {error.strerror or error}")
        except Exception as error:  # see take
            self.screen.complain(f"{place}{text}: {_words(error)}")

    def command(self, line: str) -> None:
        """Runs one command; raises ``click.ClickException`` or ``ValueError``."""
        from epic_cli.repl.commands import resolve

        name, words = _split(line)
        command = resolve(name)
        with command.make_context(f":{command.name}", words, obj=self) as context:
            command.invoke(context)

    def check(self, line: str) -> WrongCommand | None:
        """What is wrong with a command, as far as can be told without running it."""
        from epic_cli.repl.commands import resolve

        column = len(line) - len(line.lstrip()) + 1
        try:
            name, words = _split(line)
            command = resolve(name)
            column = len(line.rstrip())
            if not {"-h", "--help"} & set(words):
                command.make_context(f":{command.name}", list(words), obj=self).close()
        except click.ClickException as error:
            message = _reason(error)
            for word in line.split()[1:]:
                if f"'{word}'" in message or f" {word} " in f" {message} ":
                    column = line.rindex(word) + 1
            return WrongCommand(column, message)
        return None

    # ------------------------------------------------------------- the journal

    def record(self, command: str) -> None:
        """Keeps a command that changed the packets or their view.

        Before the first packet there is nothing to keep: the view then stands above it.
        """
        if self._recorded or self.session.lines:
            self.record_lines(f"{command}\n".encode())

    def record_lines(self, lines: bytes) -> None:
        """Keeps lines in the journal; the view that they were typed under comes first."""
        if self.journal is None:
            return
        if not self._recorded and self.journal.path is None:
            lines = "".join(f"{one}\n" for one in view_commands(self.session.view)).encode() + lines
        self._recorded = True
        self.journal.write(lines)

    # ------------------------------------------------------------- rows

    def draw_tail(self, count: int | None = None) -> None:
        """Draws the last rows, a windowful at most unless ``count`` is given."""
        room = count or max(min(self.screen.lines - 5, 20), 1)
        rows, total = self.session.tail(room, self.screen.writer())
        if total > len(rows):
            note = f"... {total - len(rows):,} rows before these"
            self.screen.say(note if count else f"{note} (:rows {total})", "dim")
        self.screen.begin_table()
        self.screen.draw(b"".join(rows), self.session.named)

    def export_writer(self, row_format: str) -> RowWriter:
        """A writer for files: full width, no colour."""
        return RowWriter(row_format)


def counted(count: int, noun: str) -> str:
    """``1 packet``, ``2 packets``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _pieces(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Commands one by one and the packets between them, each with the number of its first line."""
    if b":" not in text:
        yield 1, text
        return
    packets: list[bytes] = []
    first = 1
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.lstrip()[:1] == b":":
            if packets:
                yield first, b"".join(packets)
            packets, first = [], number + 1
            yield number, line
        else:
            packets.append(line + b"\n")
    if packets:
        yield first, b"".join(packets)


def _split(line: str) -> tuple[str, list[str]]:
    """The command's name and its words, quoted as in a shell."""
    import shlex  # the session starts faster without it

    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"{error}".lower()) from error
    return words[0].removeprefix(":"), words[1:]


def _reason(error: click.ClickException) -> str:
    """What is wrong; which parameter it is, the line shows."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return error.message
    return error.format_message()


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
