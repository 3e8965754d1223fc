"""``epic listen``: Take in packets of a running game; draw, record them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from epic_cli.engine.packets import Entities, SampleBlock
from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import DEFAULT
from epic_cli.engine.text.rows import RowWriter
from epic_cli.formats.wording import FrontEnd, in_words
from epic_cli.live.addresses import Address, resolve
from epic_cli.live.captures.writing import RawRecording
from epic_cli.live.decoding import Decoder
from epic_cli.live.forwarding import Forwarder, Target
from epic_cli.live.intake import Counts
from epic_cli.live.listening import Listener
from epic_cli.live.packet_filter import PacketFilter
from epic_cli.live.receiving import ReceivingSocket, is_group
from epic_cli.live.recording import GrowingRecording
from epic_cli.live.stopping import end_by, run_until_stopped
from epic_cli.live.whole_files import Rotation
from epic_cli.ui.io.color import ColorChoice, use_color
from epic_cli.ui.io.console import screen_columns
from epic_cli.ui.io.dropping_writer import DroppingWriter
from epic_cli.ui.io.errors import CannotAccess, ExitStatus, WrongUsage, say
from epic_cli.ui.io.output import Sink, open_sink
from epic_cli.ui.io.report import report_problem
from epic_cli.ui.options.common import color_option, quiet_option, strategy_options, tick_option
from epic_cli.ui.options.groups import given_options
from epic_cli.ui.options.listen import (
    IntakeOptions,
    RowsOptions,
    intake_options,
    rows_options,
)
from epic_cli.ui.options.live import ADDRESS
from epic_cli.views.listening import losses, summary

Draw = Callable[[SampleBlock, Entities], object]

Recording = TypeVar("Recording", GrowingRecording, RawRecording)

EXAMPLES = """\b
Examples:
  epic listen --format table --strategy snapshot
  epic listen --record game.csv --format csv 0.0.0.0:9870 > rows.csv
  epic listen --layout 'time:u32*0.001 x:f32 y:f32 z:f32 id:u16' -f csv
  epic listen --columns time=ts,x=pos.0,y=pos.2 --time-unit ms --axes xy
"""


@click.command(epilog=EXAMPLES)
@click.argument("address", type=ADDRESS, metavar="[[HOST:]PORT]", default="127.0.0.1:9870")
@strategy_options(
    "--strategy",
    DEFAULT,
    "The smoothing strategy; 'epic strategies' lists them.",
    "Set one of the strategy's settings; may be repeated.",
)
@tick_option
@intake_options
@rows_options
@quiet_option
@color_option
@click.pass_context
def listen(
    context: click.Context,
    /,
    address: Address,
    chosen: StrategySpec,
    tick: Ratio,
    intake: IntakeOptions,
    rows: RowsOptions,
    quiet: bool,
    color: ColorChoice,
) -> int:
    """Take in packets of a running game as UDP datagrams, and draw them while they come.

    A datagram is one or more lines of packet text, CSV under a header, JSON objects or an array of
    them, or binary records. What a player would see is drawn when it is due by the real clock,
    whether or not a packet came: on a terminal as a map that fills the screen, with the figures of
    the link and of the strategy, and keys (? shows them) to change that; otherwise, or with an
    option of the rows, as rows. Without a HOST nothing is heard but this machine (127.0.0.1:9870).

    Exit status: 0 done, 2 wrong usage, 3 the address cannot be listened on or a file not be
    written, 4 a strategy of somebody's own failed, 130 interrupted.
    """
    if intake.records is not None and (intake.given or intake.packet_format):
        raise WrongUsage("--layout says all of binary records: leave the other options away")
    given = given_options(context)
    on_screen = rows.wants_screen(given)
    tick = SCREEN_TIMING.tick if on_screen and "tick" not in given else tick
    if rows.rotation is not None and rows.record is None and rows.raw is None:
        raise WrongUsage("--rotate needs --record or --raw")
    make_strategy = chosen.maker()
    make_strategy()  # a wrong setting shows before anything is heard
    with contextlib.ExitStack() as stack:
        receiving = _receiving(address, intake.interface)
        stack.callback(receiving.close)
        sender = None
        if intake.sender is not None:
            sender = _resolved("take packets from", intake.sender)
        recording, raw = _recordings(rows, receiving, stack)
        gate = PacketFilter(
            intake.max_entities,
            intake.origin,
            intake.entity,
            single=rows.row_format == "epic" and (rows.output is not None or not on_screen),
            limits=recording.limits if recording else None,
        )
        where = str(address._replace(port=receiving.port))
        screen = _Screen(chosen, tick, where, receiving) if on_screen else None
        written = None
        if rows.output is not None or screen is None:
            written = _Rows(rows, color, stack.enter_context(open_sink(rows.output)))
        said = _Said(quiet, use_color(color, sys.stderr), receiving, written)
        draw = _drawing([screen, written], rows.forward, receiving, stack)
        listener = Listener(
            receiving=receiving,
            decoder=Decoder(intake.packet_format, intake.given, intake.records),
            gate=gate,
            make_strategy=make_strategy,
            tick=tick,
            draw=draw,
            report=_nothing if screen else said.report,
            recording=recording,
            raw=raw,
            sender=sender,
            taken=screen.monitor.taken if screen else None,
        )
        try:
            if screen:
                stopped = screen.run(listener, intake.duration, (rows.record, recording), color)
            else:
                said.say(f"epic: listening on {where}\n")
                stopped = run_until_stopped(listener.run(intake.duration))
        except BrokenPipeError:
            raise
        except OSError as error:
            action, name = ("record in", error.filename) if error.filename else ("listen on", where)
            raise CannotAccess(action, name, error) from error
        finally:
            said.end(listener, lambda: _recorded(rows, recording, raw))
    if stopped is not None:
        end_by(stopped)
        return ExitStatus.INTERRUPTED
    return ExitStatus.DONE


def _recordings(
    rows: RowsOptions, receiving: ReceivingSocket, stack: contextlib.ExitStack
) -> tuple[GrowingRecording | None, RawRecording | None]:
    """Those that were asked for; raises ``CannotAccess``."""
    recording, raw = None, None
    if rows.record is not None:
        recording = _growing(rows.record, lambda path: GrowingRecording(path, rows.rotation))
        stack.callback(recording.close)
    if rows.raw is not None:
        place = receiving.socket.getsockname()
        raw = _growing(rows.raw, lambda path: RawRecording(path, place, rows.rotation))
        stack.callback(raw.close)
    return recording, raw


def _recorded(
    rows: RowsOptions, recording: GrowingRecording | None, raw: RawRecording | None
) -> str:
    """How much is in which files: lines."""
    lines = ""
    if recording is not None:
        where = _where(rows.record, recording.files, rows.rotation)
        lines += f"{recording.recorded:,} packets recorded in {where}\n"
    if raw is not None:
        where = _where(rows.raw, raw.files, rows.rotation)
        lines += f"{raw.recorded:,} datagrams recorded in {where}\n"
    return lines


def _where(path: str | None, files: int, rotation: Rotation | None) -> str:
    many = f"{files:,} numbered file" + "s" * (files != 1)
    return f"{path}" if rotation is None else f"{path}, in {many}"


def _resolved(action: str, address: Address) -> tuple[object, ...]:
    try:
        return resolve(address).place
    except OSError as error:
        raise CannotAccess(action, str(address), error) from error


def _receiving(address: Address, interface: str | None) -> ReceivingSocket:
    try:
        place = resolve(address)
        if interface is not None and not is_group(place):
            raise WrongUsage("--interface is for the address of a multicast group")
        return ReceivingSocket(place, interface)
    except OSError as error:
        raise CannotAccess("listen on", str(address), error) from error


def _growing(path: str, make: Callable[[str], Recording]) -> Recording:
    try:
        return make(path)
    except OSError as error:
        raise CannotAccess("record in", error.filename or path, error) from error


def _forwarder(target: Target, receiving: ReceivingSocket) -> Forwarder:
    try:
        place = resolve(target.address)
        if place.place[:2] == receiving.socket.getsockname()[:2]:
            raise WrongUsage(
                f"--forward {target.plotter} would send to {target.address}, which is listened on:"
                " give one of them another port"
            )
        return Forwarder(target.plotter, place)
    except OSError as error:
        raise CannotAccess("send to", str(target.address), error) from error


def _drawing(
    draws: Iterable[Draw | None],
    forward: Target | None,
    receiving: ReceivingSocket,
    stack: contextlib.ExitStack,
) -> Draw:
    """Those of these that there are, and another program, take what is drawn."""
    all_of_them = [one for one in draws if one is not None]
    if forward is not None:
        forwarder = _forwarder(forward, receiving)
        stack.callback(forwarder.close)
        all_of_them.append(forwarder)
    if len(all_of_them) == 1:
        return all_of_them[0]
    return lambda *drawn: [draw(*drawn) for draw in all_of_them]


class _Rows:
    """Writes what is drawn, each tick at once, to a file or a pipe."""

    def __init__(self, rows: RowsOptions, color: ColorChoice, sink: Sink) -> None:
        width = screen_columns(sink) if sink.isatty() else None
        self._writer = RowWriter(rows.row_format, use_color(color, sink), width)
        sink.write(self._writer.header())
        sink.flush()
        self._sink = DroppingWriter(sink)

    def __call__(self, samples: SampleBlock, entities: Entities) -> None:
        """Writes rows."""
        self._sink.write(self._writer.rows(samples, entities), len(samples))

    def end(self) -> None:
        """Nothing more comes; raises what writing has raised."""
        self._sink.end()

    @property
    def left_out(self) -> str:
        """How many rows nobody has read in time: a line, or nothing."""
        count = self._sink.left_out
        return f"{count:,} rows left out, since the output is not read\n" if count else ""


class _Screen:
    """The screen."""

    def __init__(
        self,
        chosen: StrategySpec,
        tick: Ratio,
        where: str,
        receiving: ReceivingSocket,
    ) -> None:
        # rows alone wait for neither numpy nor prompt_toolkit
        from epic_cli.ui.screens.cells import speaks_unicode
        from epic_cli.ui.screens.listen.choice import Choice
        from epic_cli.ui.screens.listen.map import ASCII, UNICODE
        from epic_cli.ui.screens.listen.monitor import Monitor

        choice = Choice(chosen.name, {**chosen.settings})
        symbols = UNICODE if speaks_unicode() else ASCII
        self.monitor = Monitor(choice, tick[0] / tick[1], symbols, where, receiving)

    def __call__(self, samples: SampleBlock, _: Entities) -> None:
        """Takes what was drawn."""
        self.monitor.drawn(samples)

    def run(
        self,
        listener: Listener,
        duration: float,
        recording: tuple[str | None, GrowingRecording | None],
        color: ColorChoice,
    ) -> int | None:
        """Shows it; the number of the signal that ended it."""
        from epic_cli.ui.screens.listen.program import show_on_terminal

        self.monitor.follow(listener, *recording)
        return show_on_terminal(self.monitor, listener.run(duration), use_color(color, sys.stdout))


def _nothing(*_: object) -> None:
    """Nobody looks on."""


class _Said:
    """Says what is new about what was refused."""

    def __init__(
        self, quiet: bool, color: bool, receiving: ReceivingSocket, written: _Rows | None
    ) -> None:
        self._quiet = quiet
        self._color = color
        self._receiving = receiving
        self._written = written
        self._last = ""
        self._shown = False

    def say(self, text: str) -> None:
        """Says what may be left out."""
        if not self._quiet:
            say(text)

    @property
    def _left_out(self) -> str:
        """The rows that nobody has read in time: a line, or nothing."""
        return "" if self._written is None else self._written.left_out

    def end(self, listener: Listener, recorded: Callable[[], str]) -> None:
        """Waits for the rows, and says what has come in, and what was ``recorded``."""
        try:
            if self._written is not None:
                self._written.end()
        finally:
            drops = self._receiving.dropped, self._receiving.queue
            words = summary(listener.counts, len(listener.entities), *drops)
            self.say(words + self._left_out + recorded())

    def report(self, counts: Counts) -> None:
        """The counts, and what is wrong with the first line that was refused."""
        if counts.example is not None and not self._shown and not self._quiet:
            self._shown = True
            problem = in_words(counts.example, FrontEnd.COMMAND_LINE)
            report_problem(problem, "<datagram>", self._color)
        words = losses(counts, self._receiving.dropped, self._receiving.queue) + self._left_out
        if words != self._last:
            self._last = words
            self.say(words)
