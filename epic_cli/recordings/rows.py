"""Turn Python objects into recordings: ``Packet`` objects, and anything with rows.

Tables of pandas, Polars, PyArrow and any library with Arrow's stream (the PyCapsule interface),
NumPy arrays, mappings of columns, dicts and tuples are read like a file of the same rows: names,
units and mistakes are treated alike. None of these libraries is loaded here unless it is in use.
"""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock, check_packets
from epic_cli.recordings import Unreadable
from epic_cli.recordings.opening import RecordingSource, find_source

if TYPE_CHECKING:
    from epic_cli.recordings import Piece, PieceReader
    from epic_cli.recordings.extras import Extras

#: A path.
Path = str | os.PathLike[str]


class ArrowExporter(Protocol):
    """A table of any library with Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: Whatever holds packets: a path, a file open for reading, a table of any library with Arrow's
#: interface, an array with names, a mapping of columns, or packets, dicts or tuples one by one.
PacketSource: TypeAlias = "Path | IO[bytes] | IO[str] | Iterable[Any] | ArrowExporter"


def make_source(given: Any) -> RecordingSource:  # noqa: PLR0911 - one for each kind
    """Return the source of a path, an open file, a table, or anything with packets in it.

    Packets that have a length are checked now. Raises ``TypeError`` for an object without packets,
    ``ValueError`` for a generator that is used up.
    """
    if isinstance(given, RecordingSource):
        return given
    if isinstance(given, (str, os.PathLike)):
        return find_source(write_path(given))
    if hasattr(given, "make_source"):
        return cast("RecordingSource", given.make_source())
    name = f"<{type(given).__name__}>"
    if hasattr(given, "read"):
        file = str(getattr(given, "name", "<file>"))
        return RecordingSource(file, content=open_bytes(given), kept=_is_complete_file(given))
    if isinstance(given, Packet):
        raise TypeError("this is one packet: give a list of packets, as [packet]")
    if isinstance(given, (bytes, bytearray)):
        raise TypeError("these are bytes: give read_packets(io.BytesIO(them)), a path or packets")
    if (table := read_table(given)) is not None:
        return RecordingSource(name, content=table, form="csv", kept=True)
    if not isinstance(given, Iterable):
        raise TypeError(f"{given!r} holds no packets: give a list of packets, or a path")
    if getattr(given, "gi_frame", given) is None:
        raise ValueError("this generator of packets has been used up: make another one, or a list")
    if not hasattr(given, "__len__"):
        return _IteratorSource(given)
    if any(map(is_row, islice(given, 1))):
        content, form = encode_rows(given)
        return RecordingSource(name, content=content, form=form, kept=True)
    check_packets(given)
    return RecordingSource("packets", packets=partial(iterate_packet_blocks, given), kept=True)


def write_path(given: Path) -> str:
    """Return a path as text.

    Raises ``Unreadable`` for the content of a recording given as a path.
    """
    path = os.fsdecode(given)
    if "\n" in path and not os.path.lexists(path):
        raise Unreadable(
            "this is the text of a recording, not a path: give io.StringIO(text), or a path"
        )
    return path


class _IteratorSource(RecordingSource):
    """A source of packets or rows that come one by one from an iterator."""

    def __init__(self, items: Iterable[Any]) -> None:
        super().__init__("packets", packets=partial(iterate_packet_blocks, items))
        self.items = items


def settle_source(source: RecordingSource) -> RecordingSource:
    """Return the source once its first item has come: rows become a recording, read like a file."""
    if not isinstance(source, _IteratorSource):
        return source
    left = iter(source.items)
    first = next(left, None)
    items = chain([] if first is None else [first], left)
    if not is_row(first):
        return RecordingSource(source.name, packets=partial(iterate_packet_blocks, items))
    content, form = encode_rows(items)
    return RecordingSource(f"<{type(source.items).__name__}>", content=content, form=form)


def _is_complete_file(file: Any) -> bool:
    """Return True if an open file is complete, and no pipe."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, AttributeError):
        return hasattr(file, "getvalue")


def iterate_packet_blocks(packets: Iterable[Packet], at_once: int) -> Iterator[PacketBlock]:
    """Yield packets in blocks for the engine, ``at_once`` packets at a time."""
    numbered, entities = enumerate(packets, 1), Entities()
    while some := list(islice(numbered, at_once)):
        block = PacketBlock(entities)
        extras = _ObjectExtras()
        for number, packet in some:
            block.append(packet, number)
            if given := getattr(packet, "extras", None):
                extras[number] = dict(given)
        block.extra_source = extras
        yield block


class _ObjectExtras(dict[int, "Extras"]):
    """The extras of packets that were given as objects, by their line."""

    extra_names = ()

    def find_extras(self, block: PacketBlock, index: int) -> Extras:
        """Return the extras of a packet."""
        return self.get(block.line(index), {})


def read_table(source: Any) -> PieceReader | None:
    """Return a reader of the rows of a table, an array or a mapping of columns.

    None for other objects.
    """
    from epic_cli.recordings.columns import iterate_rows

    if getattr(source, "ndim", 0) == 2 and hasattr(source, "dtype"):
        return _make_source(iterate_rows(list(source.T)))  # its columns have numbers
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):  # Polars' LazyFrame
        source = source.collect()
    structure = str(getattr(source, "type", "")).startswith("struct<")
    if structure and not hasattr(source, "__arrow_c_stream__"):
        from pyarrow import chunked_array  # whose array it is

        source = chunked_array([source])
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "reset_index"):
        return _read_arrow_table(source)
    columns = _find_columns(source)
    return None if columns is None else _make_source(iterate_rows(columns))


def _read_arrow_table(source: Any) -> PieceReader:
    """Return a reader of a table with Arrow's stream; one of nested values needs PyArrow."""
    from epic_cli.engine.arrow import ArrowStream
    from epic_cli.recordings.columns import iterate_arrow_rows, iterate_nested_rows, iterate_rows

    stream = ArrowStream(source.__arrow_c_stream__())
    if stream.is_plain:
        return _make_source(iterate_arrow_rows(stream))
    if hasattr(source, "get_columns"):  # Polars
        return _make_source(iterate_rows(dict(_flatten_polars(source.get_columns()))))
    try:
        from pyarrow import table
    except ImportError as error:
        message = f"nested columns of {type(source).__name__} need PyArrow: pip install pyarrow"
        raise TypeError(message) from error
    whole = table(stream)
    while any(str(column.type).startswith("struct<") for column in whole.schema):
        whole = whole.flatten()  # one level: pos.x
    return _make_source(iterate_nested_rows(whole))


def _flatten_polars(columns: Iterable[Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield columns with their names, the members of structures by their paths."""
    for column in columns:
        if hasattr(column.dtype, "fields"):
            parts = [column.struct.field(field.name) for field in column.dtype.fields]
            yield from _flatten_polars(parts, f"{above}{column.name}.")
        else:
            yield f"{above}{column.name}", column


def is_row(item: object) -> bool:
    """Return True for a dict, or a tuple or list that begins with a value, and is no packet."""
    if isinstance(item, (tuple, list)) and not hasattr(item, "position"):
        return bool(item) and not isinstance(item[0], (tuple, list))
    return isinstance(item, Mapping) or _is_dataclass_row(item)


def _is_dataclass_row(item: object) -> bool:
    """Return True for an object of a dataclass that is not itself a packet."""
    return hasattr(item, "__dataclass_fields__") and not hasattr(item, "position")


def encode_rows(items: Iterable[Any]) -> tuple[PieceReader, str]:
    """Return dicts as JSON lines, or tuples as CSV, as they come, and the name of the format."""
    left = iter(items)
    first = next(left)
    items = chain([first], left)
    if isinstance(first, Mapping) or _is_dataclass_row(first):
        lines = (json.dumps(_convert_to_json(item)).encode() + b"\n" for item in items)
        return _make_source(lines), "jsonl"
    names = getattr(first, "_fields", None)  # without any, columns have numbers
    return _make_source(_write_csv_lines(chain([names] if names else [], items))), "csv"


def open_bytes(file: Any) -> IO[bytes]:
    """Return a file as a binary file; one that gives text is encoded."""
    return cast("IO[bytes]", _EncodedFile(file) if isinstance(file, io.TextIOBase) else file)


class _EncodedFile:
    """A binary view of a file that gives text."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.name = getattr(file, "name", "<file>")

    def read(self, size: int) -> bytes:
        """Return some bytes; none at the end."""
        return bytes(self._file.read(max(size, 1)).encode("utf-8", "surrogatepass"))

    def seekable(self) -> bool:
        """Return False: the bytes of encoded text have no positions."""
        return False


def _find_columns(source: Any) -> dict[str, Any] | None:
    """Return the columns of a table by name; None if the object is no table."""
    if isinstance(source, Mapping):
        return {str(name): values if hasattr(values, "__len__") else list(values)
                for name, values in source.items()}  # fmt: skip
    if hasattr(source, "dtype"):
        names = source.dtype.names
        return {name: source[name] for name in names} if names else None
    if hasattr(source, "reset_index"):  # pandas: the times may be the index
        plain = source.index.name is None and type(source.index).__name__ == "RangeIndex"
        source = source if plain else source.reset_index()
        return {_format_column_name(column): source[column] for column in source.columns}
    return None


def _format_column_name(name: Any) -> str:
    """Return a column's name as text; the levels of a name with several are joined by points."""
    parts = name if isinstance(name, tuple) else (name,)
    return ".".join(str(part) for part in parts if part != "")


def _make_source(pieces: Iterator[Piece]) -> PieceReader:
    return lambda: next(pieces, b"")


def _write_csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    from epic_cli.recordings.columns import write_cell
    from epic_cli.recordings.writing import write_typed_field

    for row in rows:
        yield (
            ",".join(write_typed_field(value, write_cell(value)) for value in row) + "\n"
        ).encode()


def _convert_to_json(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    from epic_cli.recordings.columns import write_cell

    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(name): _convert_to_json(one) for name, one in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (tuple, list)):
        return [_convert_to_json(item) for item in value]
    if isinstance(value, (str, bool, int)):
        return value
    return (write_cell(value) or None) if not isinstance(value, float) or value != value else value  # noqa: PLR0124
