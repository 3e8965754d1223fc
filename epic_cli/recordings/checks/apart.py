"""Which columns that were not read tell entities, or matches, apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.recordings.names.spellings import SPELLINGS, name_of
from epic_cli.recordings.read_spec import star_of

if TYPE_CHECKING:
    from epic_cli.recordings.lines import LineReader
    from epic_cli.recordings.watch import Sample

#: So many packets are looked at, and so many columns that were not read.
_PACKETS, _COLUMNS = 512, 40

#: Each entity has so many packets at least, on average.
_EACH = 3

#: Told apart, entities go so much less far than together.
_LESS = 0.5

#: Names of what is not an entity but holds several, each with a clock of its own.
_MATCHES = ("match", "game", "round", "session", "run", "episode", "demo", "map", "lap", "heat",
            "trial", "file", "replay", "segment", "part", "set", "half", "period")  # fmt: skip


class _Row(NamedTuple):
    packet: Packet
    line: int
    cells: dict[str, str]


def _rows(samples: Sequence[Sample], most: int = _PACKETS) -> Iterator[_Row]:
    """The packets with the columns of their lines that were not read."""
    for block, reader in samples:
        if reader is None:
            return
        for index in range(len(block)):
            cells = unread(reader, block.line_text(index))
            if cells:
                yield _Row(block[index], block.line(index), cells)
            most -= 1
            if not most:
                return


def unread(reader: LineReader, line: bytes) -> dict[str, str]:
    """The columns of a line, or the values of an object, that no field is read from."""
    places = reader.layout.places
    if any(star_of(column) >= 0 for column in places.values()):
        return {}
    used = {part for column in places.values() for part in (column, column.rpartition(".")[0])}
    used.update(places.get("entity", "").split("+"))
    return {name: cell for name, cell in reader.cells_of(line).items() if name not in used}


def telling_apart(samples: Sequence[Sample], entity: str) -> tuple[str, ...]:
    """The columns that tell apart what goes for one entity; none: nothing does."""
    rows = [row for row in _rows(samples) if row.packet.entity == entity]
    if not rows:
        return ()
    whole = _way(rows, ())
    several = [name for name in list(rows[0].cells)[:_COLUMNS] if _has_several(rows, name)]
    for size in (1, 2):
        found = []
        for columns in combinations(several[: _COLUMNS // size], size):
            same, way, groups = _way(rows, columns)
            if groups * _EACH > len(rows) or groups < 2 or (same and same > 0.05 * whole[0]):
                continue
            if way < _LESS * whole[1]:
                found.append((same, sum(map(_strangeness, columns)), groups, way, columns))
        if found:
            return min(found)[-1]
    return ()


def _has_several(rows: Sequence[_Row], name: str) -> bool:
    return len({row.cells.get(name) for row in rows}) in range(2, len(rows) // 2 + 1)


def _strangeness(column: str) -> int:
    """The lower, the more its name is that of an entity."""
    spelling = name_of(column).spelling
    known = [rank for rank, names in enumerate(SPELLINGS["entity"]) if spelling in names]
    return known[0] if known else len(SPELLINGS["entity"])


def _way(rows: Sequence[_Row], columns: Sequence[str]) -> tuple[int, float, int]:
    """Packets with the time of the one before at another place, how far all go, and how many."""
    last: dict[tuple[str | None, ...], Packet] = {}
    same, way = 0, 0.0
    for row in rows:
        key = tuple(row.cells.get(name) for name in columns)
        before = last.get(key)
        if before is not None:
            step = math.dist(before.position, row.packet.position)
            way += step
            same += step > 0 and before.time == row.packet.time
        last[key] = row.packet
    return same, way, len(last)


def changed_at(samples: Sequence[Sample], line: int) -> str | None:
    """The column that changes in this line, for good, and not around it; None: there is none."""
    rows = list(_rows(samples, sum(len(one.block) for one in samples)))
    at = next((index for index, row in enumerate(rows) if row.line == line), 0)
    entity = rows[at].packet.entity if rows else ""
    before = [row for row in rows[:at] if row.packet.entity == entity][-_EACH:]
    after = [row for row in rows[at:] if row.packet.entity == entity][:_EACH]
    found = []
    for name in rows[at].cells if before else ():
        was = {row.cells.get(name) for row in before}
        now = {row.cells.get(name) for row in after}
        if len(was) == len(now) == 1 and was != now:
            words = set(name_of(name).words)
            found.append((not words & set(_MATCHES), name))
    return min(found)[1] if found else None
