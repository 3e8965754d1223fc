"""Packets from tables: values separated by commas, semicolons, tabs, bars or blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.text import RecordScanner, TableScanner
from epic_cli.recordings import BYTE_ORDER_MARK
from epic_cli.recordings.entries.csv import (
    add_units,
    count_comments,
    count_lines_above_header,
    is_second_header,
    join_header_rows,
    pair_names,
)
from epic_cli.recordings.extras import parse_value
from epic_cli.recordings.lines import LineReader, find_numbers
from epic_cli.recordings.names.guess import (
    JOINED,
    AmbiguousLayout,
    describe_missing_header,
    find_entities,
    find_value,
    infer_row_layout,
    is_named,
    is_value,
    join_value,
    list_starred,
)
from epic_cli.recordings.names.spellings import TIME_UNITS_IN_BRACKETS
from epic_cli.recordings.read_spec import (
    POSITION,
    ReadSpec,
    find_star,
    split_joined,
    write_column,
    write_column_name,
)
from epic_cli.recordings.tables import find_delimiter, find_field_offset, split_row

if TYPE_CHECKING:
    from epic_cli.recordings.extras import Extras

#: What is wrong with names is wrong with a header; there may be none.
_UNNAMED = (Reason.COLUMN_UNCLEAR, Reason.COLUMN_UNKNOWN)

#: What a line begins with that is none of a table's, where it has not as many cells.
_COMMENT = ("#", "//")

#: A time with its unit.
_DURATION = re.compile(r"[-+.\deE]+ (?P<unit>ms|sec|min|hr)")

#: What stands for nothing.
_MISSING = ("", "-", "nan", "na", "n/a", "#n/a", "null", "none", "inf", "-inf")

#: A number with a decimal comma.
_COMMA_NUMBER = re.compile(r"-?\d+,\d+")

#: The numbers of a vector, as texts.
_INDICES = tuple("0123456789")
_MOST_INDICES = len(_INDICES)


class CsvReader(LineReader):
    """A reader of packets from rows: under a header that names the columns, or by column numbers.

    The column of each field is decided with the first row, whose values count as well.
    """

    def begin(self) -> None:
        """Set the reader's own state, before the first line."""
        self._delimiter = ","
        self._names: tuple[str, ...] = ()
        self._headed = True
        self._header: tuple[int, bytes] = (0, b"")
        self._above = 0  # lines that are still to come above the header
        self._places: dict[str, int] = {}  # behind the columns come the numbers of vectors
        self._vectors: list[tuple[int, int]] = []  # those numbers: a column, and which of it
        self._entities: dict[str, dict[str, int]] = {"": self._places}
        self._behind_time = ""  # a unit in its cells
        self._joined: dict[str, tuple[int, ...]] = {}  # columns that together have a field

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Take the header, then one packet from each line."""
        if not self._names:
            if self._above:
                self._above -= 1
                return
            self._take_header(line, raw)
            if self._headed:
                return
        cells = split_row(line, self._delimiter)
        if cells and not any(cells):  # spreadsheets have such rows
            return
        if cells is None:
            self.refuse(block, raw, 0, Reason.QUOTES_OPEN, expected=self._names)
        elif len(cells) != len(self._names):
            if line.startswith(_COMMENT):
                return
            self.refuse(block, raw, 0, Reason.FIELD_COUNT, found=len(cells), expected=self._names)
        elif self.records is None and self._headed and self._take_second_header(cells):
            return
        elif self.records is not None or self._settle_layout(block, cells):
            cells += self._list_vector_numbers(cells)
            for name, places in self._entities.items():
                self._take_entity(block, name, places, cells, begin, raw)

    def _take_entity(
        self,
        block: PacketBlock,
        name: str,
        places: dict[str, int],
        cells: list[str],
        begin: int,
        raw: bytes,
    ) -> None:
        """Take a packet; in a row of several entities, only if this entity is there."""
        fields = {field: cells[place] for field, place in places.items()}
        if self._behind_time:
            fields["time"] = fields["time"].strip().removesuffix(self._behind_time)
        for field, parts in self._joined.items():
            texts = (cells[place] for place in parts)
            fields[field] = join_value(field, self.layout.places[field], texts)
        if name:
            if all(fields.get(axis, "").strip().lower() in _MISSING for axis in POSITION):
                return
            fields["entity"] = fields.get("entity", "").strip() or name
        self._places = places
        self.add(block, fields, begin, raw)

    def take_end(self, block: PacketBlock) -> None:
        """Settle the layout of a header without rows, which may be wrong as well."""
        if self._names and self.records is None:
            self._settle_layout(block, [""] * len(self._names))

    def look_for_header(self, head: bytes) -> None:
        """Note how many lines to pass over above the header of a recording with this beginning."""
        given = [
            write_column_name(part)
            for field, column in self.layout.places.items()
            for part in (split_joined(column) if field in JOINED else (column,))
            if find_star(column) < 0
        ]
        columns = [] if any(column.isdigit() for column in given) else given
        self.look_ahead(head)
        lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        lines = [line for line in lines if line.strip()]
        above = count_lines_above_header(lines, columns)
        self._above = count_comments(lines) if above is None else above

    def _take_header(self, line: str, raw: bytes) -> None:
        line = line.lstrip("#% ")
        self._delimiter = find_delimiter(line)
        cells = split_row(line, self._delimiter) or [line]
        cells = pair_names([cell.strip().strip('"') for cell in cells])
        self._headed = not any(map(is_value, cells))
        if self._headed:
            self._names = tuple(cells if any(cells) else [line.strip()])
        else:
            self._names = tuple(str(number + 1) for number in range(len(cells)))
        self._header = (self._line, raw)

    def _take_second_header(self, cells: list[str]) -> bool:
        """Take a second row of the header: units, or members of groups.

        False if it is a row of cells.
        """
        below = [cell.strip() for cell in cells]
        names = add_units(self._names, below)
        if names is None and is_second_header(self._names, below):
            names = join_header_rows(self._names, below)
        elif names is not None:
            now = dict(zip(map(write_column, self._names), map(write_column, names), strict=True))
            given = self.layout.columns
            if given is not None:  # without the unit, as the header has it
                columns = tuple((field, now.get(column, column)) for field, column in given)
                self.layout = self.layout._replace(columns=columns)
        self._names = names or self._names
        return names is not None

    def _settle_layout(self, block: PacketBlock, cells: list[str]) -> bool:
        """Make the plan by which rows are read.

        False if the header, and so the table, is refused.
        """
        given = self.layout
        numbers = {column for column in given.places.values() if column.isdigit()}
        names = tuple(map(write_column, self._names))
        if numbers and not numbers & set(names):
            names = tuple(str(number + 1) for number in range(len(names)))
        cells = self._fill_first_row(cells)
        self._vectors = _find_vectors(names, cells, given)
        names += tuple(f"{names[place]}.{index}" for place, index in self._vectors)
        cells = cells + self._list_vector_numbers(cells)
        values = {name: value for name, value in zip(names, cells, strict=True) if name}
        try:
            layout = infer_row_layout(given, values)
            without = self.drop_counter(layout)
            layout = layout if without is None else infer_row_layout(without, values)
            layout = self.add_sequence(layout)
            twice = [name for name in layout.places.values() if names.count(name) > 1]
            if twice:
                raise AmbiguousLayout(Reason.COLUMN_TWICE, field=write_column_name(twice[0]))
        except AmbiguousLayout as ambiguous:
            self._refuse_header(block, self.propose_columns(ambiguous), values)
            return False
        stamp = layout.places.get("time")
        duration = _DURATION.fullmatch(find_value("time", stamp, values).strip()) if stamp else None
        if duration is not None and given.time_unit is None:  # as MATLAB writes them
            layout = layout._replace(time_unit=TIME_UNITS_IN_BRACKETS[duration["unit"]])
        self._behind_time = duration["unit"] if duration is not None else ""
        templates = list_starred(layout)
        self._joined = {
            field: tuple(map(names.index, split_joined(column)))
            for field, column in layout.places.items()
            if field in JOINED and field not in templates and column not in names
        }
        shared = {
            field: names.index(name)
            for field, name in layout.places.items()
            if field not in templates and field not in self._joined
        }
        self._entities = {
            write_column_name(name): {**shared, **places}
            for name, places in find_entities(templates, names).items()
        } or {"": shared}
        self._places = next(iter(self._entities.values()))
        width = len(self._names)
        used = {place for places in self._entities.values() for place in places.values()}
        if max(used) < width:
            self._vectors = []
        several = bool(templates or self._behind_time)
        self.records = self._make_scanner(layout, width, several)
        self.settle(layout)
        return True

    def _fill_first_row(self, cells: list[str]) -> list[str]:
        """Return the first row, with each missing cell replaced by the first one in its column."""
        wanted = [at for at, cell in enumerate(cells) if cell.strip().lower() in _MISSING]
        cells = cells.copy()
        for line in self._ahead if wanted else ():
            row = split_row(line.decode("utf-8", "replace").strip("\r\n"), self._delimiter) or []
            if len(row) != len(cells) or tuple(map(str.strip, row)) == self._names:
                continue
            found = [at for at in wanted if row[at].strip().lower() not in _MISSING]
            for at in found:
                cells[at] = row[at]
                wanted.remove(at)
        return cells

    def _list_vector_numbers(self, cells: list[str]) -> list[str]:
        """Return the numbers of the vectors in a row.

        A cell that is no vector stands for itself.
        """
        numbers: list[str] = []
        for place, indices in groupby(self._vectors, itemgetter(0)):
            cell = cells[place]
            found = find_numbers(cell) or (cell,) * _MOST_INDICES
            numbers += [found[at] if at < len(found) else "" for _, at in indices]
        return numbers

    def _make_scanner(self, layout: ReadSpec, width: int, several: bool) -> RecordScanner:
        """Return a scanner of usual rows.

        Rows with several entities or vectors, or with a cell for two fields, are taken one by one.
        """
        decimal_comma = self._delimiter != ","
        if several or layout.has_shared_column or self._vectors or self._joined:
            return RecordScanner(self.entities, decimal_comma=decimal_comma, **layout.units)
        fields = {place: field for field, place in self._places.items()}
        return TableScanner(
            [fields.get(place) for place in range(width)],
            self._delimiter,
            self.entities,
            decimal_comma=decimal_comma,
            **layout.units,
        )

    def _refuse_header(
        self, block: PacketBlock, ambiguous: AmbiguousLayout, values: dict[str, str]
    ) -> None:
        facts = ambiguous.facts
        numbered = facts.get("detail", "").isdigit()
        if not self._headed and not numbered and ambiguous.reason in _UNNAMED:
            ambiguous, facts = AmbiguousLayout(Reason.NO_HEADER), describe_missing_header(values)
        line, raw = self._header
        block.refusals.append(Refusal(line, 1, raw, 0, ambiguous.reason, **facts))
        self.ended = True

    def reopen(self, layout: ReadSpec, head: bytes) -> CsvReader:
        """Return another reader of the same rows, which begin with ``head``."""
        reader = CsvReader(layout)
        reader.look_for_header(head)
        return reader

    def sort_key(self, field: str) -> tuple[str, int]:
        """Return the separator of columns and a field's column, from 1."""
        return self._delimiter, self._find_column(field) + 1 if field in self._places else 0

    def split_cells(self, raw: bytes) -> dict[str, str]:
        """Return the cells of a row by column."""
        cells = split_row(raw.decode("utf-8", "replace").strip("\r\n"), self._delimiter) or []
        return dict(zip(map(write_column, self._names), cells, strict=False))

    @property
    def extra_names(self) -> tuple[str, ...]:
        """The columns that no field is read from, where each row is of one entity."""
        return tuple(name for _, name in self._find_unread_columns or ())

    @cached_property
    def _find_unread_columns(self) -> tuple[tuple[int, str], ...] | None:
        """Return the columns that no field is read from; None if a row has several entities."""
        if self.records is None or any(
            find_star(column) >= 0 for column in self.layout.places.values()
        ):
            return None
        return tuple(
            (place, name)
            for place, name in enumerate(self._names)
            if write_column(name) not in self._used_columns
        )

    def find_extras(self, block: PacketBlock, index: int) -> Extras:
        """Return the values of the columns that no field is read from; see ``LineReader``."""
        if self._find_unread_columns is None:
            return super().find_extras(block, index)
        return self._read_typed_values(block.line_text(index), self._find_unread_columns)

    def split_values(self, raw: bytes) -> Extras:
        """Return the typed cells of a row by column."""
        return self._read_typed_values(raw, tuple(enumerate(map(write_column, self._names))))

    def _read_typed_values(self, raw: bytes, columns: Sequence[tuple[int, str]]) -> Extras:
        """Return the cells of these columns; one in quotes is a text.

        Quotes say nothing in a row whose time is in quotes as well.
        """
        line = raw.decode("utf-8", "replace").strip("\r\n")
        quoted: Sequence[bool] = ()
        if '"' in line:
            cells = split_row(line, self._delimiter) or []
            quoted = self._find_quoted_cells(line)
            time = self._places.get("time", 0)
            if len(quoted) != len(cells) or (time < len(quoted) and quoted[time]):
                quoted = ()
        else:
            cells = line.split(None if self._delimiter == " " else self._delimiter)
        values: Extras = {}
        for place, name in columns:
            cell = cells[place] if place < len(cells) else ""
            if quoted and quoted[place]:
                values[name] = cell
            elif cell := cell.strip():
                values[name] = parse_value(self._replace_comma(cell))
        return values

    def _find_quoted_cells(self, line: str) -> list[bool]:
        """Return True for each cell of a row that is in quotes."""
        separator = re.escape(self._delimiter)
        pattern = rf'(?:("(?:[^"]|"")*")|[^{separator}]*)(?:{separator}|$)'
        found = [cell[1] is not None for cell in re.finditer(pattern, line)]
        return found if line.endswith(self._delimiter) else found[:-1]

    def _replace_comma(self, cell: str) -> str:
        """Return a cell with the decimal point where the table has decimal commas."""
        decimal_comma = self._delimiter != "," and _COMMA_NUMBER.fullmatch(cell)
        return cell.replace(",", ".") if decimal_comma else cell

    def name_field(self, field: str) -> str:
        """Return the recording's name of a field."""
        if field not in self._places:
            return field
        name = self._names[self._find_column(field)]
        return name if self._headed else f"{field} in column {name}"

    def _find_column(self, field: str) -> int:
        place = self._places[field]
        width = len(self._names)
        return place if place < width else self._vectors[place - width][0]

    def find_field(self, raw: bytes, name: str) -> int:
        """Return the offset of a field in a line."""
        if name not in self._places:
            return 0
        return find_field_offset(raw, self._find_column(name), self._delimiter)


def _find_vectors(
    names: Sequence[str], cells: Sequence[str], given: ReadSpec
) -> list[tuple[int, int]]:
    """List the numbers of vectors in the first row's cells, or that the layout asks for."""
    asked = [column.rpartition(".") for column in given.places.values() if column not in names]
    vectors = []
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        width = 0 if is_value(cell.strip()) else len(find_numbers(cell) or ())
        for column, _, index in asked:
            if index in _INDICES and is_named(column, name):
                width = max(width, int(index) + 1)
        vectors += [(place, at) for at in range(width) if name and f"{name}.{at}" not in names]
    return vectors
