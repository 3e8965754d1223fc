"""A headless browser, controlled as a user would, by its own protocol (CDP)."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: Seconds: a page that has not done something by then will not do it.
PATIENCE = 120.0


class Page:
    """A page in the browser: typing, clicking, scripts."""

    def __init__(self, talk: ClientConnection) -> None:
        self._talk = talk
        self._numbers = itertools.count(1)
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._talk.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._talk.recv(PATIENCE))
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(_words(answer["params"]))
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, script: str) -> Any:
        """Return a script's value; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> Any:
        """Wait until a script returns a true value."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script)):
            assert time.monotonic() < end, (script, self.run("document.body.innerText")[:2000])
            time.sleep(0.02)
        return found

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def size(self, width: int, height: int, touch: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=touch,
        )  # fmt: skip
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def scheme(self, name: str) -> None:
        media = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=media)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Send a mouse event with the left button; ``mouseReleased`` releases it."""
        self.call(
            "Input.dispatchMouseEvent",
            type=kind, x=x, y=y, button="left", buttons=int(kind != "mouseReleased"), clickCount=1,
        )  # fmt: skip

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": x, "y": y} for x, y in points]
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=places)

    def key(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            number = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
            self.call(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=number,
            )  # fmt: skip

    def place(self, selector: str) -> tuple[float, float, float, float]:
        """Return left, top, width and height of an element, after scrolling to it."""
        left, top, width, height = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
        )
        return left, top, width, height


@contextmanager
def open_page(folder: Path, *flags: str) -> Iterator[Page]:
    """Open an empty page of a new browser; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser to open the page in: none of {', '.join(BROWSERS)}")
    profile = folder / "profile"
    process = subprocess.Popen(
        [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={profile}", "--no-first-run", "--remote-debugging-port=0",
            "--window-size=1500,1000", *flags, "about:blank",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = _port(profile / "DevToolsActivePort", process)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            pages = [target for target in json.load(answer) if target["type"] == "page"]
        where = pages[0]["webSocketDebuggerUrl"]
        with connect(where, max_size=None, open_timeout=PATIENCE, ping_interval=None) as talk:
            page = Page(talk)
            for domain in ("Page", "Runtime", "Log"):
                page.call(f"{domain}.enable")
            yield page
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _words(complaint: dict[str, Any]) -> str:
    details = complaint.get("exceptionDetails") or complaint["entry"]
    return str(details.get("exception", details).get("description", details))


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if file.exists() and len(lines := file.read_text().splitlines()) > 1:
            return int(lines[0])
        assert process.poll() is None, "the browser has ended"
        time.sleep(0.02)
    raise AssertionError("the browser does not answer")
