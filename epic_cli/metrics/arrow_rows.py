"""Export of result rows as Arrow columns, which Polars, DuckDB and PyArrow read directly."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from epic_cli.engine.arrow import export_stream

if TYPE_CHECKING:
    from epic_cli.engine.arrow import Buffers

#: The largest integer of Arrow's 64-bit columns.
_MOST_INT = 2**63 - 1


def export_rows(rows: Sequence[Mapping[str, Any]]) -> object:
    """Return rows as a capsule of Arrow's C stream interface, with a column for each key.

    A column of booleans, of integers, of numbers or of nulls keeps its type; all others are text. A
    row that lacks a key has a null there.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [[row.get(name) for row in rows] for name in names]
    fields = [(name, _choose_format(column)) for name, column in zip(names, columns, strict=True)]
    buffers = [
        _pack_column(form, column) for (_, form), column in zip(fields, columns, strict=True)
    ]
    return export_stream(fields, [(len(rows), buffers)] if rows else [])


def _choose_format(column: list[Any]) -> str:
    """Return Arrow's format letter for a column: ``n``, ``b``, ``l``, ``g`` or ``U``."""
    kinds = {type(value) for value in column if value is not None}
    if kinds == {bool}:
        return "b"
    if kinds == {int} and all(abs(value) <= _MOST_INT for value in column if value is not None):
        return "l"
    if not kinds:
        return "n"
    return "g" if kinds <= {int, float} else "U"


def _pack_column(form: str, column: list[Any]) -> Buffers:
    """Return a column's Arrow buffers: the validity bitmap, the values, and the bytes of texts."""
    if form == "n":
        return ()
    has_nulls = any(value is None for value in column)
    validity = _pack_bits(value is not None for value in column) if has_nulls else None
    if form == "b":
        return validity, _pack_bits(map(bool, column))
    if form == "l":
        return validity, array("q", [value or 0 for value in column]).tobytes()
    if form == "g":
        return validity, array("d", [value or 0.0 for value in column]).tobytes()
    texts = [b"" if value is None else str(value).encode() for value in column]
    return validity, array("q", accumulate(map(len, texts), initial=0)).tobytes(), b"".join(texts)


def _pack_bits(flags: Iterable[bool]) -> bytes:
    """Return a bit for each flag, the first in the lowest bit of the first byte."""
    number = count = 0
    for flag in flags:
        number |= flag << count
        count += 1
    return number.to_bytes((count + 7) // 8, "little")
