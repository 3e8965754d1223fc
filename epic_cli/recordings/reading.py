"""Read the blocks of a recording from a stream, after removing compression and other wrappers."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from epic_cli.recordings import (
    BYTE_ORDER_MARK,
    DEFAULT,
    Fit,
    Format,
    Head,
    Unreadable,
    list_formats,
    list_suffixes,
)

if TYPE_CHECKING:
    from io import BufferedReader

    from epic_cli.engine.packets import Entities, PacketBlock
    from epic_cli.recordings import OnRead, Piece, PieceReader, Reader, Requested, Writer
    from epic_cli.recordings.lines import LineReader
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.watch import RecordingMonitor
    from epic_cli.recordings.writing import LineWriter


#: This many bytes are read at once.
BLOCK_SIZE = 65536

#: The first bytes of everything that is around a recording whose format does not show (captures,
#: what is compressed): other recordings need no table of formats. So long are their magics.
_WRAPPERS, _SHORTEST, _LONGEST_MAGIC = b"\x1fB\xfd(\xff\xfe\xd4\xa1M\n", 4, 10


class BytesSource:
    """A source of bytes that can give its first bytes again."""

    def __init__(self, source: int | IO[bytes] | PieceReader) -> None:
        self._head = b""
        self._source = source
        if isinstance(source, int):
            self._read: PieceReader = lambda: os.read(source, BLOCK_SIZE)
        elif callable(source):
            self._read = source
        else:  # what a pipe has, without waiting for more
            some = getattr(source, "read1", source.read)
            self._read = lambda: some(BLOCK_SIZE)

    def give_again(self, head: bytes) -> None:
        """Set the first bytes that ``read_more`` returns."""
        self._head = head

    def read_more(self) -> bytes:
        """Return some more bytes; none at the end."""
        return bytes(self.next_piece())

    def next_piece(self) -> Piece:
        """Return some more bytes or rows; none at the end."""
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._read()

    @property
    def is_file(self) -> bool:
        """True for a regular file, of which more can be read without waiting."""
        return isinstance(self._source, int) and stat.S_ISREG(os.fstat(self._source).st_mode)

    def open_file(self, title: str) -> IO[bytes]:
        """Return the whole source as a file; raises ``Unreadable`` for a stream."""
        file = self._source
        if isinstance(file, int):
            file = open(file, "rb", closefd=False)  # noqa: SIM115
        if callable(file) or not file.seekable():
            raise Unreadable(
                f"{title} is read from a file, not from a stream: first"
                f" epic convert FILE.{title.lower()} -o FILE.csv"
            )
        file.seek(-len(self._head), os.SEEK_CUR)
        self._head = b""
        return file


def unwrap(source: int | IO[bytes]) -> BufferedReader:
    """Return the decompressed bytes of a file; raises ``Unreadable``, as reading them does."""
    import io

    class Bytes(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            data = open_bytes.read_more()
            size = min(len(data), len(into))
            into[:size] = data[:size]
            open_bytes.give_again(data[size:])
            return size

    open_bytes = BytesSource(source)
    while True:
        head = open_bytes.read_more()
        around = find_wrapper(head)
        open_bytes.give_again(head)
        if around is None or around.name == "capture":
            return io.BufferedReader(Bytes(), BLOCK_SIZE)
        open_bytes = BytesSource(around.unpack(open_bytes, None))


def find_wrapper(head: bytes) -> Format | None:
    """Return the wrapper of a recording that begins with ``head``, or None."""
    if not head or head[0] not in _WRAPPERS:
        return None
    found = (
        each for each in list_formats().values() if each.unpacked == "auto" and not each.by_name
    )
    return next((file_format for file_format in found if file_format.is_beginning(head)), None)


def is_magic_prefix(head: bytes) -> bool:
    """Return True if more bytes are needed to recognize a wrapper."""
    if len(head) >= _LONGEST_MAGIC or head[0] not in _WRAPPERS:
        return False
    magics = (magic for file_format in list_formats().values() for magic in file_format.magic)
    return len(head) < _SHORTEST or any(magic.startswith(head) for magic in magics)


#: For ``os.open``: Windows would translate line ends.
BINARY = getattr(os, "O_BINARY", 0)

#: So much of a recording is kept until its first packet.
_TRIED = 4 * BLOCK_SIZE

#: The format of lines in which a pattern says where the fields stand.
_SENTENCES = "sentences"


def make_reader(
    name: str,
    spec: ReadSpec | None = None,
    on_read: OnRead = None,
    entities: Entities | None = None,
    head: bytes = b"",
) -> Reader:
    """Return a reader for one recording in the named format that begins with ``head``."""
    return _find_format(name).make_reader(spec, on_read, entities, head)


def make_writer(
    packet_format: str, requested: Requested = (), extras: Collection[str] = ()
) -> Writer:
    """Return a writer for one recording in this format.

    Tables have columns for the ``requested`` keys (``keys.REQUESTS``) beside the usual ones, and
    for ``extras`` of these names.

    Raises ``NoParquetLibrary``.
    """
    return _find_format(packet_format).make_writer(requested, extras)


def make_line_writer(packet_format: str) -> LineWriter:
    """Return a writer with columns for rotations, for a format with a line for each packet."""
    from epic_cli.recordings.writing import LineWriter

    writer = make_writer(packet_format, ("rotation",))
    assert isinstance(writer, LineWriter)
    return writer


def _find_format(name: str) -> Format:
    if name != DEFAULT:
        return list_formats()[name]
    from epic_cli.recordings.entries import text  # without the others: packet text must start fast

    return text.FORMATS[0]


def detect(head: bytes, final: bool = False, layout: ReadSpec | None = None) -> str | None:
    """Return the format of a recording that begins with ``head``; None if more bytes are needed."""
    if not final and BYTE_ORDER_MARK.startswith(head):
        return None
    look = Head(head, final, layout)
    best, name = _find_format(DEFAULT).detect(look), DEFAULT
    if best is not Fit.CERTAIN:
        for file_format in list_formats().values():
            if file_format.is_beginning(head):
                return file_format.name
            fit = file_format.detect(look)
            if fit > best:
                best, name = fit, file_format.name
    return None if best is Fit.UNDECIDED else name


def read(
    source: int | IO[bytes] | PieceReader,
    spec: ReadSpec | None = None,
    on_read: OnRead = None,
    entities: Entities | None = None,
    watch: RecordingMonitor | None = None,
) -> Iterator[PacketBlock]:
    """Yield the blocks of a recording, one for each piece that the source gives.

    ``source`` is a descriptor, a binary file, or a function that returns some more bytes, and none
    at the end. ``spec`` says how to read the recording, as far as that is not to be inferred;
    ``on_read`` is called with the layout, unless that is what was given, or this program's own.
    ``entities`` are the entities of earlier blocks to which the recording belongs. ``watch`` takes
    the reader.

    Raises ``OSError`` if the source cannot be read, ``NoLayout`` if ``spec`` asks for something
    that packet text does not have, and other kinds of ``Unreadable``.
    """
    open_bytes = BytesSource(source)
    wanted = "auto" if spec is None else spec.format
    while True:  # what is around a recording is taken off, one after the other
        entry, head, final, spec = _identify_format(open_bytes, wanted, spec)
        if entry is not None and not entry.unpacked:
            break
        open_bytes.give_again(head)
        more: PieceReader
        if entry is None:
            more, spec, on_read = _decode_source(open_bytes, spec, on_read)
        else:
            more = entry.unpack(open_bytes, spec)
            if entry.unpacked != "auto":  # else it has the name of what is inside
                wanted = entry.unpacked
                if watch is not None:
                    watch.unpacked_from = entry.name
        open_bytes = BytesSource(more)
    reader = entry.make_reader(spec, on_read, entities, head)
    if watch is not None:
        watch.note_reader(reader, entry.name)
    block, begun, whole = reader.scan(head, final), head, False
    while True:
        _filter_readings(block, entry.name, begun, spec)
        whole |= bool(len(block) or block.refusals)
        if reader.ended:
            _report_text_after_end(reader, block, open_bytes, watch)
        if not whole and not block.refusals and (final or getattr(reader, "torn", False)):
            _report_no_packets(begun, block, watch)
        yield block
        if final or reader.ended:
            return
        piece = open_bytes.next_piece()
        final = not piece
        if len(begun) < _TRIED and not len(block):
            begun += bytes(piece)
        block = _scan_piece(reader, piece, final)


def _scan_piece(reader: Reader, piece: Piece, final: bool) -> PacketBlock:
    if isinstance(piece, bytes):
        return reader.scan(piece, final)
    return cast("LineReader", reader).scan_rows(piece)  # only tables have rows


def _report_text_after_end(
    reader: Reader, block: PacketBlock, source: BytesSource, watch: RecordingMonitor | None
) -> None:
    """Report lines after the end of packet text, without waiting for more from a pipe."""
    line = getattr(reader, "end_line", 0)
    if not line or not (reader.behind or (source.is_file and source.read_more())):  # type: ignore[attr-defined]
        return
    if reader.torn:  # type: ignore[attr-defined]
        from epic_cli.engine.refusals import Reason, Refusal  # few recordings have some

        block.refusals.append(Refusal(line, 1, b"\0", 0, Reason.TORN))
    elif watch is not None:
        from epic_cli.recordings.findings import RecordingFinding  # as above

        watch.noted.append(RecordingFinding("E404", lines=(line,)))


def _report_no_packets(begun: bytes, block: PacketBlock, watch: RecordingMonitor | None) -> None:
    if begun:
        from epic_cli.engine.refusals import Reason, Refusal  # as above

        block.refusals.append(Refusal(1, 1, begun[:80].partition(b"\n")[0], 0, Reason.NO_PACKETS))
    elif watch is not None:
        from epic_cli.recordings.findings import RecordingFinding  # as above

        watch.noted.append(RecordingFinding("E405"))


def _identify_format(
    open_bytes: BytesSource, wanted: str, spec: ReadSpec | None
) -> tuple[Format | None, bytes, bool, ReadSpec | None]:
    """Find the format of a source or of its wrapper.

    Return also its first bytes, and if these are all. The format is None for text in another
    encoding. A pattern that is not meant is left out.
    """
    head, final = b"", False
    if wanted != "auto" and _find_format(wanted).unpacked:
        return _find_format(wanted), head, final, spec
    while True:
        data = open_bytes.read_more()
        final = not data
        head += data
        if data and is_magic_prefix(head):
            continue
        around = find_wrapper(head)
        if around is not None or (spec is not None and spec.encoding is not None):
            return around, head, final, spec
        if spec is not None and spec.pattern is not None and not _is_packed(head, wanted):
            spec = _check_pattern(spec, wanted, head)
            if spec.pattern is not None:
                return _find_format(_SENTENCES), head, final, spec
        name = detect(head, final, spec) if wanted == "auto" else wanted
        if name is not None:
            return _find_format(name), head, final, spec


def _filter_readings(block: PacketBlock, name: str, begun: bytes, given: ReadSpec | None) -> None:
    """Keep only the proposed readings of refused lines with which the recording can be read."""
    if not any(refusal.readings for refusal in block.refusals):
        return
    from epic_cli.recordings.readings import filter_tried

    def attempt_reading(spec: ReadSpec) -> tuple[Reader, PacketBlock]:
        entry = name if spec.pattern is None else _SENTENCES
        reader = make_reader(entry, spec, head=begun)
        return reader, reader.scan(begun, len(begun) < BLOCK_SIZE)

    block.refusals[:] = [
        filter_tried(refusal, given, attempt_reading) if refusal.readings else refusal
        for refusal in block.refusals
    ]


def _decode_source(
    source: BytesSource, spec: ReadSpec | None, on_read: OnRead
) -> tuple[Callable[[], bytes], ReadSpec, OnRead]:
    """Decode the source's text to UTF-8; reported layouts still name the original encoding."""
    from epic_cli.recordings.entries.wrapped import make_decoder

    assert spec is not None
    encoding = spec.encoding
    assert encoding is not None

    def decode_as(found: ReadSpec) -> None:
        if on_read is not None:
            on_read(found._replace(encoding=encoding))

    return make_decoder(source, encoding), spec._replace(encoding=None), decode_as


def _is_packed(head: bytes, wanted: str) -> bool:
    """Return True if the source begins like a packed format, and no other format is given."""
    packed = (file_format for file_format in list_formats().values() if file_format.unpacked)
    return wanted == "auto" and any(packet.is_beginning(head) for packet in packed)


def _check_pattern(spec: ReadSpec, wanted: str, head: bytes) -> ReadSpec:
    """Return the spec, without a pattern that is not meant for a recording with this ``head``."""
    if spec.unless_own and spec.own.pattern is None:
        from re import search

        lines = head.decode("utf-8", "replace").splitlines()
        meant = any(search(spec.pattern or "", line) for line in lines)
        return spec if meant else spec._replace(pattern=None)
    if wanted not in ("auto", _SENTENCES):
        raise Unreadable(f"a pattern is for lines of text, not for {wanted}: leave it out")
    return spec


def list_folder(path: str | os.PathLike[str]) -> list[str]:
    """List a folder's recordings by name, without hidden files; for a file, the file itself.

    Raises ``OSError``, and ``FileNotFoundError`` for a folder without recordings.
    """
    from errno import ENOENT
    from pathlib import Path

    folder, endings = Path(path), list_suffixes()
    if not folder.is_dir():
        return [os.fspath(path)]
    found = sorted(
        str(file)
        for file in folder.iterdir()
        if file.suffix in endings and file.is_file() and not file.name.startswith(".")
    )
    if not found:
        reason = f"there is no recording in this folder; their names end with {', '.join(endings)}"
        raise FileNotFoundError(ENOENT, reason, str(folder))
    return found


#: Bytes that are looked at, and lines of the beginning and of the end.
_LOOK, _LINES = 65536, 3


def is_possibly_grouped(file: str | int, name: str) -> bool:
    """Return True unless the entity ``name`` is in the first and the last lines alike.

    ``file`` is a path, or the descriptor of an open file, whose position does not change.
    """
    if isinstance(file, str):
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
            return is_possibly_grouped(stream.fileno(), name)
    try:
        here = os.lseek(file, 0, os.SEEK_CUR)
        size = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, 0, os.SEEK_SET)
        begin = os.read(file, _LOOK).split(b"\n")
        os.lseek(file, max(size - _LOOK, 0), os.SEEK_SET)
        end = os.read(file, _LOOK).split(b"\n")[1:]
        os.lseek(file, here, os.SEEK_SET)
    except OSError:
        return True
    own = [words for words in map(_split_words, begin) if name in words][:_LINES]
    last = [words for line in end if (words := _split_words(line))][-_LINES:]
    if not own or not last:
        return True
    return any(
        all(_has_word_at(words, place, name) for words in own)
        and not all(_has_word_at(words, place, name) for words in last)
        for place in range(len(own[0]))
    )


def _split_words(line: bytes) -> list[str]:
    return re.findall(r"[^\s,;|{}\[\]\":=]+", line.decode("utf-8", "replace"))


def _has_word_at(words: list[str], place: int, name: str) -> bool:
    return place < len(words) and words[place] == name
