"""Runs what a session is given: packets, and commands that begin with a colon.

Typed lines, pastes, ``--init`` files and the journal all come through here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.engine.failures import StrategyFailed
from epic_cli.session.dialogue import TYPED, Dialogue
from epic_cli.session.terminal import DrawingStopped
from epic_cli.session.wording import failure, stopped_words
from epic_cli.shell.errors import CannotAccess, StoppedAtLine, WrongUsage

if TYPE_CHECKING:
    from epic_cli.session.command_table import CommandTable


#: What people type in other programs, and is no packet.
BARE = {b"help": b":help", b"?": b":help", b"exit": b":quit", b"quit": b":quit"}


class WrongCommand(NamedTuple):
    """What is wrong with a command, and at which character of its line."""

    column: int
    message: str


class Interpreter:
    """Runs lines in a dialogue; ``load_commands`` is called when the first of them is wanted."""

    def __init__(self, dialogue: Dialogue, load_commands: Callable[[], CommandTable]) -> None:
        self.dialogue = dialogue
        self._load_commands = load_commands

    @cached_property
    def commands(self) -> CommandTable:
        """The commands that there are."""
        return self._load_commands()

    def run(self, text: bytes, name: str = TYPED) -> None:
        """Runs lines: packets until the next command, then that, and so on.

        ``q`` at the start of a line of packets, or ``:quit``, ends the session.
        """
        text = BARE.get(text.strip().lower(), text)
        try:
            for first_line, piece in _pieces(text):
                if self.dialogue.ended:
                    return
                if piece.lstrip()[:1] == b":":
                    self._run_command(piece, f"{name}:{first_line}: " if b"\n" in text else "")
                else:
                    self.dialogue.add(piece, name, first_line)
        except DrawingStopped as stop:
            self.dialogue.screen.interrupted(stopped_words(stop))
        except KeyboardInterrupt:
            self.dialogue.screen.interrupted("interrupted")

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
            self._invoke(self.commands.find(name), words)
        except click.exceptions.Exit:
            return
        except StoppedAtLine:  # which has been shown
            self.dialogue.screen.complaints += 1
        except click.ClickException as error:
            complain(place + _reason(error))
        except (CannotAccess, WrongUsage, ValueError) as error:
            complain(place + str(error))
        except OSError as error:
            complain(f"{place}{error.filename or ''}: {error.strerror or error}")
        except StrategyFailed as error:
            complain(f"{place}{error}")
        except Exception as error:  # the session goes on, whatever fails
            complain(f"{place}{text}: {failure(error)}")

    def _invoke(self, name: str, words: list[str]) -> None:
        if name in self.commands.commands:
            with self._context(name, words) as context:
                context.command.invoke(context)
            return
        from epic_cli.session.shell_commands import on_typed_packets

        with on_typed_packets(self.dialogue, self._table), self._context(name, words) as context:
            status = context.command.invoke(context)
        self.dialogue.screen.complaints += bool(status)

    def check(self, line: str) -> WrongCommand | None:
        """What is wrong with a command, as far as can be told without running it."""
        begin = len(line) - len(line.lstrip()) + 1
        try:
            typed, words = _split(line)
            name = self.commands.find(typed)
        except click.ClickException as error:
            return WrongCommand(begin, _reason(error))
        wrong = self._wrong(name, words)
        if wrong is None:
            return None
        if not _is_final(wrong):
            return WrongCommand(len(line.rstrip()), _reason(wrong))
        counts = range(1, len(words) + 1)
        first = next(
            (count for count in counts if _is_final(self._wrong(name, words[:count]))), len(words)
        )
        return WrongCommand(_column(line, [typed, *words[:first]]), _reason(wrong))

    def _wrong(self, name: str, words: list[str]) -> click.ClickException | None:
        """What click refuses in a command with these words."""
        if any(one == "--help" or one.startswith("-h") for one in words):
            return None
        try:
            with redirect_stdout(
                io.TextIOWrapper(io.BytesIO())
            ):  # of options that show something at once
                self._context(name, words).close()
        except click.exceptions.Exit:  # help among other letters
            return None
        except click.ClickException as error:
            return error
        except StrategyFailed as error:
            return click.BadParameter(str(error))
        return None

    @cached_property
    def _table(self) -> click.Context:
        return click.Context(self.commands, obj=self.dialogue)

    def _context(self, name: str, words: list[str]) -> click.Context:
        """A command with its words parsed; raises ``click.ClickException``."""
        found = self.commands.get_command(self._table, name)
        assert found is not None
        more: dict[str, Any] = {}
        if name not in self.commands.commands:
            from epic_cli.session.shell_commands import defaults

            more["default_map"] = defaults(found, self.dialogue)
        return found.make_context(f":{name}", list(words), parent=self._table, **more)


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

    if "\0" in line:
        raise click.UsageError("there is a NUL character in it")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"{error}".lower()) from error
    return words[0].removeprefix(":"), words[1:]


def _is_final(error: click.ClickException | None) -> bool:
    """Whether it stays wrong whatever words follow: nothing is missing."""
    return error is not None and not isinstance(
        error, click.MissingParameter | click.BadOptionUsage
    )


def _column(line: str, words: list[str]) -> int:
    """The column of the last of these words in a line that begins with them."""
    at = end = 0
    for word in words:
        at = line.find(word, end)
        if at < 0:  # it is quoted
            return len(line.rstrip())
        end = at + len(word)
    return at + 1


def _reason(error: click.ClickException) -> str:
    """What is wrong; which parameter it is, the line shows."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return error.message
    return " ".join(error.format_message().split())  # click lists choices one to a line
