"""Parquet as a table: the columns of any file, row by row, as the reader of tables takes them.

So names are recognised, units converted and rows refused as they are in CSV, with the number of
the row, from 2, in the place of the line's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from epic_cli.formats.conventions import NeedsFile, Unreadable
from epic_cli.formats.parquet_library import parquet_library

#: So many rows are held at a time.
BATCH = 8192

#: Arrays of so many numbers, all of one length, become columns of their own: ``pos.0``.
_LONGEST_ARRAY = 16


def rows_of(descriptor: int) -> Callable[[], bytes]:
    """A function that gives the file's next rows as CSV, names first, and nothing at the end.

    It raises ``Unreadable`` for what is no Parquet file, or not a whole one.
    """
    rows = _rows(descriptor)
    return lambda: next(rows, b"")


def _rows(descriptor: int) -> Iterator[bytes]:
    arrow, parquet = parquet_library()
    from pyarrow import csv

    with os.fdopen(os.dup(descriptor), "rb") as stream:
        if not stream.seekable():
            raise NeedsFile
        try:
            file = parquet.ParquetFile(stream)
            header = True
            for batch in file.iter_batches(BATCH):
                table = _flat(arrow, arrow.Table.from_batches([batch]))
                yield _csv(arrow, csv, table, header)
                header = False
            if header:
                table = _flat(arrow, file.schema_arrow.empty_table())
                yield _csv(arrow, csv, table, header)
        except arrow.ArrowException as error:
            raise Unreadable(f"Parquet that cannot be read: {error}") from error


def _csv(arrow: Any, csv: Any, table: Any, header: bool) -> bytes:
    sink = arrow.BufferOutputStream()
    csv.write_csv(table, sink, csv.WriteOptions(include_header=header))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _flat(arrow: Any, table: Any) -> Any:
    """The columns that text can have, nested ones by their paths; others are left out."""
    names, columns = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        for path, part in _parts(arrow, name, column):
            names.append(path)
            columns.append(part)
    return arrow.table(columns, names=names)


def _parts(arrow: Any, name: str, column: Any) -> Iterator[tuple[str, Any]]:
    kind = column.type
    types = arrow.types
    if types.is_struct(kind):
        for index, field in enumerate(kind):
            part = arrow.compute.struct_field(column, index)
            yield from _parts(arrow, f"{name}.{field.name}", part)
    elif types.is_fixed_size_list(kind) and kind.list_size <= _LONGEST_ARRAY:
        for index in range(kind.list_size):
            yield from _parts(arrow, f"{name}.{index}", arrow.compute.list_element(column, index))
    elif types.is_float16(kind) or types.is_float32(kind):
        yield name, column.cast(arrow.float64())  # with all its digits
    elif types.is_dictionary(kind):
        yield from _parts(arrow, name, column.cast(kind.value_type))
    elif types.is_primitive(kind) or types.is_string(kind) or types.is_large_string(kind):
        yield name, column
