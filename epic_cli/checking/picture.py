"""Expected and drawn rows as the two sides of a comparison, for charts and for the page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.checking.case import Case
from epic_cli.checking.differences import Difference
from epic_cli.checking.drawing import STRATEGY_COLUMN
from epic_cli.checking.figures import compared
from epic_cli.checking.rows import Row, Table
from epic_cli.engine.contract import STATUSES, Sample
from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.engine.contract import Packet

#: What the two sides are called.
EXPECTED, DRAWN = "expected", "drawn"


class _Side(NamedTuple):
    label: str
    make: Callable[[], Playback]


class Playback:
    """A strategy that draws rows that are there already, whatever packets come."""

    def __init__(self, table: Table, rows: list[Row]) -> None:
        self._rows = rows
        self._times = [row.time for row in rows]
        self._places = [table.place(one) for one in ("x", "y", "z", "vx", "vy", "vz")]

    def reset(self) -> None:
        """There is nothing to forget."""

    def update(self, packet: Packet, now: float) -> bool:
        """Takes no notice."""
        del packet, now
        return True

    def read(self, at: float) -> Sample:
        """The row of that time; none where there is none within a millisecond."""
        place = bisect_left(self._times, at - 1e-3)
        cells = ["" for _ in self._places]
        if place < len(self._rows) and self._times[place] <= at + 1e-3:
            row = self._rows[place].cells
            cells = [row[one] if one >= 0 else "0" for one in self._places]
        x, y, z, vx, vy, vz = (float(one or 0) for one in cells)
        status = STATUSES[2 if cells[0] else 0]  # which it really was makes no picture
        return Sample(at, (x, y, z), (vx, vy, vz), status)


def pictured(case: Case, difference: Difference, selection: Selection) -> Comparison:
    """Both sides over the entity in which they first differ; raises ``BrokenCase``."""
    group, _ = difference.first
    names = [one for one in difference.columns if one in ("entity", STRATEGY_COLUMN, "file")]
    named = dict(zip(names, group.names, strict=False))
    sides: list[_Side | StrategySpec] = []
    for label, table in ((EXPECTED, difference.expected), (DRAWN, difference.drawn)):
        places = [table.place(one) for one in names]
        rows = [row for row in table.rows if tuple(row.cells[one] for one in places) == group.names]
        sides.append(_Side(label, lambda table=table, rows=rows: Playback(table, rows)))  # type: ignore[misc]
    return compared(case, sides, selection, named.get("entity") or None)
