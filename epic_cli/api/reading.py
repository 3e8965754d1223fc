"""Packets from a file, one after the other, whatever program wrote it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, cast

from epic_cli.engine.failures import Portable
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import AT_ONCE, ReadingLog, RecordingSource, blocks
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.rows import PacketSource, settled, source_of
from epic_cli.shell.profiles import read_spec
from epic_cli.work.jobs import JobTally, UnusableJob

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.refusals import Refusal
    from epic_cli.recordings.findings import RecordingFinding

#: Packets as the engine takes them.
Blocks = Generator[PacketBlock, None, None]

#: What becomes of refused lines: an error, a warning each, or a callback.
OnRefusal = Literal["raise", "warn"] | Callable[["RefusedLine"], object]


class RefusedLine(Portable, ValueError):
    """A line that is no packet: where in which recording, and why, in words.

    ``line`` and ``column`` count from 1 (columns in bytes), ``text`` is the line as it stands
    there, ``refusal`` has the reason as a value.
    """

    def __init__(self, name: str, refusal: Refusal) -> None:
        from epic_cli.recordings.wording import FrontEnd, in_words  # only a refused line needs them

        problem = in_words(refusal, FrontEnd.PYTHON)
        place = f"{name}:{refusal.line}:{refusal.column}"
        super().__init__(f"{place}: {problem.what}; expected {problem.expected}")
        self.refusal = refusal
        self.line = refusal.line
        self.column = refusal.column
        self.text = refusal.text


class RecordingWarning(Portable, UserWarning):
    """What is found in a recording: the ``finding`` as a value, in words with its code."""

    def __init__(self, name: str, finding: RecordingFinding) -> None:
        from epic_cli.recordings.wording import FrontEnd  # only what is wrong needs it

        super().__init__(f"{name}: {finding.words(FrontEnd.PYTHON)}")
        self.finding = finding


class Warner(ReadingLog):
    """Warns of what is found in a recording."""

    def found(self, finding: RecordingFinding) -> None:
        """A warning where the packets are asked for."""
        warnings.warn(RecordingWarning(self.name, finding), stacklevel=7)


class StrictLog(Warner):
    """The same, and the first refused line is an error."""

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Raises ``RefusedLine``."""
        if refusals:
            raise RefusedLine(self.name, refusals[0])


class WarningTally(JobTally):
    """Warns of recordings that cannot be used; ``skipped`` has each with its error.

    That of the ``only`` one is raised.
    """

    def __init__(self, only: bool) -> None:
        super().__init__()
        self._only = only
        self.skipped: list[tuple[str, Exception]] = []

    def note(self, words: str) -> None:
        """A warning."""
        warnings.warn(words, stacklevel=2)

    def leave_out(self, name: str, error: Exception) -> None:
        """A warning."""
        if self._only:
            raise error
        super().leave_out(name, error)
        self.skipped.append((name, error))
        self.note(f"{error}; it is left out")


@contextlib.contextmanager
def python_errors() -> Iterator[None]:
    """Raises ``OSError`` for what cannot be read or written, and a worker's own error."""
    try:
        yield
    except (CannotAccess, UnusableJob) as error:
        raise error.error from None


class PacketReader(Iterator["Packet"]):
    """The packets of one recording in their order, read as they are asked for.

    It can be gone through once, and holds no more than a block of the recording in memory. The
    file is closed at its end, by ``close``, or by ``with``. Made by ``read_packets``.
    """

    def __init__(self, source: RecordingSource, log: ReadingLog, blocks: Blocks) -> None:
        self.name = source.name
        self.log = log
        self._source = source
        self._blocks = blocks
        self._block = PacketBlock()
        self._given = 0

    def as_source(self) -> RecordingSource:
        """What is left of it, as a source; raises ``ValueError`` where nothing is."""
        if self.used_up:
            raise ValueError(f"the packets of {self.name} have been read: call read_packets again")
        source = self._source
        return RecordingSource(
            self.name,
            path=source.path,
            packets=lambda _: self.blocks(),
            kept=source.kept,
            log=self.log,
            close=self.close,
        )

    @property
    def layout(self) -> ReadSpec | None:
        """Which column is which field, in which units, where that was inferred.

        None: nothing had to be inferred, or nothing has been read yet. ``layout.write()`` is the
        same as a description.
        """
        return self.log.layout

    @property
    def findings(self) -> tuple[RecordingFinding, ...]:
        """What was found in what has been read; each was a ``RecordingWarning`` as well."""
        return self.log.findings

    @property
    def used_up(self) -> bool:
        """Whether all packets have been given, or it has been closed."""
        ended = getattr(self._blocks, "gi_frame", None) is None
        return ended and self._given >= len(self._block)

    def __next__(self) -> Packet:
        while self._given >= len(self._block):
            self._block, self._given = next(self._blocks), 0
        self._given += 1
        return self._block[self._given - 1]

    def begin(self) -> None:
        """Reads the first block: what is wrong with all of the recording shows at once."""
        self._block = next(self._blocks, self._block)

    def blocks(self) -> Iterator[PacketBlock]:
        """What has not been asked for yet, as the engine takes it."""
        block, self._block = self._block, PacketBlock()
        block.cut_before(self._given)
        self._given = 0
        yield block
        yield from self._blocks

    def close(self) -> None:
        """Reads no more, and closes the file if ``read_packets`` has opened it."""
        self._block, self._given = PacketBlock(), 0
        self._blocks.close()

    def __enter__(self) -> PacketReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def spec_of(read: str | ReadSpec) -> ReadSpec:
    """How something is read: what a description says, also by a profile's name.

    Raises ``ValueError``, and ``TypeError`` for what is no text.
    """
    if isinstance(read, ReadSpec):
        return read
    if not isinstance(read, str):
        raise TypeError(f"read is text, and not {read!r}")
    return read_spec(read)


def read_packets(
    source: PacketSource,
    *,
    read: str | ReadSpec = INFERRED,
    refused: OnRefusal = "raise",
) -> PacketReader:
    """The packets of a recording in any format, or of what has rows.

    ``source`` is a path (also as ``str``; ``"-"`` is standard input), a file that is open for
    reading, a table of pandas, Polars, PyArrow or another library with Arrow's interface, a NumPy
    array, a mapping of columns, or an iterable of dicts or of tuples. Columns of plain tuples, and
    of an array in two dimensions, have numbers: ``read="time=1,x=2,y=3"``. The format of a file is
    detected, and names are recognised as far as they are usual.

    ``read`` says what does not show, as ``--read`` does on the command line (its guide has all
    keys): which column is which field, by its name, its number where there is no header, or a path
    in a JSON object, and in which units, ``"time=t,x=pos.0,y=pos.1,unit=ms"``; a format, ``"csv"``;
    or the name of a profile. Without an origin Unix times in a column ``time`` stay, too large for
    the single precision of most strategies; ``"origin=first"`` lets them begin at 0.

    ``refused``: with ``"raise"`` the first line that is no packet raises ``RefusedLine`` once the
    packets above it have been given; with ``"warn"`` each is a ``RuntimeWarning``; a function is
    called with the ``RefusedLine``, such as ``mistakes.append`` for a list.

    Raises ``OSError`` where the file cannot be opened, ``ValueError`` for wrong arguments and
    ``TypeError`` for what is no source, all at the call; ``RefusedLine`` already at the call
    where no packet stands above the line.
    """
    if refused not in ("raise", "warn") and not callable(refused):
        raise ValueError(f'refused is "raise", "warn" or a function, and not {refused!r}')
    return _reader(source_of(source), spec_of(read), refused, rebase_time=False)


def _reader(
    source: RecordingSource, spec: ReadSpec, refused: OnRefusal, rebase_time: bool
) -> PacketReader:
    log = Warner(source.name)
    reader = PacketReader(
        source, log, accepted(source, spec, log, refused, rebase_time=rebase_time)
    )
    if source.path is not None:
        reader.begin()
    return reader


def opened(packets: PacketSource) -> RecordingSource:
    """What is given as packets: a recording, of which the first refused line is an error.

    Its Unix times begin at 0, as on the command line. Whether tables and rows are of packets shows
    at once. Raises as ``replay``.
    """
    source = source_of(packets)
    if source.packets is not None:
        return source
    reader = _reader(source, INFERRED, "raise", rebase_time=True)
    if source.form:
        reader.begin()
    return reader.as_source()


def accepted(
    source: RecordingSource,
    spec: ReadSpec = INFERRED,
    log: ReadingLog | None = None,
    refused: OnRefusal = "raise",
    at_once: int = AT_ONCE,
    rebase_time: bool = True,
) -> Blocks:
    """The blocks of a source without their refused lines, which are dealt with as they come.

    Raises ``OSError`` for what cannot be read.
    """
    source = settled(source)
    if log is None:
        log = (Warner if source.packets is None else ReadingLog)(source.name)
    read = cast("Blocks", blocks(source, spec, log, rebase_time=rebase_time, at_once=at_once))
    with python_errors(), contextlib.closing(read) as found:
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


def loaded(packets: PacketSource) -> tuple[dict[str, PacketBlock], tuple[RecordingFinding, ...]]:
    """The packets of each entity by its name, and what is found in them, of which is warned."""
    source = opened(packets)
    log = source.log or Warner(source.name)
    found: dict[str, PacketBlock] = {}
    for block in accepted(source, log=log):
        separate(block, found)
    return found, log.findings
