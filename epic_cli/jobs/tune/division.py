"""Recordings made ready for tuning, and divided: what is tuned on, and what is evaluated on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay import TooManyRows
from epic_cli.metrics.arrays import ARRIVAL, TIME, packet_table
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import (
    Prepared,
    compare_run,
    evaluate,
    pool_results,
    pool_runs,
    prepare,
)
from epic_cli.metrics.notes import NotEnoughToSay, NothingJudged, NotJudged
from epic_cli.metrics.truth import sample_truth

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.tune.spec import Division
    from epic_cli.metrics.comparison import Result
    from epic_cli.metrics.evaluation import CompareSpec, Prepared, Run
    from epic_cli.metrics.measurement import Entity
    from epic_cli.show.scene import Selection


@dataclass(frozen=True)
class EvaluationSet:
    """Recordings, by name, on which any settings can be evaluated."""

    spec: CompareSpec
    names: tuple[str, ...]
    prepared: tuple[Prepared, ...]

    def evaluate(self, candidate: StrategySpec) -> Result:
        """What a candidate comes to, over all recordings together."""
        results = [evaluate(one, candidate, self.spec.weights) for one in self.prepared]
        return results[0] if len(results) == 1 else pool_results(results)

    def each(
        self, candidates: Sequence[StrategySpec], selection: Selection | None = None
    ) -> list[tuple[str, Comparison]]:
        """A comparison of each recording, as ``pool_runs`` takes them.

        With a ``selection``, that of the first has scenes.
        """
        spec = replace(self.spec, participants=candidates, selection=selection)
        return [
            (name, compare_run(one, replace(spec, selection=None) if number else spec))
            for number, (name, one) in enumerate(zip(self.names, self.prepared, strict=True))
        ]

    def compare(
        self, candidates: Sequence[StrategySpec], selection: Selection | None = None
    ) -> Comparison:
        """One comparison with intervals and ranks."""
        return pool_runs(self.each(candidates, selection), self.spec.seed)

    @cached_property
    def digest(self) -> str:
        """A name (hexadecimal digits) that is equal if recordings and what counts in them are."""
        spec = self.spec
        counts = (spec.timing, spec.weights, spec.truth_offset, spec.warm_up)
        found = hashlib.sha256(repr(counts).encode())
        for one in self.prepared:
            found.update(repr((one.arrivals, one.offset)).encode())
            for entity in one.entities.judged:
                found.update(entity.name.encode("utf-8", "surrogatepass"))
                found.update(packet_table(entity.packets).tobytes())
                truth = entity.truth
                for part in (truth.times, truth.positions, truth.velocities, truth.segments):
                    found.update(np.ascontiguousarray(part).tobytes())
        return found.hexdigest()

    def span(self) -> tuple[float, float]:
        """The times (s) of the first row and the last that can count, of the first recording."""
        counted = [one.truth.times[one.truth.counted] for one in self.prepared[0].entities.judged]
        return min(float(one[0]) for one in counted), max(float(one[-1]) for one in counted)


def evaluation_set(runs: Sequence[Run], spec: CompareSpec) -> EvaluationSet:
    """The runs that can be evaluated, one at least; raises ``NothingJudged``, ``TooManyRows``."""
    names, prepared = [], []
    why: list[NotJudged] = []
    for run in runs:
        try:
            one = prepare(run, spec)
        except TooManyRows:
            if len(runs) == 1:
                raise
            continue
        except NothingJudged as error:
            why += error.notes
            continue
        names.append(run.name)
        prepared.append(one)
    if not prepared:
        raise NothingJudged(tuple(why))
    return EvaluationSet(spec, tuple(names), tuple(prepared))


#: From so many recordings on these are divided, not their time.
ENOUGH_RECORDINGS = 4


class Divided(NamedTuple):
    """What is tuned on, what is evaluated on (None: the same), and how that was divided."""

    tuned: EvaluationSet
    evaluated: EvaluationSet | None
    by: Division


def divide(runs: Sequence[Run], spec: CompareSpec, by: Division | None = None) -> Divided:
    """Divides recordings ``by`` time or by recording, None: whichever suits them.

    Raises ``NotEnoughToSay`` where one of the parts has nothing to evaluate, ``TooManyRows``.
    """
    if by is None:
        by = "recording" if len(runs) >= ENOUGH_RECORDINGS else "time"
    if by == "none":
        return Divided(evaluation_set(runs, spec), None, by)
    if by == "recording":
        if len(runs) < 2:
            raise NotEnoughToSay("to tune on some recordings and evaluate on others takes two")
        return Divided(evaluation_set(runs[::2], spec), evaluation_set(runs[1::2], spec), by)
    first, second = (
        EvaluationSet(
            spec,
            tuple(name for half in part for name in half.names),
            tuple(prepared for half in part for prepared in half.prepared),
        )
        for part in zip(*_halves(runs, spec), strict=True)
    )
    return Divided(first, second, by)


def _halves(
    runs: Sequence[Run], spec: CompareSpec
) -> Iterator[tuple[EvaluationSet, EvaluationSet]]:
    """Those recordings of which both halves can be evaluated, one at least."""
    found = 0
    for number, one in enumerate(runs, 1):
        try:
            yield halves(one, spec)
            found += 1
        except NotEnoughToSay:
            if number == len(runs) and not found:
                raise


def halves(run: Run, spec: CompareSpec) -> tuple[EvaluationSet, EvaluationSet]:
    """The first half of a recording's time as if it had ended there, and the rest of it.

    What is drawn in the rest is evaluated with everything before it known: strategies go on. Raises
    ``NotEnoughToSay`` where there is nothing to evaluate in one of them.
    """
    whole = evaluation_set([run], spec)
    times = [one.truth.times for one in whole.prepared[0].entities.judged]
    start, end = min(float(one[0]) for one in times), max(float(one[-1]) for one in times)
    middle = start + 0.5 * (end - start)
    early = {name: _before(block, middle) for name, block in run.packets.items()}
    first = run._replace(packets={name: block for name, block in early.items() if len(block)})
    before = evaluation_set([first], spec)
    return before, EvaluationSet(spec, whole.names, (_since(whole.prepared[0], middle),))


def _before(block: PacketBlock, end: float) -> PacketBlock:
    """The packets that had arrived by then."""
    table = packet_table(block)
    arrivals = np.where(np.isfinite(table[ARRIVAL]), table[ARRIVAL], table[TIME])
    early = np.flatnonzero(arrivals < end)
    if len(early) == (early[-1] + 1 if len(early) else 0):
        return block.part(0, len(early))
    found = PacketBlock(block.entities)
    for index in early.tolist():
        found.append(block[index])
    return found


def _since(prepared: Prepared, begin: float) -> Prepared:
    entities = prepared.entities
    judged = [_entity_since(one, entities.warm_up, begin) for one in entities.judged]
    kept = tuple(one for one in judged if one.truth.counted.any())
    if not kept:
        raise NotEnoughToSay("nothing in the second half of the recording can be evaluated")
    return replace(prepared, entities=replace(entities, judged=kept))


def _entity_since(entity: Entity, warm_up: float, begin: float) -> Entity:
    old, events = entity.truth, entity.events
    sampled = sample_truth(old.truth, old.times, old.tick, warm_up, events.first, since=begin)
    late = events.arrivals >= begin
    return replace(
        entity,
        truth=sampled,
        events=events._replace(
            arrivals=events.arrivals[late],
            stamps=events.stamps[late],
            teleports=events.teleports[late],
            corrections=events.corrections[late],
            silences=events.silences[late],
        ),
    )
