"""What commands of running games share: addresses, binary records, a page in the browser."""

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
from epic_cli.live.reports import losses, summary
from epic_cli.recordings.addresses import (
    resolve,
)
from epic_cli.recordings.datagrams.counts import Counts
from epic_cli.recordings.files import CannotAccess, accessing
from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.recordings.wording import FrontEnd, in_words
from epic_cli.shell.console import ColorChoice, Sink, screen_columns, use_color
from epic_cli.shell.declared import Decorator, Parsed, option
from epic_cli.shell.errors import ExitStatus, WrongUsage, say, wrong_usage
from epic_cli.shell.messages import finding_words
from epic_cli.shell.refused_lines import in_three_lines

ENDPOINT = Parsed("[tcp://|ws://][HOST:]PORT[,key=value]", Endpoint.parse, Endpoint)


def endless_option(meaning: str) -> Decorator:
    """``--duration`` of what goes on until it is stopped."""
    words = {"endless": math.inf}
    return option(Number("duration", math.inf, meaning, "s", 0, 1e9, words=words))


def ended(stopped: int | None, otherwise: ExitStatus = ExitStatus.DONE) -> ExitStatus:
    """The exit status of what ran until the signal ``stopped`` it (None: to its end)."""
    if stopped is None:
        return otherwise
    from epic_cli.work.event_loop import end_by

    end_by(stopped)
    return ExitStatus.INTERRUPTED


@contextlib.contextmanager
def listening_at(spec: ListenSpec) -> Iterator[Listener]:
    """A listener that is closed in the end; raises ``WrongUsage`` and ``CannotAccess``."""
    at = spec.endpoint
    if at.sender is not None:
        with accessing("take packets from", at.sender):
            resolve(at.sender)
    with wrong_usage(), accessing("listen on", at.address):
        listener = Listener(spec)
    with contextlib.closing(listener):
        yield listener


@dataclass(frozen=True)
class RecordingFile(Described):
    """A file that is recorded: ``game.csv,rotate=100MB``; datagrams in ``.pcap``, else packets."""

    TABLE = (
        FileName("file", "Where to.", form="FILE", field="path"),
        Custom("rotate", None, "Start a new numbered file after this size or time.",
               "100MB or 10min", parse_rotation, kind=Rotation),
    )  # fmt: skip
    KEY, OWNER = "file", "a file"

    path: str
    rotate: Rotation | None = None

    def open(self, listener: Listener) -> Recording:
        """The consumer that records; raises ``CannotAccess``."""
        with accessing("record in", self.path, "record in"):
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


def opened(
    record: Iterable[RecordingFile], listener: Listener, stack: contextlib.ExitStack
) -> list[Recording]:
    """What records, until the stack is closed; consumers of the listener from now on."""
    found = []
    for file in record:
        found.append(file.open(listener))
        stack.callback(found[-1].close)
    listener.consumers += found
    return found


@dataclass(frozen=True)
class Page:
    """At which ``port`` the page is (0: a free one), and whether the browser ``opens`` it."""

    port: int = 0
    opens: bool = True

    def ready(self, address: str) -> None:
        """Says where the page is, and opens it."""
        say(f"{address}\nCtrl-C ends it.\n")
        if self.opens:
            threading.Thread(target=_show, args=(address,), daemon=True).start()


def _show(address: str) -> None:
    """Opens the browser, but for one that would fill this terminal."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser:
            browser.open(address)


@contextlib.contextmanager
def lab_library() -> Iterator[None]:
    """Says what to install where what is imported within lacks it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise WrongUsage("epic lab needs a library: pip install aiohttp") from error


#: Bytes that are kept for a reader who is behind.
_MOST_BYTES = 16 << 20

#: Seconds in which a reader takes something, or is waited for no longer.
_PATIENCE = 1.0


class DroppingWriter:
    """Takes rows for a sink, to which another thread writes them where that could take long.

    ``left_out`` counts the rows that there was no room for, since those before them have not been
    read. What cannot be written is raised by a later ``write``, or by ``end``.
    """

    def __init__(self, sink: Sink, most: int = _MOST_BYTES) -> None:
        self._sink = sink
        self._most = most
        self._descriptor = _slow(sink)
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._bytes = 0
        self._taken = 0
        self._error: OSError | None = None
        self._changed = threading.Condition()
        self.left_out = 0
        if self._descriptor is not None:
            sink.flush()
            # a daemon: the program does not wait for a pipe that is not read
            threading.Thread(target=self._pass_on, daemon=True).start()

    def write(self, data: bytes, rows: int) -> None:
        """Takes whole rows; all of them are left out where there is no room."""
        if self._descriptor is None:
            self._sink.write(data)
            self._sink.flush()
            return
        with self._changed:
            self._raise()
            if self._bytes + len(data) > self._most:
                self.left_out += rows
            elif data:
                self._pieces.append((data, rows))
                self._bytes += len(data)
                self._changed.notify_all()

    def end(self) -> None:
        """Waits while what is left is being read; what is not is left out."""
        with self._changed:
            taken = -1
            while self._pieces and self._error is None and self._taken > taken:
                taken = self._taken
                self._changed.wait(_PATIENCE)
            self._raise()
            self.left_out += sum(rows for _, rows in self._pieces)

    def _raise(self) -> None:
        if isinstance(self._error, BrokenPipeError):
            raise self._error
        if self._error is not None:
            raise CannotAccess("write to", self._sink.name, self._error)

    def _pass_on(self) -> None:
        assert self._descriptor is not None
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._pieces)
                    data = self._pieces[0][0]
                while data:
                    try:
                        count = os.write(self._descriptor, data)
                    except BlockingIOError:  # whoever shares the pipe has made it so
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


def _slow(sink: Sink) -> int | None:
    """Its descriptor if writing to it may have to wait for a reader, else None."""
    descriptor = sink.descriptor
    if descriptor is None:
        return None
    mode = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
    return descriptor if waits else None


#: What a listener does itself: clocks that start over, Unix times, the order of arrival.
_SETTLED = ("E103", "E105", "E106", "E202")


class RowOutput(Consumer):
    """Writes what is drawn, each tick at once, to a file or a pipe.

    The header comes with the first row, with columns for rotations where a packet had one by then.
    Where the first rotation is later, a table goes on under another header; CSV and TSV, whose
    columns stay, leave rotations out.
    """

    def __init__(self, row_format: str, color: ColorChoice, sink: Sink) -> None:
        width = screen_columns(sink) if sink.isatty() else None
        self._make = partial(RowWriter, row_format, use_color(color, sink), width)
        self._writer: RowWriter | None = None
        self._turns = False
        self._sink = DroppingWriter(sink)

    def close(self) -> None:
        """Waits while the rows are being read; raises what writing them has raised."""
        self._current()  # a header, where no packet came
        self._sink.end()

    def take_packets(self, block: PacketBlock) -> None:
        """Looks for rotations."""
        self._turns = self._turns or block.turns()

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Writes rows."""
        self._sink.write(self._current().rows(samples, entities), len(samples))

    def _current(self) -> RowWriter:
        """What writes the rows, below its header."""
        writer = self._writer
        if writer is None or (writer.format == "table" and writer.turns != self._turns):
            self._writer = writer = self._make(turns=self._turns)
            self._sink.write(writer.header(), 0)
        return writer

    @property
    def left_out(self) -> str:
        """What the rows lack: lines, or nothing."""
        count, writer = self._sink.left_out, self._writer
        words = f"{count:,} rows left out, since the output is not read\n" if count else ""
        if writer is not None and self._turns > writer.turns and writer.format in ("csv", "tsv"):
            words += "rotations left out, the first came after the header: -f jsonl has them\n"
        return words


@dataclass(eq=False)
class ListenProgress(Consumer):
    """Writes to stderr what is lost while listening, and in the end what came in."""

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
        """Watches what is accepted; findings wait for the next report."""
        self._is_due |= self._watch.observe(packets)

    def _say_findings(self) -> None:
        from epic_cli.recordings.checks import new_findings

        self._is_due = False
        for finding in new_findings(self._watch):
            if finding.code not in _SETTLED:
                self.say(finding_words("<datagram>", finding._replace(lines=())))

    def say(self, text: str) -> None:
        """Says what may be left out, in lines as wide as the terminal."""
        if self.quiet:
            return
        columns = screen_columns(sys.stderr) if sys.stderr and sys.stderr.isatty() else None
        if columns:
            text = "".join(
                f"{part}\n" for line in text.splitlines() for part in wrap(line, columns)
            )
        say(text)

    def take_counts(self, counts: Counts) -> None:
        """The losses, when they have grown, and what is wrong with the first refused line."""
        example = counts.example
        if not (example is None or isinstance(example, str) or self._shown or self.quiet):
            self._shown = True
            problem = in_words(example, FrontEnd.COMMAND_LINE)
            say(in_three_lines(problem, "<datagram>", self.color))
        if self._is_due:
            self._say_findings()
        words = losses(counts, self.receiving.dropped, self.receiving.queue) + self._left_out
        if words != self._last:
            self._last = words
            self.say(words)

    def end(self, listener: Listener) -> None:
        """Waits for the rows, and says what has come in, and what was recorded."""
        try:
            if self.rows is not None:
                self.rows.close()
        finally:
            if self._watch.end():
                self._say_findings()
            drops = self.receiving.dropped, self.receiving.queue
            words = summary(listener.counts, len(listener.entities), *drops) + self._left_out
            for recording in self.recordings:
                words += (
                    f"{recording.file.recorded:,} {recording.unit} recorded in {recording.file}\n"
                )
            self.say(words)

    @property
    def _left_out(self) -> str:
        words = "" if self.rows is None else self.rows.left_out
        return words + "".join(
            f"{recording.left_out}\n" for recording in self.recordings if recording.left_out
        )
