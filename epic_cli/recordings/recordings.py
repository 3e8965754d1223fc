"""Recordings in whatever format, which their content shows, read block by block.

Whatever the length of a recording or of its lines, only a block of it is in memory at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from epic_cli.recordings import (
    BYTE_ORDER_MARK,
    DEFAULT,
    Fit,
    Format,
    Head,
    Unreadable,
    formats,
    suffixes,
)
from epic_cli.recordings.sources import BLOCK_SIZE, BytesSource, goes_on_as_magic, wrapper

if TYPE_CHECKING:
    from typing import IO

    from epic_cli.engine.packets import Entities, PacketBlock
    from epic_cli.recordings import Format, Reader, Writer
    from epic_cli.recordings.layout import Layout
    from epic_cli.recordings.watch import Watch
    from epic_cli.recordings.writing import LineWriter

#: For ``os.open``: Windows would translate line ends.
BINARY = getattr(os, "O_BINARY", 0)

#: So much of a recording is kept until its first packet.
_TRIED = 4 * BLOCK_SIZE

#: The format of lines in which a pattern says where the fields stand.
_SENTENCES = "sentences"


def make_reader(
    packet_format: str,
    layout: Layout | None = None,
    on_layout: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
    head: bytes = b"",
) -> Reader:
    """A reader for one recording in this format, which begins with ``head``; see ``read``."""
    if packet_format != DEFAULT and rebase_time:
        from epic_cli.recordings.layout import Layout

        layout = (layout or Layout())._replace(rebase_time=True)
    return _entry(packet_format).reader(layout, on_layout, entities, head)


def make_writer(packet_format: str, delta: bool = False, turns: bool = False) -> Writer:
    """A writer for one recording in this format.

    Tables have a column for ``delta``, and columns for ``turns`` (rotation and spin), on request.

    Raises ``NoParquetLibrary``.
    """
    return _entry(packet_format).writer(delta, turns)


def make_line_writer(packet_format: str) -> LineWriter:
    """As ``make_writer``, with a place for turns, for the formats with a line for each packet."""
    from epic_cli.recordings.writing import LineWriter

    writer = make_writer(packet_format, turns=True)
    assert isinstance(writer, LineWriter)
    return writer


def _entry(name: str) -> Format:
    if name != DEFAULT:
        return formats()[name]
    from epic_cli.recordings.entries import text  # without the others: packet text must start fast

    return text.FORMATS[0]


def detect(head: bytes, final: bool = False, layout: Layout | None = None) -> str | None:
    """The format of a recording that begins like this; None: more of it is needed."""
    if not final and BYTE_ORDER_MARK.startswith(head):
        return None
    look = Head(head, final, layout)
    best, name = _entry(DEFAULT).detect(look), DEFAULT
    if best is not Fit.CERTAIN:
        for one in formats().values():
            if one.begins(head):
                return one.name
            fit = one.detect(look)
            if fit > best:
                best, name = fit, one.name
    return None if best is Fit.UNDECIDED else name


def read(
    source: int | IO[bytes] | Callable[[], bytes],
    input_format: str = "auto",
    layout: Layout | None = None,
    on_layout: Callable[[Layout], object] | None = None,
    rebase_time: bool = False,
    entities: Entities | None = None,
    watch: Watch | None = None,
) -> Iterator[PacketBlock]:
    """The blocks of a recording, one for each time that the source has something to give.

    ``source`` is a descriptor, a file that is open for reading bytes, or a function that gives some
    more bytes, and none at the end. ``layout`` says which column or name is which field, as far as
    the recording itself does not; ``on_layout`` is called with the layout that was inferred, unless
    it is what was given or this program's own. ``rebase_time``: see ``Layout``; with it the times
    of a recording that is to be drawn or judged begin near 0, without it they are what is written.
    ``entities``: those of what has been read before, to which the recording belongs. ``watch`` is
    told what reads it.

    Raises ``OSError`` where the source cannot be read, ``NoLayout`` where a layout is given for
    packet text, and other kinds of ``Unreadable``.
    """
    bytes_of = BytesSource(source)
    head, final = b"", False
    name = input_format if input_format != "auto" and _entry(input_format).unpacked else None
    while name is None:
        data = bytes_of.more()
        final = not data
        head += data
        if data and goes_on_as_magic(head):
            continue
        around = wrapper(head)
        if around is not None or (layout is not None and layout.encoding is not None):
            bytes_of.give_again(head)
            if around is not None:
                more = around.unpack(bytes_of, layout)
            else:
                more, layout, on_layout = _decoded(bytes_of, layout, on_layout)
            yield from read(more, input_format, layout, on_layout, rebase_time, entities, watch)
            return
        if layout is not None and layout.pattern is not None and not _is_packed(head, input_format):
            layout = _held_to_pattern(layout, input_format, head)
            name = None if layout.pattern is None else _SENTENCES
        if name is None:
            name = detect(head, final, layout) if input_format == "auto" else input_format
    entry = _entry(name)
    if entry.unpacked:
        bytes_of.give_again(head)
        more = entry.unpack(bytes_of, layout)
        _tell(watch, entry)
        yield from read(more, entry.unpacked, layout, on_layout, rebase_time, entities, watch)
        return
    reader = make_reader(name, layout, on_layout, rebase_time, entities, head)
    if watch is not None:
        watch.reading(reader, name)
    block, begun = reader.scan(head, final), head
    while True:
        _try_readings(block, name, begun, layout, rebase_time)
        yield block
        if final or reader.ended:
            return
        data = bytes_of.more()
        final = not data
        if len(begun) < _TRIED and not len(block):
            begun += data
        block = reader.scan(data, final)


def _tell(watch: Watch | None, entry: Format) -> None:
    """Names a format that is unpacked to a table; what is only wrapped has the name of the rest."""
    if watch is not None and entry.unpacked != "auto":
        watch.unpacked_from = entry.name


def _try_readings(
    block: PacketBlock, name: str, begun: bytes, given: Layout | None, rebase_time: bool
) -> None:
    """Keeps of the readings of refused lines those by which a recording begun so can be read."""
    if not any(one.readings for one in block.refusals):
        return
    from epic_cli.recordings.readings import tried

    def attempt(layout: Layout) -> tuple[Reader, PacketBlock]:
        entry = name if layout.pattern is None else _SENTENCES
        reader = make_reader(entry, layout, None, rebase_time, None, begun)
        return reader, reader.scan(begun, len(begun) < BLOCK_SIZE)

    block.refusals[:] = [
        tried(one, given, attempt) if one.readings else one for one in block.refusals
    ]


def _decoded(
    source: BytesSource, layout: Layout | None, on_layout: Callable[[Layout], object] | None
) -> tuple[Callable[[], bytes], Layout, Callable[[Layout], object] | None]:
    """The text of a source in UTF-8; a layout that is told of it has its own encoding again."""
    from epic_cli.recordings.entries.compressed import decoded

    assert layout is not None
    encoding = layout.encoding
    assert encoding is not None
    told = on_layout

    def with_encoding(found: Layout) -> None:
        if told is not None:
            told(found._replace(encoding=encoding))

    return decoded(source, encoding), layout._replace(encoding=None), with_encoding


def _is_packed(head: bytes, input_format: str) -> bool:
    """Whether a format has to be unpacked that begins like this, unless another one is given."""
    packed = (one for one in formats().values() if one.unpacked)
    return input_format == "auto" and any(one.begins(head) for one in packed)


def _held_to_pattern(layout: Layout, input_format: str, head: bytes) -> Layout:
    """The layout without its pattern where that is not meant for a recording with this ``head``."""
    if layout.unless_own:
        from re import search

        lines = head.decode("utf-8", "replace").splitlines()
        meant = any(search(layout.pattern or "", line) for line in lines)
        return layout if meant else layout._replace(pattern=None)
    if input_format != "auto":
        raise Unreadable(f"a pattern is for lines of text, and not for {input_format}")
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
