"""Shared parts of the commands for running games: addresses, recordings, a page in the browser."""

from __future__ import annotations

import contextlib
import math
import os
import select
import stat
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import click

from epic_cli.engine.description import Described
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.parameters import Custom, FileName, Number
from epic_cli.engine.text import RowWriter
from epic_cli.engine.text.widths import wrap
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.live.receiving import Reception
from epic_cli.live.recording import (
    DatagramRecording,
    PacketRecording,
    Recording,
    Rotation,
    parse_rotation,
)
from epic_cli.live.reports import describe_losses, summarize_listening
from epic_cli.recordings.addresses import (
    resolve,
)
from epic_cli.recordings.datagrams.counts import Counts
from epic_cli.recordings.files import CannotAccess, raise_cannot_access
from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.shell.console import ColorChoice, Sink, measure_screen_columns, use_color
from epic_cli.shell.declared import Decorator, Parsed, make_option
from epic_cli.shell.errors import ExitStatus, WrongUsage, raise_wrong_usage, write_message
from epic_cli.shell.messages import describe_finding
from epic_cli.shell.refused_lines import write_three_lines

ENDPOINT = Parsed("[tcp://|ws://][HOST:]PORT[,key=value]", Endpoint.parse, Endpoint)


def make_endless_option(meaning: str) -> Decorator:
    """Make the option ``--duration`` of a command that otherwise runs until it is stopped."""
    words = {"endless": math.inf}
    return make_option(Number("duration", math.inf, meaning, "s", 0, 1e9, words=words))


def get_exit_status(stopped: int | None, otherwise: ExitStatus = ExitStatus.DONE) -> ExitStatus:
    """Return the exit status of a run that a signal (``stopped``) ended, else ``otherwise``."""
    if stopped is None:
        return otherwise
    from epic_cli.work.event_loop import end_by

    end_by(stopped)
    return ExitStatus.INTERRUPTED


@contextlib.contextmanager
def open_listener(spec: ListenSpec) -> Iterator[Listener]:
    """Yield a listener, and close it after the block; raise ``WrongUsage`` and ``CannotAccess``."""
    at = spec.endpoint
    if at.sender is not None:
        with raise_cannot_access("take packets from", at.sender):
            resolve(at.sender)
    with raise_wrong_usage(), raise_cannot_access("listen on", at.address):
        listener = Listener(spec)
    with contextlib.closing(listener):
        yield listener


@dataclass(frozen=True)
class RecordingFile(Described):
    """A file to record to, as ``game.csv,rotate=100MB``: datagrams for ``.pcap``, else packets."""

    TABLE = (
        FileName("file", "The file to write.", form="FILE", field="path"),
        Custom("rotate", None, "Begin a new numbered file after this size or time.",
               "100MB or 10min", parse_rotation, kind=Rotation),
    )  # fmt: skip
    KEY, OWNER = "file", "a file"

    path: str
    rotate: Rotation | None = None

    def open(self, listener: Listener) -> Recording:
        """Open the consumer that records; raise ``CannotAccess``."""
        with raise_cannot_access("record in", self.path, "record in"):
            if self.path.endswith(".pcap"):
                at = listener.receiving.socket.getsockname()
                return DatagramRecording(self.path, at, self.rotate)
            return PacketRecording(self.path, self.rotate)


#: As ``record: tuple[RecordingFile, ...]``.
record_option = click.option(
    "--record",
    type=Parsed(
        "FILE[,rotate=...]", RecordingFile.parse, RecordingFile, writes=lambda file: [file.path]
    ),
    multiple=True,
    help="Record each packet with its arrival time. The suffix gives the format: CSV, JSON lines,"
    " else packet text; FILE.pcap records each datagram as it was received, for epic convert and"
    " Wireshark. rotate=100MB or 10min begins numbered files. Existing data is not overwritten;"
    " may be repeated.",
)


def open_recordings(
    record: Iterable[RecordingFile], listener: Listener, stack: contextlib.ExitStack
) -> list[Recording]:
    """Open recordings until the stack is closed, and make them consumers of the listener."""
    found = []
    for file in record:
        found.append(file.open(listener))
        stack.callback(found[-1].close)
    listener.consumers += found
    return found


@dataclass(frozen=True)
class Page:
    """Options of a page: its ``port`` (0: a free one), and whether the browser ``opens`` it."""

    port: int = 0
    opens: bool = True

    def announce_page(self, address: str) -> None:
        """Print the page's address, and open it."""
        write_message(f"{address}\nCtrl-C ends the server.\n")
        if self.opens:
            threading.Thread(target=_open_browser, args=(address,), daemon=True).start()


def _open_browser(address: str) -> None:
    """Open the browser, unless it would run in this terminal."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser:
            browser.open(address)


@contextlib.contextmanager
def check_lab_library() -> Iterator[None]:
    """Raise ``WrongUsage``, with the command that installs it, if the lab's library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise WrongUsage("epic lab needs a library: pip install aiohttp") from error


#: The most bytes that wait for a slow reader.
_MOST_BYTES = 16 << 20

#: Seconds without any reading after which the writer stops waiting.
_PATIENCE = 1.0


class DroppingWriter:
    """A writer of rows that drops them when the reader is too slow.

    Another thread writes to a sink that could block. ``left_out`` counts the dropped rows. An error
    of writing is raised by a later ``write``, or by ``end``.
    """

    def __init__(self, sink: Sink, most: int = _MOST_BYTES) -> None:
        self._sink = sink
        self._most = most
        self._descriptor = _find_slow_descriptor(sink)
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._bytes = 0
        self._taken = 0
        self._error: OSError | None = None
        self._changed = threading.Condition()
        self.left_out = 0
        if self._descriptor is not None:
            sink.flush()
            # a daemon, so that the program does not wait for a pipe that is not read
            threading.Thread(target=self._write_pieces, daemon=True).start()

    def write(self, data: bytes, rows: int) -> None:
        """Take whole rows, or drop all of them if there is no room."""
        if self._descriptor is None:
            self._sink.write(data)
            self._sink.flush()
            return
        with self._changed:
            self._raise_write_error()
            if self._bytes + len(data) > self._most:
                self.left_out += rows
            elif data:
                self._pieces.append((data, rows))
                self._bytes += len(data)
                self._changed.notify_all()

    def end(self) -> None:
        """Wait until the reader has read the remaining rows, as long as it goes on reading.

        Drop the rows that it does not read.
        """
        with self._changed:
            taken = -1
            while self._pieces and self._error is None and self._taken > taken:
                taken = self._taken
                self._changed.wait(_PATIENCE)
            self._raise_write_error()
            self.left_out += sum(rows for _, rows in self._pieces)

    def _raise_write_error(self) -> None:
        if isinstance(self._error, BrokenPipeError):
            raise self._error
        if self._error is not None:
            raise CannotAccess("write to", self._sink.name, self._error)

    def _write_pieces(self) -> None:
        assert self._descriptor is not None
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._pieces)
                    data = self._pieces[0][0]
                while data:
                    try:
                        count = os.write(self._descriptor, data)
                    except BlockingIOError:  # another user of the pipe made it non-blocking
                        select.select([], [self._descriptor], [])
                        continue
                    data = data[count:]
                    with self._changed:
                        self._taken += count
                        self._bytes -= count
                        if not data:
                            self._pieces.popleft()
                        self._changed.notify_all()
        except OSError as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()


def _find_slow_descriptor(sink: Sink) -> int | None:
    """Return the descriptor of a sink that may block; None for other sinks."""
    descriptor = sink.descriptor
    if descriptor is None:
        return None
    mode = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
    return descriptor if waits else None


#: Findings that a listener corrects: clocks that restart, Unix times, the order of arrival.
_SETTLED = ("E103", "E105", "E106", "E202")


class RowOutput(Consumer):
    """A writer of drawn rows to a file or a pipe, each tick as soon as it is drawn.

    The header is written with the first row, with columns for rotations if a packet had a rotation
    by then. If the first rotation comes later, a table continues under another header; CSV and TSV,
    whose columns cannot change, leave rotations out.
    """

    def __init__(self, row_format: str, color: ColorChoice, sink: Sink) -> None:
        width = measure_screen_columns(sink) if sink.isatty() else None
        self._make = partial(RowWriter, row_format, use_color(color, sink), width)
        self._writer: RowWriter | None = None
        self._turns = False
        self._sink = DroppingWriter(sink)

    def close(self) -> None:
        """Wait while the rows are being read; raise the error of writing, if there was one."""
        self._get_current_writer()  # a header, even without packets
        self._sink.end()

    def take_packets(self, block: PacketBlock) -> None:
        """Remember if a packet has a rotation."""
        self._turns = self._turns or block.turns()

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Write drawn samples as rows."""
        self._sink.write(self._get_current_writer().rows(samples, entities), len(samples))

    def _get_current_writer(self) -> RowWriter:
        """Return the writer of the rows, which has written its header."""
        writer = self._writer
        if writer is None or (writer.format == "table" and writer.turns != self._turns):
            self._writer = writer = self._make(turns=self._turns)
            self._sink.write(writer.header(), 0)
        return writer

    @property
    def left_out(self) -> str:
        """Lines on the data that the rows lack; empty if the rows are complete."""
        count, writer = self._sink.left_out, self._writer
        words = f"{count:,} rows left out, since the output is not being read\n" if count else ""
        if writer is not None and self._turns > writer.turns and writer.format in ("csv", "tsv"):
            words += "rotations left out, since the first came after the header: use -f jsonl\n"
        return words


@dataclass(eq=False)
class ListenProgress(Consumer):
    """A consumer that writes losses to stderr while listening, and counts at the end."""

    quiet: bool
    color: bool
    receiving: Reception
    rows: RowOutput | None
    recordings: Sequence[Recording] = ()
    _last: str = field(default="", init=False)
    _shown: bool = field(default=False, init=False)
    _watch: RecordingMonitor = field(default_factory=RecordingMonitor, init=False)
    _is_due: bool = field(default=False, init=False)

    def take_packets(self, packets: PacketBlock) -> None:
        """Check accepted packets for faults, which the next report describes."""
        self._is_due |= self._watch.observe(packets)

    def _report_findings(self) -> None:
        from epic_cli.recordings.checks import take_new_findings

        self._is_due = False
        for finding in take_new_findings(self._watch):
            if finding.code not in _SETTLED:
                self.say(describe_finding("<datagram>", finding._replace(lines=())))

    def say(self, text: str) -> None:
        """Write a message, unless quiet, wrapped at the terminal's width."""
        if self.quiet:
            return
        columns = measure_screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
        if columns:
            text = "".join(
                f"{part}\n" for line in text.splitlines() for part in wrap(line, columns)
            )
        write_message(text)

    def take_counts(self, counts: Counts) -> None:
        """Report losses that have grown, and explain the first refused line."""
        example = counts.example
        if not (example is None or isinstance(example, str) or self._shown or self.quiet):
            self._shown = True
            problem = word_refusal(example, FrontEnd.COMMAND_LINE)
            write_message(write_three_lines(problem, "<datagram>", self.color))
        if self._is_due:
            self._report_findings()
        words = (
            describe_losses(counts, self.receiving.dropped, self.receiving.queue)
            + self._describe_left_out
        )
        if words != self._last:
            self._last = words
            self.say(words)

    def end(self, listener: Listener) -> None:
        """Wait for the rows, and report what was received and recorded."""
        try:
            if self.rows is not None:
                self.rows.close()
        finally:
            if self._watch.end():
                self._report_findings()
            drops = self.receiving.dropped, self.receiving.queue
            words = (
                summarize_listening(listener.counts, len(listener.entities), *drops)
                + self._describe_left_out
            )
            for recording in self.recordings:
                words += (
                    f"{recording.file.recorded:,} {recording.unit} recorded in {recording.file}\n"
                )
            self.say(words)

    @property
    def _describe_left_out(self) -> str:
        words = "" if self.rows is None else self.rows.left_out
        return words + "".join(
            f"{recording.left_out}\n" for recording in self.recordings if recording.left_out
        )
