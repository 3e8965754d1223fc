"""Write packets as Parquet, a group of rows at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from epic_cli.engine.arrow import pack_counts, pack_doubles, pack_flags, pack_names
from epic_cli.engine.keys import COLUMN_KEYS, KEYS, KeyType, list_table_columns
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.recordings.entries.parquet import import_library
from epic_cli.recordings.extras import (
    Loss,
    Tails,
    find_packet_extras,
    list_column_names,
    unquote_value,
)
from epic_cli.recordings.writing import Changes, check, check_columns

if TYPE_CHECKING:
    from epic_cli.engine.arrow import Buffers
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.text import PacketRows
    from epic_cli.recordings import Requested
    from epic_cli.recordings.extras import Extras, Value


#: This many packets are held, and written at once.
ROW_GROUP = 32768

#: The types of columns that are no real numbers.
_TYPES = {KeyType.NAME: "string", KeyType.COUNT: "int64", KeyType.FLAG: "bool_"}


class ParquetWriter:
    """A writer of packets as Parquet, a group of rows at a time."""

    header = b""

    def __init__(self, requested: Requested, extras: Collection[str]) -> None:
        self._arrow, self._parquet = import_library()
        self.tails = Tails(lambda _name, _value: "", list_column_names(extras))
        self._requested = [key.columns[0] for key in KEYS if key.request in {*requested, "delta"}]
        self._names = list_table_columns({*requested, "delta"})
        self._keys = tuple(dict.fromkeys(COLUMN_KEYS[name] for name in self._names))
        self._schema = self._arrow.schema(
            self._arrow.field(
                name,
                getattr(self._arrow, _TYPES.get(COLUMN_KEYS[name].type, "float64"))(),
                nullable=COLUMN_KEYS[name].absent is None and name != "time",
            )
            for name in self._names
        )
        self._schema_of_keys = self._schema
        self._waiting: list[list[bytes]] = [[] for _ in self._names]  # cells of each column
        self._entities = Entities()  # that the waiting names are of
        self._count = 0
        self._extras: list[dict[str, Value]] = []
        self._written = _OutputBuffer()
        self._writer: Any = None

    def make_block_writer(self, changes: Changes) -> _BlockColumns:
        """Return a writer of many packets at once."""
        from epic_cli.engine.text import PacketRows

        entities, span, shift, _ = changes
        rows = PacketRows(
            lambda name: name if name.isprintable() else None, 0, separator=",",
            requested=self._requested, entities=entities, span=span, shift=shift,
        )  # fmt: skip
        return _BlockColumns(self, rows, self._names)

    def format_row(self, packet: Packet) -> bytes:
        """Return the bytes of the group of rows that this packet completes.

        Raises ``Unwritable``.
        """
        check(packet)
        check_columns(packet, self._keys)
        block = PacketBlock(self._entities)
        block.append(packet)
        columns, _ = self.make_block_writer(Changes())._rows.columns(block, 0, self._names)
        return self.add(block, columns[1:], [dict(packet.extras or {})])

    def add(
        self, block: PacketBlock, columns: Sequence[bytes], extras: Sequence[Extras] | None
    ) -> bytes:
        """Take packets of a block; return the bytes of the groups of rows that they complete.

        ``columns`` are the cells of their keys, as ``PacketRows.columns`` returns them.
        """
        found = b""
        if block.entities is not self._entities:
            found += self._write_groups(1)
            self._entities = block.entities
        for cells, column in zip(self._waiting, columns, strict=True):
            cells.append(column)
        count = len(columns[0]) // 8
        self._count += count
        if extras is not None or self.tails.columns:
            self._extras += map(self.tails.admit, extras or count * [{}])
        return found + self._write_groups(ROW_GROUP)

    def end(self) -> bytes:
        """Return the rows that are left, and the description of the file."""
        rest = self._write_groups(1)
        if self._writer is None:
            self._open_file()
        self._writer.close()
        return rest + self._written.take()

    def _write_groups(self, least: int) -> bytes:
        """Write waiting rows, while there are ``least`` of them; return the bytes of the file."""
        while self._count >= least:
            self._write_group()
        return self._written.take()

    def _write_group(self) -> None:
        count = min(self._count, ROW_GROUP)
        names = [name.encode() for name in self._entities.list_names()]
        arrays = []
        for field, waiting in zip(self._schema_of_keys, self._waiting, strict=True):
            cells = b"".join(waiting)
            waiting[:] = [cells[8 * count :]]
            packed = _pack_cells(COLUMN_KEYS[field.name].type, cells[: 8 * count], names)
            validity, *values = (
                None if part is None else self._arrow.py_buffer(part) for part in packed
            )
            buffers = [validity if field.nullable else None, *values]
            arrays.append(self._arrow.Array.from_buffers(field.type, count, buffers))
        self._count -= count
        extras, self._extras = self._extras[:count], self._extras[count:]
        if self._writer is None:
            self._open_file(extras)
        for field in list(self._schema)[len(arrays) :]:
            column = self._make_extra_column(field.name, extras)
            arrays.append(self._arrow.array(column, field.type))
        # not arrow.table, which loads pandas if it is there
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))

    def _open_file(self, first: Sequence[Extras] = ()) -> None:
        """Begin the file; the types of extras' columns are those of the first rows' values."""
        for name in self.tails.columns or ():
            kind = _infer_column_type([extras[name] for extras in first if name in extras])
            self._schema = self._schema.append(
                self._arrow.field(name, getattr(self._arrow, kind)())
            )
        self._writer = self._parquet.ParquetWriter(self._written, self._schema, compression="zstd")

    def _make_extra_column(self, name: str, extras: Sequence[Extras]) -> list[Value | None]:
        """Return the values of an extra, each as the type of its column; others are left out."""
        kind = str(self._schema.field(name).type)
        values: list[Value | None] = []
        for found in extras:
            value: Value | None = found.get(name)
            values.append(None if value is None else _fit_value(value, kind))
            if value is not None and values[-1] is None:
                self.tails.lose(Loss.VALUE, name)
        return values


class _BlockColumns:
    """A writer of blocks of packets as columns."""

    def __init__(self, writer: ParquetWriter, rows: PacketRows, names: Sequence[str]) -> None:
        self._writer = writer
        self._rows = rows
        self._names = names

    def write(self, block: PacketBlock, begin: int) -> tuple[bytes, int]:
        """Return the groups of rows that the packets from an index on complete, and where it ends.

        It ends at the first packet left over.
        """
        (indices, *columns), end = self._rows.columns(block, begin, self._names)
        if not indices:
            return b"", end
        extras = None
        if block.any_extras():
            extras = [find_packet_extras(block, index) for index in memoryview(indices).cast("q")]
        return self._writer.add(block, columns, extras), end


#: What Arrow calls the types of extras' columns.
_ARROW_NAMES = {"bool_": "bool", "float64": "double", "int64": "int64", "string": "string"}


def _infer_column_type(values: Sequence[Value]) -> str:
    """Return the type of a column that can hold these values."""
    if values and all(isinstance(value, bool) for value in values):
        return "bool_"
    if any(isinstance(value, (str, bool)) for value in values) or not values:
        return "string"
    small = all(type(value) is int and abs(value) < 2**63 for value in values)
    return "int64" if small else "float64"


def _fit_value(value: Value, kind: str) -> Value | None:
    """Return a value as the type of its column; None if it has no such type."""
    if kind == "string":
        return value if isinstance(value, str) else unquote_value(value)
    if kind == "double" and type(value) is int:
        return float(value)
    return value if _ARROW_NAMES[_infer_column_type([value])] == kind else None


def _pack_cells(kind: KeyType, cells: bytes, names: list[bytes]) -> Buffers:
    """Return a key's cells as the buffers of a column, missing ones as null."""
    if kind is KeyType.NAME:
        return pack_names(cells, names)
    if kind is KeyType.FLAG:
        return pack_flags(cells)
    return pack_counts(cells) if kind is KeyType.COUNT else pack_doubles(cells)


class _OutputBuffer:
    """A file for the library to write to, from which the bytes are taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data
