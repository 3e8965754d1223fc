"""Work that goes on where it ended: what a journal knows is not asked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor
from typing import Any, Generic, NamedTuple, TypeVar

from epic_cli.analysis.jobs.journal import Journal
from epic_cli.analysis.jobs.values import NotAValue, as_json, from_json
from epic_cli.analysis.jobs.workers import Failure, run_jobs

Job = TypeVar("Job")
Result = TypeVar("Result")


class Memory(NamedTuple):
    """A ``journal``, and how ``key_of`` names what is asked of a job in it.

    None: nobody can name it (a file that cannot be read), or its answer is not to be kept.
    """

    journal: Journal
    key_of: Callable[[Any], str | None]


def resumed(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    memory: Memory | None = None,
    kept: Callable[[Result], Result | None] = lambda answer: answer,
) -> Generator[tuple[Job, Result | Failure, bool]]:
    """``run_jobs``, but for what the journal knows: each job, what came of it, if it was known.

    In the order of the jobs. What is ``kept`` of an answer is in the journal as soon as it is
    there; failures, and that of which it is None, are asked again the next time. Raises
    ``OSError`` where the journal cannot be written.
    """
    if memory is None:
        for job, outcome in run_jobs(work, jobs, executor):
            yield job, outcome, False
        return
    journal, key_of = memory
    asked: deque[tuple[Job, str | None, bool]] = deque()

    def unknown() -> Generator[tuple[Job, str | None]]:
        for job in jobs:
            name = key_of(job)
            known = name is not None and _known(journal, name) is not None
            asked.append((job, name, known))
            if not known:
                yield job, name

    def arrived(job: tuple[Job, str | None], answer: Result) -> None:
        lasting = kept(answer)
        if job[1] is not None and lasting is not None:
            journal.add(job[1], as_json(lasting))

    def from_journal() -> Generator[tuple[Job, Result | Failure, bool]]:
        while asked and asked[0][2]:
            job, name, _ = asked.popleft()
            assert name is not None
            yield job, _known(journal, name), True

    for (job, _), outcome in run_jobs(_Work(work), unknown(), executor, arrived):
        yield from from_journal()
        asked.popleft()
        yield job, outcome, False
    yield from from_journal()


class _Work(Generic[Job, Result]):
    """The work without the name of what is asked, which workers need not know."""

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work

    def __call__(self, job: tuple[Job, str | None]) -> Result:
        return self._work(job[0])


def _known(journal: Journal, name: str) -> Any:
    """An answer; None: there is none, or it is damaged."""
    try:
        return from_json(journal.find(name))
    except NotAValue:
        return None
