"""Runs jobs on any ``concurrent.futures`` executor (threads, processes, a cluster), in order.

    for job, outcome in run_jobs(work, jobs, executor):
        if isinstance(outcome, Failure):
            ...                              # this job failed; the others still run
        else:
            ...                              # what work(job) returned

``work`` and its jobs go to another process by pickle: a function of a module, small values.
Outcomes come in the order of the jobs. ``jobs`` are taken when there is room for them, by the
thread that asks for outcomes. A loop that ends early (an exception, an interruption, ``close``)
cancels what has not begun; what runs meanwhile is the executor's to end.

``resumed`` does the same with a journal: jobs that it knows do not run again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from epic_cli.work.journal import ResultJournal

Job = TypeVar("Job")
Result = TypeVar("Result")

#: Jobs at hand for an executor that does not say how many it likes.
IN_FLIGHT = 64


class Failure(NamedTuple):
    """A job failed by itself: its ``error``, ``BrokenExecutor`` where its worker died of it."""

    error: Exception

    @property
    def died(self) -> bool:
        """Whether the worker died: its memory ran out, or compiled code crashed."""
        return isinstance(self.error, BrokenExecutor)


@runtime_checkable
class Renewable(Protocol):
    """An executor that can go on after a worker has died.

    Without this, the death of a worker ends the work: a ``ProcessPoolExecutor`` takes nothing more.
    """

    @property
    def in_flight(self) -> int:
        """How many jobs to have at hand at a time, beside those that are running."""

    def renew(self) -> None:
        """Makes it take jobs again."""


class _Submitted(NamedTuple, Generic[Job, Result]):
    job: Job
    future: Future[Result]
    alone: bool = False

    @property
    def death(self) -> BrokenExecutor | None:
        """What a worker died of that had this job, or might have had it."""
        done = self.future.done() and not self.future.cancelled()
        error = self.future.exception() if done else None
        return error if isinstance(error, BrokenExecutor) else None

    @property
    def suspect(self) -> bool:
        """Whether it is one of several that a worker may have died of."""
        return not self.alone and self.death is not None

    @property
    def outcome(self) -> Result | Failure:
        """What the job returned, or how it failed; raises what is no ``Exception``."""
        error = self.future.exception()
        if error is None:
            return self.future.result()
        if not isinstance(error, Exception):
            raise error
        return Failure(error)


def run_jobs(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    on_result: Callable[[Job, Result], None] | None = None,
) -> Generator[tuple[Job, Result | Failure]]:
    """Each job with what ``work`` returned of it, or its ``Failure``, in the order of the jobs.

    ``on_result`` is called with each result as soon as it is there, in whatever order: for what
    must not be lost if the program ends before its turn comes.

    If a worker dies, it is unknown which of the running jobs it died of: each of them runs again,
    alone, and the one that a worker dies of again is the one to blame. Raises ``BrokenExecutor``
    where the executor cannot go on.
    """
    coming = iter(jobs)
    waiting: deque[_Submitted[Job, Result]] = deque()
    reported: set[Future[Result]] = set()

    def report(submitted: Iterable[_Submitted[Job, Result]]) -> None:
        for job, future, _ in submitted:
            if on_result is not None and future.done() and future not in reported:
                reported.add(future)
                if not future.cancelled() and future.exception() is None:
                    on_result(job, future.result())

    try:
        while True:
            room = getattr(executor, "in_flight", IN_FLIGHT) - len(waiting)
            for job in islice(coming, max(room, 0)):
                waiting.append(_Submitted(job, _submit(executor, work, job)))
            if not waiting:
                return
            running = [each.future for each in waiting if not each.future.done()]
            if not waiting[0].future.done():
                wait(running, return_when=FIRST_COMPLETED)
            report(waiting)
            if any(each.suspect for each in waiting):
                wait([each.future for each in waiting])
                waiting = _run_again(executor, work, waiting)
            # more may come, and die, while these are looked at
            while waiting and waiting[0].future.done() and not waiting[0].suspect:
                first = waiting.popleft()
                report([first])
                reported.discard(first.future)
                yield first.job, first.outcome
    finally:
        for each in waiting:
            each.future.cancel()


def _submit(executor: Executor, work: Callable[[Job], Result], job: Job) -> Future[Result]:
    try:
        return executor.submit(work, job)
    except BrokenExecutor as error:  # a worker has died since the last job
        broken: Future[Result] = Future()
        broken.set_exception(error)
        return broken


def _run_again(
    executor: Executor, work: Callable[[Job], Result], waiting: deque[_Submitted[Job, Result]]
) -> deque[_Submitted[Job, Result]]:
    """All of them done: those whose worker died have run once more, alone."""
    if not isinstance(executor, Renewable):
        raise next(submitted.death for submitted in waiting if submitted.death)
    executor.renew()
    found: deque[_Submitted[Job, Result]] = deque()
    for submitted in waiting:
        if not submitted.suspect:
            found.append(submitted)
            continue
        found.append(_Submitted(submitted.job, _submit(executor, work, submitted.job), alone=True))
        wait([found[-1].future])
        if found[-1].death:
            executor.renew()
    return found


class Memory(NamedTuple):
    """A ``journal``, and ``key_of``: the key of a job in it.

    None: it has none (a file that cannot be read), or its result is not to be kept. ``is_result``:
    whether a value can be a job's result.
    """

    journal: ResultJournal
    key_of: Callable[[Any], str | None]
    is_result: Callable[[Any], bool] = lambda _: True

    def known(self, key: str | None) -> Any:
        """A job's result; None: it is unknown, damaged or none that a job has."""
        from epic_cli.work.journal import NotAValue, from_json

        try:
            found = None if key is None else from_json(self.journal.find(key))
        except NotAValue:
            return None
        return found if self.is_result(found) else None


def resumed(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    memory: Memory | None = None,
    kept: Callable[[Result], Result | None] = lambda result: result,
) -> Generator[tuple[Job, Result | Failure, bool]]:
    """``run_jobs`` for what a journal does not know: each job, its outcome, whether it was known.

    In the order of the jobs. What is ``kept`` of a result is in the journal as soon as it is there;
    failures, and results of which that is None, run again the next time. Raises ``OSError`` where
    the journal cannot be written.
    """
    if memory is None:
        for job, outcome in run_jobs(work, jobs, executor):
            yield job, outcome, False
        return
    from epic_cli.work.journal import as_json  # only a journal needs it

    taken: deque[tuple[Job, str | None, bool]] = deque()

    def unknown() -> Generator[tuple[Job, str | None]]:
        for job in jobs:
            key = memory.key_of(job)
            known = memory.known(key) is not None
            taken.append((job, key, known))
            if not known:
                yield job, key

    def keep(job: tuple[Job, str | None], result: Result) -> None:
        lasting = kept(result)
        if job[1] is not None and lasting is not None:
            memory.journal.add(job[1], as_json(lasting))

    def from_journal() -> Generator[tuple[Job, Result | Failure, bool]]:
        while taken and taken[0][2]:
            job, key, _ = taken.popleft()
            yield job, memory.known(key), True

    for (job, _), outcome in run_jobs(partial(_without_key, work), unknown(), executor, keep):
        yield from from_journal()
        taken.popleft()
        yield job, outcome, False
    yield from from_journal()


def _without_key(work: Callable[[Job], Result], job: tuple[Job, str | None]) -> Result:
    """The work on a job that stands beside its key, which workers need not know."""
    return work(job[0])
