"""Wrappers of recordings: compression, another encoding, network captures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from epic_cli.recordings import Format, Unreadable

if TYPE_CHECKING:
    from epic_cli.recordings import ByteSource
    from epic_cli.recordings.read_spec import ReadSpec


#: pcap in either order of bytes, with microseconds or nanoseconds, and pcapng.
CAPTURE_MAGICS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)


class IsCapture(Unreadable):
    """An error: packets have to be taken out of a capture first."""

    def __init__(self) -> None:
        super().__init__(
            "it is a capture of a network: first epic convert CAPTURE --port PORT -o FILE.csv"
        )


class CaptureFormat(Format):
    """Captures, which are recognized and refused with the command that converts them."""

    name = "capture"
    magic = CAPTURE_MAGICS
    by_name = False
    unpacked = "auto"

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Raise ``IsCapture``."""
        raise IsCapture


#: Bytes that are unpacked at once; of Zstandard, which may hold more, this many packed ones.
_BLOCK, _PACKED = 65536, 1024


class _PackedFile:
    """The packed bytes as a file, for libraries that read one."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._kept = b""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes that are available without waiting for more."""
        data = self._kept or self._source.read_more()
        self._kept = data[size:]
        return data[:size]


def _unpack_zstd(packed: Any) -> Iterator[bytes]:
    try:
        from compression.zstd import ZstdFile  # Python 3.14
    except ImportError:
        return _unpack_with_zstandard(packed)
    return _read_chunks(ZstdFile(packed))


def _unpack_with_zstandard(packed: _PackedFile) -> Iterator[bytes]:
    try:
        from zstandard import ZstdDecompressor
    except ImportError as error:
        message = "Zstandard needs Python 3.14 or a library: pip install zstandard"
        raise Unreadable(message) from error
    frame = ZstdDecompressor().decompressobj()
    while data := packed.read(_PACKED):
        while data:
            if frame.eof:
                frame = ZstdDecompressor().decompressobj()
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError


def _make_unpacker(module: str, name: str) -> Callable[[_PackedFile], Iterator[bytes]]:
    """Return a decompressor by a file class of the standard library, imported at first use."""

    def unpack_bytes(packed: Any) -> Iterator[bytes]:
        opened = getattr(import_module(module), name)
        return _read_chunks(opened(fileobj=packed) if module == "gzip" else opened(packed))

    return unpack_bytes


def _read_chunks(file: Any) -> Iterator[bytes]:
    while data := file.read1(_BLOCK):
        yield data


class Compressed(Format):
    """A compression: the recording inside is read as if it were unpacked.

    ``unpacks`` yields the decompressed bytes in pieces.
    """

    by_name = False
    unpacked = "auto"

    def __init__(
        self,
        name: str,
        suffix: str,
        magic: tuple[bytes, ...],
        unpacks: Callable[[_PackedFile], Iterator[bytes]],
    ) -> None:
        self.name, self.suffixes, self.magic = name, (suffix,), magic
        self._unpacks = unpacks

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Return a function that yields the bytes inside.

        Both raise ``Unreadable`` for broken data.
        """
        data = self._check_whole(self._unpacks(_PackedFile(source)))
        return lambda: next(data, b"")

    def _check_whole(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces that are not empty.

        Raise ``Unreadable`` if data are cut off or damaged.
        """
        try:
            yield from filter(None, data)
        except EOFError as error:
            raise Unreadable(f"{self.name} data that end too early: copy the whole file") from error
        except Exception as error:
            if isinstance(error, Unreadable) or getattr(error, "errno", None) is not None:
                raise
            raise Unreadable(f"{self.name} data that are damaged: {error}") from error


class Utf16(Format):
    """UTF-16 behind a byte order mark."""

    name = "utf16"
    magic = (b"\xff\xfe", b"\xfe\xff")
    by_name = False
    unpacked = "auto"

    def is_beginning(self, head: bytes) -> bool:
        """Return True for a byte order mark before a character in Latin-1, which has a NUL."""
        return super().is_beginning(head) and b"\0" in head[2:4]

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Return a function that yields the text as UTF-8; both raise ``Unreadable``."""
        return make_decoder(source, "utf-16")


def make_decoder(source: ByteSource, encoding: str) -> Callable[[], bytes]:
    """Return a function that yields the text of a source in this encoding, as UTF-8."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder(encoding)()

    def iterate_texts() -> Iterator[bytes]:
        try:
            while data := source.read_more():
                yield decoder.decode(data).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            raise Unreadable(f"text that is not {encoding}: {error}") from error

    pieces = filter(None, iterate_texts())
    return lambda: next(pieces, b"")


FORMATS = (
    CaptureFormat(),
    Compressed("gzip", ".gz", (b"\x1f\x8b",), _make_unpacker("gzip", "GzipFile")),
    Compressed(
        "bzip2",
        ".bz2",
        tuple(b"BZh%d1AY&SY" % size for size in range(1, 10)),
        _make_unpacker("bz2", "BZ2File"),
    ),
    Compressed("xz", ".xz", (b"\xfd7zXZ\0",), _make_unpacker("lzma", "LZMAFile")),
    Compressed("zstd", ".zst", (b"\x28\xb5\x2f\xfd",), _unpack_zstd),
    Utf16(),
)
