"""``epic replay``: packets to rows."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from epic_cli.cli.color import ColorChoice, use_color
from epic_cli.cli.errors import CannotAccess, ExitStatus, WrongUsage
from epic_cli.cli.options import color_option, strategy_options, timing_options
from epic_cli.cli.output import Sink, open_sink
from epic_cli.cli.report import report
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.rows import FORMATS, RowWriter
from epic_cli.engine.strategies import create
from epic_cli.playback import SampleStream, Timing
from epic_cli.recordings import INPUT_FORMATS, InputFormat, read

EXAMPLES = """\b
Examples:
  epic replay sample_inputs/turn.txt
  epic replay --set calc_ahead=0.1 --set display_behind=0.1 sample_inputs/turn.txt
  epic replay --format csv --output rows.csv sample_inputs/jitter.txt
  tail -f packets.txt | epic replay --format table
"""


class Job(NamedTuple):
    """What to do with each recording."""

    strategy: str
    settings: dict[str, Any]
    timing: Timing
    entity: str | None
    input_format: InputFormat
    strict: bool
    color: bool


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE]...")
@strategy_options
@timing_options
@click.option(
    "-f", "--format", "row_format", type=click.Choice(FORMATS), default="epic", show_default=True,
    help="How rows are written; epic is the demo's own format.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(), help="Write the rows to a file, whole or not.")
@click.option("--entity", help="Replay only the packets of this entity.")
@click.option(
    "--input-format", type=click.Choice(INPUT_FORMATS), default="auto", show_default=True,
    help="How packets are written; auto looks at the first line.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Stop at the first line that is refused.")
@color_option
def replay(
    files: tuple[str, ...],
    strategy: str,
    assignments: tuple[tuple[str, str], ...],
    tick: tuple[int, int],
    clock: Any,
    pacing: Any,
    latency: float | None,
    row_format: str,
    output: str | None,
    entity: str | None,
    input_format: InputFormat,
    strict: bool,
    color: ColorChoice,
) -> int:
    """Turn packets into what a player would see, one row a tick.

    Packets are lines "x,y,z / vx,vy,vz / t [key=value ...]", CSV with a header, or JSON lines,
    from the FILEs or, without any or for "-", from standard input. Several files are replayed
    one after the other, each from a fresh start. A line that begins with q ends a recording.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    job = Job(
        strategy,
        dict(assignments),
        Timing(tick, clock, pacing, latency),
        entity,
        input_format,
        strict,
        use_color(color, sys.stderr),
    )
    create(job.strategy, job.settings)  # wrong settings show before any row
    if _is_session(files):
        from epic_cli.cli.prompt import converse

        converse(_stream(job), RowWriter(row_format, use_color(color, sys.stdout)))
        return ExitStatus.DONE
    refused = False
    with open_sink(output) as sink:
        writer = RowWriter(row_format, sink.is_terminal and use_color(color, sys.stdout))
        sink.write(writer.header())
        for file in files or ("-",):
            refused |= _replay_file(file, job, writer, sink)
            if refused and strict:
                break
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


def _is_session(files: tuple[str, ...]) -> bool:
    """Whether this is ``epic`` without a command, on a terminal."""
    bare = (click.get_current_context().obj or {}).get("bare", False)
    return bool(bare and not files and sys.stdin and sys.stdin.isatty())


def _stream(job: Job) -> SampleStream:
    return SampleStream(lambda: create(job.strategy, job.settings), job.timing)


def _replay_file(file: str, job: Job, writer: RowWriter, sink: Sink) -> bool:
    """Replays one recording; whether any of its lines were refused."""
    stream = _stream(job)
    refused = False
    stray: tuple[int, str] | None = None
    name = "<stdin>" if file == "-" else file
    with _open_source(file, name) as descriptor:
        for block in _blocks(descriptor, name, job.input_format):
            if job.entity is not None:
                block.keep_entity(job.entity)
            elif writer.format == "epic":
                stray = block.cut_at_second_entity()
            for samples in stream.feed(block):
                sink.write(writer.rows(samples, block.entities))
            sink.flush()
            if block.problems:
                refused = True
                report(block.problems[:1] if job.strict else block.problems, name, job.color)
                if job.strict:
                    return True
            if stray is not None:
                line, entity = stray
                raise WrongUsage(
                    f"{name}:{line}: a second entity, {entity!r}, for which the epic format has"
                    " no column; choose one with --entity, or another --format"
                )
        for samples in stream.finish():
            sink.write(writer.rows(samples, block.entities))
        sink.flush()
    return refused


@contextlib.contextmanager
def _open_source(file: str, name: str) -> Iterator[int]:
    if file == "-":
        if sys.stdin is None:
            raise CannotAccess("read", name, OSError("it is closed"))
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError as error:
        raise CannotAccess("read", name, error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _blocks(descriptor: int, name: str, input_format: InputFormat) -> Iterator[PacketBlock]:
    try:
        yield from read(descriptor, input_format)
    except OSError as error:
        raise CannotAccess("read", name, error) from error
