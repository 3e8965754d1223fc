"""``epic replay``: packets to rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.replay import ReplayOptions, replay_options
from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text.rows import RowWriter
from epic_cli.playback import SampleStream, needs_estimates
from epic_cli.terminal.color import use_color
from epic_cli.terminal.console import screen_columns
from epic_cli.terminal.errors import ExitStatus, StoppedAtLine, WrongUsage, say
from epic_cli.terminal.output import Sink, open_sink
from epic_cli.terminal.remarks import Reporter
from epic_cli.terminal.sources import blocks, source_name

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

EXAMPLES = """\b
Examples:
  epic replay sample_inputs/turn.txt
  epic replay --set calc_ahead=0.1 sample_inputs/turn.txt
  epic replay --format csv --output rows.csv sample_inputs/jitter.txt
  tail -f packets.txt | epic replay --format table
"""


@click.command(epilog=EXAMPLES)
@replay_options
def replay(options: ReplayOptions) -> int:
    """Turn packets into what a player would see, one row per tick.

    Packets are lines "x,y,z / vx,vy,vz / t [key=value ...]", CSV with a header, or JSON lines,
    from the FILEs or, without any or for "-", from standard input. Several files are replayed
    one after the other, each from a fresh start. A line that begins with q ends packet text.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a strategy of somebody's own failed, 130 interrupted.
    """
    return run(options)


def run(options: ReplayOptions) -> ExitStatus:
    """Writes the rows of all files; raises what the program turns into a message and a status."""
    make_strategy = options.chosen.maker()  # wrong settings show before any row
    if options.timing.latency is not None and options.timing.pacing == "demo":
        raise WrongUsage("--latency sets arrival times, which --pacing demo ignores")
    refused = False
    with open_sink(options.output) as sink:
        width = screen_columns(sink) if sink.isatty() else None
        writer = RowWriter(options.row_format, use_color(options.color, sink), width)
        sink.write(writer.header())
        if writer.left_out and width:
            from epic_cli.wording import left_out_words  # most screens have room for all

            how = "a wider window or another --format"
            if not options.remarks.quiet:
                say(left_out_words(writer.left_out, width, how) + "\n")
        error_color = use_color(options.color, sys.stderr)
        for file in options.files or ("-",):
            recording = _Recording(file, options, error_color)
            try:
                with recording.reporter:
                    recording.replay(make_strategy, writer, sink)
            except StrategyFailed as failure:
                if failure.packet_line:
                    failure.place = f"{recording.name}:{failure.packet_line}"
                raise
            refused |= recording.reporter.refused
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


class _Recording:
    """A recording to be replayed, and what to do about the lines of it that are refused."""

    def __init__(self, file: str, options: ReplayOptions, color: bool) -> None:
        self._file = file
        self.name = source_name(file)
        self._options = options
        self.reporter = Reporter(self.name, options.remarks, color)
        self._estimated = False

    def replay(
        self, make_strategy: Callable[[], SmoothingStrategy], writer: RowWriter, sink: Sink
    ) -> None:
        """Writes the recording's rows."""
        options = self._options
        stream = SampleStream(make_strategy, options.timing, options.strict)
        second: tuple[int, str] | None = None
        for block in blocks(self._file, options.input_format, options.given, self.reporter):
            self.reporter.save(options.saving, options.given)
            self._say_estimated(block, make_strategy)
            if options.entity is not None:
                block.keep_entity(options.entity)
            elif writer.format == "epic":
                second = block.cut_at_second_entity()
                if second is not None:
                    block.refusals = [one for one in block.refusals if one.line < second[0]]
            for samples in stream.feed(block):
                sink.write(writer.rows(samples, block.entities))
            sink.flush()
            if block.refusals:
                if options.strict:
                    self.reporter.stop(block.refusals[0])
                    raise StoppedAtLine
                self.reporter.refuse(block.refusals)
            if second is not None:
                line, entity = second
                raise WrongUsage(
                    f"{self.name}:{line}: a second entity, {entity!r}, for which the epic format"
                    " has no column; choose one with --entity, or another --format"
                )
        self._check_entity(block)
        for samples in stream.finish():
            sink.write(writer.rows(samples, block.entities))
        sink.flush()

    def _check_entity(self, block: PacketBlock) -> None:
        wanted = self._options.entity
        names = [block.entities.name(number) for number in range(len(block.entities))]
        if wanted is not None and wanted not in names:
            there = ", ".join(map(repr, names)) or "none"
            raise WrongUsage(f"{self.name}: no packet of entity {wanted!r}; there are {there}")

    def _say_estimated(
        self, block: PacketBlock, make_strategy: Callable[[], SmoothingStrategy]
    ) -> None:
        if not self._estimated and block.lacks_velocity():
            self._estimated = True
            if needs_estimates(make_strategy()):
                self.reporter.estimated()
