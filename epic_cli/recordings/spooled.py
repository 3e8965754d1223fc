"""Packets of a long recording in a temporary file, read again by entity."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import PacketBlock, put_packets, take_packets
from epic_cli.recordings.files import raise_cannot_access

if TYPE_CHECKING:
    from epic_cli.engine.packets import ConnectionTimes, Entities

#: Packets that are held in memory while a recording is read, some 160 bytes each.
HELD_PACKETS = 100_000


class TemporaryStore:
    """Bytes in a temporary file, which is made when the first are written; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: Any = None

    def write(self, content: Any) -> int:
        """Write bytes to the end of the file; return their place. Raise ``CannotAccess``."""
        import tempfile  # slow to load, and most recordings need no file

        with self._lock, raise_cannot_access("write to a temporary file in", tempfile.gettempdir()):
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this object
                weakref.finalize(self, self._file.close)
            place: int = self._file.seek(0, 2)
            self._file.write(content)
        return place

    def read(self, place: int, size: int) -> bytes:
        """Return bytes that were written."""
        with self._lock:
            self._file.seek(place)
            found: bytes = self._file.read(size)
        return found


class SpooledPackets(Mapping[str, PacketBlock]):
    """The packets of a recording by entity, in a temporary file.

    Each access reads the entity's packets into a new block: changes to a block do not last.
    """

    def __init__(self) -> None:
        self._store = TemporaryStore()
        self._parts: dict[str, list[tuple[int, int]]] = {}
        self._sizes: dict[str, int] = {}
        self._entities: Entities | None = None
        self._connection: ConnectionTimes | None = None

    def take(self, packets: Mapping[str, PacketBlock]) -> None:
        """Append each block's packets to their entity's packets in the file; empty the block."""
        for name, block in packets.items():
            self._entities, self._connection = block.entities, block.connection
            parts = self._parts.setdefault(name, [])
            self._sizes[name] = self._sizes.get(name, 0) + len(block)
            if len(block):
                content = take_packets(block)
                parts.append((self._store.write(content), len(content)))

    def __getitem__(self, name: str) -> PacketBlock:
        parts = self._parts[name]
        block = PacketBlock(self._entities)
        block.reserve(self._sizes[name])
        block.connection = self._connection
        for place, size in parts:
            put_packets(self._store.read(place, size), block)
        return block

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the packets themselves, since the file belongs to this process."""
        return dict, (dict(self),)
