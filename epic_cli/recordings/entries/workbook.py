"""Tables of workbooks and databases.

The cells of a sheet are counted before the library makes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial, reduce
from itertools import chain, islice, repeat
from typing import IO, TYPE_CHECKING, Any

from epic_cli.engine.text import SheetExtent
from epic_cli.recordings import Format, Unreadable
from epic_cli.recordings.columns import convert_rows, join_first_rows
from epic_cli.recordings.entries.csv import count_lines_above_header

if TYPE_CHECKING:
    from epic_cli.engine.text import ColumnRows
    from epic_cli.recordings import ByteSource, PieceReader
    from epic_cli.recordings.read_spec import ReadSpec


#: A workbook unpacks to no more than this, to no more cells unless half of them are written, and
#: has no more elements of XML and sheets.
_UNPACKED, _CELLS, _ELEMENTS, SHEETS = 512 << 20, 8 << 20, 24 << 20, 1000

#: The member of an OpenDocument that has its sheets.
_ODS = "content.xml"

#: XFD1048576; and what the parser of XML holds at once: levels, names, bytes of a tag.
_PLACE, _DEEPEST, _DIFFERENT, _LONGEST_TAG = 10, 200, 2000, 8 << 20

#: The beginning of XML in UTF-8.
_PLAIN_XML = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*<(?:[^?!\0]|\?xml\s(?:[^>]*encoding=["'](?i:utf-8)["'])?[^>]*\?>)"""
)


def check_sizes(file: IO[bytes]) -> None:
    """Raise ``Unreadable`` if an archive needs far more memory than its size in bytes.

    Every cell of XLSX is made that lies between the first and the last. Where they lie is read
    strictly: a cell that this did not see would be made all the same.
    """
    import zipfile

    with zipfile.ZipFile(file) as archive:
        if sum(info.file_size for info in archive.infolist()) > _UNPACKED:
            raise Unreadable("an archive that unpacks to more than 512 MiB: export a table as CSV")
        if any(info.filename.lower().endswith("workbook.bin") for info in archive.infolist()):
            raise Unreadable("a binary workbook (XLSB): save it as XLSX")
        elements = 0
        for info in archive.infolist():
            is_sheet, is_utf8, rest = info.filename == _ODS, True, b""
            extent = SheetExtent()
            with archive.open(info) as member:
                while part := member.read(1 << 20):
                    data = rest + part
                    is_sheet = is_sheet or b"sheetData" in data
                    is_utf8 = is_utf8 and (bool(rest) or _PLAIN_XML.match(data) is not None)
                    rest = data[extent.scan(data) :]
                    if len(rest) > _LONGEST_TAG:
                        is_utf8, rest = False, rest[-16:]
            elements += extent.elements
            if elements > _ELEMENTS:
                raise Unreadable("a workbook of too many cells or texts: export a table as CSV")
            if is_sheet and extent.is_plain and is_utf8 and info.filename != _ODS:
                _check_area(extent.rows * extent.columns, extent.cells)
            elif is_sheet:
                with archive.open(info) as member:
                    _check_extent(member, info.filename)
    file.seek(0)


def _check_extent(member: IO[bytes], name: str) -> None:
    from xml.parsers import expat

    extent, parser, read = _XmlExtent(), expat.ParserCreate("utf-8"), 0
    parser.StartElementHandler = extent.begin_element
    parser.EndElementHandler = extent.end_element
    parser.StartDoctypeDeclHandler = extent.refuse_document_type  # it could give cells other places
    try:
        while part := member.read(1 << 20):
            parser.Parse(part)
            read += len(part)
            if read - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError("a tag is too long")
    except (expat.ExpatError, ValueError) as error:
        raise Unreadable(
            f"{name} in it cannot be read as a sheet ({error}): save it again, or export it as CSV"
        ) from error
    _check_area(extent.area, extent.cells)


def _check_area(area: int, cells: int) -> None:
    if area > max(_CELLS, 2 * cells):
        raise Unreadable("a sheet whose cells lie too far apart: export it as CSV")


def _number_column(letters: str) -> int:
    """Return the number of a column: 27 for AA."""
    return reduce(lambda n, c: 26 * n + ord(c) - 64, letters, 0)


class _XmlExtent:
    """The extent of a sheet's cells; a cell without a place is right of the last one.

    OpenDocument has all sheets in one file, and equal cells and rows once, with a count; empty ones
    at the end do not count.
    """

    def __init__(self) -> None:
        self.cells = self.rows = self.columns = self._column = self._depth = 0
        self._row = self._empty = self._before = 0
        self._names: set[str] = set()

    @property
    def area(self) -> int:
        """The number of cells that the library will create."""
        return self._before + self.rows * self.columns

    def begin_element(self, name: str, attributes: dict[str, str]) -> None:
        """Count an element; raise ``ValueError`` for a place that no sheet has."""
        self._depth += 1
        self._names.update((name, *attributes))
        if self._depth > _DEEPEST or len(self._names) > _DIFFERENT:
            raise ValueError("it has too many kinds of elements, or too many levels of them")
        kind = name.rpartition(":")[2]
        if kind == "row":
            self.rows, self._column = max(self.rows + 1, int(attributes.get("r", 0))), 0
        elif kind == "c":
            self.cells += 1
            letters = attributes.get("r", "").rstrip("0123456789")
            if place := attributes.get("r"):
                if not letters.isalpha() or not place.isascii() or len(place) > _PLACE:
                    raise ValueError(f"there is no cell {place[:20]!r}")
                self._column = _number_column(letters.upper())
                self.rows = max(self.rows, int(place[len(letters) :] or 0))
            else:
                self._column += 1
            self.columns = max(self.columns, self._column)
        elif kind == "table":
            self._before, self.rows, self.columns = self.area, 0, 0
            self._row = self._empty = 0
        elif kind == "table-row":
            self._empty += self._row
            self._row, self._column = _count_repetitions(attributes, "number-rows-repeated"), 0
        elif kind.endswith("table-cell"):
            self._column += _count_repetitions(attributes, "number-columns-repeated")
            if any(attribute.endswith("value-type") for attribute in attributes):
                self.cells += 1
                self.rows += self._empty + self._row
                self._empty = self._row = 0
                self.columns = max(self.columns, self._column)

    def end_element(self, _: str) -> None:
        """Note the end of the element that began last."""
        self._depth -= 1

    def refuse_document_type(self, *_: object) -> None:
        """Raise ``ValueError`` for a document type, which could move cells."""
        raise ValueError("its document type could move cells")


def _count_repetitions(attributes: dict[str, str], name: str) -> int:
    given = (value for key, value in attributes.items() if key.endswith(name))
    return max(int(next(given, 1)), 1)


#: Rows that are given at once, and looked at for a header.
_ROWS, _LOOKED_AT = 4096, 30

#: Seconds of processor time for a look at all sheets.
_PATIENCE = 10.0

#: This many tables are listed.
_NAMED = 8

#: A database in a stream is held in memory.
_LONGEST = 256 << 20

#: A database's values are no longer, and it takes no more steps to a row: a view may compute both.
_VALUE, _STEPS = 4 << 20, 10**9

#: Blocks of rows by the name of the table that has them; the first row, which may have the names of
#: columns, is a block of its own.
Tables = dict[str, Callable[[], Iterable[Sequence[Sequence[Any]]]]]


class Packed(Format):
    """A format with several tables; ``iterate_tables`` opens them by name."""

    unpacked = "csv"
    title = ""
    what = "table"

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> PieceReader:
        """Return the chosen table, or the only one with packets, as CSV; raises ``Unreadable``."""
        tables = self.iterate_tables(source.open_file(self.title))
        name = None if layout is None else layout.table
        if name is None:
            found = _find_tables_with_packets(tables) or list(tables)
            if len(found) != 1:
                raise Unreadable(f"which {self.what}? --read table=NAME, of {_list_names(found)}")
            (name,) = found
        if name not in tables:
            raise Unreadable(f"there is no {self.what} {name!r}, but {_list_names(tables)}")
        pieces = join_first_rows(b"", _convert_blocks(tables[name]()))
        return lambda: next(pieces, b"")

    def iterate_tables(self, file: IO[bytes]) -> Tables:
        """Return the tables of a file by name; raises ``Unreadable``."""
        raise NotImplementedError


class Workbook(Packed):
    """Workbooks of Excel and OpenDocument, which need a library."""

    name = "xlsx"
    title = "XLSX"
    what = "sheet"
    suffixes = (".xlsx", ".ods")
    magic = (b"PK\x03\x04",)

    def iterate_tables(self, file: IO[bytes]) -> Tables:
        """Return the sheets by name; raises ``Unreadable``."""
        try:
            import python_calamine as calamine
        except ImportError as error:
            message = "a workbook, or another archive, needs a library: pip install python-calamine"
            raise Unreadable(message) from error
        try:
            check_sizes(file)
            book = calamine.CalamineWorkbook.from_filelike(file)
        except Unreadable:
            raise
        except Exception as error:  # the library's own, or Rust's
            raise Unreadable(
                f"an archive that is no workbook: unpack it first ({error})"
            ) from error
        if len(book.sheet_names) > SHEETS:
            raise Unreadable(f"a workbook of more than {SHEETS:,} sheets: export one as CSV")

        # a sheet is parsed whole: the one that was looked at last is the one that is read, mostly
        sheet = lru_cache(1)(book.get_sheet_by_name)

        def iterate_blocks(name: str) -> Iterator[Sequence[Sequence[Any]]]:
            try:
                rows = iter(sheet(name).iter_rows())
                for size in chain((1,), repeat(_ROWS)):
                    if not (block := list(islice(rows, size))):
                        return
                    yield block
            except Exception as error:  # as above
                raise Unreadable(f"the sheet {name!r} cannot be read: {error}") from error

        return {name: partial(iterate_blocks, name) for name in book.sheet_names}


class Sqlite(Packed):
    """Databases of SQLite, which Python can read."""

    name = "sqlite"
    title = "SQLite"
    suffixes = (".db", ".sqlite", ".sqlite3")
    magic = (b"SQLite format 3\0",)

    def iterate_tables(self, file: IO[bytes]) -> Tables:
        """Return the tables and views by name; raises ``Unreadable``."""
        import sqlite3
        from pathlib import Path

        path = getattr(file, "name", None)
        if isinstance(path, int):  # Linux has a link to the file
            link = Path(f"/proc/self/fd/{path}")
            path = str(link.readlink()) if link.is_symlink() else None
        if isinstance(path, str) and Path(path).is_file():
            base = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
        else:
            base = sqlite3.connect(":memory:")
            data = file.read(_LONGEST + 1)
            if len(data) > _LONGEST:
                raise Unreadable("a database in a stream of more than 256 MiB: give its file")
            base.deserialize(data)
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE)
        kinds = "type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        try:
            names = base.execute(f"SELECT name FROM sqlite_master WHERE {kinds} ORDER BY name")  # noqa: S608
            return {name: _make_query(base, name) for (name,) in names.fetchall()}
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"an SQLite database that cannot be read: {error}") from error


def _list_names(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(map(repr, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


def _make_query(base: Any, name: str) -> Callable[[], Iterable[Sequence[Sequence[Any]]]]:
    import sqlite3

    def iterate_blocks() -> Iterator[Sequence[Sequence[Any]]]:
        waited = 0

        def is_too_long() -> bool:
            nonlocal waited
            waited += 1
            return waited > 1000

        base.set_progress_handler(is_too_long, _STEPS // 1000)
        quoted = name.replace('"', '""')
        try:
            cursor = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name that it has
            yield [[column[0] for column in cursor.description]]
            while block := cursor.fetchmany(_ROWS):
                waited = 0
                yield block
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"an SQLite database that cannot be read: {error}") from error

    return iterate_blocks


def _find_tables_with_packets(tables: Tables) -> list[str]:
    """Return the tables with packets; none if the search takes too long."""
    from time import process_time

    found, end = [], process_time() + _PATIENCE
    for name, iterate_blocks in tables.items():
        if process_time() > end:
            return []
        if _has_packets(iterate_blocks()):
            found.append(name)
    return found


def _has_packets(blocks: Iterable[Sequence[Sequence[Any]]]) -> bool:
    """Return True if one of the first rows names a time and a position."""
    rows = islice(chain.from_iterable(blocks), _LOOKED_AT)
    some = (convert_rows([row], _write_cell) for row in rows)
    lines = [line for line in map(bytes, chain.from_iterable(some)) if line.strip(b",\n")]
    return count_lines_above_header(lines) is not None


def _convert_blocks(blocks: Iterable[Sequence[Sequence[Any]]]) -> Iterator[ColumnRows]:
    for block in blocks:
        yield from convert_rows(block, _write_cell)


def _write_cell(value: Any) -> str:
    """Return a cell as text: dates in ISO 8601, whole numbers without a fraction."""
    if value is None or isinstance(value, bytes):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    text = str(value.isoformat(" ") if hasattr(value, "hour") and hasattr(value, "year") else value)
    return text.replace("\0", "").replace("\r", " ").replace("\n", " ")


FORMATS = (Workbook(), Sqlite())
