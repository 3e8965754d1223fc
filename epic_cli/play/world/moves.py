"""Moves, views and events: what a player does, what he saw of the others, and what came of it.

Source: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, listings 8.1 and 8.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.play.world.arena import Point
from epic_cli.play.world.rules import Control


class View(NamedTuple):
    """Between which snapshots a player was drawn, and how far from the older to the newer.

    ``exact``: this gives the drawn position to the last bit. Otherwise the strategy drew something
    other than a point between two snapshots, and this is the nearest such point.
    """

    older: int
    newer: int
    fraction: float
    exact: bool = True


def between(older: Point, newer: Point, fraction: float) -> Point:
    """The point of a view; client and server both compute it here, so to the same bits."""
    return (
        older[0] + (newer[0] - older[0]) * fraction,
        older[1] + (newer[1] - older[1]) * fraction,
    )


#: Every input packet carries this many of the newest moves: two packets in a row may be lost.
MOVES_IN_PACKET = 3

#: A client that hears nothing for a long time forgets its oldest moves.
MOST_MOVES = 600


class Move(NamedTuple):
    """What was done from ``timestamp_us - duration_us`` to ``timestamp_us`` on the client's clock.

    ``views`` says what the player saw of each other player, where the move fires a weapon.
    """

    control: Control
    timestamp_us: int
    duration_us: int
    views: tuple[tuple[int, View], ...] = ()


class MoveList:
    """The moves that wait, oldest first, and the timestamp of the newest that ever came in."""

    def __init__(self) -> None:
        self._moves: deque[Move] = deque(maxlen=MOST_MOVES)
        self.last_timestamp_us: int | None = None

    def __len__(self) -> int:
        return len(self._moves)

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def add_move_if_new(
        self,
        control: Control,
        timestamp_us: int,
        views: tuple[tuple[int, View], ...] = (),
        longest_us: int | None = None,
    ) -> Move | None:
        """Adds a move that is newer than all before it; None: it is not.

        It lasts from the timestamp before it, the very first one no time; if moves between them
        were lost, it lasts longer by theirs, though no longer than ``longest_us``.
        """
        last_us = self.last_timestamp_us
        if last_us is not None and timestamp_us <= last_us:
            return None
        duration_us = 0 if last_us is None else timestamp_us - last_us
        if longest_us is not None:
            duration_us = min(duration_us, longest_us)
        self.last_timestamp_us = timestamp_us
        move = Move(control, timestamp_us, duration_us, views)
        self._moves.append(move)
        return move

    def remove_processed(self, timestamp_us: int) -> None:
        """Removes the moves up to this timestamp: the server's state contains them."""
        while self._moves and self._moves[0].timestamp_us <= timestamp_us:
            self._moves.popleft()

    def take_first(self) -> Move:
        """Removes the oldest move, and returns it."""
        return self._moves.popleft()

    def first(self) -> Move | None:
        """The oldest move."""
        return self._moves[0] if self._moves else None

    def newest(self, count: int = MOVES_IN_PACKET) -> list[Move]:
        """The newest moves, oldest first."""
        return list(self._moves)[-count:]


Value = float | int | str | bool


class Event(NamedTuple):
    """``time`` is the match's own; ``where`` is ``server`` or the player on whose screen it was.

    Times are in seconds, in ``details`` too; there ``stamp`` is on the clock of the player.
    """

    time: float
    where: str
    what: str
    player: str
    details: dict[str, Value]
