"""What one page is told and asks for: frames, what waits to be sent, whom its messages reach."""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from epic_cli.engine.parameters import Choice, SettingError
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs, split
from epic_cli.engine.strategies import remote_names
from epic_cli.engine.trust import asked_by_file

#: No more strategies than colours.
MOST_STRATEGIES = 6

#: Arrays begin at multiples of this many bytes, as typed arrays of doubles must.
_ALIGNED = 8


class PageFrame:
    """A frame to a page that is being made: JSON, then the arrays that it points into.

    ``pack`` takes an array, and returns what stands for it.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def pack(self, array: Any) -> tuple[int, int]:
        """The place of the array and its length, in bytes."""
        data = array.tobytes()
        place = self._size
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)
        return place, len(data)

    def bytes(self, message: dict[str, Any]) -> bytes:
        """The length of the JSON (uint32), the JSON, the arrays."""
        text = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        return b"".join((struct.pack("<I", len(text)), text, *self._parts))


def frame(**message: Any) -> bytes:
    """A frame without arrays."""
    return PageFrame().bytes(message)


class Outbox:
    """What is to be sent to one page: of each key the newest frame alone."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, bytes] = {}
        self._some = asyncio.Event()

    def put(self, key: str, data: bytes) -> None:
        """Called by any thread; what waits under this key is replaced."""

        def add() -> None:
            self._waiting.pop(key, None)
            self._waiting[key] = data
            self._some.set()

        with contextlib.suppress(RuntimeError):  # the program ends
            self._loop.call_soon_threadsafe(add)

    async def get(self) -> bytes:
        """The oldest of those that wait."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        return self._waiting.pop(next(iter(self._waiting)))


class PageSession(Protocol):
    """What one page talks with, about one thing."""

    def receive(self, message: dict[str, Any]) -> None:
        """Takes a message, at once."""

    def close(self) -> None:
        """The page has gone; called on a thread that may wait."""


def checked_strategies(texts: Sequence[str], own: Sequence[str] = ()) -> list[StrategySpec]:
    """The strategies ``NAME+key=value`` that a page asks for; raises ``SettingError``.

    ``own`` are names beside the built-in ones: those that the line names that starts the lab.
    """
    if len(texts) > MOST_STRATEGIES:
        raise SettingError(f"at most {MOST_STRATEGIES} strategies take part")
    try:
        for text in texts:
            _names(tuple(own)).check(split(text)[0])  # a page may run no code that it names
            if "," in text:
                raise SettingError(f"{text!r}: a comma separates strategies")
        with asked_by_file("-", trust=False, remedy="epic lab --strategies"):
            return read_specs(texts)
    except SettingError:
        raise
    except ValueError as error:  # the same one twice
        raise SettingError(str(error)) from error


@lru_cache(maxsize=1)
def _names(own: tuple[str, ...]) -> Choice:
    """The strategies that take part, which takes long: those of other packages are looked for."""
    return Choice("strategy", None, "", (*remote_names(), *own))
