"""Packets from a file of any program, one after the other."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast

from epic_cli.engine.failures import Portable
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.recordings.extras import find_packet_extras
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import AT_ONCE, ReadingLog, RecordingSource, read_blocks
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.rows import PacketSource, make_source, settle_source
from epic_cli.shell.profiles import read_spec
from epic_cli.work.jobs import JobTally, UnusableJob

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.findings import RecordingFinding

#: Blocks of packets, as the engine takes them.
Blocks = Generator[PacketBlock, None, None]

#: The treatment of refused lines: an error, a warning each, or a callback.
OnRefusal = Literal["raise", "warn"] | Callable[["RefusedLine"], object]


class RefusedLine(Portable, ValueError):
    """A line that is no packet: its place in the recording, and the reason in words.

    ``line`` and ``column`` count from 1 (columns in bytes), ``text`` is the line as it stands
    there, ``refusal`` has the reason as a value.
    """

    def __init__(self, name: str, refusal: Refusal) -> None:
        from epic_cli.recordings.wording import (  # only a refused line needs them
            FrontEnd,
            word_refusal,
        )

        problem = word_refusal(refusal, FrontEnd.PYTHON)
        place = f"{name}:{refusal.line}:{refusal.column}"
        super().__init__(f"{place}: {problem.what}; expected {problem.expected}")
        self.refusal = refusal
        self.line = refusal.line
        self.column = refusal.column
        self.text = refusal.text


class RecordingWarning(Portable, UserWarning):
    """A warning about a recording: the ``finding`` as a value, in words with its code."""

    def __init__(self, name: str, finding: RecordingFinding) -> None:
        from epic_cli.recordings.wording import FrontEnd  # only what is wrong needs it

        super().__init__(f"{name}: {finding.write_words(FrontEnd.PYTHON)}")
        self.finding = finding


class Warner(ReadingLog):
    """A reading log that turns findings into warnings."""

    def report_finding(self, finding: RecordingFinding) -> None:
        """Warn of a finding; the warning names the line of the caller that reads the packets."""
        warnings.warn(RecordingWarning(self.name, finding), stacklevel=7)


class StrictLog(Warner):
    """A ``Warner`` that raises the first refused line."""

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Raise ``RefusedLine`` for the first refusal."""
        if refusals:
            raise RefusedLine(self.name, refusals[0])


class WarningTally(JobTally):
    """A tally that warns of unusable recordings; ``skipped`` has each recording with its error.

    If there is ``only`` one recording, its error is raised.
    """

    def __init__(self, only: bool) -> None:
        super().__init__()
        self._only = only
        self.skipped: list[tuple[str, Exception]] = []

    def note(self, words: str) -> None:
        """Warn with this text."""
        warnings.warn(words, stacklevel=2)

    def leave_out(self, name: str, error: Exception) -> None:
        """Warn that a recording is left out, or raise the error of the only one."""
        if self._only:
            raise error
        super().leave_out(name, error)
        self.skipped.append((name, error))
        self.note(f"{error}; it is left out")


@contextlib.contextmanager
def raise_python_errors() -> Iterator[None]:
    """Raise ``OSError`` where a file cannot be read or written, and a worker's own error."""
    try:
        yield
    except (CannotAccess, UnusableJob) as error:
        raise error.error from None


class PacketReader(Iterator["Packet"]):
    """The packets of one recording in their order, read as they are asked for.

    It can be iterated once, and holds no more than a block of the recording in memory. The file is
    closed at its end, by ``close``, or by ``with``. Made by ``read_packets``.
    """

    def __init__(self, source: RecordingSource, log: ReadingLog, blocks: Blocks) -> None:
        self.name = source.name
        self.log = log
        self._source = source
        self._blocks = blocks
        self._block = PacketBlock()
        self._given = 0

    def make_source(self) -> RecordingSource:
        """Return the remaining packets as a source; raise ``ValueError`` if there are none."""
        if self.used_up:
            raise ValueError(
                f"the packets of {self.name} have been read already: call read_packets again"
            )
        source = self._source
        return RecordingSource(
            self.name,
            path=source.path,
            packets=lambda _: self.iterate_blocks(),
            kept=source.kept,
            log=self.log,
            close=self.close,
        )

    @property
    def layout(self) -> ReadSpec | None:
        """The column of each field, and its unit, where they were inferred.

        None: nothing had to be inferred, or nothing has been read yet. ``layout.write()`` is the
        same as a description.
        """
        return self.log.layout

    @property
    def findings(self) -> tuple[RecordingFinding, ...]:
        """The findings in the part read so far; each was a ``RecordingWarning`` as well."""
        return self.log.findings

    @property
    def used_up(self) -> bool:
        """True if all packets have been handed out, or the reader has been closed."""
        ended = getattr(self._blocks, "gi_frame", None) is None
        return ended and self._given >= len(self._block)

    def __next__(self) -> Packet:
        while self._given >= len(self._block):
            self._block, self._given = next(self._blocks), 0
        self._given += 1
        packet = self._block[self._given - 1]
        if self._block.has_extras(self._given - 1):
            packet = packet._replace(
                extras=find_packet_extras(self._block, self._given - 1) or None
            )
        return packet

    def begin(self) -> None:
        """Read the first block, so that a fault of the whole recording is raised at the call."""
        self._block = next(self._blocks, self._block)

    def iterate_blocks(self) -> Iterator[PacketBlock]:
        """Yield the blocks of packets that have not been handed out yet."""
        block, self._block = self._block, PacketBlock()
        block.cut_before(self._given)
        self._given = 0
        yield block
        yield from self._blocks

    def close(self) -> None:
        """Stop reading, and close the file if ``read_packets`` opened the file."""
        self._block, self._given = PacketBlock(), 0
        self._blocks.close()

    def __enter__(self) -> PacketReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def parse_read(read: str | ReadSpec) -> ReadSpec:
    """Return the specification of a description or of a profile's name.

    Raise ``ValueError``, and ``TypeError`` for what is no text.
    """
    if isinstance(read, ReadSpec):
        return read
    if not isinstance(read, str):
        raise TypeError(f"read must be text, not {read!r}")
    return read_spec(read)


def read_packets(
    source: PacketSource,
    *,
    read: str | ReadSpec = INFERRED,
    refused: OnRefusal = "raise",
) -> PacketReader:
    """Read the packets of a recording in any format, or of a table or other rows.

    ``source`` is a path (also as ``str``; ``"-"`` is standard input), a file that is open for
    reading, a table of pandas, Polars, PyArrow or another library with Arrow's interface, a NumPy
    array, a mapping of columns, or an iterable of dicts or of tuples. Columns of plain tuples, and
    of an array in two dimensions, have numbers: ``read="time=1,x=2,y=3"``. The format of a file is
    detected, and usual names of columns are recognized.

    ``read`` adds what cannot be detected, as ``--read`` does on the command line (its guide has all
    keys): the column of each field, by its name, its number where there is no header, or a path in
    a JSON object, and the units, ``"time=t,x=pos.0,y=pos.1,unit=ms"``; a format, ``"csv"``; or the
    name of a profile. Without an origin Unix times in a column ``time`` stay, too large for the
    single precision of most strategies; ``"origin=first"`` lets them begin at 0.

    ``refused``: with ``"raise"`` the first line that is no packet raises ``RefusedLine``, after the
    packets above it; with ``"warn"`` each is a ``RuntimeWarning``; a function is called with the
    ``RefusedLine``, such as ``mistakes.append`` for a list.

    Raise ``OSError`` where the file cannot be opened, ``ValueError`` for wrong arguments and
    ``TypeError`` for what is no source, all at the call; ``RefusedLine`` already at the call where
    no packet stands above the line.
    """
    if refused not in ("raise", "warn") and not callable(refused):
        raise ValueError(f'refused must be "raise", "warn" or a function, not {refused!r}')
    return _make_reader(make_source(source), parse_read(read), refused, rebase_time=False)


def _make_reader(
    source: RecordingSource, spec: ReadSpec, refused: OnRefusal, rebase_time: bool
) -> PacketReader:
    log = Warner(source.name)
    reader = PacketReader(
        source,
        log,
        read_accepted(
            source, spec, log, refused, rebase_time=rebase_time, keep_extras=not rebase_time
        ),
    )
    if source.path is not None:
        reader.begin()
    return reader


def open_packets(packets: PacketSource) -> RecordingSource:
    """Return packets as a source; the first refused line of a recording is an error.

    Unix times begin at 0, as on the command line. A table or rows without packets are refused at
    once. Raise as ``replay``.
    """
    source = make_source(packets)
    if source.packets is not None:
        return source
    reader = _make_reader(source, INFERRED, "raise", rebase_time=True)
    if source.form:
        reader.begin()
    return reader.make_source()


def read_accepted(
    source: RecordingSource,
    spec: ReadSpec = INFERRED,
    log: ReadingLog | None = None,
    refused: OnRefusal = "raise",
    at_once: int = AT_ONCE,
    rebase_time: bool = True,
    keep_extras: bool = False,
) -> Blocks:
    """Yield the blocks of a source, and handle their refused lines.

    Raise ``OSError`` for what cannot be read.
    """
    source = settle_source(source)
    if log is None:
        log = (Warner if source.packets is None else ReadingLog)(source.name)
    read = cast(
        "Blocks",
        read_blocks(
            source,
            spec,
            log,
            rebase_time=rebase_time,
            at_once=at_once,
            keep_extras=keep_extras,
        ),
    )
    with raise_python_errors(), contextlib.closing(read) as found:
        for block in found:
            refusals, block.refusals = block.refusals, []
            if refusals and refused == "raise":
                block.cut_after_line(refusals[0].line)
                if len(block):
                    yield block
                raise RefusedLine(source.name, refusals[0])
            for refusal in refusals:
                line = RefusedLine(source.name, refusal)
                if callable(refused):
                    refused(line)
                else:
                    warnings.warn(str(line), RuntimeWarning, stacklevel=3)
            yield block


def load_entities(
    packets: PacketSource,
) -> tuple[dict[str, PacketBlock], tuple[RecordingFinding, ...]]:
    """Return the packets of each entity by name, and the findings; warn of each finding."""
    source = open_packets(packets)
    log = source.log or Warner(source.name)
    found: dict[str, PacketBlock] = {}
    for block in read_accepted(source, log=log):
        separate(block, found)
    return found, log.findings
