"""Packets as Parquet: the columns of CSV, each with its type; what a packet has not is null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.formats.tables.csv_writer import COLUMNS
from epic_cli.formats.tables.parquet_library import parquet_library
from epic_cli.formats.writing import check

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet

#: So many packets are held, and written at once.
ROW_GROUP = 32768

_TYPES = {"entity": "string", "seq": "int64", "teleport": "bool_"}
_NULL = ("vx", "vy", "vz", "arrival", "seq")


class ParquetWriter:
    """Writes packets as Parquet, a group of rows at a time."""

    header = b""

    def __init__(self) -> None:
        self._arrow, parquet = parquet_library()
        self._schema = self._arrow.schema(
            self._arrow.field(
                name, getattr(self._arrow, _TYPES.get(name, "float64"))(), nullable=name in _NULL
            )
            for name in (*COLUMNS, "delta")
        )
        self._rows: list[tuple[Any, ...]] = []
        self._written = _Written()
        self._writer = parquet.ParquetWriter(self._written, self._schema, compression="zstd")

    def row(self, packet: Packet) -> bytes:
        """The bytes of a group of rows that this packet completes; raises ``Unwritable``."""
        check(packet)
        velocity = packet.velocity if packet.velocity is not None else (None, None, None)
        self._rows.append(
            (
                packet.entity,
                packet.time,
                *packet.position,
                *velocity,
                packet.arrival,
                packet.sequence,
                packet.teleport,
                packet.delta,
            )
        )
        return self._group() if len(self._rows) == ROW_GROUP else b""

    def end(self) -> bytes:
        """The rows that are left, and the description of the file."""
        rest = self._group() if self._rows else b""
        self._writer.close()
        return rest + self._written.take()

    def _group(self) -> bytes:
        columns = zip(*self._rows, strict=True)
        arrays = [
            self._arrow.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._rows.clear()
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        return self._written.take()


class _Written:
    """A file for the library, out of which its bytes are taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data
