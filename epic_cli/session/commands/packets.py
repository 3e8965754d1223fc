"""The packets so far and their rows: taking back, drawing again, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from epic_cli.engine.packets import VelocityFiller
from epic_cli.engine.replay.arrival_order import by_arrival
from epic_cli.engine.text import FORMATS, RowWriter
from epic_cli.metrics.digits import counted
from epic_cli.recordings import Unreadable
from epic_cli.recordings.checks import new_findings
from epic_cli.recordings.entries.text import text_writer
from epic_cli.recordings.reading import read
from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.recordings.wording import FrontEnd
from epic_cli.recordings.writing import Changes, Conversion
from epic_cli.session.command_table import command
from epic_cli.session.dialogue import Dialogue
from epic_cli.shell.console import open_sink
from epic_cli.shell.declared import FormatChoice
from epic_cli.shell.errors import CannotAccess
from epic_cli.shell.options.common import read_option
from epic_cli.shell.progress import Progress

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.recordings.read_spec import ReadSpec


@command("format")
@click.argument("name", required=False, type=FormatChoice(FORMATS))
def row_format(dialogue: Dialogue, name: str | None) -> None:
    """Choose how rows are written."""
    screen = dialogue.screen
    if name is None:
        screen.say(f"format {screen.format}")
        return
    screen.choose_format(name)
    if dialogue.session.packets and not dialogue.quiet:
        dialogue.draw_tail()


@command("undo")
@click.argument("count", default=1, type=click.IntRange(1), metavar="[N]")
def undo(dialogue: Dialogue, count: int) -> None:
    """Take back the last packet, or the last N, and draw the remaining rows."""
    taken_back = dialogue.session.undo(count)
    if taken_back:
        dialogue.record(f":undo {taken_back}")
    if dialogue.quiet:
        return
    if dialogue.session.packets:
        dialogue.draw_tail()
    left = counted(len(dialogue.session.packets), "packet")
    dialogue.screen.say(f"took back {counted(taken_back, 'packet')}, {left} left")


@command("redo")
@click.argument("count", default=1, type=click.IntRange(1), metavar="[N]")
def redo(dialogue: Dialogue, count: int) -> None:
    """Add the packet that was taken back last again, or N of them."""
    undone = dialogue.session.undone
    if not undone:
        dialogue.screen.say("nothing was taken back")
        return
    dialogue.add(b"".join(undone[:count]), "<redo>")
    dialogue.session.undone = undone[count:]


@command("reset")
def reset(dialogue: Dialogue) -> None:
    """Forget all packets and restart the clock; the strategy and its settings stay."""
    count = len(dialogue.session.packets)
    dialogue.record(":reset")
    dialogue.session.reset()
    if not dialogue.quiet:
        dialogue.screen.say(f"forgot {counted(count, 'packet')}")


@command("rows")
@click.argument("count", required=False, type=click.IntRange(1), metavar="[N]")
def rows(dialogue: Dialogue, count: int | None) -> None:
    """Draw the last rows again: as many as fit, or N."""
    if not dialogue.session.packets:
        dialogue.screen.say("there are no packets yet")
        return
    dialogue.draw_tail(count)


@command("load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True))
@read_option
@click.option("--all-errors", is_flag=True, help="Show each line that is refused.")
def load(dialogue: Dialogue, file: str, all_errors: bool, read: ReadSpec) -> None:
    """Add the packets in FILE: packet text, a table, JSON or Parquet."""
    loading = Loading(dialogue, file, read, all_errors)
    try:
        loading.run()
    except Unreadable as error:
        raise click.UsageError(f"{file}: {error}") from error
    if dialogue.quiet:
        return
    if dialogue.session.packets:
        dialogue.draw_tail()
    loading.say()


@command("save")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@click.option("--force", is_flag=True, help="Replace an existing file.")
def save(dialogue: Dialogue, file: str, force: bool) -> None:
    """Write the packets so far to FILE, as they were typed: input for "epic replay"."""
    _check_new(file, force)
    with open_sink(file) as sink:
        for lines in dialogue.session.packets.texts():
            sink.write(lines)
    dialogue.screen.say(f"{file}: {counted(len(dialogue.session.packets), 'packet')}")


@command("export")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@click.option(
    "-f",
    "--format",
    "name",
    type=FormatChoice(FORMATS),
    help="How rows are written.  [default: from FILE's extension, or else epic]",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def export(dialogue: Dialogue, file: str, name: str | None, force: bool) -> None:
    """Write the rows of the packets so far to FILE, as "epic replay" would."""
    _check_new(file, force)
    ending = Path(file).suffix.removeprefix(".")
    writer = RowWriter(
        name or (ending if ending in FORMATS else "epic"), turns=dialogue.session.turns
    )
    session, count = dialogue.session, 0
    with open_sink(file) as sink:
        sink.write(writer.header())
        for samples in session.samples():
            sink.write(writer.rows(samples, session.entities))
            count += len(samples)
    dialogue.screen.say(f"{file}: {count:,} rows as {writer.format}")


def _check_new(file: str, force: bool) -> None:
    if not force and os.path.isfile(file) and os.path.getsize(file):  # noqa: PTH113, PTH202
        raise CannotAccess("write to", file, FileExistsError(17, "it exists; add --force"))


@command("golden")
@click.argument("name", type=click.Path())
def golden(dialogue: Dialogue, name: str) -> None:
    """Make a case for "epic check" of the packets so far, in the folder NAME."""
    from epic_cli.jobs.check.spec import CASE_FILE, BrokenCase
    from epic_cli.jobs.check.writing import CaseExists, make_case, spec_values

    session = dialogue.session
    if not len(session.packets):
        raise click.UsageError("there are no packets yet")
    packets = b"".join(session.packets.texts())
    writer = RowWriter("tsv", turns=session.turns)
    rows = [writer.rows(samples, session.entities) for samples in session.samples()]
    drawn = writer.header() + b"".join(rows)
    try:
        path, count = make_case(name, [], spec_values(name, session.view), packets, drawn)
    except (CaseExists, BrokenCase) as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise CannotAccess("write to", os.path.join(name, CASE_FILE), error) from error  # noqa: PTH118
    dialogue.screen.say(
        f"{path}: {counted(len(session.packets), 'packet')}, {counted(count, 'row')}"
    )


COMMANDS = [row_format, undo, redo, reset, rows, load, save, export]


class Loading:
    """The loading of one file; ``given``: how it is laid out, as far as that was said."""

    def __init__(self, dialogue: Dialogue, file: str, given: ReadSpec, all_errors: bool) -> None:
        self._dialogue = dialogue
        self._file = file
        self._given = given
        self._before = len(dialogue.session.packets), dialogue.session.refused
        self._lines = dialogue.screen.refused_lines(file, all_errors)
        self._filler = VelocityFiller()
        self._filled = 0
        self._conversion = Conversion(Changes())
        self._writer = text_writer()
        self._told: list[ReadSpec] = []
        self._watch = RecordingMonitor()
        self._watch.requested(given)

    def run(self) -> None:
        """Takes the packets; raises ``Unreadable``, ``OSError``, and ``Unwritable``."""
        dialogue = self._dialogue
        quiet, dialogue.quiet = dialogue.quiet, True  # rows are drawn once, at the end
        entities = dialogue.session.entities
        try:
            with (
                Path(self._file).open("rb", buffering=0) as stream,
                Progress("loading", in_bytes=True, silent=True) as progress,
            ):
                size = os.fstat(stream.fileno()).st_size
                found = self._observed(
                    read(
                        stream.fileno(),
                        self._given._replace(rebase_time=True),
                        self._told.append,
                        entities,
                        self._watch,
                    )
                )
                if size and dialogue.session.view.timing.pacing != "demo":
                    found = by_arrival(found)
                for block in found:
                    self._take(block)
                    if size:  # a pipe has neither a size nor a place
                        progress(stream.tell(), size)
        finally:
            dialogue.quiet = quiet
            dialogue.screen.say(self._lines.summary(self._taken))

    @property
    def _taken(self) -> int:
        return len(self._dialogue.session.packets) - self._before[0]

    def _observed(self, blocks: Iterable[PacketBlock]) -> Iterator[PacketBlock]:
        for block in blocks:
            self._watch.observe(block)
            yield block

    def _take(self, block: PacketBlock) -> None:
        dialogue = self._dialogue
        if block.find_field is None:
            dialogue.take(block, self._file, self._lines)
            return
        self._lines.add(block.refusals)
        dialogue.session.refused += len(block.refusals)
        self._filled += self._filler.fill(block)
        # as it is saved, and read again from the journal
        text = b"".join(self._conversion.rows(block, self._writer))
        dialogue.add(text, self._file, self._taken + 1, self._lines)

    def say(self) -> None:
        """How it was read, what looks wrong, and how many packets there were."""
        session, say, file = self._dialogue.session, self._dialogue.screen.say, self._file
        for one in self._told:
            say(f"{file}: read with {FrontEnd.SESSION.read(one.write())}")
        self._watch.end()
        for finding in new_findings(self._watch):
            say(f"{file}: {finding.words(FrontEnd.SESSION)}")
        if self._filled:
            say(f"{file}: velocities from the positions for {counted(self._filled, 'packet')}")
        before, refused = self._before
        note = f"{file}: {counted(self._taken, 'packet')} taken"
        if before:
            note += f", after the {before:,} of before (:reset first begins again)"
        if session.refused > refused:
            note += f", {counted(session.refused - refused, 'line')} refused"
        say(note)
