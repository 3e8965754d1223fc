"""Jobs for any ``concurrent.futures`` executor: threads, processes, a cluster.

    for job, outcome in run_jobs(work, jobs, executor):
        if isinstance(outcome, Failure):
            ...                              # this job failed; all others are carried out
        else:
            ...                              # what work(job) returned

``work`` and its jobs go to another process by pickle: a function of a module, small values.
Outcomes come in the order of the jobs. ``jobs`` are asked for when there is room for them, by the
thread that asks for outcomes. A loop that ends early (an exception, an interruption, ``close``)
cancels what has not begun; what runs meanwhile is the executor's to end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from itertools import islice
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

Job = TypeVar("Job")
Result = TypeVar("Result")

#: An executor that does not say how much it likes to have at hand is given so many jobs.
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
        """How many jobs to have at hand at a time, beside those that are carried out."""

    def renew(self) -> None:
        """Makes it take jobs again."""


class _Asked(NamedTuple, Generic[Job, Result]):
    job: Job
    future: Future[Result]
    alone: bool = False


def run_jobs(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    arrived: Callable[[Job, Result], None] | None = None,
) -> Generator[tuple[Job, Result | Failure]]:
    """Each job with what ``work`` returned of it, or its ``Failure``, in the order of the jobs.

    ``arrived`` is called with each answer as soon as it is there, in whatever order: for what must
    not be lost if the program ends before its turn comes.

    If a worker dies, nobody knows which of the jobs under way it died of: each of them is carried
    out again, alone, and the one that a worker dies of again is the one to blame. Raises
    ``BrokenExecutor`` where the executor cannot go on.
    """
    coming = iter(jobs)
    waiting: deque[_Asked[Job, Result]] = deque()
    told: set[Future[Result]] = set()

    def tell(asked: Iterable[_Asked[Job, Result]]) -> None:
        for job, future, _ in asked:
            if arrived is not None and future.done() and future not in told:
                told.add(future)
                if not future.cancelled() and future.exception() is None:
                    arrived(job, future.result())

    try:
        while True:
            room = getattr(executor, "in_flight", IN_FLIGHT) - len(waiting)
            for job in islice(coming, max(room, 0)):
                waiting.append(_Asked(job, _submitted(executor, work, job)))
            if not waiting:
                return
            under_way = [one.future for one in waiting if not one.future.done()]
            if not waiting[0].future.done():
                wait(under_way, return_when=FIRST_COMPLETED)
            tell(waiting)
            if any(_suspect(one) for one in waiting):
                wait([one.future for one in waiting])
                waiting = _again(executor, work, waiting)
            # more may come, and die, while these are looked at
            while waiting and waiting[0].future.done() and not _suspect(waiting[0]):
                first = waiting.popleft()
                tell([first])
                told.discard(first.future)
                outcome: Result | Failure = _outcome(first.future)
                yield first.job, outcome
    finally:
        for one in waiting:
            one.future.cancel()


def _submitted(executor: Executor, work: Callable[[Job], Result], job: Job) -> Future[Result]:
    try:
        return executor.submit(work, job)
    except BrokenExecutor as error:  # a worker has died since the last one was given
        broken: Future[Result] = Future()
        broken.set_exception(error)
        return broken


def _death(future: Future[Result]) -> BrokenExecutor | None:
    """What a worker died of that was at this job, or might have been."""
    error = future.exception() if future.done() and not future.cancelled() else None
    return error if isinstance(error, BrokenExecutor) else None


def _suspect(asked: _Asked[Job, Result]) -> bool:
    """Whether it is one of several that a worker may have died of."""
    return not asked.alone and _death(asked.future) is not None


def _again(
    executor: Executor, work: Callable[[Job], Result], waiting: deque[_Asked[Job, Result]]
) -> deque[_Asked[Job, Result]]:
    """All of them done: those whose worker died have been carried out once more, alone."""
    if not isinstance(executor, Renewable):
        raise next(error for one in waiting if (error := _death(one.future)))
    executor.renew()
    found: deque[_Asked[Job, Result]] = deque()
    for one in waiting:
        if not _suspect(one):
            found.append(one)
            continue
        last = _submitted(executor, work, one.job)
        wait([last])
        if _death(last):
            executor.renew()
        found.append(_Asked(one.job, last, alone=True))
    return found


def _outcome(future: Future[Result]) -> Result | Failure:
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, Exception):
        raise error
    return Failure(error)
