"""Samples for plotting programs: in their own formats, as UDP datagrams.

Each module of this folder has the format of one program, ``FORWARDER``, and is found by convention.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from epic_cli.engine.contract import Sample
from epic_cli.engine.packets import Entities, SampleBlock, angles
from epic_cli.live.consumer import Consumer
from epic_cli.recordings.addresses import LOOPBACK, Address, Resolved, parse_address

#: The name of an entity without a name.
NAMELESS = "entity"

#: Fields of a sample: its position, then its velocity; and those of its rotation.
FIELDS = ("x", "y", "z", "vx", "vy", "vz")
TURN_FIELDS = ("qx", "qy", "qz", "qw", "wx", "wy", "wz", "yaw", "pitch", "roll")


class ForwardFormat(NamedTuple):
    """A plotting program: its name, the port that it listens on, and its format of samples.

    ``encode`` takes finite samples, and the seconds to add to their times for Unix times; it
    returns datagrams.
    """

    name: str
    port: int
    encode: Callable[[Iterable[Sample], float], Iterator[bytes]]


@cache
def forward_formats() -> dict[str, ForwardFormat]:
    """Return the formats of all plotting programs by name."""
    found = (
        importlib.import_module(f"{__name__}.{module.name}").FORWARDER
        for module in pkgutil.iter_modules(__path__)
    )
    return {entry.name: entry for entry in found}


class Target(NamedTuple):
    """A plotting program and its address; None: its usual port on this machine."""

    format: ForwardFormat
    given: Address | None = None

    @property
    def address(self) -> Address:
        """The program's address."""
        return self.given or Address(LOOPBACK, self.format.port)

    def choose_port_beside(self, port: int) -> Target:
        """Return a target with another usual port if this program listens on the same port.

        Where the two ports are the same, the next port is used; an address that the user gave
        stays.
        """
        if self.given is not None or port != self.format.port:
            return self
        return self._replace(given=Address(LOOPBACK, port + 1))


def parse_target(text: str) -> Target:
    """Parse ``teleplot`` or ``plotjuggler:192.168.0.7:5000``; raise ``ValueError``."""
    name, colon, place = text.partition(":")
    known = forward_formats()
    if name not in known:
        raise ValueError(
            f"{text!r} is not {' or '.join(known)}, with :HOST:PORT if it runs elsewhere"
        )
    return Target(known[name], parse_address(place) if colon else None)


class Forwarder(Consumer):
    """A consumer that sends samples to a plotting program; lost ones are not sent again."""

    def __init__(self, forward_format: ForwardFormat, place: Resolved) -> None:
        self._format = forward_format
        self._to_unix: float | None = None
        self._socket = socket.socket(place.family, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.connect(place.place)
        except BaseException:
            self._socket.close()
            raise

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Send samples to the plotting program."""
        rows = samples.samples(entities)
        if self._to_unix is None and rows:
            self._to_unix = time.time() - rows[0].time
        for data in self._format.encode(iterate_drawable(rows), self._to_unix or 0.0):
            try:
                self._socket.send(data)
            except OSError:  # no program listens, or the queue is full
                continue

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def list_numbers(sample: Sample) -> dict[str, float]:
    """Return a sample's values by name: ``FIELDS``, and ``TURN_FIELDS`` if it has a rotation.

    Spins are in rad/s, yaw, pitch and roll in degrees.
    """
    found = dict(zip(FIELDS, (*sample.position, *sample.velocity), strict=True))
    if sample.rotation is not None:
        turn = (*sample.rotation, *(sample.spin or (0.0, 0.0, 0.0)), *angles(sample.rotation))
        if all(map(math.isfinite, turn)):
            found |= zip(TURN_FIELDS, turn, strict=True)
    return found


def iterate_drawable(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yield the samples that have a drawn position and finite numbers."""
    for sample in samples:
        if sample.status != "none" and all(
            map(math.isfinite, (*sample.position, *sample.velocity))
        ):
            yield sample
