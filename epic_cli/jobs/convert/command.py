"""The options of ``epic convert``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import click

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text.widths import some
from epic_cli.recordings import Unreadable, formats, suffixes, written_formats
from epic_cli.recordings.entries.wrapped import CAPTURE_MAGICS
from epic_cli.recordings.files import accessing, is_kept
from epic_cli.recordings.opening import blocks, open_source, source_name
from epic_cli.recordings.reading import make_writer, unwrapped
from epic_cli.recordings.writing import Changes, Conversion, Fault, UnwritablePacket
from epic_cli.shell.console import ColorChoice, Sink, open_sink, use_color
from epic_cli.shell.declared import (
    SPAN,
    FormatChoice,
    InputFile,
    OptionGroup,
    command,
    flag,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, wrong_usage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    color_option,
    messages_options,
    output_option,
    read_option,
)
from epic_cli.shell.options.datagrams import record_layout_option, sender_option
from epic_cli.shell.progress import Progress, report_each

if TYPE_CHECKING:
    from epic_cli.recordings import Writer
    from epic_cli.recordings.addresses import Address
    from epic_cli.recordings.captures import Capture
    from epic_cli.recordings.datagrams.record_layout import RecordLayout
    from epic_cli.recordings.read_spec import ReadSpec


#: All of what is changed, as ``changes: Changes``.
_changes_options = OptionGroup(
    "changes",
    Changes,
    click.option("--entity", "entities", multiple=True,
                 help="Keep only the packets of this entity; may be repeated."),
    click.option("--span", type=SPAN, default=None,
                 help="Keep only packets with times in this span (seconds), before any shift."),
    click.option("--shift", type=seconds(-1e12, 1e12), default=0.0, metavar="SECONDS",
                 help="Add this to all times, arrival times too; -250ms moves them back."),
    click.option("--fill-velocities", is_flag=True,
                 help="Estimate missing velocities from the previous position."),
)  # fmt: skip


@dataclass(frozen=True)
class CaptureOptions:
    """Which datagrams of a network capture to take."""

    port: int | None = value(
        "From a capture (pcap, pcapng), take only UDP datagrams from or to this port.",
        type=click.IntRange(1, 65535),
    )
    records: RecordLayout | None = shared(record_layout_option)
    sender: Address | None = shared(
        sender_option("From a capture, take only datagrams of this sender.")
    )

    @property
    def given(self) -> bool:
        """Whether any option of a capture was used."""
        return self != CaptureOptions(None, None, None)


@dataclass(frozen=True)
class ConvertOptions:
    """What to convert, how, and where to; no ``files``: standard input."""

    files: tuple[str, ...] = shared(
        click.argument("files", nargs=-1, type=InputFile(), metavar="[FILE]...")
    )
    to: str | None = value(
        "The output format.  [default: from the suffix of --output]",
        type=FormatChoice(written_formats()),
    )
    output: str | None = shared(output_option("Write to a file, which appears once complete."))
    in_place: bool = flag(
        "Convert each FILE to its own format, or --to another one under the same name; the"
        " old file is kept as FILE.bak."
    )
    changes: Changes = shared(_changes_options)
    read: ReadSpec = shared(read_option)
    capture: CaptureOptions = shared(CaptureOptions)
    strict: bool = flag("Stop at the first refused line.")
    messages: Messages = shared(messages_options)
    color: ColorChoice = shared(color_option)

    @property
    def outputs(self) -> list[tuple[tuple[str, ...], ConvertOptions]]:
        """What is written: the inputs of each output; raises ``WrongUsage``."""
        if not self.in_place:
            return [(self.files or ("-",), self)]
        if self.output is not None:
            raise WrongUsage(
                "--in-place writes to the FILEs themselves: leave out --output",
                "in-place",
                "output",
            )
        if not self.files or "-" in self.files:
            raise WrongUsage("--in-place needs a FILE: standard input has no place", "in-place")
        return [((file,), replace(self, output=file)) for file in self.files]

    @property
    def written_format(self) -> str:
        """The format of ``--to``, or of the output's suffix; raises ``WrongUsage``."""
        if self.to is not None:
            return self.to
        ending = os.path.splitext(self.output or "")[1].lower()  # noqa: PTH122
        if suffixes().get(ending) not in written_formats():
            formats = ", ".join(written_formats())
            raise WrongUsage(f"unknown output format: add --to, one of {formats}", "to")
        return suffixes()[ending]


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
        self.reporter = Reporter(self._name, options.messages, color, strict=options.strict)

    def convert(self, output: _Output, progress: Callable[[int], None]) -> None:
        """Writes the recording's packets."""
        options = self._options
        conversion = Conversion(options.changes)
        for block in self._blocks(progress):
            stops = options.strict and bool(block.refusals)
            if stops:
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
                self.reporter.refuse(block.refusals)
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
