"""``epic convert``: a recording to another format, packet by packet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text.widths import some
from epic_cli.jobs.convert.options import ConvertOptions
from epic_cli.recordings import Unreadable, formats
from epic_cli.recordings.entries.wrapped import CAPTURE_MAGICS
from epic_cli.recordings.files import is_kept
from epic_cli.recordings.reading import make_writer, unwrapped
from epic_cli.recordings.writing import Conversion, Fault, UnwritablePacket
from epic_cli.shell.console import Sink, open_sink, use_color
from epic_cli.shell.declared import command, shared
from epic_cli.shell.errors import ExitStatus, StoppedAtLine, WrongUsage, accessing, wrong_usage
from epic_cli.shell.messages import Reporter
from epic_cli.shell.progress import Progress, report_each
from epic_cli.shell.sources import blocks, open_source, source_name

if TYPE_CHECKING:
    from epic_cli.recordings import Writer
    from epic_cli.recordings.captures import Capture


Item = TypeVar("Item")


def begins_as_capture(file: str) -> bool | None:
    """Whether a file is one; None: a stream, unknown before it is read."""
    if file == "-":
        return None
    with open_source(file) as descriptor:
        try:
            os.lseek(descriptor, 0, os.SEEK_CUR)
            return unwrapped(descriptor).peek(4)[:4] in CAPTURE_MAGICS
        except OSError:
            return None
        except Unreadable:
            return False


def from_capture(
    file: str, read: Callable[[Callable[[int], bytes]], Iterator[Item]]
) -> Iterator[Item]:
    """What is read of a capture, also of a compressed one; raises ``CannotAccess``."""
    name = source_name(file)
    unreadable = wrong_usage(f"{name}: ", Unreadable)
    with open_source(file) as descriptor, unreadable, accessing("read", name):
        yield from read(unwrapped(descriptor).read)


#: No more can be told apart in one.
_MOST_ENTITIES = 100_000


def make_capture(options: ConvertOptions) -> Capture:
    """What reads a capture as the options say; raises ``WrongUsage``, ``CannotAccess``."""
    from epic_cli.recordings.captures import Capture  # only captures wait for them
    from epic_cli.recordings.datagrams.ingest import Ingest
    from epic_cli.shell.options.datagrams import ingest_spec

    of = options.capture
    given = options.read, of.records, None, of.sender, _MOST_ENTITIES
    return Capture(Ingest(ingest_spec(*given)), of.port)


def lacks(capture: Capture) -> bool:
    """Whether something of it that may have been packets is not among them, or there are none."""
    from epic_cli.recordings.captures import Lost

    lost = capture.lost.keys() - {Lost.OTHER, Lost.TCP}
    return bool(capture.broken or capture.refused or lost or not capture.packets)


EXAMPLES = """\b
Examples:
  epic convert sample_inputs/two_tanks.csv -o tanks.jsonl
  epic convert --to text --entity tank7 sample_inputs/two_tanks.csv
  epic convert --fill-velocities --shift -2s walk.csv -o walk.txt
"""

#: What to do about a packet that the new format cannot hold.
_REMEDIES = {
    Fault.NO_VELOCITY: "give it one with --fill-velocities, or choose another format",
    Fault.BLANK: "choose another format",
    Fault.NO_COLUMN: "its first packets decide on the columns: choose another format",
}


@command(EXAMPLES, "to o entity span shift in-place columns pattern time-unit")
def convert(options: ConvertOptions = shared(ConvertOptions)) -> int:
    """``epic convert``.

    Recordings are packet text, tables, JSON lines or Parquet with any column names, or UDP
    datagrams in network captures (pcap, pcapng), from the FILEs, or from standard input without
    any or for "-". Several FILEs are joined in order. The output uses epic's own column names, and
    seconds. A packet that the new format cannot hold ends the run.

    Exit status: 0 all packets converted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    refused = [_write(files, one) for files, one in options.outputs]
    return ExitStatus.LINES_REFUSED if any(refused) else ExitStatus.DONE


def _write(files: Sequence[str], options: ConvertOptions) -> bool:
    """Writes one output; whether something of its inputs was refused."""
    with wrong_usage(kind=Unreadable):
        writer = make_writer(options.written_format, delta=True)
    refused = False
    backup = f"{options.output}.bak" if options.in_place else None
    if backup and os.path.lexists(backup) and not is_kept(str(options.output), backup):
        raise WrongUsage(f"{backup} is there already: move it away, or remove it")
    with (
        Progress("converting", in_bytes=True, silent=True) as progress,
        open_sink(options.output, backup) as sink,
    ):
        if formats()[options.written_format].binary and sink.isatty():
            title = options.written_format.capitalize()
            raise WrongUsage(f"{title} is not for a terminal: add --output", "output")
        output = _Output(options.written_format, writer, sink)
        for file, on_read in zip(files, report_each(progress, files), strict=True):
            recording = _Recording(file, options)
            with recording.reporter:
                recording.convert(output, on_read)
            refused |= recording.reporter.refused or recording.lost
        sink.write(output.begun(None).end())
    return refused


class _Output:
    """What packets are written to; the first of them decide which columns there are."""

    def __init__(self, packet_format: str, writer: Writer, sink: Sink) -> None:
        self.sink = sink
        self._format = packet_format
        self._writer = writer
        self._begun = False

    def begun(self, block: PacketBlock | None) -> Writer:
        """The writer, below its header, for this block; None: there was none."""
        if not self._begun:
            self._begun = True
            if block is not None and block.turns():
                self._writer = make_writer(self._format, delta=True, turns=True)
            self.sink.write(self._writer.header)
        return self._writer


class _Recording:
    """A recording to be converted, and what to do about the lines of it that are refused."""

    def __init__(self, file: str, options: ConvertOptions) -> None:
        self._file = file
        self._name = source_name(file)
        self._options = options
        self.lost = False  # something of a capture
        color = use_color(options.color, sys.stderr)
        self.reporter = Reporter(self._name, options.messages, color)

    def convert(self, output: _Output, progress: Callable[[int], None]) -> None:
        """Writes the recording's packets."""
        options = self._options
        conversion = Conversion(options.changes)
        for block in self._blocks(progress):
            stops = options.strict and bool(block.refusals)
            if stops:
                self.reporter.stop(block.refusals[0])
                block.cut_after_line(block.refusals[0].line)
            else:
                self.reporter.refuse(block.refusals)
            try:
                writer = output.begun(block) if len(block) else None
                for rows in conversion.rows(block, writer) if writer else ():
                    output.sink.write(rows)
            except UnwritablePacket as wrong:
                remedy = _REMEDIES.get(wrong.error.fault)
                hint = f"; {remedy}" if remedy else ""
                place = f"{self._name}:{block.line(wrong.index)}"
                raise WrongUsage(f"{place}: {wrong}{hint}") from wrong
            output.sink.flush()
            if stops:
                raise StoppedAtLine
        self._check_entities(block)

    def _blocks(self, progress: Callable[[int], None]) -> Iterator[PacketBlock]:
        file, options = self._file, self._options
        kind = begins_as_capture(file)
        if kind or (kind is None and options.capture.given):
            yield from self._captured()
            return
        if options.capture.given:
            raise WrongUsage(
                f"{self._name}: --port, --layout and --from are for captures (pcap)",
                "port",
                "layout",
                "from",
            )
        yield from blocks(file, options.read, self.reporter, progress, rebase_time=False)

    def _captured(self) -> Iterator[PacketBlock]:
        """The packets of a capture, and what it had else."""
        capture = make_capture(self._options)
        yield from from_capture(self._file, capture.blocks)
        self.reporter.say(f"epic: {self._name}: {capture.words()}")
        self.lost = lacks(capture)

    def _check_entities(self, block: PacketBlock) -> None:
        names = [block.entities.name(number) for number in range(len(block.entities))]
        for wanted in self._options.changes.entities:
            if wanted not in names:
                there = some(map(repr, names)) or "none"
                raise WrongUsage(f"{self._name}: no packet of entity {wanted!r}; there are {there}")
