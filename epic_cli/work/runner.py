"""Jobs on any ``concurrent.futures`` executor (threads, processes, a cluster), in order.

    for job, outcome in run_jobs(work, jobs, executor):
        if isinstance(outcome, Failure):
            ...                              # this job failed; the others still run
        else:
            ...                              # what work(job) returned

``work`` and its jobs are pickled for other processes: a function of a module, small values.
Outcomes come in the order of the jobs. The thread that asks for outcomes takes ``jobs`` when there
is room for them. A loop that ends early (by an exception, an interrupt, ``close``) cancels the jobs
that have not begun; the executor ends the running ones.

``resume_jobs`` does the same with a journal, and runs only jobs that the journal does not know.
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

#: Jobs submitted ahead to an executor without ``in_flight``.
IN_FLIGHT = 64


class Failure(NamedTuple):
    """The outcome of a job that failed with ``error``; ``BrokenExecutor``: its worker died."""

    error: Exception

    @property
    def died(self) -> bool:
        """True if the worker died: it ran out of memory, or compiled code crashed."""
        return isinstance(self.error, BrokenExecutor)


@runtime_checkable
class Renewable(Protocol):
    """An executor that can continue after a worker has died.

    Without this, the death of a worker ends the work: a ``ProcessPoolExecutor`` accepts no more
    jobs.
    """

    @property
    def in_flight(self) -> int:
        """The number of jobs to submit before the first result is awaited."""

    def renew(self) -> None:
        """Make the executor accept jobs again after a worker has died."""


class _SubmittedJob(NamedTuple, Generic[Job, Result]):
    job: Job
    future: Future[Result]
    alone: bool = False

    @property
    def death(self) -> BrokenExecutor | None:
        """The error of a worker that died while it ran this job, or may have run it."""
        done = self.future.done() and not self.future.cancelled()
        error = self.future.exception() if done else None
        return error if isinstance(error, BrokenExecutor) else None

    @property
    def suspect(self) -> bool:
        """True if a worker died, and this job or others may have killed it."""
        return not self.alone and self.death is not None

    @property
    def outcome(self) -> Result | Failure:
        """The job's result or failure; raises errors that are not ``Exception``."""
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
    """Yield each job with its result or ``Failure``, in the order of the jobs.

    ``on_result`` is called with each result as soon as it is there, in any order, so that it can be
    saved at once.

    If a worker dies, any of the running jobs may have killed it: each of them runs again, alone,
    and the one whose worker dies again is to blame. Raises ``BrokenExecutor`` if the executor
    cannot continue.
    """
    coming = iter(jobs)
    waiting: deque[_SubmittedJob[Job, Result]] = deque()
    reported: set[Future[Result]] = set()

    def report(submitted: Iterable[_SubmittedJob[Job, Result]]) -> None:
        for job, future, _ in submitted:
            if on_result is not None and future.done() and future not in reported:
                reported.add(future)
                if not future.cancelled() and future.exception() is None:
                    on_result(job, future.result())

    try:
        while True:
            room = getattr(executor, "in_flight", IN_FLIGHT) - len(waiting)
            for job in islice(coming, max(room, 0)):
                waiting.append(_SubmittedJob(job, _submit_job(executor, work, job)))
            if not waiting:
                return
            running = [each.future for each in waiting if not each.future.done()]
            if not waiting[0].future.done():
                wait(running, return_when=FIRST_COMPLETED)
            report(waiting)
            if any(each.suspect for each in waiting):
                wait([each.future for each in waiting])
                waiting = _run_jobs_again(executor, work, waiting)
            # more may come, and die, while these are looked at
            while waiting and waiting[0].future.done() and not waiting[0].suspect:
                first = waiting.popleft()
                report([first])
                reported.discard(first.future)
                yield first.job, first.outcome
    finally:
        for each in waiting:
            each.future.cancel()


def _submit_job(executor: Executor, work: Callable[[Job], Result], job: Job) -> Future[Result]:
    try:
        return executor.submit(work, job)
    except BrokenExecutor as error:  # a worker has died since the last job
        broken: Future[Result] = Future()
        broken.set_exception(error)
        return broken


def _run_jobs_again(
    executor: Executor, work: Callable[[Job], Result], waiting: deque[_SubmittedJob[Job, Result]]
) -> deque[_SubmittedJob[Job, Result]]:
    """Run each job whose worker died once more, alone; return all jobs, done."""
    if not isinstance(executor, Renewable):
        raise next(submitted.death for submitted in waiting if submitted.death)
    executor.renew()
    found: deque[_SubmittedJob[Job, Result]] = deque()
    for submitted in waiting:
        if not submitted.suspect:
            found.append(submitted)
            continue
        found.append(
            _SubmittedJob(submitted.job, _submit_job(executor, work, submitted.job), alone=True)
        )
        wait([found[-1].future])
        if found[-1].death:
            executor.renew()
    return found


class Memory(NamedTuple):
    """A ``journal``, and the function ``key_of`` that computes a job's key in the journal.

    The key is None for a file that cannot be read, or a result that is not to be saved.
    ``is_result`` tests whether a value can be a job's result.
    """

    journal: ResultJournal
    key_of: Callable[[Any], str | None]
    is_result: Callable[[Any], bool] = lambda _: True

    def find_known(self, key: str | None) -> Any:
        """Return the result saved under a key.

        None if it is unknown, damaged or of a wrong type.
        """
        from epic_cli.work.journal import NotAValue, restore_from_json

        try:
            found = None if key is None else restore_from_json(self.journal.find(key))
        except NotAValue:
            return None
        return found if self.is_result(found) else None


def resume_jobs(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    executor: Executor,
    memory: Memory | None = None,
    kept: Callable[[Result], Result | None] = lambda result: result,
) -> Generator[tuple[Job, Result | Failure, bool]]:
    """Run the jobs whose results a journal does not have.

    Yield each job, its outcome, and True if the result was known, in the order of the jobs.
    ``kept`` returns the part of a result to save, at once; failures, and results for which it
    returns None, run again next time. Raises ``OSError`` if the journal cannot be written.
    """
    if memory is None:
        for job, outcome in run_jobs(work, jobs, executor):
            yield job, outcome, False
        return
    from epic_cli.work.journal import convert_to_json  # only a journal needs it

    taken: deque[tuple[Job, str | None, bool]] = deque()

    def iterate_unknown() -> Generator[tuple[Job, str | None]]:
        for job in jobs:
            key = memory.key_of(job)
            known = memory.find_known(key) is not None
            taken.append((job, key, known))
            if not known:
                yield job, key

    def keep(job: tuple[Job, str | None], result: Result) -> None:
        lasting = kept(result)
        if job[1] is not None and lasting is not None:
            memory.journal.add(job[1], convert_to_json(lasting))

    def iterate_from_journal() -> Generator[tuple[Job, Result | Failure, bool]]:
        while taken and taken[0][2]:
            job, key, _ = taken.popleft()
            yield job, memory.find_known(key), True

    for (job, _), outcome in run_jobs(
        partial(_work_on_job, work), iterate_unknown(), executor, keep
    ):
        yield from iterate_from_journal()
        taken.popleft()
        yield job, outcome, False
    yield from iterate_from_journal()


def _work_on_job(work: Callable[[Job], Result], job: tuple[Job, str | None]) -> Result:
    """Call ``work`` on a job without its key, which workers do not need."""
    return work(job[0])
