"""The inputs of an evaluation: recordings with their truth, or simulated networks.

A front end makes one value of either kind; ``compare`` and ``tune`` take it from there, in any
process. Facts about a recording go to its log.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.parameters import SettingError
from epic_cli.engine.refusals import Reason
from epic_cli.metrics.arrays import LARGEST, POSITION, make_packet_table
from epic_cli.metrics.drawn_clock import FrameClock, find_frame_clock
from epic_cli.metrics.drawn_coordinates import find_other_coordinates, find_unit_ratio
from epic_cli.metrics.drawn_path import (
    ROWS,
    DrawnCandidate,
    DrawnPath,
    UnusableDrawing,
    check_times,
    make_drawn_paths,
)
from epic_cli.metrics.evaluation import Run, iterate_simulated_runs
from epic_cli.metrics.notes import NotEnoughToSay, explain_exclusion
from epic_cli.metrics.truth import Truth, make_truths
from epic_cli.network.link import LinkConditions, Way
from epic_cli.network.movement_spec import load_movement
from epic_cli.network.trace import read_recorded_network, trace_packets
from epic_cli.recordings.opening import (
    MOST_ENTITIES,
    MOST_PACKETS,
    UNUSABLE,
    ReadingLog,
    load,
    name_source,
    read_blocks,
    read_file,
)
from epic_cli.recordings.read_spec import (
    FRAME,
    INFERRED,
    STATE,
    Beginning,
    ReadSpec,
    share_beginning,
)
from epic_cli.recordings.rows import make_source, settle_source
from epic_cli.work.jobs import HERE, JobTally, Workers

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.network.movement import RecordedMovement
    from epic_cli.network.simulation import SimulationSpec
    from epic_cli.recordings.findings import RecordingFinding
    from epic_cli.recordings.opening import Logs, RecordingSource

    Truths = Mapping[str, Truth]


#: Most packets of a recording that is evaluated by entity: an hour of 64 players has 5,000,000.
MOST_EVALUATED = 20_000_000


class RecordingSpec(NamedTuple):
    """The settings for reading recordings.

    ``entity`` is the only entity to read (None: all); ``traces``: read network traces, too.
    """

    spec: ReadSpec = INFERRED
    entity: str | None = None
    traces: bool = False
    most_packets: int = MOST_PACKETS

    def read_packets(self, recording: Any, log: ReadingLog) -> Mapping[str, PacketBlock]:
        """Read at most ``most_packets`` packets, grouped by entity; raise ``UNUSABLE``."""
        if self.traces and (trace := self.trace(recording, log)) is not None:
            return trace
        source, limits = _make_source(recording), (MOST_ENTITIES, self.most_packets)
        return load(source, self.spec, log, self.entity, *limits)

    def trace(self, file: Any, log: ReadingLog) -> dict[str, PacketBlock] | None:
        """Read a network trace as packets at the origin; None if the file is not a network trace.

        ``entity`` is the flow; ``arrival=owd_up_ms`` alone is the way up. Raises as
        ``read_packets``.
        """
        columns = self.spec.columns or ()
        up = columns == (("arrival", "owd_up_ms"),)
        regular = isinstance(file, str) and os.path.isfile(file)  # noqa: PTH113
        if not regular or self.spec.format not in ("auto", "csv") or (columns and not up):
            return None
        direction: Way = "up" if up else "down"
        found = read_file(
            file, lambda stream: read_recorded_network(stream, self.entity, direction)
        )
        if found is None:
            return None
        log.report_trace(found.words)
        return {self.entity or "": trace_packets(found.trace)}

    def from_recording(self) -> RecordingSpec:
        """Return the settings for a single recording, whose first packet is at time 0 by default.

        The layout can then be shared with a file that is beside the recording.
        """
        if self.spec.beginning is not None:
            return self
        return self._replace(spec=share_beginning(self.spec))

    def run(self, recording: Any, log: ReadingLog, truths: Truths | None = None) -> Run:
        """Read a recording with its truth as a run; raise what ``read_packets`` raises."""
        source = _make_source(recording)
        packets = self.read_packets(source, log)
        if any(block.lacks_velocity() for block in packets.values()):
            log.report_estimated()
        known = log if isinstance(source, str) else source.log or log
        return Run(get_run_name(recording), packets, truths, known.findings, unit=known.watch.unit)

    def identify_inputs(self) -> dict[str, Any]:
        """Return the inputs that determine results, by name, as the journal's key."""
        beginning = self.spec.beginning
        return {
            "read": self.spec.write(),
            "beginning": beginning.time if beginning is not None else None,
            "entity": self.entity,
        }


def _make_source(given: Any) -> str | RecordingSource:
    return given if isinstance(given, str) else settle_source(make_source(given))


def get_run_name(recording: Any) -> str:
    """Return a recording's name in results; empty if the recording is not a file."""
    return name_source(recording) if isinstance(recording, str) else ""


@dataclass(frozen=True)
class RecordedRuns:
    """The recordings of a comparison (paths, ``-``, or other sources), with their truth.

    The real movement is the recording ``truth``; None: it is rebuilt from the packets. The file
    ``drawn`` has what the game drew of a single recording, as a recording or as rows;
    ``drawn_offset`` (s) is added to its times. The last participant is what the game drew.
    """

    recordings: tuple[Any, ...]
    reading: RecordingSpec = RecordingSpec()  # noqa: RUF009 - a value
    truth: Any = None
    drawn: str | None = None
    drawn_offset: float = 0.0

    def __post_init__(self) -> None:
        """Share the time origin with the truth and the drawn frames."""
        beside = self.truth is not None or self.drawn is not None
        if beside and self.reading.spec.beginning is None:
            shared = share_beginning(self.reading.spec)
            object.__setattr__(self, "reading", self.reading._replace(spec=shared))

    def check(self, workers: Workers) -> None:
        """Raise ``SettingError`` if options do not fit each other."""
        given, remote = self.recordings, workers != HERE
        piped = sum(isinstance(file, str) and file == "-" for file in (*given, self.truth))
        if piped > 1:
            raise SettingError("recording and truth cannot both come from standard input", "truth")
        if workers.remote and not all(isinstance(file, str) for file in given):
            raise SettingError(
                f"{workers} needs paths: workers read recordings from files", "executor"
            )
        if remote and piped:
            raise SettingError(f"{workers} needs files: workers cannot share standard input")
        if self.drawn is None:
            return
        if len(given) > 1:
            raise SettingError("--drawn belongs to one recording: pass one at a time", "drawn")
        if remote:
            raise SettingError(
                f"--drawn belongs to one recording, read by this process: leave out {workers}",
                "drawn",
            )
        if self.drawn == "-" and piped:
            what = "--truth" if self.truth == "-" else "recording"
            raise SettingError(f"{what} and --drawn cannot both come from standard input", "drawn")

    def read_truths(self, log: Logs, offset: float) -> tuple[Truths | None, bool]:
        """Read the truth by entity, if any; return it, and True if lines were refused.

        ``offset`` (s) is added to its times. Raises ``UNUSABLE`` and ``NotEnoughToSay``.
        """
        if self.truth is None:
            return None, False
        source = _make_source(self.truth)
        name = name_source(source) if isinstance(self.truth, str) else "the truth"
        with log(name) as reading:
            states = load(source, self.reading.spec.make_spec_beside(STATE), reading)
        truths, missing = make_truths(states, "given", offset)
        for note in missing:
            reading.report_unjudged(note.entity, explain_exclusion(note))
        if not truths:
            raise NotEnoughToSay(f"{name} has no movement to compare with")
        return truths, reading.refused

    def reread_truths(self, offset: float) -> Truths | None:
        """Read the truth in another process, without repeating its messages."""
        if not isinstance(self.truth, str):
            return self.read_truths(ReadingLog, offset)[0]
        beginning = self.reading.spec.beginning
        spec = self.reading.spec._replace(beginning=None)
        begin = (beginning.time, beginning.place) if beginning else (None, None)
        return _read_truths(self.truth, spec, begin, offset)

    def settle_origin(self) -> RecordedRuns:
        """Return a copy in which all recordings have the time origin of the first with a time."""
        if self.truth is None:
            return self
        spec = self.reading.spec
        beginning = spec.beginning or Beginning()
        for recording in self.recordings:
            if beginning.time is not None or recording == "-" or not isinstance(recording, str):
                break
            try:
                next(read_blocks(recording, spec), None)
            except UNUSABLE:
                continue
        spec = spec._replace(beginning=Beginning(beginning.time, beginning.place))
        return replace(self, reading=self.reading._replace(spec=spec))

    def load_runs(self, log: Logs, tally: JobTally, offset: float = 0.0) -> list[Run]:
        """Read all recordings with their truth into memory; report unusable ones to ``tally``.

        Raises ``UNUSABLE`` if the only recording is unusable.
        """
        truths, tally.refused = self.read_truths(log, offset)
        runs = []
        for recording in self.recordings:
            try:
                with log(name_source(recording)) as reading:
                    runs.append(self.run(recording, reading, truths, log))
                tally.refused |= reading.refused
            except UNUSABLE as error:
                if len(self.recordings) == 1:
                    raise
                tally.leave_out(name_source(recording), error)
        return runs

    def read_drawn_paths(
        self, packets: Mapping[str, PacketBlock], read: ReadSpec, layout: ReadSpec | None, log: Logs
    ) -> tuple[dict[str, DrawnPath], tuple[RecordingFinding, ...]]:
        """Read the frames that the game drew of these entities.

        Return them with the file's findings. ``read`` is how the recording is to be read, and
        ``layout`` how it was read. Raises ``UNUSABLE``.
        """
        file = str(self.drawn)
        with log(name_source(file)) as reading:
            beside = read.make_spec_beside(FRAME, layout)
            beside = beside._replace(pattern=beside.pattern or ROWS)
            apart = layout is not None and layout.arrival_apart
            if (apart or beside.time_origin == "first") and beside.own.time_origin is None:
                beside = beside._replace(time_origin=None)  # it is that of the stamps' clock
            if read.beginning is not None and read.beginning.time is None:
                # dates stay those of the arrivals, under any names
                begin = Beginning(0.0, read.beginning.place)
                beside = beside._replace(time_origin=0.0, beginning=begin)
            beside = _drop_absent_columns(file, beside)
            if read.scale is not None and beside.scale is None:
                beside = beside._replace(
                    scale=_find_nearest_scale(file, beside, read.scale, packets)
                )
            rows = load(file, beside, reading)
            try:
                own = reading.layout or beside
                scale = own.factors[0] if own.factors else own.scale or 1.0
                paths = make_drawn_paths(rows, packets, self.drawn_offset, scale)
                clock = find_frame_clock(paths, packets)
                moved = self._write_moved_frames(clock) if clock is not None else ""
                check_times(paths, packets, moved)
            except UnusableDrawing as error:
                raise UnusableDrawing(f"--drawn: {name_source(file)}: {error}") from error
            if clock is not None:
                reading.report_frame_clock(clock.apart, clock.way, moved)
            timed = clock.move_frames(paths) if clock is not None else paths
            if (other := find_other_coordinates(timed, packets)) is not None:
                reading.report_other_coordinates(other.words)
                paths = other.place(paths)
            elif (ratio := find_unit_ratio(timed, packets)) is not None:
                reading.report_unit_ratio(ratio, beside)
        return paths, reading.findings

    def misses_clock_or_unit(self, found: Sequence[RecordingFinding]) -> bool:
        """Return True if frames have another clock or unit, of which nothing has been said."""
        codes = {finding.code for finding in found}
        own = self.reading.spec.frame or INFERRED
        return ("E216" in codes and not self.drawn_offset) or ("E213" in codes and not own.scale)

    def _write_moved_frames(self, clock: FrameClock) -> str:
        """Return the option with which the frames are on the clock of the arrivals."""
        from shlex import quote  # few recordings need it

        return f"--drawn {quote(f'{self.drawn},offset={clock.write_offset(self.drawn_offset)}')}"

    def run(self, recording: Any, log: ReadingLog, truths: Truths | None, logs: Logs) -> Run:
        """Read one recording with its truth and the game's frames; raise ``UNUSABLE``."""
        reading = self.reading.from_recording()._replace(most_packets=MOST_EVALUATED)
        run = reading.run(recording, log, truths)
        if self.drawn is None:
            return run
        layout = log.watch.current_layout
        paths, findings = self.read_drawn_paths(run.packets, reading.spec, layout, logs)
        if left_out := [name for name in run.packets if name not in paths]:
            log.report_undrawn(left_out)
        kept = {name: block for name, block in run.packets.items() if name in paths}
        drawn = DrawnCandidate(paths)
        return run._replace(packets=kept, drawn=drawn, findings=(*run.findings, *findings))


def _drop_absent_columns(file: str, beside: ReadSpec) -> ReadSpec:
    """Return the spec without the packets' columns where the file has other ones.

    Columns that are given for the file itself stay.
    """
    if not beside.places:
        return beside
    first = next(read_blocks(file, beside), None)
    if first is None or not first.refusals:
        return beside
    absent = any(refusal.reason is Reason.COLUMN_UNKNOWN for refusal in first.refusals)
    absent |= beside.is_numbered and not len(first)  # the file has a header
    return beside._replace(columns=beside.own.columns) if absent else beside


def _find_nearest_scale(
    file: str, beside: ReadSpec, scale: float, packets: Mapping[str, PacketBlock]
) -> float | None:
    """Return the scale, the packets' or 1, at which a file matches the packets in size.

    None if the names of the file's columns decide.
    """
    rows = load(file, beside._replace(scale=1.0), ReadingLog(name_source(file)))
    size, wanted = _measure_longest_extent(rows), _measure_longest_extent(packets)
    if not size or not wanted:
        return None
    return min((scale, 1.0), key=lambda one: abs(math.log(one * size / wanted)))


def _measure_longest_extent(packets: Mapping[str, PacketBlock]) -> float:
    """Return the longest extent of any entity along an axis (length)."""
    tables = [make_packet_table(block)[POSITION] for block in packets.values()]
    known = [table[:, (np.abs(table) < LARGEST).all(axis=0)] for table in tables]
    sides = [float(np.ptp(table, axis=1).max()) for table in known if table.size]
    return max(sides, default=0.0)


@lru_cache(maxsize=1)
def _read_truths(
    file: str,
    spec: ReadSpec,
    begin: tuple[float | None, tuple[float, float] | None],
    offset: float,
) -> Truths:
    """Read the truth once in each process; only the main process reports findings."""
    spec = spec.make_spec_beside(STATE)._replace(beginning=Beginning(*begin))
    return make_truths(load(file, spec, ReadingLog(name_source(file))), "given", offset)[0]


#: Longest movement (s) whose rows fit into memory at once.
LONGEST_PATH = 50_000.0


@dataclass(frozen=True)
class SimulatedRuns:
    """A movement sent over simulated networks, one network for each of the ``seeds``.

    ``load`` reads a recorded movement, see ``SimulationSpec.open``. Raises ``SettingError`` for
    what cannot be evaluated.
    """

    simulation: SimulationSpec
    seeds: Sequence[int]
    load: Callable[..., RecordedMovement] = load_movement

    def __post_init__(self) -> None:
        movement, link = self.simulation.movement, self.simulation.link
        if not self.seeds:
            raise SettingError("there are no seeds: give 20, for example", "seeds")
        if movement.truth == "-":
            raise SettingError(
                "a movement that is sent over several networks must come from a file"
            )
        if movement.truth is None and movement.seconds == math.inf:
            raise SettingError(
                "an endless movement cannot be evaluated: set its duration in seconds"
            )
        if movement.truth is None and movement.seconds > LONGEST_PATH:
            raise SettingError(
                f"duration={movement.seconds:g}: a path is evaluated for up to"
                f" {LONGEST_PATH:,.0f} s; --seeds gives more data"
            )
        in_order = LinkConditions(in_order=link.ways.down.in_order)
        if link.trace and link.conditions == in_order and len(self.seeds) > 1:
            raise SettingError(
                "a recorded network is the same with every seed: give --seeds 1 beside the trace,"
                " or add conditions to it, such as jitter=5ms"
            )

    def __iter__(self) -> Iterator[Run]:
        """Yield the run of each seed; raise ``UNUSABLE``, ``TableRefusal`` and ``SettingError``."""
        return iterate_simulated_runs(self.simulation.open(self.load), self.seeds)

    def load_runs(self, *_: object) -> list[Run]:
        """Return the runs of all seeds.

        The parameters of ``RecordedRuns.load_runs`` are ignored.
        """
        return list(self)


#: The input of an evaluation.
RunInputs = RecordedRuns | SimulatedRuns
