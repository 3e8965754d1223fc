"""What a session's commands act on: the packets, the screen, the journal, the preferences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from epic_cli.engine.failures import StrategyFailed
from epic_cli.repl.journal import Journal
from epic_cli.repl.screen import Screen
from epic_cli.repl.script import view_commands
from epic_cli.repl.session import Session
from epic_cli.terminal.errors import CannotAccess


class Preferences(NamedTuple):
    """What is shown while a person types, and which editing keys there are."""

    hints: bool = True
    proposals: bool = True
    toolbar: bool = True
    vi: bool = False


class Dialogue:
    """A session in dialogue with a person.

    While it is ``quiet``, rows and remarks are not written, only what went wrong. ``ended`` is
    set once the session has been left.
    """

    def __init__(
        self,
        session: Session,
        screen: Screen,
        journal: Journal | None = None,
        preferences: Preferences | None = None,
    ) -> None:
        self.session = session
        self.screen = screen
        self.journal = journal
        self.preferences = preferences or Preferences()
        self.earlier_lines: Callable[[], Sequence[str]] = list
        self.ended = False
        self.quiet = False
        self._recorded = False

    @property
    def prompt(self) -> str:
        """What stands in front of a typed line."""
        return f"{self.session.view.strategy}> "

    def add(self, text: bytes, name: str, first_line: int = 1) -> None:
        """Takes lines of packets; ``first_line`` is the number that refusals count from."""
        try:
            added = self.session.add(text, self.screen.writer(), self._draw, self.record_lines)
        except CannotAccess:
            raise
        except Exception as error:  # a strategy of another package may raise anything
            self.screen.complain(failure(error))
            return
        refusals = [one._replace(line=one.line + first_line - 1) for one in added.refusals]
        self.screen.report(refusals, name)
        if b"\n" in text.rstrip(b"\r\n") and refusals and not self.quiet:
            self.screen.warn(
                f"taken: {counted(added.packets, 'packet')}, refused: {len(refusals):,}"
            )
        self.ended = self.ended or added.ended

    def _draw(self, rows: bytes) -> None:
        if not self.quiet:
            self.screen.draw(rows, self.session.named)

    def draw_tail(self, count: int | None = None) -> None:
        """Draws the last rows, a windowful at most unless ``count`` is given."""
        room = count or max(min(self.screen.lines - 5, 20), 1)
        tail = self.session.tail(room, self.screen.writer())
        if tail.before:
            note = f"... {tail.before:,} rows before these"
            total = tail.before + len(tail.rows)
            self.screen.say(note if count else f"{note} (:rows {total})", "dim")
        self.screen.begin_table()
        self.screen.draw(b"".join(tail.rows), self.session.named)

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


def counted(count: int, noun: str) -> str:
    """``1 packet``, ``2 packets``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def failure(error: Exception) -> str:
    """What an exception that nobody expected says of itself."""
    if isinstance(error, StrategyFailed):
        return str(error)
    return f"{type(error).__name__}: {error}"
