"""Pages: their data, and the effects of their scripts in a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.browser import Page

#: Scripts that do what a reader would, and leave what they saw where the test finds it.
VISITS = Path(__file__).parent.parent / "show" / "page_visits"


def content(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found
    data = json.loads(found[1])
    whole = zlib.decompress(base64.b64decode(data["numbers"]))

    def unpacked(part: Any, key: str = "") -> Any:
        """Return the numbers at this offset, length and size in the bytes."""
        if isinstance(part, dict):
            return {key: unpacked(value, key) for key, value in part.items()}
        if not isinstance(part, list) or key == "counts":
            return part
        if len(part) == 3 and all(type(one) is int for one in part):
            place, length, size = part
            sorted_ = np.frombuffer(whole[place : place + length], "u1").reshape(size, -1)
            return sorted_.T.tobytes()
        return [unpacked(one) for one in part]

    data["scenes"] = unpacked(data["scenes"])
    return data


def numbers(packed: bytes, kind: str = "<f4") -> NDArray[np.floating]:
    return np.asarray(np.frombuffer(packed, kind))


def times_of(scene: dict[str, Any], drawn: dict[str, Any]) -> NDArray[np.floating]:
    """Return the times (s) of the rows that one strategy drew."""
    times = numbers(scene["truth"]["ticks"], "<u2").astype(int).cumsum() * scene["tick"]
    return np.asarray((times + scene["start"])[rows_of(drawn)])


def rows_of(drawn: dict[str, Any]) -> Any:
    """Return which rows of the truth one strategy drew."""
    return np.cumsum(numbers(drawn["at"], "<u2").astype(int)) if drawn.get("at") else slice(None)


def places_of(scene: dict[str, Any], drawn: dict[str, Any], axis: str) -> NDArray[np.floating]:
    """Return a strategy's positions on the map."""
    truth = numbers(scene["truth"][axis])[rows_of(drawn)]
    middle = scene["origin"]["xy".index(axis)]
    return np.asarray(numbers(drawn[axis]) + np.nan_to_num(truth) + middle)


def visited(page: Page, name: str, folder: Path, text: str, link: str = "") -> Any:
    """Return what a visit's script saw on a page."""
    file = folder / "page.html"
    file.write_text(text)
    page.size(1300, 900)
    page.scheme("light")
    page.open("about:blank")
    page.open(f"{file.as_uri()}{link}")
    page.until("document.body?.dataset.ready")
    page.run(f"{(VISITS / f'{name}.js').read_text()}; 0")
    found = json.loads(page.until("document.body.dataset.seen"))
    assert page.complaints == []
    return found
