"""Every candidate over one recording: traced in parallel, measured against the truth."""

from __future__ import annotations

import copyreg
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.analysis.advice import Advice, advice
from epic_cli.analysis.cells import Grid, grid
from epic_cli.analysis.certainty.uncertainty import UNKNOWN, Certainty, Standing
from epic_cli.analysis.entities import Entity
from epic_cli.analysis.measurement import Measurement, measure, pool
from epic_cli.analysis.metrics import METRICS
from epic_cli.analysis.notes import UNRANKED, Flaw, Note, ResultNote
from epic_cli.analysis.prepared import Prepared, prepare
from epic_cli.analysis.scenes.scene import Drawn, Scene, Selection, drawn, scene
from epic_cli.analysis.weights import Weights
from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import Status
from epic_cli.engine.replay.trace import Trace
from epic_cli.engine.strategies import create

if TYPE_CHECKING:
    from typing import Protocol

    from epic_cli.analysis.truth import Origin, Truth
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.pacing import Pacing
    from epic_cli.engine.replay.playback import Timing

    class Participant(Protocol):
        """Who takes part: what makes its strategies, under the name that results give it."""

        @property
        def label(self) -> str:
            """The name."""

        @property
        def make(self) -> Callable[[], SmoothingStrategy]:
            """A new strategy."""


#: What several runs are: recordings of what happened, or simulated networks.
Runs = Literal["recordings", "networks"]


def _frozen(values: dict[str, float]) -> MappingProxyType[str, float]:
    return MappingProxyType({name: _number(value) for name, value in values.items()})


# results go from one process to another
copyreg.pickle(MappingProxyType, lambda values: (_frozen, (dict(values),)))

#: Called with how many of how many traces are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """One line of the table: a candidate's ``values`` by the names of ``METRICS``.

    ``entity`` None: all of them together. ``notes`` say why there are no values, or why a value is
    NaN, or to be read with care. ``recording`` is that of a line of its own, ``standing`` how
    sure the values are. ``measured`` is what they are computed from.
    """

    label: str
    entity: str | None
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[ResultNote, ...] = ()
    recording: str | None = None
    standing: Standing = UNKNOWN
    measured: Measurement | None = field(default=None, repr=False, compare=False)

    @property
    def place(self) -> str:
        """The entity or recording that it is of; empty: all."""
        return self.entity or self.recording or ""

    @property
    def rank(self) -> int | None:
        """One more than how many others have a better score beyond doubt; None: no score."""
        return self.standing.rank

    @property
    def note(self) -> ResultNote | None:
        """The gravest of the notes."""
        return self.notes[0] if self.notes else None

    def has(self, *flaws: Flaw) -> bool:
        """Whether one of these is noted."""
        return any(one.flaw in flaws for one in self.notes)

    @property
    def failed(self) -> bool:
        """Whether the strategy's own code failed."""
        return self.has(Flaw.FAILED)

    @property
    def ranked(self) -> bool:
        """Whether it can be called better or worse than others."""
        return bool(self.values) and not self.has(*UNRANKED)

    def value(self, name: str) -> float:
        """A metric by its name; NaN: not enough to say."""
        return self.values.get(name, math.nan)

    def figures(self) -> dict[str, float]:
        """All values by name, and the ends of their intervals, as ``metrics.figure_names``."""
        found = {}
        for metric in METRICS:
            found[metric.name] = self.value(metric.name)
            if metric.interval:
                ends = zip(metric.ends, self.interval(metric.name), strict=True)
                found.update(ends)
        return found

    def interval(self, name: str) -> tuple[float, float]:
        """From where to where a metric is likely to be; NaN: it cannot be told."""
        return self.standing.intervals.get(name, (math.nan, math.nan))


class Skipped(NamedTuple):
    """A recording that cannot be judged, and why."""

    recording: str
    error: ValueError


@dataclass(frozen=True)
class Comparison:
    """What came out.

    ``results`` are by candidate, ``by_entity`` by candidate and entity. ``origin`` says which
    truth it was, ``notes`` what was cut out of it, and what cannot be judged. ``refused`` are
    packets that have no place on the clock. ``rows`` is how many rows count, of ``all_rows``;
    lengths that differ by less than ``resolution`` do not differ.
    ``tick`` is in seconds, and so are ``warm_ups``, one of each recording. ``cells`` are those for
    which results keep sums.

    ``certainty`` is what intervals rest on. Of several ``recordings``, ``results`` are those of
    all together, ``by_recording`` has each one's, ``scenes`` are of the first; ``skipped`` are
    those that cannot be judged, ``notes_of`` notes that are not of all.
    """

    weights: Weights
    tick: float
    warm_ups: tuple[float, ...]
    rows: int = 0
    origin: Origin = "rebuilt"
    notes: tuple[Note, ...] = ()
    results: tuple[Result, ...] = ()
    by_entity: tuple[Result, ...] = ()
    scenes: tuple[Scene, ...] = ()
    refused: tuple[Refusal, ...] = ()
    all_rows: int = 0
    resolution: float = 0.0
    cells: Grid | None = None
    certainty: Certainty | None = None
    recordings: tuple[str, ...] = ()
    by_recording: tuple[Result, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes_of: tuple[tuple[str, Note], ...] = ()
    runs_are: Runs = "recordings"

    @property
    def advice(self) -> Advice:
        """What the results come to: which strategy, how surely, what it costs."""
        return advice(self.results, self.weights, self.by_recording)


#: Of so many errors of each candidate quantiles are told: all that there are of most recordings.
#: More would fill the memory, a few of each entity are enough, fewer of each of many recordings.
KEPT, FEWEST_KEPT, FEWEST_OF_MANY = 400_000, 500, 50


#: No more rows than this are drawn at a time by all threads together: each row of a strategy takes
#: a hundred bytes.
MOST_AT_ONCE = 4_000_000


class Outcome(NamedTuple):
    """What one candidate drew of one entity, or why nothing came of it."""

    measurement: Measurement | None
    drawn: Drawn | None = None
    note: ResultNote | None = None


class _Work(NamedTuple):
    """What is the same for every candidate and entity."""

    pacing: Callable[[], Pacing]
    weights: Weights
    selection: Selection | None
    kept: int
    cells: Grid | None
    stop: threading.Event


def compare(
    packets: Mapping[str, PacketBlock],
    candidates: Sequence[Participant],
    timing: Timing,
    truths: Mapping[str, Truth] | None = None,
    *,
    weights: Weights | None = None,
    offset: float = 0.0,
    warm_up: float | None = None,
    selection: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    sums: bool = False,
    share: int = 1,
) -> Comparison:
    """Runs every candidate over the packets of every entity and measures what it draws.

    ``packets`` are an entity's packets by its name, as ``trace.separate`` makes them. Without
    ``truths`` the truth is rebuilt from them; ``offset`` (seconds: the receiver's clock less the
    sender's) is then added to their times. ``warm_up`` is in seconds, see ``sample_truth``. With
    a ``selection`` of rows, scenes for pictures are kept. ``threads`` is as many as there are
    cores unless given; an interruption (``KeyboardInterrupt``) waits for them to stop,
    as they do at ``stop``. With ``sums``, results keep what intervals are made of (``study``);
    ``share``: of about so many recordings this is one, and what is kept of it is that much less.

    Raises ``NothingJudged`` where no entity can be judged, ``TooManyRows``. How a strategy
    written in Python failed becomes its note.
    """
    prepared = prepare(packets, timing, truths, offset=offset, warm_up=warm_up)
    return compare_prepared(
        prepared,
        candidates,
        weights=weights,
        selection=selection,
        threads=threads,
        progress=progress,
        stop=stop,
        sums=sums,
        share=share,
    )


def judge(prepared: Prepared, candidate: Participant, weights: Weights) -> Result:
    """What one candidate draws of all entities together, without sums for intervals."""
    work = _Work(prepared.pacing, weights, None, KEPT, None, threading.Event())
    outcomes = [_outcome(candidate, entity, work) for entity in prepared.entities.judged]
    unfit = not prepared.by_arrival and needs_arrivals(candidate.make())
    return result_of(candidate.label, None, outcomes, unfit)


def compare_prepared(
    prepared: Prepared,
    candidates: Sequence[Participant],
    *,
    weights: Weights | None = None,
    selection: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    sums: bool = False,
    share: int = 1,
) -> Comparison:
    """Runs every candidate over a recording that has been prepared; see ``compare``."""
    weights = weights or Weights()
    entities = prepared.entities
    judged = entities.judged
    jobs = [(candidate, entity) for candidate in candidates for entity in judged]
    if selection is not None:
        selection = selection.among(len(jobs))
    work = _Work(
        prepared.pacing,
        weights,
        selection,
        max(KEPT // (len(judged) * share), FEWEST_KEPT if share == 1 else FEWEST_OF_MANY),
        grid([one.truth.times for one in judged], share) if sums else None,
        stop or threading.Event(),
    )
    most = max(1, MOST_AT_ONCE // max(len(one.truth.times) for one in judged))
    outcomes = _run(jobs, work, min(threads or os.cpu_count() or 1, most), progress)
    results, by_entity = [], []
    for index, candidate in enumerate(candidates):
        own = outcomes[index * len(judged) : (index + 1) * len(judged)]
        unfit = not prepared.by_arrival and needs_arrivals(candidate.make())
        results.append(result_of(candidate.label, None, own, unfit))
        by_entity += [
            result_of(candidate.label, entity.name, [outcome], unfit)
            for entity, outcome in zip(judged, own, strict=True)
        ]
    scenes = []
    if selection is not None:
        for index, entity in enumerate(judged):
            shown = [one.drawn for one in outcomes[index :: len(judged)] if one.drawn]
            scenes.append(
                scene(
                    entity.name,
                    entity.packets,
                    prepared.offset,
                    entity.truth,
                    selection,
                    entity.events,
                    shown,
                )
            )
    return Comparison(
        weights,
        prepared.tick,
        (entities.warm_up,),
        entities.rows,
        entities.origin,
        entities.notes,
        tuple(results),
        tuple(by_entity),
        tuple(scenes),
        entities.refused,
        entities.all_rows,
        entities.resolution,
        work.cells,
    )


def _run(
    jobs: Sequence[tuple[Participant, Entity]],
    work: _Work,
    threads: int,
    progress: Progress | None,
) -> list[Outcome]:
    """The outcomes of all jobs, in their order."""
    with ThreadPoolExecutor(threads, "compare") as executor:
        futures = [executor.submit(_outcome, *job, work) for job in jobs]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress is not None:
                    progress(done, len(futures))
        except BaseException:
            work.stop.set()
            executor.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _outcome(candidate: Participant, entity: Entity, work: _Work) -> Outcome:
    try:
        trace = Trace(
            candidate.make,
            work.pacing(),
            entity.packets,
            stopped=work.stop.is_set,
            expected=len(entity.truth.times),
        )
    except StrategyFailed as failure:
        return Outcome(None, note=ResultNote(Flaw.FAILED, error=failure.story))
    rows = np.asarray(trace)
    truth = entity.truth
    if work.stop.is_set() or len(rows) != len(truth.times):
        return Outcome(None, note=ResultNote(Flaw.STOPPED))
    shown, status = rows["position"].copy(), rows["status"].copy()
    del rows, trace  # they are more than twice as large
    undrawn = (status == int(Status.NONE)) & truth.counted
    if undrawn.any():
        # a player sees nothing there: no better than the last state that came
        held = np.asarray(Trace(_last_state, work.pacing(), entity.packets))["position"]
        shown = np.where(undrawn[:, None], held, shown)
    measured = measure(shown, status, truth, entity.events, work.weights, work.cells)
    picture = None
    if work.selection:
        picture = drawn(
            candidate.label,
            shown,
            status,
            truth,
            work.selection,
            entity.events,
            measured.recovery.each,
        )
    return Outcome(measured.thinned(work.kept), picture)


def _last_state() -> SmoothingStrategy:
    return create("dumb-terminal", {})


def needs_arrivals(strategy: SmoothingStrategy) -> bool:
    """Whether what it draws means nothing in a recording without arrival times."""
    declared = getattr(strategy, "declaration", None)
    settings = getattr(strategy, "settings", {})
    for need in declared.needs if declared is not None else ():
        if need == "arrival times":
            return True
        if need.startswith("arrival times, or ") and settings.get("latency") == "auto":
            return True
    return False


def result_of(
    label: str, entity: str | None, outcomes: Sequence[Outcome], unfit: bool = False
) -> Result:
    """What several outcomes of one candidate come to together; ``unfit``: it needs arrivals."""
    failed = next((one.note for one in outcomes if one.note is not None), None)
    if failed is not None:
        return Result(label, entity, notes=(failed,))
    measurements = [one.measurement for one in outcomes if one.measurement is not None]
    broken = sum(one.broken for one in measurements)
    if broken:
        judged = broken + sum(one.rows for one in measurements)
        return Result(
            label, entity, notes=(ResultNote(Flaw.NOT_FINITE, rows=broken, judged=judged),)
        )
    measured = pool(measurements)
    undrawn = int(measured.statuses[Status.NONE])
    if undrawn == measured.rows:
        return Result(label, entity, notes=(ResultNote(Flaw.NOTHING_DRAWN),))
    values = {one.name: _number(one.value(measured)) for one in METRICS}
    notes = []
    if unfit:
        notes.append(ResultNote(Flaw.NEEDS_ARRIVALS))
        values["score"] = math.nan
    if not measured.speed > 0:
        notes.append(ResultNote(Flaw.TRUTH_AT_REST))
    if measured.diverged:
        notes.append(ResultNote(Flaw.DIVERGED, beyond=measured.beyond, extent=measured.extent))
    if any(_lag_unknown(one) for one in measurements):
        notes.append(ResultNote(Flaw.LAG_UNKNOWN))
    if measured.lag.others:
        notes.append(ResultNote(Flaw.LAG_AMBIGUOUS, lags=measured.lag.others))
    if undrawn:
        notes.append(ResultNote(Flaw.UNDRAWN, rows=undrawn, judged=measured.rows))
    return Result(label, entity, MappingProxyType(values), tuple(notes), measured=measured)


def _number(value: float) -> float:
    """A plain number; what is not one is always the same NaN, so that results can be equal."""
    return math.nan if math.isnan(value) else float(value)


def _lag_unknown(measured: Measurement) -> bool:
    return math.isnan(measured.lag.seconds) and not math.isnan(measured.lag.charged)
