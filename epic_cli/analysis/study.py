"""Several comparisons as one: many recordings, or one movement over many simulated networks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.cells import FIELDS
from epic_cli.analysis.certainty.uncertainty import Figures, Piece, judge
from epic_cli.analysis.compare import (
    Comparison,
    Outcome,
    Progress,
    Result,
    Runs,
    Skipped,
    compare,
    result_of,
)
from epic_cli.analysis.notes import AllAlike, Flaw, NothingJudged
from epic_cli.engine.replay.trace import TooManyRows

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Candidate
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.truth import Truth
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.playback import Timing


class Run(NamedTuple):
    """One recording, or what came of one simulated network; see ``compare`` for the rest."""

    name: str
    packets: Mapping[str, PacketBlock]
    truths: Mapping[str, Truth] | None = None


#: Called with each run and what came of it, in their order; None: it cannot be judged.
Done = Callable[[Run, Comparison | None], None]


def study(
    runs: Iterable[Run],
    candidates: Sequence[Candidate],
    timing: Timing,
    *,
    total: int = 1,
    weights: Weights | None = None,
    offset: float = 0.0,
    warm_up: float | None = None,
    selection: Selection | None = None,
    threads: int | None = None,
    seed: int = 0,
    runs_are: Runs = "recordings",
    progress: Progress | None = None,
    done: Done | None = None,
) -> Comparison:
    """Compares the candidates over all runs together, with intervals and ranks.

    ``total`` is how many runs there are to come; ``runs`` are asked for when they are needed, by
    this thread alone. ``seed`` is that of the bootstrap; the same seed gives the same, whatever
    the number of ``threads``. ``runs_are`` says what they are called. See ``compare``
    for the other parameters.

    A run among several that cannot be judged is ``skipped``. Raises what ``compare`` does where
    there is only one, and ``NothingJudged`` where none is left.
    """
    workers = threads or os.cpu_count() or 1
    stop = threading.Event()

    def judged(run: Run, index: int, inner: int) -> Comparison | ValueError:
        try:
            return compare(
                run.packets,
                candidates,
                timing,
                run.truths,
                weights=weights,
                offset=offset,
                warm_up=warm_up,
                selection=None if index else selection,
                threads=inner,
                progress=progress if total == 1 else None,
                stop=stop,
                sums=True,
            )
        except (NothingJudged, TooManyRows) as error:
            if total == 1:
                raise
            return error

    found: list[tuple[str, Comparison]] = []
    skipped: list[Skipped] = []
    for count, (run, outcome) in enumerate(_evaluated(runs, judged, workers, total, stop), 1):
        if progress is not None and total > 1:
            progress(count, total)
        if isinstance(outcome, ValueError):
            skipped.append(Skipped(run.name, outcome))
        else:
            found.append((run.name, outcome))
        if done is not None:
            done(run, None if isinstance(outcome, ValueError) else outcome)
    if not found:
        reasons = [one.error for one in skipped]
        raise NothingJudged(
            tuple(note for one in reasons if isinstance(one, NothingJudged) for note in one.notes)
        )
    if runs_are == "networks":
        found = _different(found)
    return replace(together(found, candidates, tuple(skipped), seed), runs_are=runs_are)


def _different(found: list[tuple[str, Comparison]]) -> list[tuple[str, Comparison]]:
    """The runs, or the first one of them where all are the same: copies are no evidence."""
    name, first = found[0]
    if len(found) == 1 or any(one.results != first.results for _, one in found):
        return found
    return [(name, replace(first, notes=(*first.notes, AllAlike(len(found)))))]


def _evaluated(
    runs: Iterable[Run],
    judged: Callable[[Run, int, int], Comparison | ValueError],
    workers: int,
    total: int,
    stop: threading.Event,
) -> Iterator[tuple[Run, Comparison | ValueError]]:
    """Each run with what came of it, in their order; some are under way at a time."""
    if total == 1 or workers == 1:
        for index, run in enumerate(runs):
            yield run, judged(run, index, workers)
        return
    # with fewer runs than threads, each runs several strategies at a time
    side_by_side = min(workers, total)
    inner = -(-workers // side_by_side)
    coming = enumerate(runs)
    with ThreadPoolExecutor(side_by_side, "study") as executor:
        waiting: list[tuple[Run, Future[Comparison | ValueError]]] = []

        def ask(count: int) -> None:
            for index, run in islice(coming, count):
                waiting.append((run, executor.submit(judged, run, index, inner)))

        try:
            ask(2 * side_by_side)
            while waiting:
                run, future = waiting.pop(0)
                outcome = future.result()
                ask(1)
                yield run, outcome
        except BaseException:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)
            raise


def together(
    found: Sequence[tuple[str, Comparison]],
    candidates: Sequence[Candidate],
    skipped: tuple[Skipped, ...],
    seed: int,
) -> Comparison:
    """The comparisons of several runs, by name, as one; ``seed`` is that of the bootstrap.

    They have been made with ``sums``.
    """
    first = found[0][1]
    shared = tuple(note for note in first.notes if all(note in one.notes for _, one in found))
    results: list[Result] = []
    figures: list[Figures] = []
    for index in range(len(candidates)):
        own = [one.results[index] for _, one in found]
        pooled = own[0] if len(own) == 1 else pooled_results(own)
        results.append(pooled)
        pieces = [piece_of(comparison, index) for _, comparison in found] if pooled.values else []
        figures.append(Figures(pooled.values, pieces))
    resolution = max(one.resolution for _, one in found)
    certainty, standings = judge(figures, first.tick, first.weights, resolution, seed)
    return replace(
        first,
        rows=sum(one.rows for _, one in found),
        all_rows=sum(one.all_rows for _, one in found),
        resolution=resolution,
        warm_ups=tuple(one for _, each in found for one in each.warm_ups),
        notes=shared,
        notes_of=tuple(
            (name, note) for name, one in found for note in one.notes if note not in shared
        ),
        results=tuple(
            replace(one, standing=standing)
            for one, standing in zip(results, standings, strict=True)
        ),
        by_entity=first.by_entity if len(found) == 1 else (),
        refused=tuple(refusal for _, one in found for refusal in one.refused),
        certainty=certainty,
        recordings=tuple(name for name, _ in found),
        by_recording=tuple(
            replace(comparison.results[index], recording=name, measured=None)
            for index in range(len(candidates))
            for name, comparison in found
        ),
        skipped=skipped,
    )


def pooled_results(results: Sequence[Result]) -> Result:
    """One candidate's results of all runs as one."""
    outcomes = [Outcome(one.measured, note=None if one.values else one.note) for one in results]
    unfit = any(one.has(Flaw.NEEDS_ARRIVALS) for one in results)
    return result_of(results[0].label, None, outcomes, unfit)


def piece_of(comparison: Comparison, index: int) -> Piece:
    """The sums of the candidate with this place, by entity."""
    entities = len(comparison.by_entity) // len(comparison.results)
    own = comparison.by_entity[index * entities : (index + 1) * entities]
    cells = comparison.cells
    assert cells is not None
    nothing = np.zeros((cells.size, len(FIELDS)))
    sums = [one.measured.sums if one.measured else None for one in own]
    return Piece([nothing if one is None else one for one in sums], cells.length)
