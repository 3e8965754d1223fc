"""A conversion: the packets of recordings, written to any stream of bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from epic_cli.engine.keys import REQUESTS
from epic_cli.engine.parameters import SettingError
from epic_cli.jobs.convert.spec import CaptureSpec, ConvertSpec
from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.wrapped import CAPTURE_MAGICS
from epic_cli.recordings.extras import Tails, describe_losses, list_names
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.recordings.opening import check_entities, open_source, read_blocks
from epic_cli.recordings.reading import make_writer, unwrap
from epic_cli.recordings.writing import Conversion, UnwritablePacket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.recordings import Writer
    from epic_cli.recordings.captures import Capture
    from epic_cli.recordings.opening import Logs, ReadingLog, RecordingSource, RowSink

#: Most entities distinguished in a capture.
_MOST_ENTITIES = 100_000


class NoCapture(Unreadable):
    """An error for options of captures given with a recording that is no capture."""


def run(
    spec: ConvertSpec,
    sources: Sequence[RecordingSource],
    sink: RowSink,
    log: Logs,
    progress: Sequence[Callable[[int], None]] = (),
) -> bool:
    """Write the packets of all recordings in order; return whether any line was refused.

    ``progress`` gets the bytes read of each. Raises what reading raises, ``NoCapture``,
    ``UnwritablePacket`` with its place, and what the log raises for a refused line.
    """
    output = _PacketOutput(spec.packet_format, sink)
    refused = False
    for number, source in enumerate(sources):
        with log(source.name) as reporter:
            found = _iterate_blocks(spec, source, reporter, progress[number] if progress else None)
            _write_blocks(spec, source.name, found, output, reporter)
            output.tell_losses(reporter)
        refused |= reporter.refused
    sink.write(output.begin_output(None).end())
    return refused


class _PacketOutput:
    """An output of packets whose columns are those of the first packets."""

    def __init__(self, packet_format: str, sink: RowSink) -> None:
        self.sink = sink
        self._format = packet_format
        self._writer = make_writer(packet_format, ("delta",))
        self._begun = False

    def begin_output(self, block: PacketBlock | None) -> Writer:
        """Return the writer, its header written; None if the columns are not known yet."""
        if not self._begun:
            self._begun = True
            if block is not None:
                requested = REQUESTS if block.turns() else ("delta",)
                self._writer = make_writer(self._format, requested, list_names(block))
            self.sink.write(self._writer.header)
        return self._writer

    def tell_losses(self, log: ReadingLog) -> None:
        """Report the extra columns of the recording that the new format cannot hold."""
        tails: Tails | None = getattr(self._writer, "tails", None)
        if tails is not None:
            for words in describe_losses(tails.lost):
                log.report_lost_extras(words)
            tails.lost.clear()


def _write_blocks(
    spec: ConvertSpec,
    name: str,
    found: Iterator[PacketBlock],
    output: _PacketOutput,
    log: ReadingLog,
) -> None:
    conversion = Conversion(spec.changes)
    for block in found:
        stops = spec.strict and bool(block.refusals)
        if stops:
            block.cut_after_line(block.refusals[0].line)
        else:
            log.refuse(block.refusals)
        try:
            writer = output.begin_output(block) if len(block) else None
            for rows in conversion.iterate_rows(block, writer) if writer else ():
                output.sink.write(rows)
        except UnwritablePacket as wrong:
            wrong.place = f"{name}:{block.line(wrong.index)}"
            raise
        output.sink.flush()
        if stops:
            log.refuse(block.refusals)
    check_entities(name, spec.changes.entities, block.entities)


def _iterate_blocks(
    spec: ConvertSpec,
    source: RecordingSource,
    log: ReadingLog,
    progress: Callable[[int], None] | None,
) -> Iterator[PacketBlock]:
    is_capture = _is_capture(source)
    asks_for_one = spec.capture != CaptureSpec()
    if is_capture or (is_capture is None and asks_for_one):
        yield from _read_capture(spec, source, log)
        return
    if asks_for_one:
        raise NoCapture(f"{source.name}: --port, --layout and --from are for captures (pcap)")
    yield from read_blocks(source, spec.read, log, progress, rebase_time=False, keep_extras=True)


def _is_capture(source: RecordingSource) -> bool | None:
    """Return whether a file is a capture; None for a stream that has not been read."""
    if source.path in (None, "-"):
        return None
    with open_source(str(source.path)) as descriptor:
        try:
            os.lseek(descriptor, 0, os.SEEK_CUR)
            return unwrap(descriptor).peek(4)[:4] in CAPTURE_MAGICS
        except OSError:
            return None
        except Unreadable:
            return False


def _read_capture(
    spec: ConvertSpec, source: RecordingSource, log: ReadingLog
) -> Iterator[PacketBlock]:
    """Yield the packets of a capture, also of a compressed one; report what was skipped."""
    from epic_cli.recordings.addresses import resolve  # only captures wait for them
    from epic_cli.recordings.captures import Capture
    from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

    port, records, sender = spec.capture
    place = None
    if sender is not None:
        with raise_cannot_access("take packets from", sender):
            place = resolve(sender).place
    try:
        datagrams = IngestSpec(spec.read, records, place, max_entities=_MOST_ENTITIES)
    except ValueError as error:
        raise SettingError(f"--{error}") from error
    capture = Capture(Ingest(datagrams), port)
    with open_source(source.path or "-") as descriptor, raise_cannot_access("read", source.name):
        try:
            yield from capture.iterate_blocks(unwrap(descriptor).read)
        except Unreadable as error:
            raise Unreadable(f"{source.name}: {error}") from error
    log.report_capture(capture.describe_capture())
    log.refused |= _has_unread_packets(capture)


def _has_unread_packets(capture: Capture) -> bool:
    """Return True if a capture had no packets, or datagrams that no format recognized."""
    from epic_cli.recordings.captures import Lost

    lost = capture.lost.keys() - {Lost.OTHER, Lost.TCP}
    return bool(capture.broken or capture.refused or lost or not capture.packets)
