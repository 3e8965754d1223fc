"""A page's session: frames to it, the queue of frames, and the routing of its messages."""

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
from epic_cli.engine.strategies import list_remote_names
from epic_cli.engine.trust import apply_file_rule

#: The most strategies: one for each color.
MOST_STRATEGIES = 6

#: The alignment of arrays in bytes, which typed arrays of doubles need.
_ALIGNED = 8


class PageFrame:
    """A frame to a page under construction: JSON, and the arrays that the JSON refers to.

    ``pack`` appends an array and returns its place.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def pack(self, array: Any) -> tuple[int, int]:
        """Append an array; return its place and its length, in bytes."""
        data = array.tobytes()
        place = self._size
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)
        return place, len(data)

    def write_bytes(self, message: dict[str, Any]) -> bytes:
        """Return the frame: the length of the JSON (uint32), the JSON, the arrays."""
        text = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        return b"".join((struct.pack("<I", len(text)), text, *self._parts))


def make_frame(**message: Any) -> bytes:
    """Return a frame that has no arrays."""
    return PageFrame().write_bytes(message)


class Outbox:
    """A queue of frames to one page, with only the newest frame of each key."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[str, bytes] = {}
        self._some = asyncio.Event()

    def put(self, key: str, data: bytes) -> None:
        """Queue a frame in place of a waiting frame with the same key; any thread may call this."""

        def add() -> None:
            self._waiting.pop(key, None)
            self._waiting[key] = data
            self._some.set()

        with contextlib.suppress(RuntimeError):  # the program is ending
            self._loop.call_soon_threadsafe(add)

    async def get(self) -> bytes:
        """Return the oldest waiting frame."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        return self._waiting.pop(next(iter(self._waiting)))


class PageSession(Protocol):
    """The interface of the server's answers to a page's messages about one topic."""

    def receive(self, message: dict[str, Any]) -> None:
        """Handle a message of the page, at once."""

    def close(self) -> None:
        """End the session after the page has gone; called on a thread that may wait."""


def check_strategies(texts: Sequence[str], own: Sequence[str] = ()) -> list[StrategySpec]:
    """Return the strategies ``NAME+key=value`` that a page asks for; raise ``SettingError``.

    ``own`` are allowed names beside the built-in strategies: the custom strategies of the command
    line that started the lab.
    """
    if len(texts) > MOST_STRATEGIES:
        raise SettingError(f"at most {MOST_STRATEGIES} strategies can take part")
    try:
        for text in texts:
            _load_strategy_choice(tuple(own)).check(
                split(text)[0]
            )  # a page must not run code by its name
            if "," in text:
                raise SettingError(f"{text!r} contains a comma: give one strategy in each text")
        with apply_file_rule("-", trust=False, remedy="epic lab --strategies"):
            return read_specs(texts)
    except SettingError:
        raise
    except ValueError as error:  # a strategy twice
        raise SettingError(str(error)) from error


@lru_cache(maxsize=1)
def _load_strategy_choice(own: tuple[str, ...]) -> Choice:
    """Return the parameter that parses the names of strategies.

    Cached, since loading looks for other packages.
    """
    return Choice("strategy", None, "", (*list_remote_names(), *own))
