"""Computed paths: position and velocity in closed form at any time.

``speed`` is in length units per second, ``size`` in length units, time in seconds from 0. At a
corner the velocity is the one after it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from epic_cli.engine.link import TURN, exponential, sine_cosine
from epic_cli.engine.parameters import Choice, Number
from epic_cli.network.randomness import stream
from epic_cli.network.state import State

Path = Callable[[float], State]

GRAVITY = 9.81

_HALF_SQRT_2 = math.sqrt(0.5)


def straight(speed: float, size: float, seed: int) -> Path:
    """Along x at constant speed; size does not matter."""
    del size, seed
    return lambda time: State((speed * time, 0.0, 0.0), (speed, 0.0, 0.0))


def circle(speed: float, size: float, seed: int) -> Path:
    """Around the origin with radius ``size``, counter-clockwise from (size, 0)."""
    del seed

    def at(time: float) -> State:
        sine, cosine = sine_cosine(speed * time / (TURN * size))
        return State((size * cosine, size * sine, 0.0), (-speed * sine, speed * cosine, 0.0))

    return at


def figure_eight(speed: float, size: float, seed: int) -> Path:
    """A figure of eight on its side (Gerono's lemniscate), fastest in the middle: ``speed``.

    x = size sin a, y = size sin a cos a, with a = time speed / (size sqrt 2); it is 2 ``size``
    wide.
    """
    del seed
    turn_rate = speed * _HALF_SQRT_2 / size

    def at(time: float) -> State:
        sine, cosine = sine_cosine(turn_rate * time / TURN)
        along = turn_rate * size
        return State(
            (size * sine, size * sine * cosine, 0.0),
            (along * cosine, along * (cosine * cosine - sine * sine), 0.0),
        )

    return at


def zigzag(speed: float, size: float, seed: int) -> Path:
    """Legs of length ``size``, alternately 45 degrees to the left and to the right of x."""
    del seed
    component = speed * _HALF_SQRT_2

    def at(time: float) -> State:
        leg, since = _piece(time, size / speed)
        left = leg % 2 == 0
        aside = component * since
        y = aside if left else size * _HALF_SQRT_2 - aside
        velocity = (component, component if left else -component, 0.0)
        return State((component * time, y, 0.0), velocity)

    return at


def stop_and_go(speed: float, size: float, seed: int) -> Path:
    """Runs ``size`` along x, rests for as long, and so on; starts and stops dead."""
    del seed

    def at(time: float) -> State:
        piece, since = _piece(time, size / speed)
        gone = (piece + 1) // 2 * size
        if piece % 2:
            return State((gone, 0.0, 0.0), (0.0, 0.0, 0.0))
        return State((gone + speed * since, 0.0, 0.0), (speed, 0.0, 0.0))

    return at


def jump(speed: float, size: float, seed: int) -> Path:
    """A run along x with jumps of height ``size``, z up, 9.81 units/s^2 down.

    Each jump follows a run as long as itself. It takes off at sqrt(2 g size).
    """
    del seed
    take_off = math.sqrt(2 * GRAVITY * size)
    flight = 2 * take_off / GRAVITY

    def at(time: float) -> State:
        piece, since = _piece(time, flight)
        z = vz = 0.0
        if piece % 2:
            z = since * (take_off - GRAVITY / 2 * since)
            vz = take_off - GRAVITY * since
        return State((speed * time, 0.0, z), (speed, 0.0, vz))

    return at


def _piece(time: float, length: float) -> tuple[int, float]:
    """The number of the piece that ``time`` is in, and the time since it began.

    A time within rounding of the end of a piece is in the next piece.
    """
    number = math.floor(time / length + 1e-9)
    return number, max(time - number * length, 0.0)


#: x and y.
_Plane = tuple[float, float]


class _Piece(NamedTuple):
    """Until ``end`` the target velocity is ``wish``; ``teleports`` counts those so far."""

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
    """A strafing player: eight directions or none, for 0.2 to 1.2 s each.

    Acceleration and friction in one: dv/dt = (wish - v) / 0.15 s, hence
    v = wish + (v0 - wish) exp(-t / 0.15). Turns back further than ``size`` from the origin.
    """

    purpose = "path/strafe"
    RESPONSE = 0.15  # seconds to make up for 63 % of the difference

    def first_piece(self, source: Random) -> _Piece:
        """Starts at rest at the origin, with a random direction."""
        rest = (0.0, 0.0)
        return self.next_piece(_Piece(0.0, 0.0, rest, rest, rest), source)

    def next_piece(self, piece: _Piece, source: Random) -> _Piece:
        """Another direction; one time in nine no key is pressed."""
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
    """Walks straight for 1 to 3 s, then teleports to within ``size`` of the origin."""

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


#: By name: what makes the path for a speed, a size and a seed.
PATHS: dict[str, Callable[[float, float, int], Path]] = {
    "straight": straight,
    "circle": circle,
    "figure-eight": figure_eight,
    "zigzag": zigzag,
    "stop-and-go": stop_and_go,
    "jump": jump,
    "strafe": Strafe,
    "teleport": Teleporting,
}

#: Those that are others with another seed.
RANDOM_PATHS = tuple(name for name, make in PATHS.items() if isinstance(make, type))

#: What moves: one entity on a path.
PATH = (
    Choice(
        "path", "circle", "The path of one entity; strafe and teleport depend on --seed.", PATHS
    ),
    Number("speed", 5.0, "Its speed in units/s; on the figure-eight its top speed.", "units/s",
           1e-6, 1e6, tune=(0.1, 50), scale="log"),
    Number("size", 5.0, "Its size in units: a radius, the length of a leg, the height of a jump.",
           "units", 1e-3, 1e6, tune=(0.5, 50), scale="log"),
)  # fmt: skip
