"""Parquet: the columns of any file, row by row, as the reader of tables takes them.

So names are recognised, units converted and rows refused as they are in CSV, with the number of
the row, from 2, in the place of the line's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from epic_cli.engine.text import TURN_COLUMNS
from epic_cli.recordings import Format, Unreadable
from epic_cli.recordings.entries.csv import COLUMNS
from epic_cli.recordings.writing import Fault, Unwritable, check

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.recordings import Source
    from epic_cli.recordings.read_spec import ReadSpec

#: So many packets are held, and written at once.
ROW_GROUP = 32768

_TYPES = {"entity": "string", "seq": "int64", "teleport": "bool_"}
_NULL = ("vx", "vy", "vz", "arrival", "seq", *TURN_COLUMNS)


class NoParquetLibrary(Unreadable):
    """The library that reads and writes Parquet, an extra of this program, is not installed."""

    def __init__(self) -> None:
        super().__init__("Parquet needs a library: pip install 'epic-cli[parquet]'")


def _library() -> tuple[Any, Any]:
    """``pyarrow`` and ``pyarrow.parquet``; raises ``NoParquetLibrary``."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NoParquetLibrary from error
    return pyarrow, pyarrow.parquet


class ParquetWriter:
    """Writes packets as Parquet, a group of rows at a time."""

    header = b""

    def __init__(self, turns: bool) -> None:
        self._turns = turns
        names = (*COLUMNS, "delta", *(TURN_COLUMNS if turns else ()))
        self._arrow, parquet = _library()
        self._schema = self._arrow.schema(
            self._arrow.field(
                name, getattr(self._arrow, _TYPES.get(name, "float64"))(), nullable=name in _NULL
            )
            for name in names
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
                *self._turn(packet),
            )
        )
        return self._group() if len(self._rows) == ROW_GROUP else b""

    def _turn(self, packet: Packet) -> tuple[float | None, ...]:
        if not self._turns:
            if packet.rotation is not None:
                raise Unwritable(Fault.NO_COLUMN, "rotation", packet.rotation)
            return ()
        return (*(packet.rotation or 4 * (None,)), *(packet.spin or 3 * (None,)))

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

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


class Parquet(Format):
    """Read as CSV with the same rows; it needs a library."""

    name = "parquet"
    suffixes = (".parquet",)
    magic = (b"PAR1",)
    unpacked = "csv"
    binary = True

    def unpack(self, source: Source, layout: ReadSpec | None) -> Callable[[], bytes]:
        """The file's next rows as CSV, names first, of the columns that this layout wants.

        Raises ``Unreadable``, as what it gives does, for what is no Parquet file, or not a whole
        one.
        """
        from epic_cli.recordings.entries.parquet.reading import rows
        from epic_cli.recordings.read_spec import ReadSpec

        arrow, parquet = _library()
        found = rows(arrow, parquet, source.file("Parquet"), layout or ReadSpec())
        return lambda: next(found, b"")

    def writer(self, delta: bool, turns: bool) -> ParquetWriter:
        """Groups of rows; raises ``NoParquetLibrary``."""
        return ParquetWriter(turns)


FORMATS = (Parquet(),)
