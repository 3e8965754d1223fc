"""Tables in memory as rows that compiled code reads from their columns.

NumPy arrays, pandas, Polars and Arrow columns of numbers, booleans, times and texts are read
without a Python object for each cell; only columns of Python objects are converted cell by cell.
None of these libraries is loaded here unless the table is one of its own.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final

from epic_cli.engine.arrow import ArrowStream, import_array
from epic_cli.engine.text import COLUMN_KINDS, ColumnRows, pack_objects

if TYPE_CHECKING:
    from epic_cli.engine.arrow import Column
    from epic_cli.recordings import Piece

#: Rows that are written at once, and bytes of the first ones.
ROWS: Final = 4096
_FIRST: Final = 1 << 16

#: Units in a second.
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}

#: A column without values.
_EMPTY: Column = ("empty", None, None, None, 0, 0)


def iterate_rows(columns: Mapping[str, Any] | Sequence[Any]) -> Iterator[Piece]:
    """Yield the names of columns, if they have any, and the first rows as CSV, then the other rows.

    Raises ``ValueError`` for columns of different lengths.
    """
    head = b""
    if isinstance(columns, Mapping):
        head = write_head(columns)
        columns = list(columns.values())
    sizes = set(map(len, columns))
    if len(sizes) > 1:
        lengths = ", ".join(map(str, sorted(sizes)))
        raise ValueError(f"all columns must have one length, and these have {lengths}")
    yield from join_first_rows(head, _convert_rows(columns, max(sizes, default=0)))


def _convert_rows(columns: Sequence[Any], count: int) -> Iterator[ColumnRows]:
    for begin in range(0, count, ROWS):
        parts = [column[begin : begin + ROWS] for column in columns]
        yield ColumnRows([_convert(part) for part in parts], len(parts[0]))


def iterate_arrow_rows(stream: ArrowStream) -> Iterator[Piece]:
    """Yield the names of plain columns and the first rows as CSV, then the other rows."""
    return join_first_rows(write_head(stream.names), _cut_batches(stream))


def _cut_batches(stream: ArrowStream) -> Iterator[ColumnRows]:
    for count, columns in stream:
        rows = ColumnRows(columns, count)
        for begin in range(0, count, ROWS):
            yield rows.part(begin, begin + ROWS)


def iterate_nested_rows(table: Any) -> Iterator[Piece]:
    """Yield the names of a PyArrow table's columns and the first rows as CSV, then the others."""
    batches = table.to_batches(max_chunksize=ROWS)
    return join_first_rows(write_head(table.column_names), map(convert_batch, batches))


def join_first_rows(head: bytes, rows: Iterator[ColumnRows]) -> Iterator[Piece]:
    """Yield the head and the first rows as CSV at once, then the other rows.

    The layout is inferred from the first rows, however few come at a time. An error among them is
    raised behind those that came before it.
    """
    rows = filter(len, rows)  # an empty piece would be the end
    try:
        for some in rows:
            head += bytes(some)
            if len(head) >= _FIRST:
                break
    except Exception:
        yield head
        raise
    yield head
    yield from rows


def write_head(names: Iterable[str]) -> bytes:
    """Return the names of columns as a line of CSV."""
    from epic_cli.recordings.writing import write_header_field

    return (",".join(write_header_field(write_cell(name)) for name in names) + "\n").encode()


def convert_batch(batch: Any) -> ColumnRows:
    """Return the rows of a PyArrow record batch."""
    return ColumnRows([_convert(column) for column in batch.columns], batch.num_rows)


def _convert(values: Any) -> Column:
    """Convert values of a column: an array of NumPy, pandas or Arrow, a Polars series, a list."""
    numbers = values
    if hasattr(values, "to_numpy") and _is_numpy(getattr(values, "dtype", None)):  # pandas
        numbers = values.to_numpy()
    if _is_numpy(getattr(numbers, "dtype", None)) and getattr(numbers, "ndim", 0) == 1:
        converted = _convert_numpy_array(numbers)
    else:
        converted = _convert_arrow(values)
    if converted is not None:
        return converted
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, name):
            return _convert_list(getattr(values, name)())
    return _convert_list(values)


def _convert_arrow(values: Any) -> Column | None:
    """Convert an array that Arrow can take; return None for others, and for nested values."""
    if hasattr(values, "rechunk"):  # Polars: one array, not several
        stream = ArrowStream(values.rechunk().__arrow_c_stream__())
        return next((columns[0] for _, columns in stream), _EMPTY) if stream.is_plain else None
    if hasattr(array := getattr(values, "array", values), "__arrow_array__"):  # pandas
        with contextlib.suppress(ImportError):
            values = array.__arrow_array__()
    if hasattr(values, "combine_chunks"):
        values = values.combine_chunks()
    return (
        import_array(*values.__arrow_c_array__()) if hasattr(values, "__arrow_c_array__") else None
    )


def _is_numpy(dtype: Any) -> bool:
    return type(dtype).__module__.partition(".")[0] == "numpy"


def _convert_numpy_array(values: Any) -> Column | None:
    """Convert a NumPy array; return None for one of Python objects."""
    import numpy as np

    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize > 8:
        values = values.astype(np.float64)
    elif kind in "Mm":
        return _convert_times(values)
    elif kind not in "fiubSU":
        return None
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if kind == "S":
        return "fixed", values.view(np.uint8), None, None, 0, values.dtype.itemsize
    if kind == "U":
        width = values.dtype.itemsize // 4
        return "wide", values.view(np.uint8) if width else None, None, None, 0, width
    name = "bool" if values.dtype.kind == "b" else values.dtype.name
    if name not in COLUMN_KINDS:
        return None
    return name, values.view(np.uint8), None, None, 0, 0


def _convert_times(values: Any) -> Column:
    """Convert NumPy's dates and durations; those that are not counted in s, ms, us or ns in us."""
    import numpy as np

    unit, count = np.datetime_data(values.dtype)
    if unit not in _PER_SECOND or count != 1:
        unit = "us"
    kind = "stamp" if values.dtype.kind == "M" else "duration"
    numbers = np.ascontiguousarray(values, f"={values.dtype.kind}8[{unit}]").view(np.uint8)
    return kind, numbers, None, None, 0, _PER_SECOND[unit]


def _convert_list(values: Sequence[Any]) -> Column:
    """Convert Python objects: numbers of one type at once, others cell by cell."""
    return convert_values(values, write_cell)


def convert_values(values: Sequence[Any], write: Callable[[Any], str]) -> Column:
    """Convert Python objects to a column; ``write`` gives the text of one that is not a number.

    Numbers that are missing (None, or an empty text) become empty cells.
    """
    packed = pack_objects(values)
    if packed is not None:
        return packed
    texts = [write(value).encode("utf-8", "surrogatepass") for value in values]
    ends = array("q", chain((0,), accumulate(map(len, texts))))
    if any(type(value) not in (str, type(None)) for value in values):
        return "cell64", ends, b"".join(texts), None, 0, 0
    valid = bytearray((len(values) + 7) // 8)
    for index, value in enumerate(values):
        valid[index // 8] |= (value is not None) << index % 8
    return "text64", ends, b"".join(texts), bytes(valid), 0, 0


def convert_rows(
    rows: Sequence[Sequence[Any]], write: Callable[[Any], str]
) -> Iterator[ColumnRows]:
    """Yield rows of Python objects, all of one width at once if they have one.

    ``write`` gives the text of all but numbers.
    """
    widths = set(map(len, rows))
    for some in [rows] if len(widths) == 1 else ([row] for row in rows):
        columns = [convert_values(values, write) for values in zip(*some, strict=True)]
        yield ColumnRows(columns, len(some))


def write_cell(value: Any) -> str:
    """Return a value as the text of a cell; empty for None, NaN and pandas' missing values."""
    # pandas' NA is neither equal to itself nor not
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:  # noqa: PLR0124
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if hasattr(value, "isoformat") and not hasattr(value, "total_seconds"):
        return str(value.isoformat())
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    if isinstance(value, (tuple, list)):  # a vector
        return f"({', '.join(map(write_cell, value))})"
    return " ".join(str(value).split("\n"))
