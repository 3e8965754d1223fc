"""What a session's commands act on: the packets, the screen, the journal, the preferences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.metrics.digits import counted
from epic_cli.recordings.wording import FrontEnd, in_words
from epic_cli.session.journal import Journal
from epic_cli.session.screen import Screen
from epic_cli.session.session import Added, Leap, Session
from epic_cli.session.view import view_commands
from epic_cli.session.wording import (
    describe,
    discarded_words,
    failure,
    no_rows_words,
    waiting_words,
)
from epic_cli.shell.errors import CannotAccess

if TYPE_CHECKING:
    from epic_cli.recordings.addresses import Address
    from epic_cli.session.view import Drawing
    from epic_cli.shell.refused_lines import RefusedLines


#: What typed and pasted lines are called.
TYPED = "<typed>"


class Preferences(NamedTuple):
    """What is shown while a person types, and which editing keys there are."""

    hints: bool = True
    proposals: bool = True
    toolbar: bool = True
    vi: bool = False


class PacketSource(Protocol):
    """Where packets come from that no one types."""

    address: Address
    paused: bool

    @property
    def now(self) -> float | None:
        """The time (s) of its clock; None: it has not begun."""

    @property
    def words(self) -> str:
        """What it is, for the toolbar."""

    def stamped(self, text: bytes) -> bytes:
        """Typed packets, with arrivals by its clock."""

    def catch_up(self) -> None:
        """Takes what has come in meanwhile."""

    async def run(
        self, show: Callable[[Callable[[], None]], Awaitable[None]], refresh: Callable[[], object]
    ) -> None:
        """Takes what comes, beside others; ``show`` calls what writes rows."""

    def end(self) -> str:
        """Ends it; what came in, in words."""


class Dialogue:
    """A session in dialogue with a person.

    While it is ``quiet``, rows and messages are not written, only what went wrong. While it is
    ``resuming``, packets that had no place on the clock are passed over without a word: that was
    told when they were typed. ``confirm`` puts a question and says whether the answer is yes;
    None: no one is there to be asked, so what is asked for is done. ``listening`` is where packets
    come from that no one types. ``ended`` is set once the session has been left.
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
        self.resuming = False
        self.confirm: Callable[[str], bool] | None = None
        self.listening: PacketSource | None = None
        self._recorded = False
        self._drawn = False  # whether the packets added last have had rows

    @property
    def prompt(self) -> str:
        """What stands in front of a typed line."""
        return f"{self.session.view.strategy.name}> "

    def add(
        self, text: bytes, name: str, first_line: int = 1, refused: RefusedLines | None = None
    ) -> None:
        """Takes lines of packets; ``first_line`` is the number that refusals count from.

        What is refused goes to ``refused``, or to the screen.
        """
        if self.listening is not None and self.listening.now is not None:
            text = self.listening.stamped(text)
        several = b"\n" in text.rstrip(b"\r\n")
        if several and name == TYPED and self._is_other(text):
            return
        self._take(partial(self.session.add, text), name, first_line, refused, several)

    def _is_other(self, text: bytes) -> bool:
        """Whether what was pasted is a recording in another format; says how that is read."""
        from epic_cli.recordings.reading import detect

        kind = detect(text, final=True)
        if kind == "text":
            return False
        self.screen.warn(f"this looks like {kind}, not packets: :load FILE reads it from a file")
        return True

    def take(self, block: PacketBlock, name: str, refused: RefusedLines) -> None:
        """Takes packets that were read as packet text, with the session's entities."""
        self._take(partial(self.session.take, block), name, 1, refused, several=True)

    def _take(
        self,
        take: Callable[..., Added],
        name: str,
        first_line: int,
        refused: RefusedLines | None,
        several: bool,
    ) -> None:
        self._drawn = False
        allows = None if self.quiet or self.confirm is None else self._allows
        try:
            added = take(self._draw, self.record_lines, allows)
        except CannotAccess:
            raise
        except Exception as error:  # a strategy of another package may raise anything
            self.screen.complain(failure(error))
            return
        unplaced = added.unplaced
        if self.resuming:
            self.session.refused -= len(unplaced)
            unplaced = []
        refusals = sorted(added.refusals + unplaced, key=lambda one: one[:2])
        refusals = [one._replace(line=one.line + first_line - 1) for one in refusals]
        if refused is None:
            self.screen.report(refusals, name)
        else:
            refused.add(refusals)
        if not self.quiet:
            self._message(added, len(refusals), several)
        self.ended = self.ended or added.ended

    def _message(self, added: Added, refused: int, several: bool) -> None:
        """Says what the rows alone do not: what was not taken, not wanted, or has to wait."""
        if several and refused:
            self.screen.warn(f"taken: {counted(added.packets, 'packet')}, refused: {refused:,}")
        if added.discarded:
            self.screen.warn(discarded_words(self.session, added))
        if added.packets and self.listening is None:  # else the clock goes on by itself
            words = waiting_words(self.session)
            if not words and not self._drawn and not added.discarded:
                words = no_rows_words(self.session)
            if words:
                self.screen.say(words, "dim")

    def _allows(self, leap: Leap) -> bool:
        """Whether this many rows are wanted."""
        question = f"the packet of {leap.time:,.6g} s asks for about {leap.rows:,} rows: draw them?"
        if self.confirm is None or self.confirm(question):
            return True
        self.screen.say("nothing was taken")
        return False

    def _draw(self, samples: SampleBlock) -> None:
        self._drawn = True
        if not self.quiet:
            writer = self.screen.writer(self.session.named, self.session.turns)
            self.screen.draw(writer.rows(samples, self.session.entities), writer)

    # ------------------------------------------------------------- listening

    def take_live(self, text: bytes, time: float) -> bytes:
        """Takes lines of packets that arrived; the rows that are due at a time (s) of their clock.

        Raises whatever a strategy of another package raises.
        """
        rows: list[bytes] = []

        def draw(samples: SampleBlock) -> None:
            writer = self.screen.writer(self.session.named, self.session.turns)
            rows.append(writer.rows(samples, self.session.entities))

        if text:
            self.session.add(text, draw, self.record_lines)
        self.session.advance(time, draw)
        return b"".join(rows)

    def draw_windowful(self, rows: bytes) -> None:
        """Writes the last rows, no more than can be seen."""
        lines = rows.splitlines(keepends=True)
        left_out = len(lines) - self.room
        if left_out > 0:
            self.screen.say(f"... {left_out:,} rows before these", "dim")
        if lines:
            writer = self.screen.writer(self.session.named, self.session.turns)
            self.screen.draw(b"".join(lines[-self.room :]), writer)

    def stop_listening(self) -> None:
        """Listens no more, and says what came in."""
        if self.listening is not None:
            self.screen.say(f"listened on {self.listening.address}: {self.end_listening()}")

    def end_listening(self) -> str:
        """Listens no more; what came in, in words; nothing: it did not listen."""
        listening, self.listening = self.listening, None
        return "" if listening is None else listening.end()

    @property
    def room(self) -> int:
        """How many rows are a windowful."""
        return max(min(self.screen.lines - 5, 20), 1)

    def draw_tail(self, count: int | None = None, drawing: Drawing | None = None) -> None:
        """Draws the last rows, a windowful at most unless ``count`` is given.

        ``drawing``: all rows have just been drawn.
        """
        writer = self.screen.writer(self.session.named, self.session.turns)
        drawing = drawing or self.session.drawing(count or self.room)
        tail = drawing.tail(writer)
        if tail.before:
            note = f"... {tail.before:,} rows before these"
            total = tail.before + len(tail.rows)
            self.screen.say(note if count else f"{note} (:rows {total})", "dim")
        self.screen.begin_table()
        self.screen.draw(b"".join(tail.rows), writer)

    def change_view(self, view: ReplaySpec, what: str) -> None:
        """Replays the packets in another view, draws the last rows and says what is different."""
        session = self.session
        if self.quiet or not session.packets:
            session.change(view)
            if not self.quiet:
                self.screen.say(what)
            return
        change = session.change(view, self.room)
        self.draw_tail(drawing=change.after)
        self.screen.say(f"{what}: {describe(change)}", "good")
        if change.refusals:
            first = in_words(change.refusals[0], FrontEnd.SESSION)
            self.screen.warn(
                f"{len(change.refusals):,} of {len(session.packets):,} packets are left out;"
                f" packet {first.line}: {first.what}; expected {first.expected}"
            )

    # ------------------------------------------------------------- the journal

    def record(self, command: str) -> None:
        """Keeps a command that changed the packets or their view.

        Before the first packet there is nothing to keep: the view then stands above it.
        """
        if self._recorded or self.session.packets:
            self.record_lines(f"{command}\n".encode())

    def record_lines(self, lines: bytes) -> None:
        """Keeps lines in the journal; the view that they were typed under comes first."""
        if self.journal is None:
            return
        if not self._recorded and self.journal.path is None:
            lines = "".join(f"{one}\n" for one in view_commands(self.session.view)).encode() + lines
        self._recorded = True
        self.journal.write(lines)
