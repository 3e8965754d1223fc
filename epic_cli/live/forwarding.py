"""What is drawn, to programs that plot: in their own formats, as UDP datagrams.

PlotJuggler's JSON parser takes an object whose nested names become a path, and the time from its
field ``timestamp``. Teleplot's lines are ``name:timestamp:value`` and ``name:x:y:timestamp|xy``,
with the timestamp in milliseconds since 1970; ``:``, ``|`` and ``;`` mean something in names.
"""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from epic_cli.engine.contract import Sample
from epic_cli.engine.packets import Entities, SampleBlock
from epic_cli.live.addresses import LOOPBACK, Address, Resolved, parse_address

Plotter = Literal["plotjuggler", "teleplot"]

#: By program: the port that it listens on.
PORTS: dict[Plotter, int] = {"plotjuggler": 9870, "teleplot": 47269}

#: Bytes of a datagram, which then goes over most networks in one piece.
_MOST_BYTES = 1400

#: What an entity without a name is called.
_NAMELESS = "entity"

_FIELDS = ("x", "y", "z", "vx", "vy", "vz")


class Target(NamedTuple):
    """A program, and where it is."""

    plotter: Plotter
    address: Address


def parse_target(text: str) -> Target:
    """``teleplot`` or ``plotjuggler:192.168.0.7:9870``; raises ``ValueError``."""
    name, colon, place = text.partition(":")
    for plotter, port in PORTS.items():
        if name == plotter:
            return Target(plotter, parse_address(place) if colon else Address(LOOPBACK, port))
    raise ValueError(f"{text!r} is not {' or '.join(PORTS)}, with :HOST:PORT where it is elsewhere")


def messages(plotter: Plotter, samples: Iterable[Sample], to_unix: float) -> Iterator[bytes]:
    """Datagrams with what is drawn; ``to_unix`` (s) added to its times makes Unix times."""
    shown = (one for one in samples if one.status != "none" and _is_finite(one))
    return _objects(shown) if plotter == "plotjuggler" else _lines(shown, to_unix)


def _is_finite(sample: Sample) -> bool:
    return all(map(math.isfinite, (*sample.position, *sample.velocity)))


def _objects(samples: Iterable[Sample]) -> Iterator[bytes]:
    together: dict[str, object] = {}
    size = 0
    for sample in samples:
        state = dict(zip(_FIELDS, (*sample.position, *sample.velocity), strict=True))
        name = sample.entity or _NAMELESS
        if name == "timestamp":
            name = "timestamp_"
        more = len(json.dumps({name: state}))
        if together and (together["timestamp"] != sample.time or size + more > _MOST_BYTES):
            yield json.dumps(together).encode()
            together, size = {}, 0
        together.setdefault("timestamp", sample.time)
        together[name] = state
        size += more
    if together:
        yield json.dumps(together).encode()


def _lines(samples: Iterable[Sample], to_unix: float) -> Iterator[bytes]:
    together: list[bytes] = []
    size = 0
    for sample in samples:
        name = "".join("_" if one in ":|;,§" else one for one in sample.entity) or _NAMELESS
        stamp = round((sample.time + to_unix) * 1000)
        values = zip(_FIELDS, (*sample.position, *sample.velocity), strict=True)
        lines = [f"{name}.{field}:{stamp}:{value!r}" for field, value in values]
        x, y, _ = sample.position
        lines.append(f"{name}:{x!r}:{y!r}:{stamp}|xy")
        data = "\n".join(lines).encode() + b"\n"
        if together and size + len(data) > _MOST_BYTES:
            yield b"".join(together)
            together, size = [], 0
        together.append(data)
        size += len(data)
    if together:
        yield b"".join(together)


class Forwarder:
    """Sends what is drawn to a program; what it does not take is nobody's loss."""

    def __init__(self, plotter: Plotter, place: Resolved) -> None:
        self._plotter = plotter
        self._to_unix: float | None = None
        self._socket = socket.socket(place.family, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.connect(place.place)
        except BaseException:
            self._socket.close()
            raise

    def __call__(self, samples: SampleBlock, entities: Entities) -> None:
        """Sends samples."""
        rows = samples.samples(entities)
        if self._to_unix is None and rows:
            self._to_unix = time.time() - rows[0].time
        for data in messages(self._plotter, rows, self._to_unix or 0.0):
            try:
                self._socket.send(data)
            except OSError:  # nobody is there, or the queue is full
                continue

    def close(self) -> None:
        """Nothing more comes."""
        self._socket.close()
