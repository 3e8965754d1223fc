"""Pages: their data, and what their scripts do in a browser."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Scripts that do what a reader would, and leave what they saw where the test finds it.
VISITS = Path(__file__).parent.parent / "show" / "page_visits"

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def content(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found
    return json.loads(found[1])


def numbers(text: str, kind: str = "<f4") -> NDArray[np.floating]:
    return np.asarray(np.frombuffer(base64.b64decode(text), kind))


def times_of(scene: dict[str, Any], drawn: dict[str, Any]) -> NDArray[np.floating]:
    """When the rows of what one strategy drew are, in seconds."""
    times = numbers(scene["truth"]["t"], "<f8") + scene["start"]
    rows = np.cumsum(numbers(drawn["at"], "<u2").astype(int)) if "at" in drawn else slice(None)
    return np.asarray(times[rows])


def visit(browser: str, text: str, folder: Path, link: str = "") -> tuple[str, str]:
    """The page's document after its scripts have run, and what the browser complained about."""
    file = folder / "page.html"
    file.write_text(text)
    run = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}", "--no-first-run", "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--window-size=1300,900", "--dump-dom", f"{file.as_uri()}{link}",
        ],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return run.stdout, "\n".join(complaints)


def visited(browser: str, name: str, folder: Path, text: str, link: str = "") -> Any:
    script = (VISITS / f"{name}.js").read_text()
    text = text.replace("</body>", f"<script>{script}</script></body>")
    document, complaints = visit(browser, text, folder, link)
    assert not complaints, complaints
    assert 'data-ready="yes"' in document
    found = re.search(r'data-seen="([^"]*)"', document)
    assert found, document[:2000]
    return json.loads(unescape(found[1]))
