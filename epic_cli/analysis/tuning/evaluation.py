"""Recordings made ready for tuning, on which settings are evaluated again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.compare import Comparison, compare_prepared, judge
from epic_cli.analysis.notes import NothingJudged, NotJudged
from epic_cli.analysis.packet_table import packet_table
from epic_cli.analysis.prepared import Prepared, prepare
from epic_cli.analysis.study import pooled_results, together
from epic_cli.engine.replay.trace import TooManyRows

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Result
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.study import Run
    from epic_cli.analysis.tuning.spec import EvaluationSpec
    from epic_cli.engine.replay.strategy_spec import StrategySpec


@dataclass(frozen=True)
class EvaluationSet:
    """Recordings, by name, on which any settings can be evaluated."""

    spec: EvaluationSpec
    names: tuple[str, ...]
    prepared: tuple[Prepared, ...]

    def evaluate(self, candidate: StrategySpec) -> Result:
        """What a candidate comes to, over all recordings together."""
        results = [judge(one, candidate, self.spec.weights) for one in self.prepared]
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
                    weights=self.spec.weights,
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
        """A name (hexadecimal digits) that is equal if recordings and ``spec`` are."""
        found = hashlib.sha256(repr(self.spec).encode())
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


def evaluation_set(runs: Sequence[Run], spec: EvaluationSpec) -> EvaluationSet:
    """The runs that can be judged, one at least; raises ``NothingJudged``, ``TooManyRows``."""
    names, prepared = [], []
    why: list[NotJudged] = []
    for run in runs:
        try:
            one = prepare(
                run.packets, spec.timing, run.truths, offset=spec.offset, warm_up=spec.warm_up
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
    return EvaluationSet(spec, tuple(names), tuple(prepared))
