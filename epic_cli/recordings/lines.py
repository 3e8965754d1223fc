"""Read recordings with a packet on each line: the parts that tables and JSON lines share.

The engine reads ordinary lines, many at once. Any other line is read here, field by field, or
refused. Vectors in one cell, as game engines print them, ``(1.0, 2.0, 3.0)``, have a name for each
of their numbers after the name of the whole: ``pos.0``.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby, pairwise, permutations
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.refusals import Reading, Reason, Refusal
from epic_cli.engine.text import RecordScanner
from epic_cli.recordings import BYTE_ORDER_MARK, LONGEST_LINE
from epic_cli.recordings.extras import parse_value
from epic_cli.recordings.names.guess import AmbiguousLayout, find_entities, list_starred
from epic_cli.recordings.names.spellings import TICKS, is_time_name, parse_component, split_name
from epic_cli.recordings.read_spec import (
    POSITION,
    ReadSpec,
    find_star,
    list_used_columns,
    sort_columns,
    write_column_name,
)

if TYPE_CHECKING:
    from epic_cli.engine.text import ColumnRows
    from epic_cli.recordings.extras import Extras

_NUMBER = r"[-+]?(?:\d+(?:[.,]\d*)?|\.\d+)(?:[eE][-+]?\d+)?f?|[-+]?(?:nan|inf(?:inity)?)"
_PART = re.compile(_NUMBER, re.IGNORECASE)

#: What C and C# put behind a number.
_SUFFIX = re.compile(r"(?<=[\d.])f$")

#: ``(..)``, ``[..]``, ``Vector3(..)``, ``V(X=.., Y=..)``, or nothing around it.
_AROUND = re.compile(r"\s*(?:[A-Za-z]\w*\s*)?[(\[{<]\s*([^()\[\]{}<>]*?)\s*[)\]}>]\s*")

#: The names of axes, as in ``X=1.000 Y=2.000``, ``x: 1, y: 2`` and ``"x":1,"y":2``.
_AXIS = re.compile(r"""(?:^|(?<=[\s,;]))["']?([XYZWxyzw])["']?\s*[=:]\s*""")

#: What stands between the numbers: the first of these that there is. A comma without a blank is a
#: decimal one where another stands with one: ``(1,5, 2,5)``.
_BETWEEN = (re.compile(r"\s*;\s*"), re.compile(r"\s*,\s+"), re.compile(r"\s*,"), re.compile(r"\s+"))

#: What most vectors look like: it is read at once, as it would be below.
_USUAL = re.compile(r"\((-?\d+(?:\.\d+)?)(, ?)(-?\d+(?:\.\d+)?)(?:\2(-?\d+(?:\.\d+)?))?\)")

#: A longer text is none.
_LONGEST = 400

#: This many numbers at most: those of a matrix.
_MOST = 16


def find_numbers(text: str) -> tuple[str, ...] | None:
    """Return the numbers of a vector, as texts with a decimal point.

    None if the text is no vector.
    """
    usual = _USUAL.fullmatch(text)
    if usual:
        x, _, y, z = usual.groups()
        return (x, y) if z is None else (x, y, z)
    return None if len(text) > _LONGEST else _parse_vector(text)


def _parse_vector(text: str) -> tuple[str, ...] | None:
    """Parse a vector however it is written; see ``find_numbers``."""
    around = _AROUND.fullmatch(text)
    inner = around.group(1) if around else text.strip()
    axes = "".join(_AXIS.findall(inner)).lower()
    if axes:
        if axes not in ("xy", "xyz", "xyzw"):
            return None
        inner = _AXIS.sub("", inner)
    between = next((pattern for pattern in _BETWEEN if pattern.search(inner)), None)
    parts = between.split(inner) if between else []
    if not 2 <= len(parts) <= _MOST or (axes and len(parts) != len(axes)):
        return None
    if not all(map(_PART.fullmatch, parts)):
        return None
    commas = sum("," in part for part in parts)
    if commas and commas < len(parts) and between is not _BETWEEN[0]:
        return None  # which of them are decimal is unknown
    return tuple(_SUFFIX.sub("", part.replace(",", ".")) for part in parts)


#: What numbers may be that are no degrees: whole ones are degrees times ten millions.
_WHOLE = re.compile(r"[-+]?\d{6,10}")
_E7, _LENGTHS = Reading((("scale", "1e-7"),)), Reading((("geo", "off"),))

#: This many lines are looked at ahead, of this many with a name each.
_AHEAD, _FEWEST = 40, 6

#: Longest delay of arrivals, in the mean step of stamps.
_LONGEST_DELAY = 40


def _list_numbers(rows: Iterable[Mapping[str, str]], column: str) -> list[float]:
    """Return the finite numbers in a column, in their order."""
    texts = (row.get(column, "").strip().replace(",", ".") for row in rows)
    numbers = (float(_SUFFIX.sub("", text)) for text in texts if _PART.fullmatch(text))
    return list(filter(math.isfinite, numbers))


class LineReader(ABC):
    """A reader that cuts bytes into lines and makes a packet of each line; formats say how.

    ``layout`` is what is known of the lines; the rest is inferred from the first ones. ``on_read``
    is called with the result, unless that is the given layout or the layout of this program's own
    files.
    """

    #: Bytes of a line with its end.
    longest = LONGEST_LINE

    def __init__(
        self,
        layout: ReadSpec | None = None,
        on_read: Callable[[ReadSpec], object] | None = None,
        entities: Entities | None = None,
    ) -> None:
        self.entities = Entities() if entities is None else entities
        self.layout = layout or ReadSpec()
        self.records: RecordScanner | None = None
        self._grouped: tuple[bytes, Extras, dict[str, Extras]] | None = None
        self.ended = False
        self._on_read = on_read
        self._kept = b""
        self._line = 0
        self._skipping = False
        self._ahead: list[bytes] = []
        self._ticks: dict[str, int] = {}  # of rows without times
        self._refused_degrees = self._has_packets = False
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Prepare the format's own state, before the first line."""

    def scan(self, data: bytes, final: bool = False) -> PacketBlock:
        """Return the packets of all lines that ``data`` completes.

        ``final`` marks the last data.
        """
        return self._scan_lines(self._make_block(), data, final)

    def scan_rows(self, rows: ColumnRows) -> PacketBlock:
        """Return the packets of a table's next rows."""
        block = self._make_block()
        taken = 0
        if self.records is not None and not self._kept and not self._skipping and not self.ended:
            taken = self.records.take_rows(block, rows, self._line + 1, self.longest)
            self._line += taken
            block.rows = rows
        return self._scan_lines(block, rows.lines(taken, len(rows)), False)

    def _make_block(self) -> PacketBlock:
        block = PacketBlock(self.entities)
        block.find_field = self.find_field
        block.extra_source = self
        return block

    def _scan_lines(self, block: PacketBlock, data: bytes, final: bool) -> PacketBlock:
        block.text = text = self._kept + data
        begin = 0
        while not self.ended:
            if self.records is not None and not self._skipping:
                begin, line = self.records.take_lines(block, begin, self._line + 1, self.longest)
                self._line = line - 1
            end = text.find(b"\n", begin) + 1
            if not end and (begin == len(text) or not final):
                break
            self._take_packet(block, begin, end or len(text))
            begin = end or len(text)
        if final and not self.ended:
            self.take_end(block)
        self._keep_beginning()
        self._has_packets |= len(block) > 0
        self._kept = b"" if self.ended else text[begin:]
        if len(self._kept) > self.longest:
            if not self._skipping:
                self._line += 1
                self._refuse_length(block, self._kept)
                self._line -= 1  # it is counted when its end comes
            self._skipping, self._kept = True, b""
        return block

    def _take_packet(self, block: PacketBlock, begin: int, end: int) -> None:
        self._line += 1
        if self._skipping:  # this is the end of a line that was refused
            self._skipping = False
            return
        raw = block.text[begin:end]
        if len(raw) > self.longest:
            self._refuse_length(block, raw)
            return
        if self._line == 1 and raw.startswith(BYTE_ORDER_MARK):
            raw = raw.removeprefix(BYTE_ORDER_MARK)
            begin += len(BYTE_ORDER_MARK)
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            self.refuse(block, raw, error.start, Reason.NOT_UTF8)
            return
        if "\0" in line:
            self.refuse(block, raw, raw.index(0), Reason.NUL_BYTE)
        elif not line.isspace():
            self.take_line(block, line, raw, begin)

    def _refuse_length(self, block: PacketBlock, raw: bytes) -> None:
        self.refuse(block, raw[:80], 0, Reason.LINE_TOO_LONG, limit=self.longest)

    def refuse(
        self, block: PacketBlock, raw: bytes, caret: int, reason: Reason, **facts: Any
    ) -> None:
        """Refuse the current line.

        ``facts`` are the fields of ``Refusal`` that belong to the reason.
        """
        block.refusals.append(Refusal(self._line, caret + 1, raw, caret, reason, **facts))

    def add(self, block: PacketBlock, fields: dict[str, str], begin: int, raw: bytes) -> None:
        """Add the current line's packet, or refuse the line; see ``RecordScanner.add``."""
        assert self.records is not None
        if self.layout.counts_rows:
            fields = {**fields, "time": str(self._number_row(fields.get("entity", "")))}
        wrong = self.records.add(block, fields, self._line, begin, len(raw))
        if wrong:
            reason, field = wrong
            if field == "time" and ":" in fields[field]:
                reason = Reason.NOT_A_DATE
            facts: dict[str, Any] = {}
            if reason is Reason.NOT_DEGREES:
                if not _PART.fullmatch(fields[field].strip()):
                    reason = Reason.FIELD_NOT_A_NUMBER
                elif not (self._has_packets or len(block) or self._refused_degrees):
                    self._refused_degrees = True  # other readings are tried once
                    whole = _WHOLE.fullmatch(fields[field].strip())
                    facts["readings"] = (_E7, _LENGTHS) if whole else (_LENGTHS,)
            caret, label = self.find_field(raw, field), self.name_field(field)
            self.refuse(block, raw, caret, reason, field=label, **facts)

    def _number_row(self, entity: str) -> int:
        """Return the number of the current row, among all rows or among those of a named entity."""
        if any(find_star(column) >= 0 for column in self.layout.places.values()):
            self._ticks.setdefault("", self._line)
            return self._line - self._ticks[""]
        self._ticks[entity] = self._ticks.get(entity, -1) + 1
        return self._ticks[entity]

    def look_ahead(self, head: bytes) -> None:
        """Keep the first lines of the recording, which help to decide what its columns are."""
        lines = head.split(b"\n")
        self._ahead = lines[1:_AHEAD]
        self._spread = lines[1 : -1 : max(len(lines) // _AHEAD, 1)]

    def drop_counter(self, layout: ReadSpec) -> ReadSpec | None:
        """Return the given layout without an entity column that only counts lines, or None."""
        column = layout.places.get("entity", "")
        if column in ("", "entity") or "entity" in dict(self.layout.columns or ()):
            return None
        names = [cells[column] for cells in map(self.split_cells, self._ahead) if column in cells]
        if len(names) < _FEWEST or len(set(names)) < len(names):
            return None
        columns = {**dict(self.layout.columns or ()), "entity": ""}
        return self.layout._replace(columns=sort_columns(columns))

    def add_sequence(self, layout: ReadSpec) -> ReadSpec:
        """Return the layout, with a count of ticks as sequence number if no tick is left out."""
        places = layout.places
        if "seq" in {**dict(self.layout.columns or ()), **places}:
            return layout
        rows = list(map(self.split_cells, self._ahead[:-1]))
        free = (column for column in (rows[0] if rows else ()) if column not in places.values())
        ticks = [column for column in free if split_name(column).spelling in TICKS]
        if len(ticks) != 1:
            return layout
        cells = [row[ticks[0]].strip() for row in rows if ticks[0] in row]
        numbers = sorted({int(cell) for cell in cells if cell.isdecimal()})
        whole = all(map(str.isdecimal, cells)) and len(numbers) >= _FEWEST
        if not whole or numbers[-1] - numbers[0] != len(numbers) - 1:
            return layout
        columns = {**dict(layout.columns or ()), "seq": ticks[0]}
        return layout._replace(columns=sort_columns(columns))

    def propose_columns(self, ambiguous: AmbiguousLayout) -> AmbiguousLayout:
        """Return the error with readings by the values of columns whose names say nothing."""
        if ambiguous.reason is Reason.COLUMN_UNCLEAR and ambiguous.facts["field"] == "x":
            return ambiguous.add_readings(self._propose_moving(ambiguous.facts["names"]))
        return self._propose_growing(ambiguous)

    def _propose_moving(self, names: Sequence[str]) -> list[Reading]:
        """Return readings that take neighboring columns of one object that vary for a position."""
        rows = list(map(self.split_cells, self._spread))
        moving: list[str] = []
        for column in names:
            if find_star(column) >= 0:  # of each of several entities
                moving.append(column)
                continue
            numbers = _list_numbers(rows, column)
            steps = {after - before for before, after in pairwise(numbers)}
            fractions = any(number % 1 for number in numbers)
            # a count, as of frames, only grows
            timed = is_time_name(split_name(column))
            if len(set(numbers)) >= _FEWEST and (fractions or min(steps) < 0) and not timed:
                moving.append(column)
        alike = [list(group) for _, group in groupby(moving, lambda name: name.rpartition(".")[0])]
        groups = [group if len(group) == len(POSITION) else group[:2] for group in alike]
        return [
            Reading(tuple(zip(POSITION, group, strict=False))) for group in groups if len(group) > 1
        ]

    def _propose_growing(self, ambiguous: AmbiguousLayout) -> AmbiguousLayout:
        """Return the error with readings that take a never decreasing column as the time.

        A column that is always a little later, and less even, is the arrival.
        """
        unnamed = ambiguous.reason is Reason.COLUMN_UNCLEAR and ambiguous.facts["field"] == "time"
        rows = list(map(self.split_cells, self._ahead[:-1])) if unnamed else []
        readings, growing = list[Reading](), dict[str, list[float]]()
        for column in ambiguous.facts["names"]:
            numbers = _list_numbers(rows, column)
            steps = {after - before for before, after in pairwise(numbers)}
            if len(numbers) < _FEWEST or min(steps) < 0 or parse_component(split_name(column)):
                continue
            if steps in ({1}, {0, 1}):
                readings.append(Reading((("time", column), ("unit", "ticks@HZ"))))
            elif max(steps) > 0:
                readings.append(Reading((("time", column),)))
                growing[column] = numbers
        both = [
            Reading((("time", sent), ("arrival", came)))
            for sent, came in permutations(growing, 2)
            if _is_later(growing[sent], growing[came])
        ]
        return ambiguous.add_readings([*both, *readings])

    def settle(self, layout: ReadSpec) -> None:
        """Set the complete layout."""
        news = layout.write() != self.layout.write() and not layout.is_own
        self.layout = layout
        if news and self._on_read is not None:
            self._on_read(layout)

    def _keep_beginning(self) -> None:
        """Store the time and the place that became 0, for the recordings that share them."""
        beginning = self.layout.beginning
        if beginning is None or self.records is None:
            return
        if beginning.time is None:
            beginning.time = self.records.beginning
        if beginning.place is None:
            beginning.place = self.records.place

    @property
    def watched(self) -> LineReader:
        """The reader itself, which knows its unread columns."""
        return self

    def reopen(self, layout: ReadSpec, head: bytes) -> LineReader:
        """Return another reader of the same lines, which begin with ``head``."""
        reader = type(self)(layout)
        reader.look_ahead(head)
        return reader

    def sort_key(self, _field: str) -> tuple[str, int]:
        """Return the separator of columns and a field's column, from 1.

        0 if ``sort`` cannot use it.
        """
        return "", 0

    @abstractmethod
    def split_cells(self, raw: bytes) -> dict[str, str]:
        """Return all cells of a line, read or not, by name as a layout writes it."""

    def find_shared_cells(self, _raw: bytes) -> dict[str, str]:
        """Return the cells beside the packets of a line with several; by the same names."""
        return {}

    @property
    def extra_names(self) -> tuple[str, ...]:
        """The names of extras that are known before any packet."""
        return ()

    def find_extras(self, block: PacketBlock, index: int) -> Extras:
        """Return the values of a packet that no field is read from; see ``recordings.extras``."""
        raw = block.line_text(index)
        if self._grouped is None or self._grouped[0] != raw:  # a line may have many entities
            shared, entities = self._group_values(self.split_values(raw))
            groups = {name: self._name_extras(values) for name, values in entities.items()}
            self._grouped = raw, self._name_extras(shared), groups
        _, shared, entities = self._grouped
        return {**shared, **entities.get(block.entity(index), {})}

    def _name_extras(self, values: Extras) -> Extras:
        """Return the values that no field is read from, by the names of their columns."""
        return {
            write_column_name(name): value
            for name, value in values.items()
            if name not in self._used_columns
        }

    def split_values(self, raw: bytes) -> Extras:
        """Return all single values of a line by the names that ``split_cells`` has."""
        return {name: parse_value(cell) for name, cell in self.split_cells(raw).items() if cell}

    @cached_property
    def _used_columns(self) -> frozenset[str]:
        """The names of columns, and of vectors with numbers, that fields are read from."""
        return list_used_columns(self.layout)

    @property
    def _entry_columns(self) -> frozenset[str]:
        """The paths of fields in an entity's entry that the layout does not have."""
        return frozenset()

    def _group_values(self, values: Extras) -> tuple[Extras, dict[str, Extras]]:
        """Split a line's values into those that all its entities share, and those of each entity.

        An entity with several states in a line gets the shared values only.
        """
        places = self.layout.places
        templates = {field: one for field, one in places.items() if find_star(one) >= 0}
        if not templates:
            return values, {}
        template = templates.get("x") or next(iter(templates.values()))
        if template.count("*") > 1:
            return {}, {}
        at = find_star(template)
        before, behind = template[:at], template[at + 1 : at + 2]
        named = templates.get("entity")
        shared: Extras = {}
        groups: dict[str, Extras] = {}
        known = set(find_entities(list_starred(self.layout), tuple(values)))
        for name, value in values.items():
            star = next(
                (
                    star
                    for star in (name[at : name.find(behind, at)] if behind else "", name[at:])
                    if star in known and name.startswith(before)
                ),
                None,
            )
            if star is None:
                shared[name] = value
            else:
                groups.setdefault(star, {})[name[at + len(star) + len(behind) :]] = value
        of_name = named[find_star(named) + 2 :] if named else ""
        read = {path[find_star(path) + 2 :] for path in templates.values()} | self._entry_columns
        found: dict[str, Extras] = {}
        for star, group in groups.items():
            entity = str(group.get(of_name, star))
            own = {name: value for name, value in group.items() if name not in read}
            found[entity] = {} if entity in found else own
        return shared, found

    def name_field(self, field: str) -> str:
        """Return the recording's name of a field."""
        return self.layout.places.get(field, field)

    @abstractmethod
    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Make a packet of a line, or refuse the line."""

    @abstractmethod
    def take_end(self, block: PacketBlock) -> None:
        """Handle the end of the recording."""

    @abstractmethod
    def find_field(self, raw: bytes, name: str) -> int:
        """Return the offset of a field in a line."""


def _is_later(sent: Sequence[float], came: Sequence[float]) -> bool:
    """Return True if one column of times is always a little later than another, and less even."""
    if len(sent) != len(came):
        return False
    import statistics  # which takes as long to load as all else here

    delays = [late - early for early, late in zip(sent, came, strict=True)]
    rough, even = (
        statistics.pstdev(after - before for before, after in pairwise(times))
        for times in (came, sent)
    )
    mean = (sent[-1] - sent[0]) / (len(sent) - 1)
    return min(delays) > 0 and max(delays) < _LONGEST_DELAY * mean and rough > even
