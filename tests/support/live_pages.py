"""A lab that shows a running game, and a client that speaks with it as its page does."""

from __future__ import annotations

import contextlib
import json
import math
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from support.datagrams import PATIENCE, Program, program

STATE = np.dtype([("position", "<f8", 3), ("heading", "<f4", 3), ("status", "<i4")])


class Guest:
    """A page's knowledge: ``names``, ``states`` by number, ``events``, the last ``words``."""

    def __init__(self, talk: ClientConnection) -> None:
        self._talk = talk
        self.names: dict[int, str] = {}
        self.states: dict[int, Any] = {}
        self.changed: list[int] = []
        self.events: list[str] = []
        self.words: dict[str, Any] = {}
        self.frames = 0
        self.say()

    def say(self, **message: Any) -> None:
        self._talk.send(json.dumps({"room": "live", **message}))

    def take(self) -> dict[str, Any]:
        """Return the next frame, and acknowledge it."""
        data = self._talk.recv(PATIENCE)
        assert isinstance(data, bytes)
        (length,) = struct.unpack_from("<I", data)
        message: dict[str, Any] = json.loads(data[4 : 4 + length])
        self.say(got=message["number"])
        self.frames += 1
        self._arrays = data[4 + length :]
        self.changed = (
            self.array(message["changed"], "<i4").tolist() if "changed" in message else []
        )
        if self.changed:
            states = self.array(message["states"], STATE)
            self.states |= dict(zip(self.changed, states, strict=True))
        if "names" in message:
            first, names = message["names"]
            self.names |= dict(enumerate(names, first))
            self.events += [words for _, words in message["events"]]
            self.words = message
        return message

    def waiting(self, most: int) -> int:
        """Return the number of frames that wait to be taken."""
        for count in range(most):
            try:
                self._talk.recv(0.5)
            except TimeoutError:
                return count
        return most

    def array(self, place: list[int], kind: Any) -> Any:
        return np.frombuffer(self._arrays, kind, place[1] // np.dtype(kind).itemsize, place[0])

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Take frames up to the first with which a condition holds."""
        end = time.monotonic() + PATIENCE
        while not holds(message := self.take()):
            assert time.monotonic() < end, self.words
        return message


class Game:
    """A game that sends JSON to a lab, and the lab; ``address`` is that of its page."""

    def __init__(self, lab: Program, port: int, address: str) -> None:
        self.lab, self.port, self.address = lab, port, address
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self._began = time.monotonic()

    def send(self, *packets: dict[str, Any]) -> None:
        now = time.monotonic() - self._began
        self.socket.send(
            "\n".join(json.dumps({"time": now, **packet}) for packet in packets).encode()
        )

    def circle(self, *names: str, steps: int = 1, pause: float = 0.02) -> None:
        """Return all entities, on a circle of length 5."""
        for _ in range(steps):
            now = time.monotonic() - self._began
            place = {"x": 5 * math.cos(now), "y": 5 * math.sin(now), "z": 0}
            self.send(*({"entity": name, **place} for name in names))
            time.sleep(pause)

    @contextlib.contextmanager
    def guest(self, **options: Any) -> Iterator[Guest]:
        root = self.address.split("?")[0]
        origin = "/".join(root.split("/")[:3])
        how: dict[str, Any] = {"origin": origin, "max_size": None, "compression": None}
        how |= {"open_timeout": PATIENCE, "ping_interval": None, **options}
        with connect(f"{root.replace('http', 'ws')}talk", **how) as talk:
            yield Guest(talk)


def game(*options: str, address: str = "0") -> contextlib.AbstractContextManager[Game]:
    return _played(
        r"listening on 127\.0\.0\.1:(\d+)", "lab", "--no-open", "--listen", address, *options
    )


def proxied(*words: str | int) -> contextlib.AbstractContextManager[Game]:
    """Return a game whose packets pass through a proxy, which serves as its ``lab``."""
    return _played(
        r"127\.0\.0\.1:(\d+) relays", "proxy", "--show", "lab,open=off", *map(str, words)
    )


@contextlib.contextmanager
def _played(place: str, *words: str) -> Iterator[Game]:
    with program(*words) as lab:
        said = lab.wait_for(b"Ctrl-C ends the server").decode()
        port, address = re.search(place, said), re.search(r"http://\S+", said)
        assert port
        assert address
        made = Game(lab, int(port[1]), address[0])
        with made.socket:
            yield made
