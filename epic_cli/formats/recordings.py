"""Recordings in their formats, told apart by their content, read block by block.

Whatever the length of a recording or of its lines, only a block of it is in memory at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from epic_cli.formats import (
    BYTE_ORDER_MARK,
    DEFAULT,
    Fit,
    Format,
    Head,
    Unreadable,
    formats,
    suffixes,
)

if TYPE_CHECKING:
    from typing import IO

    from epic_cli.engine.packets import Entities, PacketBlock
    from epic_cli.formats import Reader, Writer
    from epic_cli.formats.layout import Layout
    from epic_cli.formats.writing import LineWriter

BLOCK_SIZE = 65536

#: The format of lines in which a pattern says where the fields stand.
_SENTENCES = "sentences"


class NeedsFile(Unreadable):
    """Such a recording comes in a stream, in which nobody can go back."""

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} is read from a file, not from a stream: first"
            f" epic convert FILE.{title.lower()} -o FILE.csv"
        )


class TwoFormats(Unreadable):
    """A pattern was given for a recording, and a format as well."""

    def __init__(self, input_format: str) -> None:
        super().__init__(f"a pattern is for lines of text, and not for {input_format}")


def make_reader(
    packet_format: str,
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
    head: bytes = b"",
) -> Reader:
    """A reader for one recording in this format, which begins with ``head``; see ``read``."""
    if packet_format != DEFAULT and rebase_time:
        from epic_cli.formats.layout import Layout

        layout = (layout or Layout())._replace(rebase_time=True)
    reader = _entry(packet_format).reader
    assert reader is not None
    return reader(layout, tell, entities, head)


def make_writer(packet_format: str, delta: bool = False) -> Writer:
    """A writer for one recording in this format; tables have a column for ``delta`` on request.

    Raises ``NoParquetLibrary``.
    """
    writer = _entry(packet_format).writer
    assert writer is not None
    return writer(delta)


def make_line_writer(packet_format: str) -> LineWriter:
    """As ``make_writer``, for the formats that have a line for each packet."""
    from epic_cli.formats.writing import LineWriter

    writer = make_writer(packet_format)
    assert isinstance(writer, LineWriter)
    return writer


def _entry(name: str) -> Format:
    if name != DEFAULT:
        return formats()[name]
    from epic_cli.formats.entries import text  # without the others: packet text must start fast

    return text.FORMATS[0]


def detect(head: bytes, final: bool = False, layout: Layout | None = None) -> str | None:
    """The format of a recording that begins like this; None: more of it is needed."""
    if not final and BYTE_ORDER_MARK.startswith(head):
        return None
    look = Head(head, final, layout)
    best, name = _entry(DEFAULT).detect(look), DEFAULT
    if best is not Fit.CERTAIN:
        for one in formats().values():
            if head.startswith(one.magic):
                return one.name
            fit = one.detect(look)
            if fit > best:
                best, name = fit, one.name
    return None if best is Fit.UNDECIDED else name


def read(
    descriptor: int,
    input_format: str = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """The blocks of a recording, one for each time that the source has something to give.

    ``layout`` says which column or name is which field, as far as it is not to be told from the
    recording itself; ``tell`` is given what was told, where it is neither what was given nor this
    program's own. ``rebase_time``: see ``Layout``; with it the times of a recording that is to be
    drawn or judged begin near 0, without it they are what is written. ``entities``: those of what
    has been read before, to which the recording belongs.

    Raises ``OSError`` where the source cannot be read, ``NoLayout`` where a layout is given for
    packet text, and other kinds of ``Unreadable``.
    """
    source = _Source(
        lambda: os.read(descriptor, BLOCK_SIZE),
        lambda: open(descriptor, "rb", closefd=False),  # noqa: SIM115
    )
    return _read(source, input_format, layout, tell, rebase_time, entities)


def read_stream(
    stream: IO[bytes],
    input_format: str = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """As ``read``, from a file that is open for reading bytes."""
    some = getattr(stream, "read1", stream.read)  # what a pipe has, without waiting for more
    source = _Source(lambda: some(BLOCK_SIZE), lambda: stream)
    return _read(source, input_format, layout, tell, rebase_time, entities)


def read_from(
    more: Callable[[], bytes],
    input_format: str = "auto",
    layout: Layout | None = None,
    tell: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
) -> Iterator[PacketBlock]:
    """As ``read``, from a function that gives some more bytes, and none at the end."""
    return _read(_Source(more), input_format, layout, tell, rebase_time, entities)


class _Source:
    """Where a recording comes from; what has been looked at is given once more."""

    def __init__(
        self, more: Callable[[], bytes], open_file: Callable[[], IO[bytes]] | None = None
    ) -> None:
        self._more = more
        self._open = open_file
        self._head = b""

    def give_again(self, head: bytes) -> None:
        """The first bytes that ``more`` is to give."""
        self._head = head

    def more(self) -> bytes:
        """Some more bytes; none at the end."""
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._more()

    def file(self, title: str) -> IO[bytes]:
        """The whole of it; raises ``NeedsFile`` in the name of a format."""
        file = None
        with suppress(OSError, ValueError):
            file = self._open and self._open()
        if file is None or not file.seekable():
            raise NeedsFile(title)
        file.seek(-len(self._head), os.SEEK_CUR)
        self._head = b""
        return file


def _read(
    source: _Source,
    input_format: str,
    layout: Layout | None,
    tell: Callable[[Layout], object] | None,
    rebase_time: bool,
    entities: Entities | None,
) -> Iterator[PacketBlock]:
    head, final = b"", False
    name = input_format if input_format != "auto" and _entry(input_format).unpack else None
    while name is None:
        data = source.more()
        final = not data
        head += data
        if layout is not None and layout.pattern is not None and not _is_packed(head, input_format):
            layout = _held_to_pattern(layout, input_format, head)
            name = None if layout.pattern is None else _SENTENCES
        if name is None:
            name = detect(head, final, layout) if input_format == "auto" else input_format
    entry = _entry(name)
    if entry.unpack is not None:
        source.give_again(head)
        inside = _Source(entry.unpack(source, layout))
        yield from _read(inside, entry.unpacked, layout, tell, rebase_time, entities)
        return
    reader = make_reader(name, layout, tell, rebase_time, entities, head)
    yield reader.scan(head, final)
    while not final and not reader.ended:
        data = source.more()
        final = not data
        yield reader.scan(data, final)


def _is_packed(head: bytes, input_format: str) -> bool:
    """Whether a format has to be unpacked that begins like this, unless another one is given."""
    packed = (one.magic for one in formats().values() if one.unpack)
    return input_format == "auto" and any(map(head.startswith, packed))


def _held_to_pattern(layout: Layout, input_format: str, head: bytes) -> Layout:
    """The layout without its pattern where that is not meant for a recording with this ``head``."""
    if layout.unless_own:
        from re import search

        lines = head.decode("utf-8", "replace").splitlines()
        meant = any(search(layout.pattern or "", line) for line in lines)
        return layout if meant else layout._replace(pattern=None)
    if input_format != "auto":
        raise TwoFormats(input_format)
    return layout


def recordings_in(path: str | os.PathLike[str]) -> list[str]:
    """The files of a folder whose names end like those of recordings, by name; a file: itself.

    Hidden ones are not meant. Raises ``OSError``, ``FileNotFoundError`` where there is none.
    """
    from errno import ENOENT
    from pathlib import Path

    folder, endings = Path(path), suffixes()
    if not folder.is_dir():
        return [os.fspath(path)]
    found = sorted(
        str(one)
        for one in folder.iterdir()
        if one.suffix in endings and one.is_file() and not one.name.startswith(".")
    )
    if not found:
        reason = f"there is no recording in this folder; their names end with {', '.join(endings)}"
        raise FileNotFoundError(ENOENT, reason, str(folder))
    return found
