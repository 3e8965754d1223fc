"""A running lab, and a browser that shows it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from support.browser import PATIENCE, Page
from support.places import SAMPLES

from epic_cli.lab.serving import make_server
from epic_cli.lab.spec import LabInputs
from epic_cli.live.browser.server import ServeSpec, serve


@contextmanager
def running(spec: ServeSpec) -> Iterator[str]:
    """Run a lab within the block; yield the address of its page."""
    loop, found = asyncio.new_event_loop(), list[str]()
    there = threading.Event()

    def ready(where: str) -> None:
        found.append(where)
        there.set()

    def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(job)

    job = loop.create_task(serve(spec, ready))
    thread = threading.Thread(target=run)
    thread.start()
    assert there.wait(PATIENCE)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(job.cancel)
        thread.join(PATIENCE)
        loop.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running(make_server()) as found:
        yield found


@pytest.fixture(scope="session")
def with_tanks() -> Iterator[str]:
    with running(make_server(LabInputs(str(SAMPLES / "two_tanks.csv")))) as found:
        yield found


@pytest.fixture
def lab(browser: Page, address: str) -> Iterator[Callable[[str], Page]]:
    """Open the page with an experiment, and wait for the figures of one network."""

    def opened(query: str = "", at: str = address) -> Page:
        browser.size(1500, 1000)
        browser.open("about:blank")
        browser.open(f"{at}?{query}" if query else at)
        judged(browser)
        browser.run("play(false)")
        return browser

    yield opened
    assert browser.complaints == []


def judged(page: Page) -> None:
    """Wait for the figures of the current settings."""
    page.until(
        "document.body && document.body.dataset.lab"
        " && document.body.dataset.lab.startsWith(`figures ${lab.number} `)"
    )
