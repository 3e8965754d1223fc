"""Parquet as a table: the columns of any file, row by row, as the reader of tables takes them.

So names are recognised, units converted and rows refused as they are in CSV, with the number of
the row, from 2, in the place of the line's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from epic_cli.formats.cells import split_row
from epic_cli.formats.conventions import NeedsFile, Unreadable
from epic_cli.formats.layout import Layout, column_name, column_text
from epic_cli.formats.names.guess import AmbiguousLayout
from epic_cli.formats.names.stars import complete_row, entities_in, starred
from epic_cli.formats.tables.parquet_library import parquet_library

if TYPE_CHECKING:
    from collections.abc import Collection

#: So many rows are held at a time.
BATCH = 8192

#: Arrays of so many numbers, all of one length, become columns of their own: ``pos.0``.
_LONGEST_ARRAY = 16


def rows_of(descriptor: int, layout: Layout | None = None) -> Callable[[], bytes]:
    """As ``rows_in``, from the descriptor of a file."""

    def rows() -> Iterator[bytes]:
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            yield from _rows(stream, layout or Layout())

    more = rows()
    return lambda: next(more, b"")


def rows_in(stream: IO[bytes], layout: Layout | None = None) -> Callable[[], bytes]:
    """A function that gives the file's next rows as CSV, names first, and nothing at the end.

    Only the columns are read that a recording with this layout has; the others are empty.

    It raises ``Unreadable`` for what is no Parquet file, or not a whole one.
    """
    more = _rows(stream, layout or Layout())
    return lambda: next(more, b"")


def _rows(stream: IO[bytes], layout: Layout) -> Iterator[bytes]:
    arrow, parquet = parquet_library()
    if not stream.seekable():
        raise NeedsFile
    try:
        file = parquet.ParquetFile(stream)
        names = [name for name, _ in _flat(arrow, file.schema_arrow.empty_table())]
        header = _csv(arrow, [(name, arrow.array([], arrow.null())) for name in names], True)
        yield header
        first = next(file.iter_batches(1), None)
        if first is None:
            return
        row = _csv(arrow, _flat(arrow, arrow.Table.from_batches([first])), False)
        wanted = _wanted(layout, names, row.decode())
        tops = [field.name for field in file.schema_arrow if _leads_to(field.name, wanted)]
        for batch in file.iter_batches(BATCH, columns=tops):
            read = dict(_flat(arrow, arrow.Table.from_batches([batch])))
            empty = arrow.nulls(batch.num_rows)
            yield _csv(arrow, [(name, read.get(name, empty)) for name in names], False)
    except arrow.ArrowException as error:
        raise Unreadable(f"Parquet that cannot be read: {error}") from error


def _wanted(layout: Layout, names: list[str], row: str) -> Collection[str]:
    """The columns of the fields of a recording that begins with this row; or all of them."""
    cells = split_row(row, ",")
    by_number = any(column.isdigit() for column in layout.places.values())
    if cells is None or len(cells) != len(names) or by_number:
        return names
    try:
        found = complete_row(layout, dict(zip(map(column_text, names), cells, strict=True)))
    except AmbiguousLayout:
        return names  # what is wrong is told by who reads them
    texts = [column_text(name) for name in names]
    several = entities_in(starred(found), texts).values()
    own = {names[place] for places in several for place in places.values()}
    return own | {column_name(column) for column in found.places.values()}


def _leads_to(top: str, wanted: Collection[str]) -> bool:
    return any(path == top or path.startswith(f"{top}.") for path in wanted)


def _csv(arrow: Any, columns: list[tuple[str, Any]], header: bool) -> bytes:
    from pyarrow import csv

    names, values = zip(*columns, strict=True) if columns else ((), ())
    sink = arrow.BufferOutputStream()
    table = arrow.table(list(values), names=list(names))
    csv.write_csv(table, sink, csv.WriteOptions(include_header=header))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _flat(arrow: Any, table: Any) -> list[tuple[str, Any]]:
    """The columns that text can have, nested ones by their paths; others are left out."""
    return [
        part
        for name, column in zip(table.column_names, table.columns, strict=True)
        for part in _parts(arrow, name, column)
    ]


def _parts(arrow: Any, name: str, column: Any) -> Iterator[tuple[str, Any]]:
    from pyarrow import compute

    kind = column.type
    types = arrow.types
    if types.is_struct(kind):
        for index, field in enumerate(kind):
            part = compute.struct_field(column, index)
            yield from _parts(arrow, f"{name}.{field.name}", part)
    elif types.is_fixed_size_list(kind) and kind.list_size <= _LONGEST_ARRAY:
        for index in range(kind.list_size):
            yield from _parts(arrow, f"{name}.{index}", compute.list_element(column, index))
    elif types.is_float16(kind) or types.is_float32(kind):
        yield name, column.cast(arrow.float64())  # with all its digits
    elif types.is_dictionary(kind):
        yield from _parts(arrow, name, column.cast(kind.value_type))
    elif types.is_primitive(kind) or types.is_string(kind) or types.is_large_string(kind):
        yield name, column
