"""Sheets of workbooks, and tables of SQLite databases: their rows are read as CSV's are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from epic_cli.recordings import Format, Unreadable
from epic_cli.recordings.entries.csv import lines_above_header
from epic_cli.recordings.entries.workbook.extent import SHEETS, check_sizes

if TYPE_CHECKING:
    from epic_cli.recordings import Source
    from epic_cli.recordings.read_spec import ReadSpec

#: Rows that are given at once, and looked at for a header.
_ROWS, _LOOKED_AT = 4096, 30

#: Seconds of processor time for a look at all sheets.
_PATIENCE = 10.0

#: So many tables are listed.
_NAMED = 8

#: A database in a stream is held in memory.
_LONGEST = 256 << 20

#: A database's values are no longer, and it takes no more steps to a row: a view may compute both.
_VALUE, _STEPS = 4 << 20, 10**9

#: Rows by the name of what has them.
Tables = dict[str, Callable[[], Iterable[Iterable[Any]]]]


class Packed(Format):
    """Tables by their names; ``tables`` opens them."""

    unpacked = "csv"
    title = ""
    what = "table"

    def unpack(self, source: Source, layout: ReadSpec | None) -> Callable[[], bytes]:
        """The chosen table as CSV; else the only one that has packets. Raises ``Unreadable``."""
        tables = self.tables(source.file(self.title))
        name = None if layout is None else layout.table
        if name is None:
            found = _with_packets(tables) or list(tables)
            if len(found) != 1:
                raise Unreadable(f"which {self.what}? --read table=NAME, of {_listed(found)}")
            (name,) = found
        if name not in tables:
            raise Unreadable(f"there is no {self.what} {name!r}, but {_listed(tables)}")
        chunks = _chunks(tables[name]())
        return lambda: next(chunks, b"")

    def tables(self, file: IO[bytes]) -> Tables:
        """What is in a file; raises ``Unreadable``."""
        raise NotImplementedError


class Workbook(Packed):
    """Excel's and OpenDocument's; it needs a library."""

    name = "xlsx"
    title = "XLSX"
    what = "sheet"
    suffixes = (".xlsx", ".ods")
    magic = (b"PK\x03\x04",)

    def tables(self, file: IO[bytes]) -> Tables:
        """The sheets; raises ``Unreadable``."""
        try:
            import python_calamine as calamine
        except ImportError as error:
            message = (
                "a workbook, or another archive, needs a library: pip install 'epic-cli[xlsx]'"
            )
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

        def rows(name: str) -> Iterator[Iterable[Any]]:
            try:
                yield from book.get_sheet_by_name(name).iter_rows()
            except Exception as error:  # as above
                raise Unreadable(f"the sheet {name!r} cannot be read: {error}") from error

        return {name: partial(rows, name) for name in book.sheet_names}


class Sqlite(Packed):
    """Databases of SQLite, which Python has."""

    name = "sqlite"
    title = "SQLite"
    suffixes = (".db", ".sqlite", ".sqlite3")
    magic = (b"SQLite format 3\0",)

    def tables(self, file: IO[bytes]) -> Tables:
        """Tables and views; raises ``Unreadable``."""
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
            return {name: _query(base, name) for (name,) in names.fetchall()}
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"an SQLite database that cannot be read: {error}") from error


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(map(repr, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


def _query(base: Any, name: str) -> Callable[[], Iterable[Iterable[Any]]]:
    import sqlite3

    def rows() -> Iterator[Iterable[Any]]:
        waited = 0

        def too_long() -> bool:
            nonlocal waited
            waited += 1
            return waited > 1000

        base.set_progress_handler(too_long, _STEPS // 1000)
        quoted = name.replace('"', '""')
        try:
            cursor = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name that it has
            yield [column[0] for column in cursor.description]
            for row in cursor:
                waited = 0
                yield row
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"an SQLite database that cannot be read: {error}") from error

    return rows


def _with_packets(tables: Tables) -> list[str]:
    """Those with packets; none where a look takes too long: sheets can be many that are one."""
    from time import process_time

    found, end = [], process_time() + _PATIENCE
    for name, rows in tables.items():
        if process_time() > end:
            return []
        if _has_packets(rows()):
            found.append(name)
    return found


def _has_packets(rows: Iterable[Iterable[Any]]) -> bool:
    """Whether one of the first rows names a time and a position."""
    from itertools import islice

    lines = [line for line in _lines(islice(rows, _LOOKED_AT)) if line.strip(b",\n")]
    return lines_above_header([b"-\n", *lines]) > 0


def _chunks(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    from itertools import islice

    lines = _lines(rows)
    while some := b"".join(islice(lines, _ROWS)):
        yield some


def _lines(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    from epic_cli.recordings.writing import csv_field

    for row in rows:
        yield ",".join(csv_field(_cell(one)) for one in row).encode() + b"\n"


def _cell(value: Any) -> str:
    """A cell as text: dates in ISO 8601, whole numbers without a fraction."""
    if value is None or isinstance(value, bytes):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    text = str(value.isoformat(" ") if hasattr(value, "hour") and hasattr(value, "year") else value)
    return text.replace("\0", "").replace("\r", " ").replace("\n", " ")


FORMATS = (Workbook(), Sqlite())
