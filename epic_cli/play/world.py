"""The simulation: one function, which the server and every client run alike.

Nothing in it is random or depends on the machine: IEEE 754 rounds ``+``, ``-``, ``*``, ``/`` and
``sqrt`` in one way only, so a client that runs the same moves as the server gets the same bits.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import NamedTuple

from epic_cli.play.arena import DEFAULT_ARENA, RADIUS, Arena, Point, distance, stopped

#: The platformer log's STEP_MS; times of the game are whole microseconds, so that they add up.
STEP = 33_000

SPEED = 8.0  # length units a second
ACCELERATION = 40.0
BRAKING = 60.0  # without input, or against the movement
RELOAD = 400_000
THROW_RELOAD = 800_000
STUN = 500_000  # who was hit cannot shoot for so long
THROW_SPEED = 14.0


class Weapon(enum.IntEnum):
    """What is fired: nothing, a shot that hits at once, or something that flies there."""

    NONE = 0
    SHOT = 1
    THROW = 2


class Control(NamedTuple):
    """What a player does with his hands during one move: direction, trigger, aim."""

    x: int = 0
    y: int = 0
    weapon: Weapon = Weapon.NONE
    aim: Point = (1.0, 0.0)


class Body(NamedTuple):
    """A player as the simulation knows him; ``reload`` and ``stun`` are microseconds left."""

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0
    reload: int = 0
    stun: int = 0

    @property
    def place(self) -> Point:
        """His position."""
        return (self.x, self.y)


class Stepped(NamedTuple):
    """What came of a move: the body, the weapon that went off, and the knocks it gave others.

    ``refused`` tells of a trigger that did nothing. ``knocks`` are changes of velocity by player.
    """

    body: Body
    weapon: Weapon
    refused: str
    knocks: dict[int, Point]


class Rules(NamedTuple):
    """What both sides must agree on: the arena, and the longest step in microseconds."""

    arena: Arena = DEFAULT_ARENA
    step: int = STEP

    def simulate(
        self,
        body: Body,
        control: Control,
        duration: int,
        others: Mapping[int, Body] | None = None,
    ) -> Stepped:
        """Moves a body by a move of ``duration`` microseconds, in steps no longer than ``step``.

        ``others`` are the players that he can bump into. Only the server knows where they are:
        a client leaves them out, and is corrected after a bump.
        """
        knocks: dict[int, Point] = {}
        left = duration
        while left > 0:
            body = _step(self.arena, body, control, min(left, self.step), others or {}, knocks)
            left -= self.step
        weapon, refused = control.weapon, ""
        if weapon and (body.stun or body.reload):
            weapon, refused = Weapon.NONE, "stunned" if body.stun else "reloading"
        if weapon:
            body = body._replace(reload=RELOAD if weapon == Weapon.SHOT else THROW_RELOAD)
        return Stepped(body, weapon, refused, knocks)


def _step(
    arena: Arena,
    body: Body,
    control: Control,
    microseconds: int,
    others: Mapping[int, Body],
    knocks: dict[int, Point],
) -> Body:
    """Semi-implicit Euler: the velocity first, then the position with the new velocity."""
    seconds = microseconds / 1_000_000
    vx, vy = _steered((body.vx, body.vy), control, seconds)
    wanted = (body.x + vx * seconds, body.y + vy * seconds)
    place, stopped_x, stopped_y = stopped(arena, body.place, wanted)
    velocity = (0.0 if stopped_x else vx, 0.0 if stopped_y else vy)
    for number, other in others.items():
        if distance(place, other.place) < 2 * RADIUS:
            place, velocity = _bump(arena, place, velocity, number, other, knocks)
    return Body(
        *place,
        *velocity,
        max(body.reload - microseconds, 0),
        max(body.stun - microseconds, 0),
    )


def _steered(velocity: Point, control: Control, seconds: float) -> Point:
    """The velocity, nearer to the wanted one by what is allowed; without input he brakes."""
    length = math.sqrt(control.x * control.x + control.y * control.y)
    wish = (control.x * SPEED / length, control.y * SPEED / length) if length else (0.0, 0.0)
    against = velocity[0] * wish[0] + velocity[1] * wish[1] <= 0
    braking = against and (velocity[0] != 0 or velocity[1] != 0)
    allowed = (BRAKING if braking else ACCELERATION) * seconds
    dx, dy = wish[0] - velocity[0], wish[1] - velocity[1]
    change = math.sqrt(dx * dx + dy * dy)
    if change <= allowed:
        return wish
    return (velocity[0] + dx * (allowed / change), velocity[1] + dy * (allowed / change))


def _bump(
    arena: Arena,
    place: Point,
    velocity: Point,
    number: int,
    other: Body,
    knocks: dict[int, Point],
) -> tuple[Point, Point]:
    """Equal masses, fully elastic: the parts of the velocities along the line exchange places.

    The mover is put back to where the two touch.
    """
    apart = distance(place, other.place)
    nx, ny = (1.0, 0.0)
    if apart > 0:
        nx, ny = (place[0] - other.x) / apart, (place[1] - other.y) / apart
    back = (other.x + nx * 2 * RADIUS, other.y + ny * 2 * RADIUS)
    knocked = knocks.get(number, (0.0, 0.0))
    relative = (velocity[0] - other.vx - knocked[0], velocity[1] - other.vy - knocked[1])
    approach = relative[0] * nx + relative[1] * ny
    if approach < 0:
        velocity = (velocity[0] - approach * nx, velocity[1] - approach * ny)
        knocks[number] = (knocked[0] + approach * nx, knocked[1] + approach * ny)
    place, _, _ = stopped(arena, place, back)
    return place, velocity
