"""Several comparisons as one: many recordings, or one movement over many simulated networks."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from epic_cli.analysis.jobs.executors import Threads
from epic_cli.analysis.jobs.runner import Failure, run_jobs
from epic_cli.analysis.notes import AllAlike, Flaw, NotEnoughToSay, NothingJudged, NotJudged
from epic_cli.engine.replay.trace import TooManyRows

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Participant
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.truth import Truth
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.playback import Timing


class Run(NamedTuple):
    """One recording, or what came of one simulated network; see ``compare`` for the rest."""

    name: str
    packets: Mapping[str, PacketBlock]
    truths: Mapping[str, Truth] | None = None


class Asked(NamedTuple):
    """What is asked of every run; ``total`` is how many there are. See ``compare`` for the rest."""

    candidates: Sequence[Participant]
    timing: Timing
    weights: Weights | None = None
    offset: float = 0.0
    warm_up: float | None = None
    total: int = 1

    @property
    def share(self) -> int:
        """Of about how many recordings each is one, in powers of two.

        A few recordings more ask for nothing else of those that have been judged.
        """
        return 1 << (self.total.bit_length() - 1)


class Unfit(NamedTuple):
    """Why a run cannot be judged, as values: ``notes`` of its entities, or too many rows."""

    notes: tuple[NotJudged, ...] = ()
    most_rows: int = 0

    def error(self) -> ValueError:
        """What ``compare`` raises of it."""
        return TooManyRows(self.most_rows) if self.most_rows else NothingJudged(self.notes)


#: What came of a run.
Verdict = Comparison | Unfit


def verdict(
    run: Run,
    asked: Asked,
    *,
    selection: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Verdict:
    """Judges one run: all that a study has to know of it, and no more where it is one of many."""
    try:
        found = compare(
            run.packets,
            asked.candidates,
            asked.timing,
            run.truths,
            weights=asked.weights,
            offset=asked.offset,
            warm_up=asked.warm_up,
            selection=selection,
            threads=threads,
            progress=progress,
            stop=stop,
            sums=True,
            share=asked.share,
        )
    except NothingJudged as error:
        return Unfit(error.notes)
    except TooManyRows as error:
        return Unfit(most_rows=error.most)
    return found if asked.total == 1 else _condensed(found)


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
            replace(one, measured=one.measured and replace(one.measured, errors=nothing))
            for one in found.by_entity
        ),
    )


def study(
    runs: Iterable[Run],
    candidates: Sequence[Participant],
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
) -> Comparison:
    """Compares the candidates over all runs together, with intervals and ranks.

    ``total`` is how many runs there are to come; ``runs`` are asked for when they are needed, by
    this thread alone. ``seed`` is that of the bootstrap; the same seed gives the same, whatever
    the number of ``threads``. ``runs_are`` says what they are called. See ``compare``
    for the other parameters.

    A run among several that cannot be judged is ``skipped``. Raises what ``compare`` does where
    there is only one, and ``NothingJudged`` where none is left.
    """
    asked = Asked(candidates, timing, weights, offset, warm_up, total)
    gathered = StudyBuilder()
    with Threads(threads, total) as executor:

        def judged(numbered: tuple[int, Run]) -> Verdict:
            index, run = numbered
            return verdict(
                run,
                asked,
                selection=None if index else selection,
                threads=executor.inner,
                progress=progress if total == 1 else None,
                stop=executor.stop,
            )

        for count, ((_, run), found) in enumerate(run_jobs(judged, enumerate(runs), executor), 1):
            if isinstance(found, Failure):
                raise found.error
            if progress is not None and total > 1:
                progress(count, total)
            gathered.add(run.name, found)
    return gathered.conclusion(asked, seed, runs_are)


class StudyBuilder:
    """The verdicts on several runs, by name and in their order."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Comparison]] = []
        self._skipped: list[Skipped] = []

    def add(self, name: str, found: Verdict) -> None:
        """One more."""
        if isinstance(found, Unfit):
            self.skip(name, found.error())
        else:
            self._found.append((name, found))

    def skip(self, name: str, error: ValueError) -> None:
        """One that there is no verdict on."""
        self._skipped.append(Skipped(name, error))

    def conclusion(self, asked: Asked, seed: int = 0, runs_are: Runs = "recordings") -> Comparison:
        """All as one; ``seed`` is that of the bootstrap.

        Raises ``NothingJudged`` where there is none, and of a single run what ``compare`` raises.
        """
        found, skipped = self._found, self._skipped
        if not found:
            if asked.total == len(skipped) == 1:
                raise skipped[0].error
            reasons = [one.error for one in skipped if isinstance(one.error, NothingJudged)]
            for name, error in skipped:
                if not isinstance(error, NothingJudged):  # that tells more than what is short
                    raise NotEnoughToSay(f"{name}: {error}")
            raise NothingJudged(tuple(note for one in reasons for note in one.notes))
        if runs_are == "networks":
            found = _different(found)
        whole = together(found, asked.candidates, tuple(skipped), seed)
        return replace(whole, runs_are=runs_are)


def _different(found: list[tuple[str, Comparison]]) -> list[tuple[str, Comparison]]:
    """The runs, or the first one of them where all are the same: copies are no evidence."""
    name, first = found[0]
    if len(found) == 1 or any(one.results != first.results for _, one in found):
        return found
    return [(name, replace(first, notes=(*first.notes, AllAlike(len(found)))))]


def together(
    found: Sequence[tuple[str, Comparison]],
    candidates: Sequence[Participant],
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
