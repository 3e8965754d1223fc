"""Random paths, made piece by piece: the state at the end of one piece begins the next.

Only the present piece is in memory. Asked for a time before it, a path begins again at 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random
from typing import NamedTuple

from epic_cli.engine.link.maths import exponential, sine_cosine
from epic_cli.network.randomness import stream
from epic_cli.network.state import State

#: x and y.
_Plane = tuple[float, float]


class _Piece(NamedTuple):
    """Until ``end`` the entity wants the velocity ``wish``; ``teleports`` counts those so far."""

    start: float
    end: float
    position: _Plane
    velocity: _Plane
    wish: _Plane
    teleports: int = 0


class _RandomPath(ABC):
    """Finds the piece that a time is in; kinds of paths say how a piece goes and what follows."""

    purpose = ""

    def __init__(self, speed: float, size: float, seed: int) -> None:
        self.speed = speed
        self.size = size
        self._seed = seed
        self._source = stream(seed, self.purpose)
        self._piece = self.first_piece(self._source)

    def __call__(self, time: float) -> State:
        """The state at ``time`` (seconds, from 0)."""
        if time < self._piece.start:
            self._source = stream(self._seed, self.purpose)
            self._piece = self.first_piece(self._source)
        while time >= self._piece.end:
            self._piece = self.next_piece(self._piece, self._source)
        (x, y), (vx, vy) = self.within(self._piece, time - self._piece.start)
        return State((x, y, 0.0), (vx, vy, 0.0), self._piece.teleports)

    @abstractmethod
    def first_piece(self, source: Random) -> _Piece:
        """How the path begins, at time 0."""

    @abstractmethod
    def next_piece(self, piece: _Piece, source: Random) -> _Piece:
        """What follows a piece."""

    @abstractmethod
    def within(self, piece: _Piece, since: float) -> tuple[_Plane, _Plane]:
        """Position and velocity ``since`` seconds into a piece."""


class Strafe(_RandomPath):
    """A player who changes his mind: eight directions or none, for 0.2 to 1.2 s each.

    Acceleration and friction in one: dv/dt = (wish - v) / 0.15 s, hence
    v = wish + (v0 - wish) exp(-t / 0.15). He turns back where he is further than ``size`` from
    the origin.
    """

    purpose = "path/strafe"
    RESPONSE = 0.15  # seconds to make up for 63 % of the difference

    def first_piece(self, source: Random) -> _Piece:
        """He stands at the origin and wants to go somewhere."""
        rest = (0.0, 0.0)
        return self.next_piece(_Piece(0.0, 0.0, rest, rest, rest), source)

    def next_piece(self, piece: _Piece, source: Random) -> _Piece:
        """Another direction; one time in nine he lets go of the keys."""
        position, velocity = self.within(piece, piece.end - piece.start)
        direction = math.floor(source.random() * 9)
        hold = 0.2 + source.random()
        sine, cosine = sine_cosine(direction / 8)
        wish = (self.speed * cosine, self.speed * sine)
        if direction == 8:
            wish = (0.0, 0.0)
        x, y = position
        distance = math.sqrt(x * x + y * y)
        if distance > self.size:
            home = -self.speed / distance
            wish = (x * home, y * home)
        return _Piece(piece.end, piece.end + hold, position, velocity, wish)

    def within(self, piece: _Piece, since: float) -> tuple[_Plane, _Plane]:
        """The closed form of the equation above."""
        left = exponential(-since / self.RESPONSE)
        moved = self.RESPONSE * (1 - left)
        (x, y), (vx, vy), (wish_x, wish_y) = piece.position, piece.velocity, piece.wish
        dx, dy = vx - wish_x, vy - wish_y
        position = (x + wish_x * since + dx * moved, y + wish_y * since + dy * moved)
        return position, (wish_x + dx * left, wish_y + dy * left)


class Teleporting(_RandomPath):
    """Walks straight for 1 to 3 s, then is put elsewhere, within ``size`` of the origin."""

    purpose = "path/teleport"

    def first_piece(self, source: Random) -> _Piece:
        """From the origin."""
        return self._walk(source, 0.0, (0.0, 0.0), 0)

    def next_piece(self, piece: _Piece, source: Random) -> _Piece:
        """From a random place, in a random direction."""
        x, y = 2 * source.random() - 1, 2 * source.random() - 1
        place = (self.size * x, self.size * y)
        return self._walk(source, piece.end, place, piece.teleports + 1)

    def _walk(self, source: Random, start: float, place: _Plane, teleports: int) -> _Piece:
        sine, cosine = sine_cosine(source.random())
        end = start + 1 + 2 * source.random()
        velocity = (self.speed * cosine, self.speed * sine)
        return _Piece(start, end, place, velocity, velocity, teleports)

    def within(self, piece: _Piece, since: float) -> tuple[_Plane, _Plane]:
        """Along a straight line."""
        (x, y), (vx, vy) = piece.position, piece.velocity
        return (x + vx * since, y + vy * since), piece.velocity
