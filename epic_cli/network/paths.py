"""Computed paths: position and velocity in closed form at any time.

``speed`` is in length units per second, ``size`` in length units, time in seconds from 0. At a
corner the velocity is the one after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from epic_cli.engine.link.maths import TURN, sine_cosine
from epic_cli.network.random_paths import Strafe, Teleporting
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

    A time that misses the end of a piece by a rounding is in the next piece.
    """
    number = math.floor(time / length + 1e-9)
    return number, max(time - number * length, 0.0)


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
