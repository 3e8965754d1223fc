"""Teleplot: lines ``name:timestamp:value`` and ``name:x:y:timestamp|xy``, in Unix milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from epic_cli.engine.contract import Sample
from epic_cli.live.forwarders import NAMELESS, ForwardFormat, list_numbers
from epic_cli.recordings.addresses import UNFRAGMENTED

#: Characters with a special meaning in names, and beginnings of lines that are no values.
_MARKS = ":|;,§"
_OTHER_LINES = (">", "statsd", "3D")


def encode(samples: Iterable[Sample], to_unix: float) -> Iterator[bytes]:
    """Encode samples as lines, as many as fit a datagram."""
    together: list[bytes] = []
    size = 0
    for sample in samples:
        name = "".join("_" if mark in _MARKS else mark for mark in sample.entity) or NAMELESS
        if name.startswith(_OTHER_LINES):
            name = f"_{name}"
        stamp = round((sample.time + to_unix) * 1000)
        values = list_numbers(sample).items()
        lines = [f"{name}.{field}:{stamp}:{value!r}" for field, value in values]
        x, y, _ = sample.position
        lines.append(f"{name}:{x!r}:{y!r}:{stamp}|xy")
        data = "\n".join(lines).encode() + b"\n"
        if together and size + len(data) > UNFRAGMENTED:
            yield b"".join(together)
            together, size = [], 0
        together.append(data)
        size += len(data)
    if together:
        yield b"".join(together)


FORWARDER = ForwardFormat("teleplot", 47269, encode)
