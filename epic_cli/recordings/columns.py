"""Tables in memory as rows of CSV, written from their columns by compiled code.

NumPy arrays, pandas, Polars and Arrow columns of numbers, booleans, times and texts are written
without a Python object for each cell; only columns of Python objects are converted cell by cell.
None of these libraries is loaded here unless the table is one of its own.
"""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Final

from epic_cli.engine.text import COLUMN_KINDS, ColumnRows

#: A column as ``ColumnRows`` takes it: kind, values, texts, validity, offset, width.
Column = tuple[str, object, object, object, int, int]

#: Rows that are written at once.
ROWS: Final = 4096

#: A column without values.
_EMPTY: Column = ("empty", None, None, None, 0, 0)


def iterate_csv(columns: Mapping[str, Any] | Sequence[Any]) -> Iterator[bytes]:
    """Yield the rows of columns as CSV, below their names if they have any, some at a time.

    Raises ``ValueError`` for columns of different lengths.
    """
    head = b""
    if isinstance(columns, Mapping):
        head = write_head(columns)
        columns = list(columns.values())
    sizes = set(map(len, columns))
    if len(sizes) > 1:
        lengths = ", ".join(map(str, sorted(sizes)))
        raise ValueError(f"the columns have different lengths: {lengths}")
    for begin in range(0, max(sizes, default=0), ROWS):
        parts = [column[begin : begin + ROWS] for column in columns]
        rows = ColumnRows([_convert(part) for part in parts], len(parts[0]))
        yield head + rows.lines(0, rows.count)
        head = b""
    if head:
        yield head


def iterate_arrow_csv(table: Any) -> Iterator[bytes]:
    """Yield the rows of a PyArrow table as CSV, below their names, some at a time."""
    head = write_head(table.column_names)
    for batch in table.to_batches(max_chunksize=ROWS):
        yield head + write_arrow_rows(batch)
        head = b""
    if head:
        yield head


def write_head(names: Iterable[str]) -> bytes:
    """Return the names of columns as a line of CSV."""
    from epic_cli.recordings.writing import header_field

    return (",".join(header_field(write_cell(name)) for name in names) + "\n").encode()


def write_arrow_rows(batch: Any) -> bytes:
    """Return the rows of a PyArrow record batch as CSV."""
    rows = ColumnRows([_convert_arrow(column) for column in batch.columns], batch.num_rows)
    return rows.lines(0, rows.count)


def _convert(values: Any) -> Column:
    """Convert some values of a column: an array of NumPy or pandas, a Polars series, a list."""
    if hasattr(values, "to_physical") and hasattr(values, "null_count"):  # Polars
        return _convert_polars(values)
    if hasattr(values, "__arrow_array__") or type(values).__module__.startswith("pyarrow"):
        return _convert_list(values.to_pylist() if hasattr(values, "to_pylist") else list(values))
    numbers = values
    if hasattr(values, "to_numpy") and _is_numpy(getattr(values, "dtype", None)):  # pandas
        numbers = values.to_numpy()
    if _is_numpy(getattr(numbers, "dtype", None)) and getattr(numbers, "ndim", 0) == 1:
        converted = _convert_array(numbers)
        if converted is not None:
            return converted
    return _convert_list(values.tolist() if hasattr(values, "tolist") else values)


def _is_numpy(dtype: Any) -> bool:
    return type(dtype).__module__.partition(".")[0] == "numpy"


def _convert_array(values: Any) -> Column | None:
    """Convert a NumPy array; return None for one of Python objects."""
    import numpy as np

    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)  # half precision, or what a double cannot hold
    elif kind in "Mm":
        return _convert_times(values)
    elif kind == "U":
        values = np.char.encode(values, "utf-8")
    elif kind not in "fiubS":
        return None
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.dtype.kind == "S":
        return "fixed", values.view(np.uint8), None, None, 0, values.dtype.itemsize
    name = "bool" if values.dtype.kind == "b" else values.dtype.name
    if name not in COLUMN_KINDS:
        return None
    return name, values.view(np.uint8), None, None, 0, 0


def _convert_times(values: Any) -> Column:
    """Convert dates to ISO 8601, and durations to seconds, in microseconds."""
    import numpy as np

    missing = np.isnat(values)
    if values.dtype.kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.int64) / 1e6
        seconds[missing] = np.nan
        return "float64", seconds.view(np.uint8), None, None, 0, 0
    texts = np.datetime_as_string(values.astype("datetime64[us]")).astype("S")
    texts[missing] = b""
    return "fixed", texts.view(np.uint8), None, None, 0, texts.dtype.itemsize


def _convert_polars(series: Any) -> Column:
    """Convert a Polars series; one with missing whole numbers, or of objects, cell by cell."""
    if series.null_count() == 0 and series.dtype.is_numeric() and not series.dtype.is_decimal():
        converted = _convert_array(series.to_numpy())
        if converted is not None:
            return converted
    if series.dtype.is_float():
        converted = _convert_array(series.to_numpy())  # missing numbers are NaN
        if converted is not None:
            return converted
    return _convert_list(series.to_list())


def _convert_list(values: Sequence[Any]) -> Column:
    """Convert Python objects: numbers of one type at once, others cell by cell."""
    return convert_values(values, write_cell)


def convert_values(values: Sequence[Any], write: Callable[[Any], str]) -> Column:
    """Convert Python objects to a column; ``write`` gives the text of one that is not a number.

    Numbers that are missing (None, or an empty text) become empty cells.
    """
    types = set(map(type, values))
    missing = types & {type(None), str}
    if missing and float in types and not any(value for value in values if type(value) is str):
        values = [math.nan if type(value) in missing else value for value in values]
        types -= missing
    if types == {float}:
        return "float64", array("d", values), None, None, 0, 0
    if types == {int}:
        with contextlib.suppress(OverflowError):
            return "int64", array("q", values), None, None, 0, 0
    if types == {bool}:
        return "bool", bytes(values), None, None, 0, 0
    texts = [write(value).encode("utf-8", "surrogatepass") for value in values]
    ends = array("q", chain((0,), accumulate(map(len, texts))))
    if not types <= {str, type(None)}:
        return "cell64", ends, b"".join(texts), None, 0, 0
    valid = bytearray((len(values) + 7) // 8)
    for index, value in enumerate(values):
        valid[index // 8] |= (value is not None) << index % 8
    return "text64", ends, b"".join(texts), bytes(valid), 0, 0


def write_rows(rows: Sequence[Sequence[Any]], write: Callable[[Any], str]) -> bytes:
    """Return rows of Python objects as CSV; ``write`` gives the text of all but numbers."""
    widths = set(map(len, rows))
    if len(widths) != 1:
        return b"".join(write_rows([row], write) for row in rows)
    columns = [convert_values(values, write) for values in zip(*rows, strict=True)]
    return ColumnRows(columns, len(rows)).lines(0, len(rows))


def _convert_arrow(column: Any) -> Column:
    """Convert an array of PyArrow, whose buffers are read as they are."""
    import pyarrow as arrow

    types, kind = arrow.types, column.type
    if types.is_null(kind):
        return _EMPTY
    if types.is_dictionary(kind):
        return _convert_arrow(column.dictionary_decode())
    if types.is_float16(kind) or types.is_decimal(kind):
        column, kind = column.cast(arrow.float64()), arrow.float64()
    name = {"float": "float32", "double": "float64", "bool": "bit"}.get(str(kind), str(kind))
    buffers = column.buffers()
    validity = buffers[0] if column.null_count else None
    if types.is_string(kind) or types.is_large_string(kind):
        name = "text32" if types.is_string(kind) else "text64"
        return name, buffers[1], buffers[2] or b"", validity, column.offset, 0
    if name in COLUMN_KINDS and (name == "bit" or types.is_primitive(kind)):
        return name, buffers[1], None, validity, column.offset, 0
    return _convert_list(column.to_pylist())


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
