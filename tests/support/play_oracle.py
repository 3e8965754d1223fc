"""The game's movement again, slow and obvious, as an oracle for ``epic play``.

In the open only: no walls. Everything is computed from the beginning each time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Runner:
    """Position and velocity."""

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0


def push(velocity: tuple[float, float], wish: tuple[float, float], seconds: float) -> list[float]:
    """Return the acceleration: 40 units/s^2 towards the wanted velocity, 60 when braking."""
    rejected = sum(v * w for v, w in zip(velocity, wish, strict=True)) <= 0
    limit = (60 if rejected and velocity != (0, 0) else 40) * seconds
    missing = math.dist(velocity, wish)
    share = 1 if missing <= limit else limit / missing
    return [v + (w - v) * share for v, w in zip(velocity, wish, strict=True)]


def walk(who: Runner, keys: tuple[int, int], milliseconds: int) -> Runner:
    """Return one move of a player without neighbors, in steps of at most 33 ms."""
    while milliseconds > 0:
        seconds = min(milliseconds, 33) / 1000
        length = math.hypot(*keys) or 1.0
        wish = (8 * keys[0] / length, 8 * keys[1] / length)
        vx, vy = push((who.vx, who.vy), wish, seconds)
        who = Runner(who.x + vx * seconds, who.y + vy * seconds, vx, vy)
        milliseconds -= 33
    return who


def walk_into(who: Runner, other: Runner, keys: tuple[int, int]) -> tuple[Runner, Runner]:
    """Return one move of 33 ms of a player who may hit another.

    Equal masses, elastic, radius 0.6.
    """
    who = walk(who, keys, 33)
    gap = math.dist((who.x, who.y), (other.x, other.y))
    if gap >= 1.2:
        return who, other
    nx, ny = (who.x - other.x) / gap, (who.y - other.y) / gap
    closing = (who.vx - other.vx) * nx + (who.vy - other.vy) * ny
    back = replace(who, x=other.x + 1.2 * nx, y=other.y + 1.2 * ny)
    if closing >= 0:
        return back, other
    return (
        replace(back, vx=who.vx - closing * nx, vy=who.vy - closing * ny),
        replace(other, vx=other.vx + closing * nx, vy=other.vy + closing * ny),
    )
