"""Where it all happens: a walled rectangle with blocks in it, and rays through it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

Point = tuple[float, float]

#: A player's; he is a circle to rays and to other players, and a square to walls.
RADIUS = 0.6


class Block(NamedTuple):
    """A wall: a rectangle with sides along the axes."""

    left: float
    bottom: float
    right: float
    top: float


class Arena(NamedTuple):
    """The rectangle from (0, 0) to (width, height), with blocks in it; in length units."""

    width: float = 24.0
    height: float = 24.0
    blocks: tuple[Block, ...] = ()


#: An arena with two blocks to hide behind, and its corners free.
DEFAULT_ARENA = Arena(blocks=(Block(11.0, 3.0, 13.0, 8.0), Block(11.0, 16.0, 13.0, 21.0)))


def stopped(arena: Arena, before: Point, after: Point) -> tuple[Point, bool, bool]:
    """How far a player gets on his way to ``after``, and along which axes he is stopped.

    One axis after the other, so that he slides along a wall. A step is shorter than a wall is
    thick: nobody passes through.
    """
    x, stopped_x = _stopped_along(after[0], arena.width, before[0], before[1], arena.blocks, 0)
    y, stopped_y = _stopped_along(after[1], arena.height, before[1], x, arena.blocks, 1)
    return (x, y), stopped_x, stopped_y


def _stopped_along(
    wanted: float, end: float, before: float, across: float, blocks: tuple[Block, ...], axis: int
) -> tuple[float, bool]:
    reached = min(max(wanted, RADIUS), end - RADIUS)
    for block in blocks:
        low, high = block[axis] - RADIUS, block[axis + 2] + RADIUS
        side_low, side_high = block[1 - axis] - RADIUS, block[3 - axis] + RADIUS
        if side_low < across < side_high and low < reached < high:
            reached = low if before <= (low + high) / 2 else high
    return reached, reached != wanted


def direction(vector: Point) -> Point:
    """The vector of length 1 in this direction; (1, 0) for the zero vector."""
    length = math.sqrt(vector[0] * vector[0] + vector[1] * vector[1])
    if length == 0:
        return (1.0, 0.0)
    return (vector[0] / length, vector[1] / length)


def distance(one: Point, other: Point) -> float:
    """Between two points."""
    dx, dy = one[0] - other[0], one[1] - other[1]
    return math.sqrt(dx * dx + dy * dy)


def ray_to_wall(arena: Arena, origin: Point, aim: Point) -> float:
    """How far a ray gets until it meets a wall; ``aim`` has the length 1.

    The slab method: T. L. Kay, J. T. Kajiya, "Ray Tracing Complex Scenes", SIGGRAPH 1986.
    """
    reach = math.inf
    for axis, end in enumerate((arena.width, arena.height)):
        if aim[axis]:
            reach = min(reach, ((end if aim[axis] > 0 else 0.0) - origin[axis]) / aim[axis])
    for block in arena.blocks:
        enter, leave = 0.0, math.inf
        for axis in (0, 1):
            low, high = block[axis] - origin[axis], block[axis + 2] - origin[axis]
            if aim[axis]:
                near, far = sorted((low / aim[axis], high / aim[axis]))
                enter, leave = max(enter, near), min(leave, far)
            elif low > 0 or high < 0:
                enter = math.inf
        if enter <= leave:
            reach = min(reach, enter)
    return reach


def ray_to_player(origin: Point, aim: Point, player: Point) -> float | None:
    """How far a ray gets until it meets a player; None: it misses him."""
    dx, dy = player[0] - origin[0], player[1] - origin[1]
    along = dx * aim[0] + dy * aim[1]
    across = dx * aim[1] - dy * aim[0]
    square = RADIUS * RADIUS - across * across
    if along < 0 or square < 0:
        return None
    return max(along - math.sqrt(square), 0.0)


def first_hit(
    arena: Arena, origin: Point, aim: Point, players: Mapping[int, Point], reach: float = math.inf
) -> int | None:
    """Whom a ray of this length meets first, before a wall stops it; None: nobody."""
    nearest = min(ray_to_wall(arena, origin, aim), reach)
    hit = None
    for number, player in players.items():
        met = ray_to_player(origin, aim, player)
        if met is not None and met <= nearest:
            hit, nearest = number, met
    return hit


def sees(arena: Arena, origin: Point, target: Point) -> bool:
    """Whether no wall stands between two points."""
    aim = direction((target[0] - origin[0], target[1] - origin[1]))
    return ray_to_wall(arena, origin, aim) >= distance(origin, target)
