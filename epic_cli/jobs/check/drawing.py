"""What a case draws: rows, byte for byte those of ``epic replay``, its packets, and its figures."""

from __future__ import annotations

import io
import math
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import STATUSES, Sample
from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay.arrival_order import by_arrival
from epic_cli.engine.replay.corrections import as_drawn
from epic_cli.engine.replay.playback import SampleStream
from epic_cli.engine.text import RowWriter
from epic_cli.engine.text.widths import some
from epic_cli.jobs.check.differences import (
    Difference,
    RowCells,
    RowTable,
)
from epic_cli.jobs.check.spec import BrokenCase, Case, CaseRecording, DrawSpec
from epic_cli.recordings import Unreadable
from epic_cli.recordings.reading import BINARY, BLOCK_SIZE, read

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.conditions import Condition
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.recordings.watch import RecordingMonitor
    from epic_cli.show.scene import Scene, Selection


#: The column that names the strategy, where there are several.
STRATEGY_COLUMN = "strategy"

#: More than this many bytes of rows are no test.
MOST_ROWS = 200_000_000


class CaseRows(NamedTuple):
    """Rows as they are written, and how many lines of the recording were refused."""

    rows: bytes
    refused: int


def draw(drawing: DrawSpec) -> CaseRows:
    """The rows of all strategies for all recordings.

    Raises ``BrokenCase``, and ``StrategyFailed`` where a strategy's own code failed.
    """
    column = STRATEGY_COLUMN if drawing.several else drawing.file_column
    rows = _Rows(drawing.row_format, column)
    refused = 0
    for candidate in drawing.candidates:
        for recording in drawing.recordings:
            rows.file = candidate.label if drawing.several else recording.name
            refused += _draw(drawing, candidate, recording, rows)
    rows.write(SampleBlock(), PacketBlock())  # a header, where no packet has come
    return CaseRows(rows.out.getvalue(), refused)


class _Rows:
    """The rows of a case; its first packets decide which columns there are."""

    def __init__(self, row_format: str, file_column: str | None) -> None:
        self.out = io.BytesIO()
        self.file = ""
        self._make = partial(RowWriter, row_format, file_column=file_column)
        self._writer: RowWriter | None = None

    def write(self, samples: SampleBlock, block: PacketBlock) -> None:
        """Adds the rows of a block."""
        if self._writer is None:
            self._writer = self._make(turns=block.turns())
            self.out.write(self._writer.header())
        self._writer.begin_file(self.file)
        self.out.write(self._writer.rows(samples, block.entities))


def _draw(drawing: DrawSpec, candidate: StrategySpec, recording: CaseRecording, rows: _Rows) -> int:
    stream = SampleStream(candidate.make, drawing.timing, drawing.strict, by_time=True)
    refused = 0
    block = None
    try:
        found = packets(drawing, recording)
        if drawing.timing.pacing != "demo":
            found = by_arrival(found, drawing.strict)
        for block in as_drawn(candidate.name, found):
            for samples in stream.feed(block):
                rows.write(samples, block)
                if rows.out.tell() > MOST_ROWS:
                    raise BrokenCase(
                        recording.name,
                        f"more than {MOST_ROWS:,} bytes of rows: choose a longer tick",
                    )
            refused += _refused(drawing, recording, block)
        if block is not None:
            for samples in stream.finish():
                rows.write(samples, block)
    finally:
        stream.close()
    return refused


def _refused(drawing: DrawSpec, recording: CaseRecording, block: PacketBlock) -> int:
    """How many lines were refused; with ``strict`` none may be."""
    if drawing.strict and block.refusals:
        from epic_cli.recordings.wording import FrontEnd, in_words

        first = in_words(block.refusals[0], FrontEnd.COMMAND_LINE)
        place = f"{recording.name}:{first.line}:{first.column}"
        raise BrokenCase(place, f"{first.what}; expected {first.expected}")
    return len(block.refusals)


def packets(
    drawing: DrawSpec, recording: CaseRecording, watch: RecordingMonitor | None = None
) -> Iterator[PacketBlock]:
    """The packets that are drawn, of all that ``watch`` observes; raises ``BrokenCase``."""
    entities: set[str] = set()
    with _open(drawing, recording, watch) as blocks:
        for block in blocks:
            if watch is not None:
                watch.observe(block)
            entities.update(block.entities.name(entity) for entity in range(len(block.entities)))
            if drawing.entity is not None:
                block.keep_entity(drawing.entity)
            elif drawing.row_format == "epic":
                second = block.cut_at_second_entity()
                if second is not None:
                    raise BrokenCase(
                        f"{recording.name}:{second[0]}",
                        f"a second entity, {second[1]!r}, for which the epic format has no column:"
                        " give entity, or another format",
                    )
            yield block
    if drawing.entity is not None and drawing.entity not in entities:
        there = some(map(repr, sorted(entities))) or "none"
        raise BrokenCase(
            recording.name, f"no packet of entity {drawing.entity!r}; there are {there}"
        )


@contextmanager
def _open(
    drawing: DrawSpec, recording: CaseRecording, watch: RecordingMonitor | None
) -> Iterator[Iterator[PacketBlock]]:
    if watch is not None:
        watch.requested(drawing.read)
    try:
        if recording.path is None:
            content = io.BytesIO(recording.content)
            some = lambda: content.read(BLOCK_SIZE)  # noqa: E731
            yield read(some, drawing.read, watch=watch)
            return
        descriptor = os.open(recording.path, os.O_RDONLY | BINARY)
        try:
            yield read(descriptor, drawing.read, watch=watch)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise BrokenCase.unreadable(recording.name, error) from error
    except Unreadable as error:
        raise BrokenCase(recording.name, str(error)) from error


#: What the two sides of a picture are called.
EXPECTED, DRAWN = "expected", "drawn"


class CheckedFigure(NamedTuple):
    """A condition on the figures of one strategy (``label``), and its ``value``; NaN: unknown."""

    condition: Condition
    label: str
    value: float
    holds: bool


def figures(case: Case) -> list[CheckedFigure]:
    """Each condition with each strategy that it concerns; raises ``BrokenCase``."""
    if not case.conditions:
        return []
    results = compared(case, case.drawing.candidates).results
    return [
        CheckedFigure(
            condition, result.label, result.value(condition.metric), condition.holds(result.values)
        )
        for condition in case.conditions
        for result in results
        if condition.concerns(result.label)
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
        states = _separated(case, CaseRecording(truth.path, truth.path))
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


def _separated(case: Case, recording: CaseRecording) -> dict[str, PacketBlock]:
    from epic_cli.engine.replay import separate
    from epic_cli.recordings.read_spec import STATE

    entities: dict[str, PacketBlock] = {}
    truth = recording not in case.drawing.recordings
    drawing = case.drawing._replace(row_format="tsv")  # which has room for all entities
    if truth:
        drawing = drawing._replace(read=drawing.read.beside(STATE), entity=None, strict=False)
    for block in packets(drawing, recording):
        separate(block, entities)
    return entities


# ---------------------------------------------------------------- pictures


class _Side(NamedTuple):
    label: str
    make: Callable[[], Playback]


class Playback:
    """A strategy that draws rows that are there already, whatever packets come."""

    def __init__(self, table: RowTable, rows: list[RowCells]) -> None:
        self._rows = rows
        self._times = [row.time for row in rows]
        columns = ("x", "y", "z", "vx", "vy", "vz", "qx", "qy", "qz", "qw")
        self._places = [table.place(column) for column in columns]

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
            cells = [row[index] if index >= 0 else "0" for index in self._places]
        x, y, z, vx, vy, vz, *turn = (float(cell or 0) for cell in cells)
        status = STATUSES[2 if cells[0] else 0]  # which it really was makes no picture
        rotation = (turn[0], turn[1], turn[2], turn[3]) if any(turn) else None
        return Sample(at, (x, y, z), (vx, vy, vz), status, rotation=rotation)


def pictured(case: Case, difference: Difference, selection: Selection) -> Comparison:
    """Both sides over the entity in which they first differ; raises ``BrokenCase``."""
    group, _ = difference.first
    names = [
        column for column in difference.columns if column in ("entity", STRATEGY_COLUMN, "file")
    ]
    named = dict(zip(names, group.names, strict=False))
    sides: list[_Side | StrategySpec] = []
    for label, table in ((EXPECTED, difference.expected), (DRAWN, difference.drawn)):
        places = [table.place(name) for name in names]
        rows = [
            row for row in table.rows if tuple(row.cells[place] for place in places) == group.names
        ]
        sides.append(_Side(label, lambda table=table, rows=rows: Playback(table, rows)))  # type: ignore[misc]
    return compared(case, sides, selection, named.get("entity") or None)


def against_expected(scene: Scene) -> Scene:
    """The scene with the expected rows as its truth: what was drawn is as far off as it differs."""
    import numpy as np

    from epic_cli.metrics.arrays import lengths
    from epic_cli.metrics.turns import angles
    from epic_cli.show.scene import NO_LAGS, histogram

    by_label = {strategy.label: strategy for strategy in scene.drawn}
    expected, drawn = by_label[EXPECTED], by_label[DRAWN]
    times = np.intersect1d(expected.times, drawn.times)
    # of rows of the same time the second is a break
    here, there = (np.searchsorted(table.times, times) for table in (expected, drawn))
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
