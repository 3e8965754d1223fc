"""One run: what each participant draws of each entity, traced in parallel, measured at each row."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import Status
from epic_cli.engine.replay import Trace
from epic_cli.engine.strategies import create
from epic_cli.metrics import METRICS
from epic_cli.metrics.arrays import packet_table, rows_of
from epic_cli.metrics.cells import Grid, grid
from epic_cli.metrics.certainty.rare import Rare, rare
from epic_cli.metrics.evaluation.prepared import Prepared, prepare
from epic_cli.metrics.evaluation.result import Comparison, Result
from epic_cli.metrics.measure import Entity, measure
from epic_cli.metrics.measurement import Measurement, pool
from epic_cli.metrics.notes import Flaw, ResultNote
from epic_cli.show.scene import Drawn, Selection, drawn, scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.replay import Pacing
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.evaluation.spec import CompareSpec, Participant, Run
    from epic_cli.metrics.weights import Weights
    from epic_cli.show.scene import Scene

#: Called with how many of how many steps of the work are done.
Progress = Callable[[int, int], None]

#: Of so many errors of each participant quantiles are computed: all that there are of most
#: recordings. More would fill the memory, a few of each entity are enough, fewer of each of many
#: recordings.
KEPT, FEWEST_KEPT, FEWEST_OF_MANY = 400_000, 500, 50

#: No more rows than this are drawn at a time by all threads together: each row of a strategy takes
#: a hundred bytes.
MOST_AT_ONCE = 4_000_000


class EntityResult(NamedTuple):
    """What one participant drew of one entity, or why nothing came of it."""

    measurement: Measurement | None
    drawn: Drawn | None = None
    note: ResultNote | None = None


class _Work(NamedTuple):
    """What is the same for every participant and entity."""

    pacing: Callable[[], Pacing]
    weights: Weights
    selection: Selection | None = None
    kept: int = KEPT
    cells: Grid | None = None
    stop: threading.Event = threading.Event()


def compare_run(
    run: Run | Prepared,
    spec: CompareSpec,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Comparison:
    """Measures what every participant draws of every entity of one run.

    ``threads`` is as many as the spec says unless given; an interruption (``KeyboardInterrupt``)
    waits for them to stop, as they do at ``stop``. With the spec's ``intervals``, results keep what
    intervals are made of (see ``pool``).

    Raises ``NothingJudged`` where no entity can be measured, ``TooManyRows``. How a strategy
    written in Python failed becomes its note.
    """
    prepared = run if isinstance(run, Prepared) else prepare(run, spec)
    entities, share = prepared.entities, spec.share
    judged = entities.judged
    jobs = [(participant, entity) for participant in spec.participants for entity in judged]
    selection = spec.selection.among(len(jobs)) if spec.selection else None
    work = _Work(
        prepared.pacing,
        spec.weights,
        selection,
        max(KEPT // (len(judged) * share), FEWEST_KEPT if share == 1 else FEWEST_OF_MANY),
        grid([one.truth.times for one in judged], share) if spec.intervals else None,
        stop or threading.Event(),
    )
    most = max(1, MOST_AT_ONCE // max(len(one.truth.times) for one in judged))
    workers = threads or spec.threads or os.cpu_count() or 1
    found = _run(jobs, work, min(workers, most), progress)
    results, by_entity = [], []
    events = _rare(judged) if spec.intervals else Rare()
    if spec.runs_are == "networks":  # what a simulated one does is known
        events = events._replace(watched=0.0)
    for index, participant in enumerate(spec.participants):
        own = found[index * len(judged) : (index + 1) * len(judged)]
        strategy = participant.make()
        unfit = prepared.unfit(strategy)
        declared = getattr(strategy, "declaration", None)
        once = prepared.by_arrival and getattr(declared, "lag_by_session", False)
        result = result_of(participant.label, None, own, unfit)
        results.append(replace(result, waver=events.waver if once else 0.0))
        by_entity += [
            result_of(participant.label, entity.name, [one], unfit)
            for entity, one in zip(judged, own, strict=True)
        ]
    scenes = []
    if selection is not None:
        for index, entity in enumerate(judged):
            shown = [one.drawn for one in found[index :: len(judged)] if one.drawn]
            scenes.append(scene(entity, prepared.offset, selection, shown))
    return Comparison(
        weights=spec.weights,
        tick=prepared.tick,
        warm_ups=(entities.warm_up,),
        rows=entities.rows,
        origin=entities.origin,
        notes=entities.notes,
        results=tuple(results),
        by_entity=tuple(by_entity),
        scenes=tuple(scenes),
        refused=entities.refused,
        all_rows=entities.all_rows,
        resolution=entities.resolution,
        cells=work.cells,
        rare=events,
        findings=prepared.findings,
    )


def _rare(judged: Sequence[Entity]) -> Rare:
    """What the network did, as the entity with the most packets saw it in the judged rows."""
    one = max(judged, key=lambda entity: len(entity.packets))
    times = one.truth.times[one.truth.counted]
    return rare(packet_table(one.packets), float(times[0]), float(times[-1]))


def evaluate(prepared: Prepared, participant: Participant, weights: Weights) -> Result:
    """What one participant draws of all entities together, without sums for intervals."""
    work = _Work(prepared.pacing, weights)
    found = [_entity_result(participant, entity, work) for entity in prepared.entities.judged]
    unfit = prepared.unfit(participant.make())
    return result_of(participant.label, None, found, unfit)


def _run(
    jobs: Sequence[tuple[Participant, Entity]],
    work: _Work,
    threads: int,
    progress: Progress | None,
) -> list[EntityResult]:
    """The results of all jobs, in their order."""
    with ThreadPoolExecutor(threads, "compare") as executor:
        futures = [executor.submit(_entity_result, *job, work) for job in jobs]
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


#: Arithmetic on what has diverged ends in infinities, which are noted where figures are made.
_quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@_quietly
def _entity_result(participant: Participant, entity: Entity, work: _Work) -> EntityResult:
    found = _shown(participant, entity, work)
    if isinstance(found, ResultNote):
        return EntityResult(None, note=found)
    shown, status, turns = found
    measured = measure(shown, status, entity, work.weights, work.cells, turns)
    picture = None
    if work.selection:
        recoveries = measured.recovery.each
        picture = drawn(participant.label, shown, status, entity, work.selection, recoveries, turns)
    measured = measured.thinned(work.kept)
    if measured.turned is not None:
        measured = replace(measured, turned=measured.turned.thinned(work.kept))
    return EntityResult(measured, picture)


def _shown(
    participant: Participant, entity: Entity, work: _Work
) -> tuple[Floats, NDArray[np.int32], Floats | None] | ResultNote:
    """The positions, statuses and rotations of all rows, or why there are none."""
    truth = entity.truth
    try:
        trace = Trace(
            participant.make,
            work.pacing(),
            entity.packets,
            stopped=work.stop.is_set,
            expected=len(truth.times),
        )
    except StrategyFailed as failure:
        return ResultNote(Flaw.FAILED, error=failure.story)
    rows = rows_of(trace)
    if work.stop.is_set() or len(rows) != len(truth.times):
        return ResultNote(Flaw.STOPPED)
    shown, status = rows["position"].copy(), rows["status"].copy()
    turns = None
    if truth.turns is not None:
        numbers = np.empty((len(rows), 7))
        trace.fill_turns(numbers)
        turns = None if np.isnan(numbers[:, 0]).all() else numbers[:, :4].copy()
    del rows, trace  # they are more than twice as large
    undrawn = (status == int(Status.NONE)) & truth.counted
    if undrawn.any():
        # a player sees nothing there: no better than the last state that came
        last_state = partial(create, "dumb-terminal", {})
        held = rows_of(Trace(last_state, work.pacing(), entity.packets))["position"]
        shown = np.where(undrawn[:, None], held, shown)
    return shown, status, turns


@_quietly
def scenes_of(prepared: Prepared, spec: CompareSpec) -> list[Scene]:
    """What every participant draws, without figures and lags: in a tenth of the time."""
    assert spec.selection is not None
    judged = prepared.entities.judged
    selection = spec.selection.among(len(judged) * len(spec.participants))
    work = _Work(prepared.pacing, spec.weights)
    scenes = []
    for entity in judged:
        pictures = []
        for participant in spec.participants:
            found = _shown(participant, entity, work)
            if not isinstance(found, ResultNote):
                shown, status, turns = found
                part = (shown, status, entity, selection, (), turns)
                pictures.append(drawn(participant.label, *part, lags=False))
        scenes.append(scene(entity, prepared.offset, selection, pictures))
    return scenes


@_quietly
def result_of(
    label: str, entity: str | None, found: Sequence[EntityResult], unfit: bool = False
) -> Result:
    """What one participant's results come to together; ``unfit``: it needs arrivals."""
    failed = next((one.note for one in found if one.note is not None), None)
    if failed is not None:
        return Result(label, entity, notes=(failed,))
    measurements = [one.measurement for one in found if one.measurement is not None]
    broken = sum(one.broken for one in measurements)
    if broken:
        judged = broken + sum(one.rows for one in measurements)
        note = ResultNote(Flaw.NOT_FINITE, rows=broken, judged=judged)
        return Result(label, entity, notes=(note,))
    measured = pool(measurements)
    undrawn = int(measured.statuses[Status.NONE])
    if undrawn == measured.rows:
        return Result(label, entity, notes=(ResultNote(Flaw.NOTHING_DRAWN),))
    values = {one.name: one.value(measured) for one in METRICS}
    notes = []
    if unfit:
        notes.append(ResultNote(Flaw.NEEDS_ARRIVALS))
        values["score"] = math.nan
    if not measured.speed > 0:
        notes.append(ResultNote(Flaw.TRUTH_AT_REST))
    if measured.diverged:
        notes.append(ResultNote(Flaw.DIVERGED, beyond=measured.beyond, extent=measured.extent))
    if any(one.lag.unknown for one in measurements):
        notes.append(ResultNote(Flaw.LAG_UNKNOWN))
    if measured.lag.others:
        notes.append(ResultNote(Flaw.LAG_AMBIGUOUS, lags=measured.lag.others))
    if undrawn:
        notes.append(ResultNote(Flaw.UNDRAWN, rows=undrawn, judged=measured.rows))
    return Result(label, entity, values, tuple(notes), measured=measured)
