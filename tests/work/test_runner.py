"""Tests that jobs return in order from any executor, and survive a job that kills its worker."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest
from support.jobs import DEADLY, WRONG, pid, work

from epic_cli.work import executors
from epic_cli.work.executors import Processes
from epic_cli.work.runner import Failure, run_jobs


def test_the_one_that_a_worker_dies_of_is_found_and_the_others_finish() -> None:
    with Processes(2) as executor:
        found = list(run_jobs(work, range(14), executor))
    assert [job for job, _ in found] == list(range(14))
    failures = {job: one for job, one in found if isinstance(one, Failure)}
    assert {job: one.died for job, one in failures.items()} == {DEADLY: True, WRONG: False}
    assert repr(failures[WRONG].error) == "ValueError('nine')"
    assert all(one == job * job for job, one in found if not isinstance(one, Failure))


def test_no_process_is_left_behind() -> None:
    with Processes(1) as executor:
        outcomes = run_jobs(pid, range(9), executor)
        _, worker = next(outcomes)
        outcomes.close()  # while a job is under way, and others wait for it
    assert isinstance(worker, int)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_jobs_that_were_cancelled_end_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pool whose processes are stopped does not fail at canceled jobs."""
    wrong: list[object] = []
    monkeypatch.setattr(threading, "excepthook", wrong.append)
    with Processes(2) as executor:
        asked = [executor.submit(time.sleep, 0.2) for _ in range(300)]
        asked[0].result()
        cancelled = [future.cancel() for future in asked]
    assert cancelled[-1]
    assert wrong == []


def test_answers_are_told_when_they_come_and_given_in_order() -> None:
    first_may_end = threading.Event()
    told: list[tuple[int, int]] = []

    def slow_start(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(120)
        return -number

    def arrived(job: int, answer: int) -> None:
        told.append((job, answer))
        if job == 1:
            first_may_end.set()

    with ThreadPoolExecutor(2) as executor:
        outcomes = run_jobs(slow_start, range(4), executor, arrived)
        found = list(outcomes)
    assert found == [(0, 0), (1, -1), (2, -2), (3, -3)]
    assert told.index((1, -1)) < told.index((0, 0))
    assert sorted(told) == [(0, 0), (1, -1), (2, -2), (3, -3)]


class Sparing(ThreadPoolExecutor):
    in_flight = 3


def test_jobs_are_asked_for_when_there_is_room_for_them() -> None:
    asked: list[int] = []

    def jobs() -> Iterator[int]:
        for number in range(20):
            asked.append(number)
            yield number

    with Sparing(2) as executor:
        for job, _ in run_jobs(work_of_threads, jobs(), executor):
            assert len(asked) <= job + 1 + Sparing.in_flight


def work_of_threads(number: int) -> int:
    return number


def test_an_executor_that_cannot_go_on_says_so() -> None:
    class Dead(ThreadPoolExecutor):
        def submit(self, *_args: object, **_values: object) -> object:  # type: ignore[override]
            raise BrokenExecutor("it is gone")

    executor: Executor = Dead(1)
    with executor, pytest.raises(BrokenExecutor, match="it is gone"):
        list(run_jobs(work, [1, 2], executor))


@pytest.mark.parametrize("interrupted", [True, False], ids=["interrupted", "caught within"])
def test_a_job_that_never_returns_is_left_behind(
    interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "_LEAVE", 0.01)
    released = threading.Event()
    with contextlib.suppress(KeyboardInterrupt), executors.InterruptibleThreads(1) as pool:
        job = pool.submit(released.wait, 20.0)
        if interrupted:
            raise KeyboardInterrupt
    assert not job.done()
    released.set()
    assert job.result()
