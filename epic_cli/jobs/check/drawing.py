"""The drawing of a case: the rows that ``epic replay`` writes, its packets and its metrics."""

from __future__ import annotations

import contextlib
import io
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.contract import STATUSES, Packet, Sample
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text import RowWriter
from epic_cli.jobs.check.differences import (
    Difference,
    RowCells,
    RowTable,
)
from epic_cli.jobs.check.spec import BrokenCase, Case, CaseRecording, DrawSpec
from epic_cli.jobs.replay.run import Rows, SecondEntity, replay, select_packets
from epic_cli.recordings import Unreadable
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import ReadingLog, read_blocks

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.conditions import Condition
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.show.scene import Scene, Selection


#: The column that names the strategy, where there are several.
STRATEGY_COLUMN = "strategy"

#: Most bytes of rows of a case.
MOST_ROWS = 200_000_000


class CaseRows(NamedTuple):
    """The drawn rows of a case as text, and the number of refused lines of its recording."""

    rows: bytes
    refused: int


class _RowsInMemory(io.BytesIO):
    """An output of rows in memory, of limited size."""

    recording = ""

    def write(self, rows: Any, /) -> int:
        """Append rows; raise ``BrokenCase`` for too many rows."""
        if self.tell() + len(rows) > MOST_ROWS:
            what = f"more than {MOST_ROWS:,} bytes of rows: choose a longer tick"
            raise BrokenCase(self.recording, what)
        return super().write(rows)


class _CaseLog(ReadingLog):
    """A log that counts refused lines; with ``strict``, the first refused line is an error."""

    def __init__(self, name: str, strict: bool) -> None:
        super().__init__(name)
        self.refusals = 0
        self._strict = strict

    def refuse(self, refusals: Sequence[Refusal]) -> None:
        """Count a refused line; raise ``BrokenCase`` if the log is strict."""
        self.refusals += len(refusals)
        if refusals and self._strict:
            from epic_cli.recordings.wording import FrontEnd, word_refusal

            first = word_refusal(refusals[0], FrontEnd.COMMAND_LINE)
            place = f"{self.name}:{first.line}:{first.column}"
            raise BrokenCase(place, f"{first.what}; expected {first.expected}")


def draw(drawing: DrawSpec) -> CaseRows:
    """Return the rows of all strategies for all recordings, as ``epic replay`` draws them.

    Raises ``BrokenCase``, and ``StrategyFailed`` if a custom strategy fails.
    """
    column = STRATEGY_COLUMN if drawing.several else drawing.replay.make_column(several=False)
    writer = partial(RowWriter, drawing.replay.row_format, file_column=column)
    out, refused = _RowsInMemory(), 0
    rows = Rows(out, lambda turns: writer(turns=turns))
    for candidate in drawing.candidates:
        spec = drawing.replay._replace(strategy=candidate)
        for recording in drawing.recordings:
            out.recording = recording.name
            rows.begin_recording(candidate.label if drawing.several else recording.name)
            log = _CaseLog(recording.name, spec.strict)
            with _raise_broken_case(recording):
                replay(spec, recording.source, rows, log)
            refused += log.refusals
    rows.begin()  # a header, where no packet has come
    return CaseRows(out.getvalue(), refused)


def iterate_packets(
    drawing: DrawSpec, recording: CaseRecording, log: ReadingLog | None = None
) -> Iterator[PacketBlock]:
    """Yield the packets to draw of a recording, reporting to ``log``; raise ``BrokenCase``."""
    with _raise_broken_case(recording):
        found = read_blocks(recording.source, drawing.replay.read, log)
        yield from select_packets(drawing.replay, recording.name, found)


@contextlib.contextmanager
def _raise_broken_case(recording: CaseRecording) -> Iterator[None]:
    """Raise ``BrokenCase`` for a recording that cannot be drawn."""
    try:
        yield
    except CannotAccess as error:
        name = recording.name if error.name == recording.path else error.name  # or its truth
        raise BrokenCase.from_unreadable(name, error.error) from error
    except SecondEntity as error:
        what = f"{error.what}: give entity, or another format"
        raise BrokenCase(error.place, what) from error
    except Unreadable as error:
        raise BrokenCase(recording.name, str(error).removeprefix(f"{recording.name}: ")) from error


#: Names of the two sides of a picture.
EXPECTED, DRAWN = "expected", "drawn"


class CheckedCondition(NamedTuple):
    """A condition on a metric of the strategy ``label``, and the metric's ``value`` (NaN.

    Unknown).
    """

    condition: Condition
    label: str
    value: float
    holds: bool


def evaluate_conditions(case: Case) -> list[CheckedCondition]:
    """Return each condition of the case with its metric's value, for each strategy concerned."""
    if not case.conditions:
        return []
    results = compare_strategies(case, case.drawing.candidates).results
    return [
        CheckedCondition(
            condition, result.label, result.value(condition.metric), condition.is_met(result.values)
        )
        for condition in case.conditions
        for result in results
        if condition.is_about(result.label)
    ]


def compare_strategies(
    case: Case,
    candidates: Sequence[Participant],
    selection: Selection | None = None,
    entity: str | None = None,
) -> Comparison:
    """Compare the strategies on the case's recording, or on one entity, as ``epic compare`` does.

    Raises ``BrokenCase`` if nothing can be judged.
    """
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.metrics.evaluation import CompareSpec, compare_run
    from epic_cli.metrics.inputs import RecordedRuns, RecordingSpec
    from epic_cli.metrics.notes import NotEnoughToSay

    drawing, truth = case.drawing.replay, case.truth
    (recording,) = case.drawing.recordings
    reading = RecordingSpec(drawing.read, entity or drawing.entity)
    given = RecordedRuns((recording.source,), reading, truth.path)
    spec = CompareSpec(
        candidates,
        drawing.timing,
        truth_offset=truth.offset,
        warm_up=truth.warm_up,
        selection=selection,
        intervals=False,
        threads=1,  # cases are checked side by side
    )
    try:
        with _raise_broken_case(recording):
            truths, _ = given.read_truths(ReadingLog, truth.offset)
            log = _CaseLog(recording.name, drawing.strict)
            return compare_run(given.run(recording.source, log, truths, ReadingLog), spec)
    except (NotEnoughToSay, TooManyRows) as error:
        raise BrokenCase(case.file, f"the metrics of [expect] are unknown: {error}") from error


# ---------------------------------------------------------------- pictures


class _PlaybackParticipant(NamedTuple):
    label: str
    make: Callable[[], Playback]


class Playback:
    """A strategy that plays back existing rows and ignores packets."""

    def __init__(self, table: RowTable, rows: list[RowCells]) -> None:
        self._rows = rows
        self._times = [row.time for row in rows]
        columns = ("x", "y", "z", "vx", "vy", "vz", "qx", "qy", "qz", "qw")
        self._places = [table.find_column(column) for column in columns]

    def reset(self) -> None:
        """Do nothing: a playback has no state."""

    def update(self, packet: Packet, now: float) -> bool:
        """Return False: packets are ignored."""
        del packet, now
        return True

    def read(self, at: float) -> Sample:
        """Return the row within a millisecond of a time; none if there is no such row."""
        place = bisect_left(self._times, at - 1e-3)
        cells = ["" for _ in self._places]
        if place < len(self._rows) and self._times[place] <= at + 1e-3:
            row = self._rows[place].cells
            cells = [row[index] if index >= 0 else "0" for index in self._places]
        x, y, z, vx, vy, vz, *turn = (float(cell or 0) for cell in cells)
        status = STATUSES[2 if cells[0] else 0]  # which it really was makes no picture
        rotation = (turn[0], turn[1], turn[2], turn[3]) if any(turn) else None
        return Sample(at, (x, y, z), (vx, vy, vz), status, rotation=rotation)


def draw_pictures(case: Case, difference: Difference, selection: Selection) -> Comparison:
    """Draw the expected and the drawn rows of the entity that differs first.

    Raise ``BrokenCase``.
    """
    group, _ = difference.first
    names = [
        column for column in difference.columns if column in ("entity", STRATEGY_COLUMN, "file")
    ]
    named = dict(zip(names, group.names, strict=False))
    sides: list[_PlaybackParticipant | StrategySpec] = []
    for label, table in ((EXPECTED, difference.expected), (DRAWN, difference.drawn)):
        places = [table.find_column(name) for name in names]
        rows = [
            row for row in table.rows if tuple(row.cells[place] for place in places) == group.names
        ]
        sides.append(_PlaybackParticipant(label, partial(Playback, table, rows)))
    return compare_strategies(case, sides, selection, named.get("entity") or None)


def judge_by_expected(scene: Scene) -> Scene:
    """Return a scene whose truth is the expected rows, so that its errors are the differences.

    Raises ``NothingToDraw`` if one side has no path.
    """
    import numpy as np

    from epic_cli.metrics.arrays import compute_lengths
    from epic_cli.metrics.notes import NothingToDraw
    from epic_cli.metrics.turns import measure_angles
    from epic_cli.show.scene import NO_LAGS, make_histogram

    by_label = {strategy.label: strategy for strategy in scene.drawn}
    for label in (EXPECTED, DRAWN):
        if label not in by_label:
            raise NothingToDraw(f"the {label} rows have numbers that cannot be pictured")
    expected, drawn = by_label[EXPECTED], by_label[DRAWN]
    times = np.intersect1d(expected.times, drawn.times)
    # of rows of the same time the second is a break
    here, there = (np.searchsorted(table.times, times) for table in (expected, drawn))
    apart = compute_lengths(drawn.positions[there] - expected.positions[here])
    off = None
    if expected.rotations is not None and drawn.rotations is not None:
        off = measure_angles(drawn.rotations[there], expected.rotations[here])
    known = apart[np.isfinite(apart)]
    shown = drawn._replace(
        times=times,
        positions=drawn.positions[there],
        distances=apart,
        errors=apart,
        across=np.zeros(len(times)),
        lag=NO_LAGS,
        histogram=make_histogram(apart),
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
