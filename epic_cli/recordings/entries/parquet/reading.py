"""The rows of a Parquet file as CSV, batch by batch, of the columns that are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from epic_cli.recordings import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import IO

    from epic_cli.recordings.read_spec import ReadSpec

#: So many rows are held at a time.
BATCH = 8192

#: Of so many rows, those that findings look at, all columns are read: one may tell entities apart.
_SHOWN = 2048

#: Arrays of so many numbers, all of one length, become columns of their own: ``pos.0``.
_LONGEST_ARRAY = 16

#: Bytes of a column in a group of rows that any memory has room for; of a long name; of a cell that
#: may be anything; and how many times smaller a column is compressed that is hardly data.
_LARGE, _NAME, _LONGEST_CELL, _RATIO = 1 << 24, 64, 4096, 64


def rows(arrow: Any, parquet: Any, stream: IO[bytes], layout: ReadSpec) -> Iterator[bytes]:
    """The names of the columns as a line of CSV, then the rows; raises ``Unreadable``."""
    try:
        file = parquet.ParquetFile(stream)
        too_large = _too_large(file.metadata)
        small = [one.name for one in file.schema_arrow if one.name not in too_large]
        first = next(file.iter_batches(_SHOWN, columns=small if too_large else None), None)
        lengths = _lengths(arrow, first) if first is not None else {}
        empty_table = _even(arrow, file.schema_arrow.empty_table(), lengths)
        names = [name for name, _ in _flat(arrow, empty_table)]
        header = _csv(arrow, [(name, arrow.array([], arrow.null())) for name in names], True)
        yield header
        if first is None:
            return
        shown = dict(_flat(arrow, _even(arrow, arrow.Table.from_batches([first]), lengths)))
        one = {name: column.slice(0, 1) for name, column in shown.items()}
        row = _csv(arrow, [(name, one.get(name, arrow.nulls(1))) for name in names], False)
        wanted = _wanted(layout, names, row.decode())
        tops = [field.name for field in file.schema_arrow if _leads_to(field.name, wanted)]
        if large := next((name for name in tops if name in too_large), None):
            raise Unreadable(f"Parquet whose values of {large!r} are too large: what are they?")
        for batch in file.iter_batches(BATCH, columns=tops):
            read = dict(_flat(arrow, _even(arrow, arrow.Table.from_batches([batch]), lengths)))
            empty = arrow.nulls(batch.num_rows)
            for name in shown.keys() - read.keys():
                if _is_short(arrow, shown[name]):
                    rest = arrow.nulls(batch.num_rows - len(shown[name]), shown[name].type)
                    read[name] = arrow.chunked_array([*shown[name].chunks, rest])
            shown = {}
            yield _csv(arrow, [(name, read.get(name, empty)) for name in names], False)
    except arrow.ArrowException as error:
        raise Unreadable(f"Parquet that cannot be read: {error}") from error


def _lengths(arrow: Any, batch: Any) -> dict[str, int]:
    """How many numbers the lists of a column have, where all have as many."""
    from pyarrow import compute

    found = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if arrow.types.is_list(column.type) or arrow.types.is_large_list(column.type):
            lengths = compute.unique(compute.list_value_length(column).drop_null()).to_pylist()
            if len(lengths) == 1 and 0 < lengths[0] <= _LONGEST_ARRAY:
                found[name] = lengths[0]
    return found


def _even(arrow: Any, table: Any, lengths: dict[str, int]) -> Any:
    """The table with lists of these lengths; raises ``ArrowException`` where one has another."""
    for name, length in lengths.items():
        if (at := table.schema.get_field_index(name)) >= 0:
            column = table.column(at)
            kind = arrow.list_(column.type.value_type, length)
            table = table.set_column(at, name, column.cast(kind))
    return table


def _too_large(metadata: Any) -> set[str]:
    """The columns that decoded would fill the memory: far more for a row than a name or a number.

    What is compressed so well is told by the sizes that the file declares, before it is decoded.
    """
    found = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            size, rows = column.total_uncompressed_size, max(group.num_rows, 1)
            packed = size > _RATIO * max(column.total_compressed_size, 1)
            if size > _LARGE and size > rows * (_NAME if packed else _LONGEST_CELL):
                found.add(column.path_in_schema.partition(".")[0])
    return found


def _wanted(layout: ReadSpec, names: list[str], row: str) -> Collection[str]:
    """The columns of the fields of a recording that begins with this row; or all of them."""
    from epic_cli.recordings.names.stars import entities_in, infer_row_layout, starred
    from epic_cli.recordings.names.units import AmbiguousLayout
    from epic_cli.recordings.read_spec import column_name, column_text
    from epic_cli.recordings.tables import split_row

    cells = split_row(row, ",")
    if cells is None or len(cells) != len(names) or layout.is_numbered:
        return names
    try:
        found = infer_row_layout(layout, dict(zip(map(column_text, names), cells, strict=True)))
    except AmbiguousLayout:
        return names  # the reader says what is wrong
    texts = [column_text(name) for name in names]
    several = entities_in(starred(found), texts).values()
    own = {names[place] for places in several for place in places.values()}
    return own | {column_name(column) for column in found.places.values()}


def _leads_to(top: str, wanted: Collection[str]) -> bool:
    return any(path == top or path.startswith(f"{top}.") for path in wanted)


def _is_short(arrow: Any, column: Any) -> bool:
    """Whether its cells are numbers, or text in which names would be found, on one line."""
    if not (arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type)):
        return True
    from pyarrow import compute

    longest = compute.max(compute.binary_length(column)).as_py() or 0
    return (
        longest <= _NAME
        and not compute.any(compute.match_substring_regex(column, "[\r\n]")).as_py()
    )


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
