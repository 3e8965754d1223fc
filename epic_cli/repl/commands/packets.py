"""The packets so far: taking them back, drawing them again, files of them."""

from __future__ import annotations

import os
from pathlib import Path

import click

from epic_cli.engine.text.rows import FORMATS
from epic_cli.formats.recordings import read
from epic_cli.repl.commands.common import command
from epic_cli.repl.interpreter import Interpreter, counted
from epic_cli.repl.session import lines_of
from epic_cli.terminal.errors import CannotAccess
from epic_cli.terminal.output import open_sink


@command("undo")
@click.argument("count", default=1, type=click.IntRange(1), metavar="[N]")
def undo(interpreter: Interpreter, count: int) -> None:
    """Take back the last packet, or the last N, and draw what is left."""
    taken_back = interpreter.session.undo(count)
    if taken_back:
        interpreter.record(f":undo {taken_back}")
    if interpreter.quiet:
        return
    if interpreter.session.lines:
        interpreter.draw_tail()
    left = counted(len(interpreter.session.lines), "packet")
    interpreter.screen.say(f"took back {counted(taken_back, 'packet')}, {left} left")


@command("reset")
def reset(interpreter: Interpreter) -> None:
    """Forget all packets and start the clock again; strategy and settings stay."""
    count = len(interpreter.session.lines)
    interpreter.record(":reset")
    interpreter.session.reset()
    if not interpreter.quiet:
        interpreter.screen.say(f"forgot {counted(count, 'packet')}")


@command("rows")
@click.argument("count", required=False, type=click.IntRange(1), metavar="[N]")
def rows(interpreter: Interpreter, count: int | None) -> None:
    """Draw the last rows again: as many as fit, or N."""
    if not interpreter.session.lines:
        interpreter.screen.say("there are no packets yet")
        return
    interpreter.draw_tail(count)


@command("load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True))
def load(interpreter: Interpreter, file: str) -> None:
    """Take the packets of FILE: packet text, CSV or JSON lines."""
    session = interpreter.session
    taken, refused = len(session.lines), session.refused
    quiet, interpreter.quiet = interpreter.quiet, True  # the rows are drawn once, at the end
    try:
        with Path(file).open("rb", buffering=0) as stream:
            first = 1
            for block in read(stream.fileno()):
                interpreter.screen.report(block.refusals, file)
                session.refused += len(block.refusals)
                interpreter.take(b"".join(lines_of(block)), file, first)
                first += len(block)
    finally:
        interpreter.quiet = quiet
    if interpreter.quiet:
        return
    if session.lines:
        interpreter.draw_tail()
    note = f"{file}: {counted(len(session.lines) - taken, 'packet')} taken"
    if session.refused > refused:
        note += f", {counted(session.refused - refused, 'line')} refused"
    interpreter.screen.say(note)


@command("save")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def save(interpreter: Interpreter, file: str, force: bool) -> None:
    """Write the packets so far to FILE, as they were typed: input for "epic replay"."""
    _check_new(file, force)
    with open_sink(file) as sink:
        sink.write(b"".join(interpreter.session.lines))
    interpreter.screen.say(f"{file}: {counted(len(interpreter.session.lines), 'packet')}")


@command("export")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@click.option(
    "-f",
    "--format",
    "name",
    type=click.Choice(FORMATS),
    help="How rows are written; by default as FILE's ending says, or else epic.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def export(interpreter: Interpreter, file: str, name: str | None, force: bool) -> None:
    """Write the rows of the packets so far to FILE, as "epic replay" would."""
    _check_new(file, force)
    ending = Path(file).suffix.removeprefix(".")
    writer = interpreter.export_writer(name or (ending if ending in FORMATS else "epic"))
    count = 0
    with open_sink(file) as sink:
        sink.write(writer.header())
        for piece in interpreter.session.rows(writer):
            sink.write(piece)
            count += piece.count(b"\n")
    interpreter.screen.say(f"{file}: {count:,} rows as {writer.format}")


def _check_new(file: str, force: bool) -> None:
    if not force and os.path.isfile(file) and os.path.getsize(file):  # noqa: PTH113, PTH202
        raise CannotAccess("write to", file, FileExistsError(17, "it is there; add --force"))


COMMANDS = [undo, reset, rows, load, save, export]
