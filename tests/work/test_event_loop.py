"""Tests of how programs that run until stopped end."""

import asyncio
import os
import signal

from epic_cli.work.event_loop import run_until_stopped, wait_for_event


def test_a_signal_is_heard_though_something_else_comes_at_the_same_time() -> None:
    rounds = 0

    async def listen() -> None:
        nonlocal rounds
        loop = asyncio.get_running_loop()
        while rounds < 100:
            rounds += 1
            event = asyncio.Event()
            if rounds == 3:  # both are there when the loop looks
                os.kill(os.getpid(), signal.SIGINT)
                loop.call_soon(event.set)
            await wait_for_event(event, 0.01)

    before = signal.getsignal(signal.SIGINT)
    assert run_until_stopped(listen()) == signal.SIGINT
    assert rounds <= 4
    assert signal.getsignal(signal.SIGINT) is before


def test_a_job_that_ends_by_itself_is_not_stopped() -> None:
    async def job() -> None:
        await wait_for_event(asyncio.Event(), 0.001)

    assert run_until_stopped(job()) is None
