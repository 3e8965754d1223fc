"""Runs what a session is given: packets, and commands that begin with a colon.

Typed lines, pastes, ``--init`` files and the journal all come through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click

from epic_cli.repl.command_table import CommandTable
from epic_cli.repl.dialogue import Dialogue, failure
from epic_cli.terminal.errors import CannotAccess


class WrongCommand(NamedTuple):
    """What is wrong with a command, and at which character of its line."""

    column: int
    message: str


class Interpreter:
    """Runs lines in a dialogue, with the commands that it is given."""

    def __init__(self, dialogue: Dialogue, commands: CommandTable) -> None:
        self.dialogue = dialogue
        self.commands = commands

    def run(self, text: bytes, name: str = "<typed>") -> None:
        """Runs lines: packets until the next command, then that, and so on.

        ``q`` at the start of a line of packets, or ``:quit``, ends the session.
        """
        try:
            for first_line, piece in _pieces(text):
                if self.dialogue.ended:
                    return
                if piece.lstrip()[:1] == b":":
                    self._run_command(piece, f"{name}:{first_line}: " if b"\n" in text else "")
                else:
                    self.dialogue.add(piece, name, first_line)
        except KeyboardInterrupt:
            self.dialogue.screen.interrupted()

    def run_quietly(self, text: bytes, name: str) -> None:
        """Runs a script without drawing its rows; problems are reported."""
        self.dialogue.quiet = True
        try:
            self.run(text, name)
        finally:
            self.dialogue.quiet = False
            self.dialogue.ended = False

    def _run_command(self, line: bytes, place: str) -> None:
        text = line.decode("utf-8", "replace").strip()
        complain = self.dialogue.screen.complain
        try:
            name, words = _split(text)
            with self._context(name, words) as context:
                context.command.invoke(context)
        except click.exceptions.Exit:
            return
        except click.ClickException as error:
            complain(place + _reason(error))
        except (CannotAccess, ValueError) as error:
            complain(place + str(error))
        except OSError as error:
            complain(f"{place}{error.filename or ''}: {error.strerror or error}")
        except Exception as error:  # a strategy of another package may raise anything
            complain(f"{place}{text}: {failure(error)}")

    def check(self, line: str) -> WrongCommand | None:
        """What is wrong with a command, as far as can be told without running it."""
        column = len(line) - len(line.lstrip()) + 1
        try:
            name, words = _split(line)
            self.commands.find(name)
            column = len(line.rstrip())
            if not {"-h", "--help"} & set(words):
                self._context(name, words).close()
        except click.ClickException as error:
            message = _reason(error)
            for word in line.split()[1:]:
                if f"'{word}'" in message or f" {word} " in f" {message} ":
                    column = line.rindex(word) + 1
            return WrongCommand(column, message)
        return None

    def _context(self, name: str, words: list[str]) -> click.Context:
        """A command with its words parsed; raises ``click.ClickException``."""
        found = self.commands.find(name)
        table = click.Context(self.commands, obj=self.dialogue)
        return found.make_context(f":{found.name}", list(words), parent=table)


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
    return " ".join(error.format_message().split())  # click lists choices one to a line
