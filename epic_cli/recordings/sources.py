"""Where the bytes of a recording come from, and what is around them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.recordings import Format, Unreadable, formats

if TYPE_CHECKING:
    from io import BufferedReader
    from typing import IO, Any

#: So many bytes are read at once.
BLOCK_SIZE = 65536

#: The first bytes of everything that is around a recording whose format does not show (captures,
#: what is compressed): other recordings need no table of formats. So long are their magics.
_WRAPPERS, _SHORTEST, _LONGEST_MAGIC = b"\x1fB\xfd(\xff\xfe\xd4\xa1M\n", 4, 10


class BytesSource:
    """Where a recording comes from; what has been looked at is given once more."""

    def __init__(self, source: int | IO[bytes] | Callable[[], bytes]) -> None:
        self._head = b""
        self._source = source
        if isinstance(source, int):
            self._read: Callable[[], bytes] = lambda: os.read(source, BLOCK_SIZE)
        elif callable(source):
            self._read = source
        else:  # what a pipe has, without waiting for more
            some = getattr(source, "read1", source.read)
            self._read = lambda: some(BLOCK_SIZE)

    def give_again(self, head: bytes) -> None:
        """The first bytes that ``more`` is to give."""
        self._head = head

    def more(self) -> bytes:
        """Some more bytes; none at the end."""
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._read()

    def file(self, title: str) -> IO[bytes]:
        """The whole of it; raises ``Unreadable`` for a stream."""
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


def unwrapped(source: int | IO[bytes]) -> BufferedReader:
    """The bytes of a file, out of what compresses them; raises ``Unreadable``, as reading does."""
    import io

    class Bytes(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            data = bytes_of.more()
            size = min(len(data), len(into))
            into[:size] = data[:size]
            bytes_of.give_again(data[size:])
            return size

    bytes_of = BytesSource(source)
    while True:
        head = bytes_of.more()
        around = wrapper(head)
        bytes_of.give_again(head)
        if around is None or around.name == "capture":
            return io.BufferedReader(Bytes(), BLOCK_SIZE)
        bytes_of = BytesSource(around.unpack(bytes_of, None))


def wrapper(head: bytes) -> Format | None:
    """What is around a recording that begins like this, whatever its format; None: nothing."""
    if not head or head[0] not in _WRAPPERS:
        return None
    found = (one for one in formats().values() if one.unpacked == "auto" and not one.by_name)
    return next((one for one in found if one.begins(head)), None)


def goes_on_as_magic(head: bytes) -> bool:
    """Whether more is needed to know what is around a recording."""
    if len(head) >= _LONGEST_MAGIC or head[0] not in _WRAPPERS:
        return False
    magics = (magic for one in formats().values() for magic in one.magic)
    return len(head) < _SHORTEST or any(magic.startswith(head) for magic in magics)
