"""Several runs as one comparison: many recordings, or one movement over many simulated networks."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.replay import TooManyRows
from epic_cli.metrics.cells import FIELDS
from epic_cli.metrics.certainty.rare import together
from epic_cli.metrics.certainty.resampling import Figures, Piece
from epic_cli.metrics.certainty.uncertainty import assess
from epic_cli.metrics.evaluation.result import Comparison, Result, Skipped
from epic_cli.metrics.evaluation.run import EntityResult, Progress, compare_run, result_of
from epic_cli.metrics.notes import AllAlike, Flaw, NotEnoughToSay, NothingJudged, NotJudged
from epic_cli.work.executors import Threads
from epic_cli.work.runner import Failure, run_jobs

if TYPE_CHECKING:
    from epic_cli.metrics.evaluation.spec import CompareSpec, Run


class Unfit(NamedTuple):
    """Why a run cannot be compared, as values: ``notes`` of its entities, or too many rows."""

    notes: tuple[NotJudged, ...] = ()
    most_rows: int = 0

    def error(self) -> ValueError:
        """What ``compare_run`` raises of it."""
        return TooManyRows(self.most_rows) if self.most_rows else NothingJudged(self.notes)


#: What came of one run of several.
RunResult = Comparison | Unfit


def compare(runs: Iterable[Run], spec: CompareSpec, progress: Progress | None = None) -> Comparison:
    """Compares the participants over all runs together, with intervals and ranks.

    ``runs`` are taken when they are needed, by this thread alone. The same spec gives the same
    figures, whatever the number of threads.

    A run among several that cannot be compared is ``skipped``. Raises what ``compare_run`` does
    where there is only one, and ``NothingJudged`` where none is left.
    """
    pool = Pool(spec)
    several = spec.total > 1
    with Threads(spec.threads, spec.total) as executor:

        def compared(numbered: tuple[int, Run]) -> RunResult:
            index, run = numbered
            return compare_one(
                run,
                replace(spec, selection=None) if index else spec,
                threads=executor.inner,
                progress=None if several else progress,
                stop=executor.stop,
            )

        for count, ((_, run), found) in enumerate(run_jobs(compared, enumerate(runs), executor), 1):
            if isinstance(found, Failure):
                raise found.error
            if progress is not None and several:
                progress(count, spec.total)
            pool.add(run.name, found)
    return pool.comparison()


def compare_one(
    run: Run,
    spec: CompareSpec,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """One run: all that a pool has to know of it, and no more where it is one of many."""
    try:
        found = compare_run(run, spec, threads=threads, progress=progress, stop=stop)
    except NothingJudged as error:
        return Unfit(error.notes)
    except TooManyRows as error:
        return Unfit(most_rows=error.most)
    return found if spec.total == 1 else _condensed(found)


def _condensed(found: Comparison) -> Comparison:
    """Without what is kept twice: errors are needed of all entities together, sums of each."""
    nothing = np.empty(0)
    return replace(
        found,
        results=tuple(
            replace(one, measured=one.measured and replace(one.measured, sums=None))
            for one in found.results
        ),
        by_entity=tuple(
            replace(
                one, measured=one.measured and replace(one.measured, errors=nothing, turned=None)
            )
            for one in found.by_entity
        ),
    )


class Pool:
    """The results of a spec's runs, by name and in their order."""

    def __init__(self, spec: CompareSpec) -> None:
        self._spec = spec
        self._found: list[tuple[str, Comparison]] = []
        self._skipped: list[Skipped] = []

    def add(self, name: str, found: RunResult) -> None:
        """One more."""
        if isinstance(found, Unfit):
            self.skip(name, found.error())
        else:
            self._found.append((name, found))

    def skip(self, name: str, error: ValueError) -> None:
        """One that has no result."""
        self._skipped.append(Skipped(name, error))

    def comparison(self) -> Comparison:
        """All as one.

        Raises ``NothingJudged`` where there is none, and of a single run what ``compare_run``
        raises.
        """
        found, skipped = self._found, self._skipped
        if not found:
            if self._spec.total == len(skipped) == 1:
                raise skipped[0].error
            reasons = [one.error for one in skipped if isinstance(one.error, NothingJudged)]
            for name, error in skipped:
                if not isinstance(error, NothingJudged):  # that tells more than what is short
                    raise NotEnoughToSay(f"{name}: {error}")
            raise NothingJudged(tuple(note for one in reasons for note in one.notes))
        if self._spec.runs_are == "networks":
            found = _different(found)
        whole = pool_runs(found, self._spec.seed)
        return replace(whole, skipped=tuple(skipped), runs_are=self._spec.runs_are)


def _different(found: list[tuple[str, Comparison]]) -> list[tuple[str, Comparison]]:
    """The runs, or the first one of them where all are the same: copies are no evidence."""
    name, first = found[0]
    if len(found) == 1 or any(one.results != first.results for _, one in found):
        return found
    return [(name, replace(first, notes=(*first.notes, AllAlike(len(found)))))]


def pool_runs(found: Sequence[tuple[str, Comparison]], seed: int) -> Comparison:
    """The comparisons of several runs, by name, as one; ``seed`` is that of the bootstrap.

    They have been made with ``intervals``.
    """
    first = found[0][1]
    noted = [set(one.notes) for _, one in found]
    shared = tuple(note for note in first.notes if all(note in each for each in noted))
    results: list[Result] = []
    figures: list[Figures] = []
    for index in range(len(first.results)):
        own = [one.results[index] for _, one in found]
        pooled = own[0] if len(own) == 1 else pool_results(own)
        results.append(pooled)
        pieces = [piece_of(comparison, index) for _, comparison in found] if pooled.values else []
        waver = max(one.waver for one in own) / math.sqrt(len(own))
        figures.append(Figures(pooled.values, pieces, waver))
    of_all, resolution = set(shared), max(one.resolution for _, one in found)
    events = together(one.rare for _, one in found)
    certainty, standings = assess(figures, first.tick, first.weights, resolution, seed, events)
    return replace(
        first,
        rows=sum(one.rows for _, one in found),
        all_rows=sum(one.all_rows for _, one in found),
        resolution=resolution,
        warm_ups=tuple(one for _, each in found for one in each.warm_ups),
        notes=shared,
        notes_of=tuple(
            (name, note) for name, one in found for note in one.notes if note not in of_all
        ),
        results=tuple(
            replace(one, standing=standing)
            for one, standing in zip(results, standings, strict=True)
        ),
        by_entity=first.by_entity if len(found) == 1 else (),
        refused=tuple(refusal for _, one in found for refusal in one.refused),
        findings=tuple({one.key: one for _, each in found for one in each.findings}.values()),
        certainty=certainty,
        rare=events,
        recordings=tuple(name for name, _ in found),
        by_recording=tuple(
            replace(comparison.results[index], recording=name, measured=None)
            for index in range(len(first.results))
            for name, comparison in found
        ),
    )


def pool_results(results: Sequence[Result]) -> Result:
    """One participant's results of all runs as one."""
    found = [EntityResult(one.measured, note=None if one.values else one.note) for one in results]
    unfit = any(one.has(Flaw.NEEDS_ARRIVALS) for one in results)
    return result_of(results[0].label, None, found, unfit)


def piece_of(comparison: Comparison, index: int) -> Piece:
    """The sums of the participant with this place, by entity."""
    entities = len(comparison.by_entity) // len(comparison.results)
    own = comparison.by_entity[index * entities : (index + 1) * entities]
    cells = comparison.cells
    assert cells is not None
    nothing = np.zeros((cells.size, len(FIELDS)))
    sums = [one.measured.sums if one.measured else None for one in own]
    return Piece([nothing if one is None else one for one in sums], cells.length)
