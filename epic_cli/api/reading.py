"""Packets from a file, one after the other, whatever program wrote it."""

from __future__ import annotations

import contextlib
import os
import stat
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Literal

from epic_cli.api.sources import Bytes, PacketSource, bytes_of, is_row, is_table, rows_of, table_of
from epic_cli.engine.failures import Portable
from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.reading import read as read_blocks
from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.shell.profiles import read_spec

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


class PacketReader(Iterator["Packet"]):
    """The packets of one recording in their order, read as they are asked for.

    It can be gone through once, and holds no more than a block of the recording in memory. The
    file is closed at its end, by ``close``, or by ``with``. Made by ``read_packets``.
    """

    def __init__(
        self,
        name: str,
        blocks: Blocks,
        inferred: list[ReadSpec],
        watch: RecordingMonitor,
        kept: bool,
    ) -> None:
        self.name = name
        self.kept = kept  # the recording is there as a whole
        self.watch = watch
        self._inferred = inferred
        self._blocks = blocks
        self._block = PacketBlock()
        self._given = 0

    @property
    def layout(self) -> ReadSpec | None:
        """Which column is which field, in which units, where that was inferred.

        None: nothing had to be inferred, or nothing has been read yet. ``layout.write()`` is the
        same as a description.
        """
        return self._inferred[0] if self._inferred else None

    @property
    def findings(self) -> tuple[RecordingFinding, ...]:
        """What was found in what has been read; each was a ``RecordingWarning`` as well."""
        return tuple(self.watch.findings)

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

    ``source`` is a path (also as ``str``), a file that is open for reading, a table of pandas,
    Polars, PyArrow or another library with Arrow's interface, a NumPy array, a mapping of columns,
    or an iterable of dicts or of tuples. Columns of plain tuples, and of an array in two
    dimensions, have numbers: ``read="time=1,x=2,y=3"``. The format of a file is detected, and names
    are recognised as far as they are usual.

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
    spec = spec_of(read)
    inferred: list[ReadSpec] = []
    is_path = isinstance(source, (str, os.PathLike))
    given: IO[bytes] | Bytes
    watch = RecordingMonitor()
    watch.requested(spec)
    if isinstance(source, (str, os.PathLike)):
        name, given = os.fsdecode(source), open(source, "rb", buffering=0)  # noqa: SIM115, PTH123
    elif hasattr(source, "read"):
        name, given = str(getattr(source, "name", "<file>")), bytes_of(source)
    else:
        name, given, form = _rows(source)
        spec = spec._replace(format=form)
    watch.name = name
    blocks = _blocks(given, is_path, spec, inferred.append, watch)
    taken = warned(_accepted(blocks, name, refused), name, watch)
    reader = PacketReader(name, taken, inferred, watch, _is_kept(given, source))
    if is_path:
        reader.begin()
    return reader


def _is_kept(given: Any, source: Any) -> bool:
    """Whether all packets are there: in memory, or in a file that is no pipe."""
    try:
        return stat.S_ISREG(os.fstat(getattr(given, "fileno", source.fileno)()).st_mode)
    except (OSError, AttributeError):
        return hasattr(source, "getvalue") or is_table(source) or hasattr(source, "__len__")


def _rows(source: Any) -> tuple[str, Bytes, str]:
    """What has rows: what errors call it, its text and the format of that."""
    name = f"<{type(source).__name__}>"
    table = None if isinstance(source, (bytes, bytearray)) else table_of(source)
    if table is not None:
        return name, table, "csv"
    items = iter(source) if isinstance(source, Iterable) else iter(())
    first = next(items, None)
    if first is None or not is_row(first):
        raise TypeError(
            f"{source!r} is no recording: give a path, a file that is open for reading, a table,"
            " or dicts"
        )
    return name, *rows_of(chain([first], items))


def _blocks(
    file: IO[bytes] | Bytes,
    close: bool,
    spec: ReadSpec,
    on_read: Callable[[ReadSpec], object],
    watch: RecordingMonitor,
) -> Blocks:
    def told(layout: ReadSpec) -> None:
        watch.inferred(layout)
        on_read(layout)

    try:
        yield from read_blocks(file, spec, told, watch=watch)
    finally:
        if close and not callable(file):
            file.close()


def warned(blocks: Blocks, name: str, watch: RecordingMonitor) -> Blocks:
    """The blocks, with a warning of each thing that is found in them."""
    from epic_cli.recordings.checks import new_findings

    with contextlib.closing(blocks):
        for block in blocks:
            if watch.observe(block):
                _warn(name, new_findings(watch))
            yield block
    if watch.end():
        _warn(name, new_findings(watch))


def _warn(name: str, findings: Iterable[RecordingFinding]) -> None:
    for finding in findings:
        warnings.warn(RecordingWarning(name, finding), stacklevel=4)


def _accepted(blocks: Blocks, name: str, refused: OnRefusal) -> Blocks:
    """The blocks without their refusals, which are dealt with as they come."""
    with contextlib.closing(blocks):
        for block in blocks:
            refusals, block.refusals = block.refusals, []
            if refusals and refused == "raise":
                block.cut_after_line(refusals[0].line)
                if len(block):
                    yield block
                raise RefusedLine(name, refusals[0])
            for refusal in refusals:
                line = RefusedLine(name, refusal)
                if callable(refused):
                    refused(line)
                else:
                    warnings.warn(str(line), RuntimeWarning, stacklevel=3)
            yield block
