"""Recordings made ready for tuning, on which settings are evaluated again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.arrays import packet_table
from epic_cli.analysis.compare.pool import pool_results, pool_runs
from epic_cli.analysis.compare.prepared import Prepared, prepare
from epic_cli.analysis.compare.result import Comparison
from epic_cli.analysis.compare.run import compare_prepared, evaluate
from epic_cli.analysis.notes import NothingJudged, NotJudged
from epic_cli.engine.replay import TooManyRows

if TYPE_CHECKING:
    from epic_cli.analysis.compare.result import Result
    from epic_cli.analysis.compare.spec import CompareSpec, Run
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.engine.replay.strategy_spec import StrategySpec


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
            (name, compare_prepared(one, replace(spec, selection=None) if number else spec))
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
