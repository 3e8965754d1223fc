"""Read the columns of any Parquet file row by row, as the reader of tables takes them.

So names are recognized, units converted and rows refused as they are in CSV, with the number of
the row, from 2, in the place of the line's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, TYPE_CHECKING, Any

from epic_cli.engine.arrow import is_plain_type
from epic_cli.recordings import Unreadable
from epic_cli.recordings.columns import convert_batch, join_first_rows, write_head
from epic_cli.recordings.extras import MORE_COLUMNS

if TYPE_CHECKING:
    from epic_cli.engine.text import ColumnRows
    from epic_cli.recordings import Piece
    from epic_cli.recordings.read_spec import ReadSpec

#: This many rows are held at a time.
BATCH = 8192

#: Of this many rows, those that findings look at, all columns are read: one may tell entities
#: apart.
_SHOWN = 2048

#: Arrays of this many numbers, all of one length, become columns of their own: ``pos.0``.
_LONGEST_ARRAY = 16

#: This many columns are named; of a file with more, only those that are read.
_MOST_NAMED = 1000

#: So much text of a column is held at a time.
_MOST_TEXT = 1 << 26

#: Bytes of a column in a group of rows that any memory has room for; of a long name; of a cell that
#: may be anything; and how many times smaller a column is compressed that is hardly data.
_LARGE, _NAME, _LONGEST_CELL, _RATIO = 1 << 24, 64, 4096, 64


def iterate_rows(arrow: Any, parquet: Any, stream: IO[bytes], layout: ReadSpec) -> Iterator[Piece]:
    """Yield the names of the columns and the first rows as CSV, then the other rows.

    Raises ``Unreadable``.
    """
    try:
        file = parquet.ParquetFile(stream)
        too_large = _find_too_large_columns(file.metadata)
        if repeating := _find_repeating_columns(file.metadata):
            file = parquet.ParquetFile(stream, read_dictionary=repeating)
        small = [each.name for each in file.schema_arrow if each.name not in too_large]
        first = next(file.iter_batches(_SHOWN, columns=small if too_large else None), None)
        lengths = _find_list_lengths(arrow, first) if first is not None else {}
        empty_table = _fix_list_lengths(
            arrow, arrow.Table.from_batches([], file.schema_arrow), lengths
        )
        names = [name for name, _ in _flatten_columns(arrow, empty_table)]
        shown: dict[str, Any] = {}
        wanted: Collection[str] = names
        if first is not None:
            shown = dict(
                _flatten_columns(
                    arrow, _fix_list_lengths(arrow, arrow.Table.from_batches([first]), lengths)
                )
            )
            one = {name: column.slice(0, 1) for name, column in shown.items()}
            row = _convert_table(arrow, [(name, one.get(name, arrow.nulls(1))) for name in names])
            wanted = _select_wanted_columns(layout, names, b"".join(map(bytes, row)).decode())
        needed = set(wanted)
        if layout.keep_extras and len(names) <= _MOST_NAMED:
            wanted = [*needed, *(name for name in names if name.partition(".")[0] not in too_large)]
        names = _select_named_columns(names, wanted)
        head = write_head(names)
        if first is None:
            yield head
            return
        tops = [field.name for field in file.schema_arrow if _has_path(field.name, wanted)]
        if large := next((name for name in tops if name in too_large), None):
            raise Unreadable(f"Parquet whose column {large!r} is too large: leave this column out")

        def iterate_batches() -> Iterator[ColumnRows]:
            before = shown
            for batch in file.iter_batches(BATCH, columns=tops):
                table = _fix_list_lengths(arrow, arrow.Table.from_batches([batch]), lengths)
                read = dict(_flatten_columns(arrow, table))
                for name in names:
                    if name in needed and name not in read:
                        raise Unreadable(
                            f"Parquet whose column {name!r} is too large: leave this column out"
                        )
                empty = arrow.nulls(batch.num_rows)
                for name in [name for name in before if name in names and name not in read]:
                    if _is_short_column(arrow, before[name]):
                        rest = arrow.nulls(batch.num_rows - len(before[name]), before[name].type)
                        read[name] = arrow.chunked_array([*before[name].chunks, rest])
                before = {}
                for name in read.keys() - needed:  # a row is a line
                    read[name] = _remove_line_breaks(arrow, read[name])
                yield from _convert_table(arrow, [(name, read.get(name, empty)) for name in names])

        yield from join_first_rows(head, iterate_batches())
    except arrow.ArrowException as error:
        raise Unreadable(f"Parquet that cannot be read: {error}") from error


def _find_list_lengths(arrow: Any, batch: Any) -> dict[str, int]:
    """Return the length of the lists in each column whose lists all have the same length."""
    found = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if arrow.types.is_list(column.type) or arrow.types.is_large_list(column.type):
            from pyarrow import compute

            lengths = compute.unique(compute.list_value_length(column).drop_null()).to_pylist()
            if len(lengths) == 1 and 0 < lengths[0] <= _LONGEST_ARRAY:
                found[name] = lengths[0]
    return found


def _fix_list_lengths(arrow: Any, table: Any, lengths: dict[str, int]) -> Any:
    """Return the table with lists of these lengths.

    Raises ``ArrowException`` for any other length.
    """
    for name, length in lengths.items():
        if (at := table.schema.get_field_index(name)) >= 0:
            column = table.column(at)
            kind = arrow.list_(column.type.value_type, length)
            table = table.set_column(at, name, column.cast(kind))
    return table


def _find_too_large_columns(metadata: Any) -> set[str]:
    """Return the columns that would fill the memory when decoded, as no name or number would.

    For strongly compressed columns, the sizes declared by the file decide, before it is decoded.
    """
    found = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            size, rows = column.total_uncompressed_size, max(group.num_rows, 1)
            packed = size > _RATIO * max(column.total_compressed_size, 1)
            if size > _LARGE and size > rows * (_NAME if packed else _LONGEST_CELL):
                found.add(column.path_in_schema.partition(".")[0])
    return found


def _find_repeating_columns(metadata: Any) -> list[str]:
    """Return the text columns in which a long text, stored once, may stand in many rows.

    Those are read as they are written: the distinct texts, and the number of each row's text.
    """
    found: dict[str, None] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        rows = min(group.num_rows, BATCH)
        for column in map(group.column, range(group.num_columns)):
            text = column.physical_type == "BYTE_ARRAY"
            if text and column.total_uncompressed_size * rows > _MOST_TEXT:
                found[column.path_in_schema] = None
    return list(found)


def _select_named_columns(names: list[str], wanted: Collection[str]) -> list[str]:
    """Return the names of the columns that are read, and of the others if there are few enough."""
    if len(names) <= _MOST_NAMED or len(wanted) == len(names):
        return names
    kept = [name for name in names if name in wanted]
    return [*kept, f"{len(names) - len(kept):,}{MORE_COLUMNS}"]


def _select_wanted_columns(layout: ReadSpec, names: list[str], row: str) -> Collection[str]:
    """Return the columns of the fields of a recording that begins with this row; all if unclear."""
    from epic_cli.recordings.names.guess import (
        AmbiguousLayout,
        find_entities,
        infer_row_layout,
        list_starred,
    )
    from epic_cli.recordings.read_spec import split_joined, write_column, write_column_name
    from epic_cli.recordings.tables import split_row

    cells = split_row(row, ",")
    if cells is None or len(cells) != len(names) or layout.is_numbered:
        return names
    try:
        found = infer_row_layout(layout, dict(zip(map(write_column, names), cells, strict=True)))
    except AmbiguousLayout:
        return names  # the reader says what is wrong
    texts = [write_column(name) for name in names]
    several = find_entities(list_starred(found), texts).values()
    own = {names[place] for places in several for place in places.values()}
    parts = (part for column in found.places.values() for part in (column, *split_joined(column)))
    return own | set(map(write_column_name, parts))


def _has_path(top: str, wanted: Collection[str]) -> bool:
    return any(path == top or path.startswith(f"{top}.") for path in wanted)


def _measure_longest_text(arrow: Any, column: Any) -> int:
    """Return the bytes of the longest text in a dictionary column, or of all if these are few."""
    text = arrow.types.is_string(column.type.value_type)
    if not (text or arrow.types.is_large_string(column.type.value_type)):
        return 0
    chunks = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    size = max((chunk.dictionary.nbytes for chunk in chunks), default=0)
    if size <= _LONGEST_CELL:
        return int(size)
    from pyarrow import compute

    lengths = (compute.max(compute.binary_length(chunk.dictionary)).as_py() for chunk in chunks)
    return max((length or 0 for length in lengths), default=0)


def _is_short_column(arrow: Any, column: Any) -> bool:
    """Return True for a column of numbers, or of short texts on one line."""
    if not (arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type)):
        return True
    from pyarrow import compute

    longest = compute.max(compute.binary_length(column)).as_py() or 0
    return (
        longest <= _NAME
        and not compute.any(compute.match_substring_regex(column, "[\r\n]")).as_py()
    )


def _remove_line_breaks(arrow: Any, column: Any) -> Any:
    """Return a column of texts with blanks in place of line breaks."""
    if not (arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type)):
        return column
    from pyarrow import compute

    return compute.replace_substring_regex(column, "[\\r\\n\\x00]+", " ")


def _convert_table(arrow: Any, columns: list[tuple[str, Any]]) -> Iterator[ColumnRows]:
    """Yield the rows of these columns."""
    names, values = zip(*columns, strict=True) if columns else ((), ())
    # not arrow.table, which loads pandas if it is there
    table = arrow.Table.from_arrays(list(values), names=list(names)).combine_chunks()
    return map(convert_batch, table.to_batches())


def _flatten_columns(arrow: Any, table: Any) -> list[tuple[str, Any]]:
    """Return the columns that text can hold, nested ones by their paths; others are left out."""
    return [
        part
        for name, column in zip(table.column_names, table.columns, strict=True)
        for part in _iterate_parts(arrow, name, column)
    ]


def _iterate_parts(arrow: Any, name: str, column: Any) -> Iterator[tuple[str, Any]]:
    kind = column.type
    types = arrow.types
    if types.is_struct(kind):
        from pyarrow import compute

        for index, field in enumerate(kind):
            part = compute.struct_field(column, index)
            yield from _iterate_parts(arrow, f"{name}.{field.name}", part)
    elif types.is_fixed_size_list(kind) and kind.list_size <= _LONGEST_ARRAY:
        from pyarrow import compute

        for index in range(kind.list_size):
            yield from _iterate_parts(arrow, f"{name}.{index}", compute.list_element(column, index))
    elif types.is_dictionary(kind):
        if _measure_longest_text(arrow, column) > _LONGEST_CELL:
            return
        if is_plain_type(kind.__arrow_c_schema__()):
            yield name, column
    elif is_plain_type(kind.__arrow_c_schema__()):
        yield name, column
