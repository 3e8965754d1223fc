"""Moves: input with a time stamp and a duration, kept until the server has taken them in.

Source: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, listings 8.1 and 8.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.play.view import View
from epic_cli.play.world import Control

#: Every input packet carries so many of the newest moves: two in a row may be lost.
MOVES_IN_PACKET = 3

#: A client that hears nothing for long forgets its oldest moves.
MOST_MOVES = 600


class Move(NamedTuple):
    """What was done, from ``stamp - duration`` to ``stamp``, in microseconds of the client's clock.

    ``views`` says what the player saw of each other player, where the move fires a weapon.
    """

    control: Control
    stamp: int
    duration: int
    views: tuple[tuple[int, View], ...] = ()


class MoveList:
    """The moves that wait, oldest first, and the stamp of the newest that ever came in."""

    def __init__(self) -> None:
        self._moves: deque[Move] = deque(maxlen=MOST_MOVES)
        self.last_stamp: int | None = None

    def __len__(self) -> int:
        return len(self._moves)

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def add_move_if_new(
        self,
        control: Control,
        stamp: int,
        views: tuple[tuple[int, View], ...] = (),
        longest: int | None = None,
    ) -> Move | None:
        """Adds a move that is newer than all before it; None: it is not.

        It lasts from the stamp before it, the very first one no time; if moves between them were
        lost, it lasts so much longer, though no longer than ``longest`` microseconds.
        """
        if self.last_stamp is not None and stamp <= self.last_stamp:
            return None
        duration = 0 if self.last_stamp is None else stamp - self.last_stamp
        if longest is not None:
            duration = min(duration, longest)
        self.last_stamp = stamp
        move = Move(control, stamp, duration, views)
        self._moves.append(move)
        return move

    def remove_processed(self, stamp: int) -> None:
        """Removes the moves up to this stamp: the server's state contains them."""
        while self._moves and self._moves[0].stamp <= stamp:
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
