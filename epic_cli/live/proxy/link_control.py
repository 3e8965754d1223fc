"""The current link conditions: changed at run time, by words, keys and a schedule."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from epic_cli.live.proxy.direction import Direction
from epic_cli.network.conditions import LONGEST_DELAY
from epic_cli.network.presets import PRESETS
from epic_cli.network.words import WAYS, TwoWays, Way, parse_word, way_of

#: Changes later on: a time (seconds after the first datagram), a word and its value.
Changes = Sequence[tuple[float, str, Any]]


def check_word(name: str) -> None:
    """Raises ``ValueError`` for a word that does not apply to datagrams."""
    if way_of(name)[1] == "packet_size":
        raise ValueError("packet_size: datagrams have lengths of their own")


class LinkController:
    """Changes the conditions of both directions; errors raise ``ValueError``.

    ``ways`` are the current conditions, ``preset`` the name of the last preset that was chosen
    here.
    """

    def __init__(self, ways: TwoWays, changes: Changes = ()) -> None:
        self._beginning = ways
        self._changes = sorted(changes, key=lambda one: one[0])
        self.ways = ways
        self.preset = ""
        self.directions = {way: Direction(way, ways.of(way)) for way in WAYS}
        _check(ways, self._changes)

    def set(self, words: Sequence[tuple[str, Any]]) -> None:
        """Applies these words from now on: all of them, or none where one is wrong."""
        if len({name for name, _ in words}) < len(words):
            raise ValueError("a word is given twice: keep one of them")
        ways = self.ways
        for name, value in words:
            check_word(name)
            ways = ways.changed(name, value)
        self.preset = next((value.name for name, value in words if name == "preset"), self.preset)
        self._use(ways)

    def set_words(self, text: str) -> None:
        """The same, as they are written."""
        self.set([parse_word(word) for word in text.split()])

    def clear(self) -> None:
        """Makes the link perfect."""
        self.preset = ""
        self._use(TwoWays())
        self.black_out(False, WAYS)

    def reset(self) -> None:
        """Restores the initial conditions."""
        self.preset = ""
        self._use(self._beginning)
        self.black_out(False, WAYS)

    def black_out(self, on: bool, ways: Sequence[Way]) -> None:
        """Begins or ends a blackout in these directions."""
        for way in ways:
            self.directions[way].blackout = on

    def next_preset(self, step: int) -> None:
        """Chooses the next preset by name, or the one before."""
        names = list(PRESETS)
        before = names.index(self.preset) if self.preset else (-1 if step > 0 else 0)
        self.set([("preset", PRESETS[names[(before + step) % len(names)]])])

    def add(self, name: str, step: float, ways: Sequence[Way]) -> None:
        """Increases or decreases the ``latency``, ``jitter`` or ``loss`` of these directions."""
        highest = 1.0 if name == "loss" else LONGEST_DELAY
        changed = self.ways
        for way in ways:
            now = getattr(changed.of(way), name)
            now = now if isinstance(now, float) else 0.0  # losses in bursts end
            value = round(min(max(now + step, 0.0), highest), 6)
            changed = changed.changed(f"{way}.{name}", value)
        self._use(changed)

    async def follow(self, begun: asyncio.Event) -> None:
        """Applies the scheduled changes, on the clock that starts when it has ``begun``."""
        await begun.wait()
        start = asyncio.get_running_loop().time()
        for time, name, value in self._changes:
            await asyncio.sleep(max(start + time - asyncio.get_running_loop().time(), 0))
            self.set([(name, value)])

    def _use(self, ways: TwoWays) -> None:
        self.ways = ways
        for way, direction in self.directions.items():
            conditions = ways.of(way)
            if conditions != direction.conditions:
                direction.change(conditions)


def _check(ways: TwoWays, changes: Changes) -> None:
    """Checks all scheduled changes."""
    for name, _ in (*ways.up, *ways.down):
        check_word(name)
    for time, name, value in changes:
        try:
            check_word(name)
            ways = ways.changed(name, value)
        except ValueError as error:
            raise ValueError(f"at {time:g} s: {error}") from error
