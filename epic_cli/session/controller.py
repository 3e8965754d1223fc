"""The controller of a session, which runs lines: packets, and commands that begin with a colon.

Typed lines, pastes, ``--init`` files and the journal are all run this way.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cached_property, partial
from math import inf, isfinite
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import SampleBlock
from epic_cli.engine.places import make_absolute
from epic_cli.engine.replay.playback import TIMING
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.metrics.digits import format_count
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.recordings.writing import write_number, write_value
from epic_cli.session.journal import SessionJournal
from epic_cli.session.state import (
    TYPED,
    AppendResult,
    DrawingStopped,
    RowTail,
    Session,
    TickGap,
    ViewChange,
)
from epic_cli.session.terminal import Screen, describe_failure
from epic_cli.shell.errors import StoppedAtLine, WrongUsage

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample
    from epic_cli.session.listening import Listening
    from epic_cli.session.shell_commands import CommandTable
    from epic_cli.shell.refused_lines import RefusedLines

#: Words of other programs that are no packets, and the commands they mean.
BARE = {b"help": b":help", b"?": b":help", b"exit": b":quit", b"quit": b":quit"}


class WrongCommand(NamedTuple):
    """A mistake in a typed command: the message, and the column in the line."""

    column: int
    message: str


class SessionController:
    """A session with a person, or with a script.

    While it is ``quiet``, rows and messages are not written, only errors. While it is ``resuming``,
    packets without a place on the clock are skipped silently: they were reported when they were
    typed. ``confirm`` asks a question and returns True for yes; None: there is no person to ask, so
    every request is granted. ``listening`` is the source of packets that are not typed. ``ended``
    is set at the session's end.
    """

    def __init__(
        self,
        session: Session,
        screen: Screen,
        load_commands: Callable[[], CommandTable],
        journal: SessionJournal | None = None,
        hints: bool = True,
        proposals: bool = True,
    ) -> None:
        self._load_commands = load_commands  # they import this module
        self.session = session
        self.screen = screen
        self.journal = journal
        self.hints = hints
        self.proposals = proposals
        self.ended = False
        self.quiet = False
        self.resuming = False
        self.confirm: Callable[[str], bool] | None = None
        self.listening: Listening | None = None
        self._recorded = False
        self._drawn = False  # whether the last packets have had rows

    @property
    def prompt(self) -> str:
        """The text of the prompt before the next typed line."""
        return f"{self.session.view.strategy.name}> "

    @cached_property
    def commands(self) -> CommandTable:
        """The table of commands; packets can be typed before it is loaded."""
        return self._load_commands()

    # ------------------------------------------------------------- lines

    def run(self, text: bytes, name: str = TYPED) -> None:
        """Run lines in order: packets up to the next command, that command, and so on.

        ``q`` at the start of a line of packets, or ``:quit``, ends the session.
        """
        text = BARE.get(text.strip().lower(), text)
        try:
            for first_line, piece in _split_commands(text):
                if self.ended:
                    return
                if piece.lstrip()[:1] == b":":
                    self._run_command(piece, f"{name}:{first_line}: " if b"\n" in text else "")
                else:
                    self.add(piece, name, partial(add, first_line - 1))
        except DrawingStopped as stop:
            self.screen.report_interrupt(_describe_interrupt(stop))
        except KeyboardInterrupt:
            self.screen.report_interrupt("interrupted")

    def run_quietly(self, text: bytes, name: str) -> None:
        """Run a script without drawing rows; report its problems."""
        self.quiet = True
        try:
            self.run(text, name)
        finally:
            self.quiet = self.ended = False

    def _run_command(self, line: bytes, place: str) -> None:
        text = line.decode("utf-8", "replace").strip()
        complain = self.screen.complain
        try:
            typed, words = _split_words(text)
            self.invoke(self.commands.find(typed), words)
        except click.exceptions.Exit:
            return
        except StoppedAtLine:  # which has been shown
            self.screen.complaints += 1
        except TableRefusal as refused:
            from epic_cli.shell.refused_lines import describe_refusal

            complain(describe_refusal(refused).rstrip("\n"))
        except click.ClickException as error:
            complain(place + _format_reason(error))
        except (CannotAccess, WrongUsage, ValueError, StrategyFailed) as error:
            complain(place + str(error))
        except OSError as error:
            if isinstance(error, BrokenPipeError) and not self.screen.shows_messages:
                raise  # the reader of a script's rows has closed the pipe
            complain(f"{place}{error.filename or text}: {error.strerror or error}")
        except Exception as error:  # the session continues, whatever fails
            complain(f"{place}{text}: {describe_failure(error)}")

    def invoke(self, name: str, words: list[str]) -> None:
        """Run the command with this name and these words; raise its errors."""
        running = self.commands.run_attached(name, self.root, self.screen, self.session.lines)
        with running, self._make_context(name, words) as context:
            self.screen.complaints += bool(context.command.invoke(context))

    def check(self, line: str) -> WrongCommand | None:
        """Return the first mistake that a command's words show before it runs; None without one."""
        begin = len(line) - len(line.lstrip()) + 1
        try:
            typed, words = _split_words(line)
            name = self.commands.find(typed)
        except click.ClickException as error:
            return WrongCommand(begin, _format_reason(error))
        wrong = self._find_error(name, words)
        if wrong is None:
            return None
        if not _is_lasting_error(wrong):
            return WrongCommand(len(line.rstrip()), _format_reason(wrong))
        first = next(
            (
                count
                for count in range(1, len(words) + 1)
                if _is_lasting_error(self._find_error(name, words[:count]))
            ),
            len(words),
        )
        return WrongCommand(_find_column(line, [typed, *words[:first]]), _format_reason(wrong))

    def _find_error(self, name: str, words: list[str]) -> click.ClickException | None:
        """Return click's error for a command with these words, or None if the words are valid."""
        if any(word == "--help" or word.startswith("-h") for word in words):
            return None
        try:
            # some options show something at once
            with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                self._make_context(name, words).close()
        except click.exceptions.Exit:  # help among other letters
            return None
        except click.ClickException as error:
            return error
        except (StrategyFailed, WrongUsage, CannotAccess) as error:
            return click.BadParameter(str(error))
        return None

    @cached_property
    def root(self) -> click.Context:
        """The click context of all commands."""
        return click.Context(self.commands, obj=self)

    def _make_context(self, name: str, words: list[str]) -> click.Context:
        """Parse a command's words to a click context; raise ``click.ClickException``."""
        found = self.commands.get_command(self.root, name)
        assert found is not None
        defaults = self.commands.list_defaults(found, self.session.view, self.screen.color)
        return found.make_context(f":{name}", list(words), parent=self.root, default_map=defaults)

    # ------------------------------------------------------------- packets

    def add(
        self,
        text: bytes,
        name: str,
        number: Callable[[int], int] = int,
        refused: RefusedLines | None = None,
    ) -> None:
        """Add lines of packets; ``number`` converts a line of the text to one of the recording.

        Refused lines go to ``refused``, or to the screen.
        """
        if self.listening is not None and self.listening.now is not None:
            text = self.listening.stamp_arrivals(text)
        several = b"\n" in text.rstrip(b"\r\n")
        if several and name == TYPED:
            from epic_cli.recordings.reading import detect

            kind = detect(text, final=True)
            if kind != "text":
                what = f"this looks like {kind}, not packets"
                self.screen.warn(f"{what}: save it to a file, and :load FILE")
                return
        self._drawn = False
        allows = None if self.quiet or self.confirm is None else self._confirm_rows
        try:
            added = self.session.add(text, self._draw_samples, self.record_lines, allows)
        except (CannotAccess, BrokenPipeError):
            raise
        except Exception as error:  # a strategy of another package may raise anything
            self.screen.complain(describe_failure(error))
            return
        unplaced = added.unplaced
        if self.resuming:
            self.session.refused -= len(unplaced)
            unplaced = []
        refusals = sorted(added.refusals + unplaced, key=lambda refusal: refusal[:2])
        refusals = [refusal._replace(line=number(refusal.line)) for refusal in refusals]
        if refused is None:
            self.screen.report(refusals, name)
        else:
            refused.add(refusals)
        if not self.quiet:
            self._report_missing_rows(added, len(refusals), several)
        self.ended = self.ended or added.ended

    def _report_missing_rows(self, added: AppendResult, refused: int, several: bool) -> None:
        """Report packets that the rows do not show: refused, discarded or waiting ones."""
        if several and refused:
            self.screen.warn(
                f"added: {format_count(added.packets, 'packet')}, refused: {refused:,}"
            )
        if added.discarded:
            self.screen.warn(_describe_discarded_packets(self.session, added))
        if added.packets and self.listening is None:  # else the clock runs by itself
            words = _explain_waiting(self.session)
            if not words and not self._drawn and not added.discarded:
                words = _explain_no_rows(self.session)
            self.screen.say(words, "dim")

    def _confirm_rows(self, gap: TickGap) -> bool:
        """Ask whether to draw the very many rows of a packet; return True for yes."""
        question = f"the packet of {gap.time:,.6g} s asks for about {gap.rows:,} rows: draw them?"
        if self.confirm is None or self.confirm(question):
            return True
        self.screen.say("no packet was added")
        return False

    # ------------------------------------------------------------- rows

    def _draw_samples(self, samples: SampleBlock) -> None:
        self._drawn = True
        if not self.quiet:
            writer = self.screen.make_writer(self.session.named, self.session.turns)
            self.screen.draw(writer.rows(samples, self.session.entities), writer)

    def draw_tail(self, count: int | None = None, drawn: RowTail | None = None) -> None:
        """Draw the last ``count`` rows, by default as many as fit the window.

        ``drawn`` is the tail of a replay that has just been made.
        """
        writer = self.screen.make_writer(self.session.named, self.session.turns)
        drawn = drawn or self.session.draw_all(count or self.screen.room)
        rows = drawn.list_rows(writer)
        before = drawn.count - len(rows)
        if before:
            note = f"... {before:,} rows before these"
            self.screen.say(note if count else f"{note} (:rows {drawn.count})", "dim")
        self.screen.begin_table()
        self.screen.draw(b"".join(rows), writer)

    def change_view(self, view: ReplaySpec, what: str) -> None:
        """Replay the packets in another view, draw the last rows and describe what has changed."""
        session, before = self.session, self.session.view
        is_shown = session.lines and not self.quiet
        change = session.change(view, self.screen.room if is_shown else 0)
        for command in iterate_view_changes(before, view):
            self.record(command)
        if not is_shown:
            if not self.quiet:
                self.screen.say(what)
            return
        self.draw_tail(drawn=change.after)
        self.screen.say(f"{what}: {_describe_change(change)}", "good")
        if change.refusals:
            first = word_refusal(change.refusals[0], FrontEnd.SESSION)
            self.screen.warn(
                f"{len(change.refusals):,} of {len(session.lines):,} packets are left out;"
                f" packet {first.line}: {first.what}; expected {first.expected}"
            )

    # ------------------------------------------------------------- listening

    def stop_listening(self) -> None:
        """Stop listening, and report what was received."""
        if self.listening is not None:
            self.screen.say(f"listened on {self.listening.address}: {self.end_listening()}")

    def end_listening(self) -> str:
        """Stop listening; return a sentence about the received packets, or empty text."""
        listening, self.listening = self.listening, None
        return "" if listening is None else listening.end()

    # ------------------------------------------------------------- the journal

    def record(self, command: str) -> None:
        """Write a command that changed the packets or their view to the journal.

        Before the first packet the command is not written: the view will then stand above that
        packet.
        """
        if self._recorded or self.session.lines:
            self.record_lines(f"{command}\n".encode())

    def record_lines(self, lines: bytes) -> None:
        """Write lines to the journal, below the view in which they were typed."""
        if self.journal is None:
            return
        if not self._recorded and self.journal.path is None:
            view = iterate_view_changes(ReplaySpec(), self.session.view)
            lines = "".join(f"{command}\n" for command in view).encode() + lines
        self._recorded = True
        self.journal.write(lines)


def iterate_view_changes(before: ReplaySpec, after: ReplaySpec) -> Iterator[str]:
    """Yield the commands that turn one view into another, valid in any folder."""
    if after.strategy[:2] != before.strategy[:2]:
        values = (f"+{key}={write_value(value)}" for key, value in after.strategy.settings.items())
        yield f":strategy {shlex.quote(make_absolute(after.strategy.name) + ''.join(values))}"
    for setting in TIMING:
        value = getattr(after.timing, setting.name)
        if value != getattr(before.timing, setting.name):
            yield f":{setting.name} {setting.write(value)}"


# ------------------------------------------------------------- words


def format_seconds(time: float) -> str:
    """Format a time (s) for messages."""
    return f"{write_number(round(time, 3))} s"


def _explain_waiting(session: Session) -> str:
    """Explain why the newest rows are not drawn yet; empty if all are drawn."""
    drawn, promised = session.horizon
    if not drawn < promised:
        return ""
    if session.timing_in_force.pacing != "demo":
        start = format_seconds(drawn)
        return f"rows from {start} on wait for the next packet (:rows draws them now)"
    return (
        f"rows up to {format_seconds(promised)} wait for the other entities' packets"
        " (:rows draws them now)"
    )


def _explain_no_rows(session: Session) -> str:
    """Explain why an accepted packet has no rows although no rows wait to be drawn."""
    drawn = session.horizon[0]
    if not isfinite(drawn):
        return "no row yet: no clock reaches this packet's time"
    return f"no row yet: rows are drawn up to {format_seconds(drawn)}, beyond this packet's time"


def _describe_discarded_packets(session: Session, added: AppendResult) -> str:
    """Return a message about the packets that the strategy discarded, with the reason if known."""
    strategy = session.view.strategy.name
    if added.packets > 1:
        packets = f"{added.discarded:,} of {format_count(added.packets, 'packet')}"
        return f"discarded by {strategy}: {packets}, mostly late ones"
    *earlier, packet = session.list_last_packets(len(session.lines))
    if not isfinite(packet.time):
        return f"discarded by {strategy}: the packet's time is not finite"
    newest = max((other.time for other in earlier if other.entity == packet.entity), default=-inf)
    if packet.time > newest:
        return f"discarded by {strategy}: the packet of {format_seconds(packet.time)}"
    whose = f" of {packet.entity}" if packet.entity else ""
    late = f"late: there is a packet{whose} of {format_seconds(newest)} already"
    return f"{late}; {strategy} discards the one of {format_seconds(packet.time)}"


def _describe_interrupt(stop: DrawingStopped) -> str:
    """Return a message on how far an interrupted replay got, and where the clock continues."""
    drawn = "among the first rows" if stop.drawn is None else f"after {format_seconds(stop.drawn)}"
    return (
        f"stopped {drawn}; the packets are kept, and the clock continues from"
        f" {format_seconds(stop.clock)}"
        " (:rows draws the last rows, :undo takes a packet back)"
    )


def _describe_change(change: ViewChange) -> str:
    """Return a message on how a change of the view changed the rows."""
    rows = format_count(change.after.count, "row")
    if change.different is None:
        return f"{format_count(change.before.count, 'row')} -> {rows}"
    if not change.different:
        return f"{rows}, all as before"
    text = f"{change.different:,} of {rows} differ"
    before, after = _format_position(change.before.last), _format_position(change.after.last)
    if before and after and before != after:
        text += f", the last is {after}, was {before}"
    return text


def _format_position(sample: Sample | None) -> str:
    """Format a sample's position with the digits of a table; empty if nothing is drawn."""
    if sample is None or sample.status == "none":
        return ""
    return ",".join(f"{coordinate:.2f}" for coordinate in sample.position)


# ------------------------------------------------------------- lines of commands


def _split_commands(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each command, and the packets between commands, with the number of the first line."""
    if b":" not in text:
        yield 1, text
        return
    packets: list[bytes] = []
    first = 1
    for line_number, line in enumerate(text.split(b"\n"), 1):
        if line.lstrip()[:1] == b":":
            if packets:
                yield first, b"".join(packets)
            packets, first = [], line_number + 1
            yield line_number, line
        else:
            packets.append(line + b"\n")
    if packets:
        yield first, b"".join(packets)


def _split_words(line: str) -> tuple[str, list[str]]:
    """Split a command into its name and its words, quoted as in a shell."""
    if "\0" in line:
        raise click.UsageError("the command has a NUL character: leave it out")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"{error}".lower()) from error
    return words[0].removeprefix(":"), words[1:]


def _is_lasting_error(error: click.ClickException | None) -> bool:
    """Return True if typing more words cannot mend the error.

    A missing word is not a lasting error.
    """
    missing: tuple[Any, ...] = (click.MissingParameter, click.BadOptionUsage)
    return error is not None and not isinstance(error, missing)


def _find_column(line: str, words: list[str]) -> int:
    """Return the column, in a line that begins with these words, of the last word."""
    at = end = 0
    for word in words:
        at = line.find(word, end)
        if at < 0:  # the word is quoted
            return len(line.rstrip())
        end = at + len(word)
    return at + 1


def _format_reason(error: click.ClickException) -> str:
    """Return the error's message without the parameter's name, which the line shows already."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return error.message
    return " ".join(error.format_message().split())  # click lists choices one a line
