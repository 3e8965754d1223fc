"""Recordings made ready for tuning: settings are judged on them again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.compare import Comparison, compare_prepared, judge
from epic_cli.analysis.notes import NotEnoughToSay, NothingJudged, NotJudged
from epic_cli.analysis.packet_table import ARRIVAL, TIME, packet_table
from epic_cli.analysis.prepared import Prepared, prepare
from epic_cli.analysis.sampled_truth import sample_truth
from epic_cli.analysis.study import pooled_results, together
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.trace import TooManyRows

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Result
    from epic_cli.analysis.entities import Entity
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.study import Run
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.engine.replay.strategy_spec import StrategySpec


@dataclass(frozen=True)
class EvaluationSpec:
    """How everything is judged: when rows are drawn, what the score weighs, the clocks' offset."""

    timing: Timing
    weights: Weights
    offset: float = 0.0
    warm_up: float | None = None


@dataclass(frozen=True)
class EvaluationSet:
    """Recordings, by name, on which any settings can be judged."""

    ground: EvaluationSpec
    names: tuple[str, ...]
    prepared: tuple[Prepared, ...]

    def judge(self, candidate: StrategySpec) -> Result:
        """What a candidate comes to, over all of them together."""
        results = [judge(one, candidate, self.ground.weights) for one in self.prepared]
        return results[0] if len(results) == 1 else pooled_results(results)

    def each(
        self,
        candidates: Sequence[StrategySpec],
        threads: int | None = None,
        selection: Selection | None = None,
    ) -> list[tuple[str, Comparison]]:
        """A comparison of each recording, as ``study.together`` takes them.

        With a ``selection``, that of the first has scenes.
        """
        return [
            (
                name,
                compare_prepared(
                    one,
                    candidates,
                    weights=self.ground.weights,
                    selection=None if number else selection,
                    threads=threads,
                    sums=True,
                ),
            )
            for number, (name, one) in enumerate(zip(self.names, self.prepared, strict=True))
        ]

    def compare(
        self,
        candidates: Sequence[StrategySpec],
        seed: int,
        threads: int | None = None,
        selection: Selection | None = None,
    ) -> Comparison:
        """One comparison with intervals and ranks; ``seed`` is that of the bootstrap."""
        return together(self.each(candidates, threads, selection), candidates, (), seed)

    @cached_property
    def digest(self) -> str:
        """What it holds and how that is judged, as a hexadecimal number: equal, if these are."""
        ground = self.ground
        found = hashlib.sha256(repr(ground).encode())
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


def bench(runs: Sequence[Run], ground: EvaluationSpec) -> EvaluationSet:
    """The runs that can be judged, one at least; raises ``NothingJudged``, ``TooManyRows``."""
    names, prepared = [], []
    why: list[NotJudged] = []
    for run in runs:
        try:
            one = prepare(
                run.packets, ground.timing, run.truths, offset=ground.offset, warm_up=ground.warm_up
            )
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
    return EvaluationSet(ground, tuple(names), tuple(prepared))


def halves(run: Run, ground: EvaluationSpec, share: float) -> tuple[EvaluationSet, EvaluationSet]:
    """A recording up to a share of its time as if it had ended there, and the rest of it.

    What is drawn in the rest is judged with everything before it known: strategies go on. Raises
    ``NotEnoughToSay`` where there is nothing to judge in one of them.
    """
    whole = bench([run], ground)
    start, end = _span(whole.prepared[0])
    middle = start + share * (end - start)
    first = {name: _before(block, middle) for name, block in run.packets.items()}
    before = bench([run._replace(packets={k: v for k, v in first.items() if len(v)})], ground)
    return before, EvaluationSet(ground, whole.names, (_since(whole.prepared[0], middle),))


def _span(prepared: Prepared) -> tuple[float, float]:
    times = [one.truth.times for one in prepared.entities.judged]
    return min(float(one[0]) for one in times), max(float(one[-1]) for one in times)


def _before(block: PacketBlock, end: float) -> PacketBlock:
    """The packets that had come by then."""
    table = packet_table(block)
    came = np.where(np.isfinite(table[ARRIVAL]), table[ARRIVAL], table[TIME])
    early = np.flatnonzero(came < end)
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
        raise NotEnoughToSay("nothing in the second half of the recording can be judged")
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
            silences=events.silences[late],
        ),
    )
