"""Every candidate over one recording: traced in parallel, measured against the truth."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.entities import Entity, judged_entities
from epic_cli.analysis.measurement import Measurement, measure, pool
from epic_cli.analysis.metrics import METRICS
from epic_cli.analysis.notes import Flaw, Note, ResultNote
from epic_cli.analysis.scene import Drawn, Scene, Selection, drawn, scene
from epic_cli.analysis.weights import Weights
from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.replay.trace import Trace

if TYPE_CHECKING:
    from typing import Protocol

    from epic_cli.analysis.truth import Origin, Truth
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.pacing import Pacing
    from epic_cli.playback import Timing

    class Candidate(Protocol):
        """Who takes part: what makes its strategies, under the name that results give it."""

        @property
        def label(self) -> str:
            """The name."""

        @property
        def make(self) -> Callable[[], SmoothingStrategy]:
            """A new strategy."""


#: Called with how many of how many traces are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """One line of the table: a candidate's ``values`` by the names of ``METRICS``.

    ``entity`` None: all of them together. Without values, and where a value is NaN, ``note`` says
    why.
    """

    label: str
    entity: str | None
    values: Mapping[str, float] = field(default_factory=dict)
    note: ResultNote | None = None

    @property
    def failed(self) -> bool:
        """Whether the strategy's own code failed."""
        return self.note is not None and self.note.flaw is Flaw.FAILED

    def value(self, name: str) -> float:
        """A metric by its name; NaN: not enough to say."""
        return self.values.get(name, math.nan)


@dataclass(frozen=True)
class Comparison:
    """What came out.

    ``results`` are by candidate, ``by_entity`` by candidate and entity. ``origin`` says which
    truth it was, ``notes`` what was cut out of it, and what cannot be judged. ``refused`` are
    packets that have no place on the clock. ``rows`` is how many rows count.
    ``tick`` and ``warm_up`` are in seconds.
    """

    weights: Weights
    tick: float
    warm_up: float
    rows: int = 0
    origin: Origin = "rebuilt"
    notes: tuple[Note, ...] = ()
    results: tuple[Result, ...] = ()
    by_entity: tuple[Result, ...] = ()
    scenes: tuple[Scene, ...] = ()
    refused: tuple[Refusal, ...] = ()


class _Outcome(NamedTuple):
    measurement: Measurement | None
    drawn: Drawn | None = None
    note: ResultNote | None = None


class _Work(NamedTuple):
    """What is the same for every candidate and entity."""

    pacing: Callable[[], Pacing]
    weights: Weights
    selection: Selection | None


def compare(
    packets: Mapping[str, PacketBlock],
    candidates: Sequence[Candidate],
    timing: Timing,
    truths: Mapping[str, Truth] | None = None,
    *,
    weights: Weights | None = None,
    offset: float = 0.0,
    warm_up: float | None = None,
    selection: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs every candidate over the packets of every entity and measures what it draws.

    ``packets`` are an entity's packets by its name, as ``trace.separate`` makes them. Without
    ``truths`` the truth is rebuilt from them; ``offset`` (seconds: the receiver's clock less the
    sender's) is then added to their times. ``warm_up`` is in seconds, see ``sample_truth``. With
    a ``selection`` of rows, scenes for pictures are kept. ``threads`` is as many as there are
    cores unless given; an interruption (``KeyboardInterrupt``) waits for them to stop.

    Raises ``NothingJudged`` where no entity can be judged, ``TooManyRows``. How a strategy
    written in Python failed becomes its note.
    """
    weights = weights or Weights()
    tick = timing.tick[0] / timing.tick[1]
    arrivals = bool(packets) and next(iter(packets.values())).begins_with_arrival()

    def pacing() -> Pacing:
        return timing.resolve(arrivals)

    entities = judged_entities(packets, truths, offset, pacing, tick, warm_up)
    judged = entities.judged
    jobs = [(candidate, entity) for candidate in candidates for entity in judged]
    if selection is not None:
        selection = selection.among(len(jobs))
    work = _Work(pacing, weights, selection)
    outcomes = _run(jobs, work, threads or os.cpu_count() or 1, progress)
    results, by_entity = [], []
    for index, candidate in enumerate(candidates):
        own = outcomes[index * len(judged) : (index + 1) * len(judged)]
        results.append(_result(candidate.label, None, own))
        by_entity += [
            _result(candidate.label, entity.name, [outcome])
            for entity, outcome in zip(judged, own, strict=True)
        ]
    scenes = []
    if selection is not None:
        for index, entity in enumerate(judged):
            shown = [one.drawn for one in outcomes[index :: len(judged)] if one.drawn]
            scenes.append(
                scene(entity.name, entity.packets, offset, entity.truth, selection, shown)
            )
    return Comparison(
        weights,
        tick,
        entities.warm_up,
        entities.rows,
        entities.origin,
        entities.notes,
        tuple(results),
        tuple(by_entity),
        tuple(scenes),
        entities.refused,
    )


def _run(
    jobs: Sequence[tuple[Candidate, Entity]],
    work: _Work,
    threads: int,
    progress: Progress | None,
) -> list[_Outcome]:
    """The outcomes of all jobs, in their order."""
    stop = threading.Event()
    with ThreadPoolExecutor(threads, "compare") as executor:
        futures = [executor.submit(_outcome, *job, work, stop) for job in jobs]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress is not None:
                    progress(done, len(futures))
        except BaseException:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _outcome(candidate: Candidate, entity: Entity, work: _Work, stop: threading.Event) -> _Outcome:
    try:
        trace = Trace(candidate.make, work.pacing(), entity.packets, stopped=stop.is_set)
    except StrategyFailed as failure:
        return _Outcome(None, note=ResultNote(Flaw.FAILED, error=failure.story))
    rows = np.asarray(trace)
    if stop.is_set() or len(rows) != len(entity.truth.times):
        return _Outcome(None, note=ResultNote(Flaw.STOPPED))
    selection = work.selection
    picture = drawn(candidate.label, rows, entity.truth, selection) if selection else None
    return _Outcome(measure(rows, entity.truth, work.weights), picture)


def _result(label: str, entity: str | None, outcomes: Sequence[_Outcome]) -> Result:
    failed = next((one.note for one in outcomes if one.note is not None), None)
    if failed is not None:
        return Result(label, entity, note=failed)
    measurements = [one.measurement for one in outcomes if one.measurement is not None]
    broken = sum(one.broken for one in measurements)
    if broken:
        return Result(label, entity, note=ResultNote(Flaw.NOT_FINITE, rows=broken))
    if not any(len(one.errors) for one in measurements):
        return Result(label, entity, note=ResultNote(Flaw.NOTHING_DRAWN))
    measured = pool(measurements)
    note = None
    if not measured.speed > 0:
        note = ResultNote(Flaw.TRUTH_AT_REST)
    elif math.isnan(measured.lag.seconds):
        note = ResultNote(Flaw.LAG_UNKNOWN)
    values = {one.name: one.value(measured) for one in METRICS}
    return Result(label, entity, MappingProxyType(values), note)
