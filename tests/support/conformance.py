"""The conformance files of other programs' output, and the values that a test run read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from support.places import CONFORMANCE, STREAMS

#: All of them.
FILES = sorted([*CONFORMANCE.rglob("*.json"), STREAMS], key=lambda path: path.stem)

#: The files that were loaded, if it is to be known what is read of them (``support.reading``).
recorded: dict[str, Any] | None = None


def load(name: str) -> Any:
    """Load a conformance file, by its name without folder and suffix."""
    (path,) = (path for path in FILES if path.stem == name)
    text = path.read_text("utf-8")
    if recorded is None:
        return json.loads(text)
    return recorded.setdefault(name, json.loads(text, object_hook=Read))


class Read(dict[str, Any]):
    """An object of a file that records which of its values were not read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.unread = set(values)

    def __getitem__(self, key: str) -> Any:
        self.unread.discard(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.unread.discard(key)
        return super().get(key, default)

    def items(self) -> Any:
        self.unread.clear()
        return super().items()


def unread(value: Any, path: str = "") -> Iterator[str]:
    """Return the path of each value that was not read; a list of plain values counts as one."""
    if isinstance(value, list):
        for place, member in enumerate(value):
            yield from unread(member, f"{path}[{place}]")
    elif isinstance(value, Read):
        for key, member in dict.items(value):
            if has_objects(member):
                yield from unread(member, f"{path}.{key}")
            elif key in value.unread:
                yield f"{path}.{key}"


def has_objects(value: Any) -> bool:
    return isinstance(value, Read) or (isinstance(value, list) and any(map(has_objects, value)))
