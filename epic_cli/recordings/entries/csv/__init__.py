"""Tables: values separated by commas, semicolons, tabs, bars or blanks, mostly under a header."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from epic_cli.recordings import Fit, Format, Head

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities
    from epic_cli.recordings import OnRead, Requested
    from epic_cli.recordings.entries.csv.reader import CsvReader
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.writing import LineWriter

#: This many lines may stand above a table's header, and this many rows are looked at below it.
_ABOVE, _ROWS = 20, 5

#: What may stand in a row of units.
_UNITS = (
    " s sec secs second seconds ms msec milliseconds us usec µs ns nsec min h m cm mm km ft in px"
    " uu unit units meter meters metre metres m/s cm/s mm/s km/h kmh mph ft/s kn knots deg degree"
    " degrees rad ° deg/s rad/s m/s² m/s^2 m/s2 hz % - text string id name bool int float "
)

#: The axes of two entities that have a column for each.
_SIDE_BY_SIDE = 4


def count_lines_above_header(lines: Sequence[bytes], columns: Collection[str] = ()) -> int | None:
    """Return how many lines stand above a table's header, or None if there is no header.

    Such lines are titles and a logger's remarks. The header has all the names in ``columns``, or
    else names of a time and a position, and as many names as the line below has cells.
    """
    from epic_cli.recordings.tables import find_delimiter, split_row

    for place, line in enumerate(lines[:_ABOVE]):
        header, names = split_header(line)
        if not _names_packets(names, columns):
            continue
        below = lines[place + 1].decode("utf-8", "replace") if lines[place + 1 :] else header
        if len(split_row(below.strip("\r\n"), find_delimiter(header)) or ()) == len(names):
            above = place
            while (
                above
                and is_second_header(split_header(lines[above - 1])[1], names)
                and (
                    lines[above - 1][:1] != b"#" or line[:1] == b"#"  # InfluxDB's annotations
                )
            ):
                above -= 1
            return above
    return None


def count_comments(lines: Sequence[bytes]) -> int:
    """Return how many lines with ``#`` stand above a table of whose names none are known.

    The header has as many cells as the line below, and another number than each comment.
    """
    count = next((place for place, line in enumerate(lines) if line[:1] != b"#"), 0)
    header, names = split_header(lines[count]) if lines else ("", [])
    table = _is_table(header, names, list(lines[count + 1 : count + 2]))
    alike = any(len(split_header(line)[1]) == len(names) for line in lines[:count])
    return count if table and not alike else 0


def is_second_header(header: Sequence[str], below: Sequence[str]) -> bool:
    """Return True if ``below`` names the members of the groups in ``header``."""
    from epic_cli.recordings.names.guess import is_value

    groups = len(header) == len(below) and any(header)
    index = sum(map(bool, below)) == 1 and any("." in name for name in header)  # as pandas has it
    groups &= index or len(set(header)) < len(header)
    return groups and any(below) and not any(map(is_value, (*header, *below)))


def join_header_rows(header: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a header in two rows: ``Position.X``.

    A lone name below is that of an index.
    """
    if sum(map(bool, below)) == 1:
        return tuple(low or high for high, low in zip(header, below, strict=True))
    group, names = "", []
    for high, low in zip(header, below, strict=True):
        group = high or group
        group = "" if _is_time_name(low) else group  # the columns of frames have no group
        names.append(".".join(filter(None, (group, low))) if low else high)
    return tuple(names)


def pair_names(names: list[str]) -> list[str]:
    """Return the names, with an axis for each of two columns that share one, as in Metrica's."""
    begin = next((at for at, name in enumerate(names) if not name), 0) - 1
    pairs = list(zip(names[begin::2], names[begin + 1 :: 2], strict=False))
    if begin < 1 or len(pairs) < 2 or not all(name and not gap for name, gap in pairs):
        return names
    return names[:begin] + [f"{name}.{axis}" for name, _ in pairs for axis in "xy"]


def add_units(header: Sequence[str], below: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names with the units in the row below them, or None if these are no units."""
    units = [cell.strip("[]() ") for cell in below]
    if not any(units) or not all(not unit or f" {unit.lower()} " in _UNITS for unit in units):
        return None
    pairs = zip(header, units, strict=True)
    return tuple(f"{name} [{unit}]" if unit.strip("-") else name for name, unit in pairs)


def split_header(line: bytes) -> tuple[str, list[str]]:
    """Return a line that may be a header, as text, and the names in it."""
    from epic_cli.recordings.tables import find_delimiter, split_row

    header = line.decode("utf-8", "replace").strip("\r").lstrip("#% ")
    return header, [cell.strip(' "') for cell in split_row(header, find_delimiter(header)) or ()]


def _names_packets(names: Sequence[str], columns: Collection[str]) -> bool:
    if columns:
        begun = ((name, name.rpartition(".")[0], name.rpartition(" [")[0]) for name in columns)
        return all(any(form and form in names for form in forms) for forms in begun)
    if {"time", "x"} <= set(names):
        return True
    if any("=" in name for name in names):  # a line of a log
        return False
    from epic_cli.recordings.names.spellings import (
        LATITUDES,
        POSITION_WORDS,
        parse_component,
        split_name,
    )

    known = [split_name(name) for name in pair_names(list(names))]
    components = list(filter(None, map(parse_component, known)))
    words = {name.words[-1] for name in known if name.words}
    positions = bool(words & {*POSITION_WORDS, *LATITUDES, "transform"} - {"t", "p"})
    positions |= any(not component.velocity for component in components)
    # of several entities, each has its own
    beside = sum(bool(set(name.words) & {"x", "y"}) for name in known) >= _SIDE_BY_SIDE
    return any(map(_is_time_name, names)) and (positions or beside)


def _is_time_name(name: str) -> bool:
    """Return True if a name is that of a time or a counter."""
    from epic_cli.recordings.names.spellings import is_time_name, split_name

    return is_time_name(split_name(name))


def _is_table(header: str, cells: list[str], others: list[bytes]) -> bool:
    """Return True if all lines have several cells, as many as the first one."""
    from epic_cli.recordings.tables import find_delimiter, split_row

    delimiter = find_delimiter(header)
    if len(cells) <= 1 or (delimiter == " " and len(cells) <= 2):
        return False
    if delimiter != " ":
        return True
    rows = [split_row(line.decode("utf-8", "replace"), delimiter) or [] for line in others]
    return bool(rows) and all(len(row) == len(cells) for row in rows)


def make_csv_writer(
    requested: Requested = (), separator: str = ",", extras: Collection[str] = ()
) -> LineWriter:
    """Return a writer of CSV, or of TSV with tabs for ``separator``.

    ``requested`` names keys that get columns beside the usual ones: a packet with any other key is
    ``Unwritable``. ``extras`` names further columns.
    """
    from epic_cli.engine.keys import list_table_columns
    from epic_cli.recordings.extras import Tails, list_column_names, make_cell_writer
    from epic_cli.recordings.writing import (
        LineWriter,
        check_name,
        write_csv_field,
        write_header_field,
    )

    tails = Tails(make_cell_writer(separator), list_column_names(extras), separator)
    names = (*list_table_columns(requested), *map(write_header_field, tails.columns or ()))
    return LineWriter(
        lambda name: write_csv_field(check_name(name)),
        tails,
        header=separator.join(names).encode() + b"\n",
        requested=requested,
        separator=separator,
    )


class Csv(Format):
    """CSV and similar tables; the separator is found in the first line."""

    name = "csv"
    suffixes = (".csv",)

    def detect(self, head: Head) -> Fit:
        """Look for a header's names, or for lines with equally many cells."""
        if head.begins_as_json:
            return Fit.NO
        lines = head.lines
        header, cells = split_header(lines[0]) if lines else ("", [])
        headed = len(lines) > 1 and count_lines_above_header(lines) is not None
        if headed or {"time", "x"} <= set(cells):
            return Fit.GOOD
        if comments := count_comments(lines):
            lines = lines[comments:]
            header, cells = split_header(lines[0])
        if len(lines) <= 1 and not head.enough and len(cells) != 1:
            return Fit.UNDECIDED
        return Fit.SHAPE if _is_table(header, cells, lines[1 : _ROWS + 1]) else Fit.NO

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> CsvReader:
        """Return a reader that passes over the lines above a header."""
        from epic_cli.recordings.entries.csv.reader import CsvReader

        reader = CsvReader(layout, on_read, entities)
        reader.look_for_header(head)
        return reader

    def make_writer(self, requested: Requested, extras: Collection[str]) -> LineWriter:
        """Return a writer of CSV (``make_csv_writer``)."""
        return make_csv_writer(requested, extras=extras)


class Tsv(Format):
    """CSV with tabs, for writing; it is read as CSV."""

    name = "tsv"
    suffixes = (".tsv",)

    def make_writer(self, requested: Requested, extras: Collection[str]) -> LineWriter:
        """Return a writer of tab-separated rows (``make_csv_writer``)."""
        return make_csv_writer(requested, "\t", extras)


FORMATS = (Csv(), Tsv())
