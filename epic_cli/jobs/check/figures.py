"""What ``epic compare`` says of a case: the figures that it expects, and pictures of both sides."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import STATUSES, Sample
from epic_cli.jobs.check.case import BrokenCase, Case, Recording
from epic_cli.jobs.check.differences import Difference
from epic_cli.jobs.check.drawing import STRATEGY_COLUMN, packets
from epic_cli.jobs.check.rows import Row, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.conditions import Condition
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.show.scene import Scene, Selection

#: What the two sides of a picture are called.
EXPECTED, DRAWN = "expected", "drawn"


class Figure(NamedTuple):
    """A condition on the figures of one strategy (``label``), and its ``value``; NaN: unknown."""

    condition: Condition
    label: str
    value: float
    holds: bool


def figures(case: Case) -> list[Figure]:
    """Each condition with each strategy that it concerns; raises ``BrokenCase``."""
    if not case.conditions:
        return []
    results = compared(case, case.drawing.candidates).results
    return [
        Figure(one, result.label, result.value(one.metric), one.holds(result.values))
        for one in case.conditions
        for result in results
        if one.concerns(result.label)
    ]


def compared(
    case: Case,
    candidates: Sequence[Participant],
    selection: Selection | None = None,
    entity: str | None = None,
) -> Comparison:
    """What ``epic compare`` says of the case's recording, or of one entity in it.

    Raises ``BrokenCase`` where nothing can be judged.
    """
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.metrics.evaluation import CompareSpec, Run, compare_run
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.metrics.truth import truths_of

    drawing, truth = case.drawing, case.truth
    (recording,) = drawing.recordings
    own = _separated(case, recording)
    truths = None
    if truth.path is not None:
        states = _separated(case, Recording(truth.path, truth.path))
        truths, _ = truths_of(states, "given", truth.offset)
        if not truths:
            raise BrokenCase(truth.path, "has no movement to compare with")
    if entity is not None:
        own = {entity: own[entity]}
    try:
        return compare_run(
            Run(case.file, own, truths),
            CompareSpec(
                candidates,
                drawing.timing,
                truth_offset=truth.offset,
                warm_up=truth.warm_up,
                selection=selection,
                intervals=False,
                threads=1,  # cases are checked side by side
            ),
        )
    except (NotEnoughToSay, TooManyRows) as error:
        raise BrokenCase(case.file, f"its figures are unknown: {error}") from error


def _separated(case: Case, recording: Recording) -> dict[str, PacketBlock]:
    from epic_cli.engine.replay import separate
    from epic_cli.recordings.columns import STATE

    entities: dict[str, PacketBlock] = {}
    truth = recording not in case.drawing.recordings
    drawing = case.drawing._replace(row_format="tsv")  # which has room for all entities
    if truth and drawing.layout is not None:
        drawing = drawing._replace(layout=drawing.layout.beside(STATE))
    if truth:
        drawing = drawing._replace(input_format="auto", entity=None, strict=False)
    for block in packets(drawing, recording):
        separate(block, entities)
    return entities


# ---------------------------------------------------------------- pictures


class _Side(NamedTuple):
    label: str
    make: Callable[[], Playback]


class Playback:
    """A strategy that draws rows that are there already, whatever packets come."""

    def __init__(self, table: Table, rows: list[Row]) -> None:
        self._rows = rows
        self._times = [row.time for row in rows]
        columns = ("x", "y", "z", "vx", "vy", "vz", "qx", "qy", "qz", "qw")
        self._places = [table.place(one) for one in columns]

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
        x, y, z, vx, vy, vz, *turn = (float(one or 0) for one in cells)
        status = STATUSES[2 if cells[0] else 0]  # which it really was makes no picture
        rotation = (turn[0], turn[1], turn[2], turn[3]) if any(turn) else None
        return Sample(at, (x, y, z), (vx, vy, vz), status, rotation=rotation)


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


def against_expected(scene: Scene) -> Scene:
    """The scene with the expected rows as its truth: what was drawn is as far off as it differs."""
    import numpy as np

    from epic_cli.metrics.arrays import lengths
    from epic_cli.metrics.turns import angles
    from epic_cli.show.scene import NO_LAGS, histogram

    by_label = {one.label: one for one in scene.drawn}
    expected, drawn = by_label[EXPECTED], by_label[DRAWN]
    times = np.intersect1d(expected.times, drawn.times)
    # of rows of the same time the second is a break
    here, there = (np.searchsorted(one.times, times) for one in (expected, drawn))
    apart = lengths(drawn.positions[there] - expected.positions[here])
    off = None
    if expected.rotations is not None and drawn.rotations is not None:
        off = angles(drawn.rotations[there], expected.rotations[here])
    known = apart[np.isfinite(apart)]
    shown = drawn._replace(
        times=times,
        positions=drawn.positions[there],
        distances=apart,
        errors=apart,
        across=np.zeros(len(times)),
        lag=NO_LAGS,
        histogram=histogram(apart),
        recoveries=(),
        rms=float(np.sqrt(np.mean(known**2))) if len(known) else math.nan,
        rotations=None if drawn.rotations is None else drawn.rotations[there],
        angles=off,
    )
    return scene._replace(
        times=times,
        truth=expected.positions[here],
        rotations=None if expected.rotations is None else expected.rotations[here],
        drawn=(shown,),
        interruptions=(),
    )
