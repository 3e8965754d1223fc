"""The simulation: one function, which the server and every client run alike.

Nothing in it is random or depends on the machine: IEEE 754 rounds ``+``, ``-``, ``*``, ``/`` and
``sqrt`` in one way only, so a client that runs the same moves as the server gets the same bits.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.link import sine_cosine
from epic_cli.play.world.arena import DEFAULT_ARENA, RADIUS, Arena, Point, distance, stopped
from epic_cli.play.world.times import to_seconds, to_us

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation

#: Seconds; the platformer log's STEP_MS.
STEP = 0.033

SPEED = 8.0  # length units a second
TURN_SPEED = 131_072  # in ``TURN`` a second: twice round
ACCELERATION = 40.0
BRAKING = 60.0  # without input, or against the movement
RELOAD_US = 400_000
THROW_RELOAD_US = 800_000
STUN_US = 500_000  # whoever was hit cannot shoot for this long
THROW_SPEED = 14.0


#: A turn: headings are whole numbers, as Quake's, and so the same on every machine.
TURN = 65_536

#: Where the arrows lead.
_HEADINGS = {
    (1, 0): 0,
    (1, 1): 8_192,
    (0, 1): 16_384,
    (-1, 1): 24_576,
    (-1, 0): 32_768,
    (-1, -1): 40_960,
    (0, -1): 49_152,
    (1, -1): 57_344,
}


class Weapon(enum.IntEnum):
    """What is fired: nothing, a shot that hits at once, or something that flies there."""

    NONE = 0
    SHOT = 1
    THROW = 2


class Control(NamedTuple):
    """A player's input during one move: direction, trigger, aim."""

    x: int = 0
    y: int = 0
    weapon: Weapon = Weapon.NONE
    aim: Point = (1.0, 0.0)


class Body(NamedTuple):
    """A player as the simulation knows him, with the time until he has reloaded or recovered.

    ``heading`` is where he looks, in 65,536ths of a turn from x to y.
    """

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0
    reload_us: int = 0
    stun_us: int = 0
    heading: int = 0

    @property
    def position(self) -> Point:
        """Where he is."""
        return (self.x, self.y)

    @property
    def rotation(self) -> Rotation:
        """Where he looks, as a quaternion."""
        angle = (self.heading + TURN // 2) % TURN - TURN // 2
        sine, cosine = sine_cosine(angle / (2 * TURN))
        return (0.0, 0.0, sine, cosine)


class MoveResult(NamedTuple):
    """What came of a move: the body, the weapon that went off, and the knocks it gave others.

    ``refused`` is why a trigger did nothing. ``knocks`` are changes of velocity by player.
    """

    body: Body
    weapon: Weapon
    refused: str
    knocks: dict[int, Point]


class Rules(NamedTuple):
    """What both sides must agree on: the arena, and the longest step in seconds."""

    arena: Arena = DEFAULT_ARENA
    step: float = STEP

    @property
    def step_us(self) -> int:
        """The step in whole microseconds."""
        return to_us(self.step)

    def simulate(
        self,
        body: Body,
        control: Control,
        duration_us: int,
        others: Mapping[int, Body] | None = None,
    ) -> MoveResult:
        """Moves a body by a move of this duration, in steps no longer than ``step``.

        ``others`` are the players that he can bump into. Only the server knows where they are:
        a client leaves them out, and is corrected after a bump.
        """
        knocks: dict[int, Point] = {}
        left_us, longest_us = duration_us, self.step_us
        while left_us > 0:
            step_us = min(left_us, longest_us)
            body = _step(self.arena, body, control, step_us, others or {}, knocks)
            left_us -= longest_us
        weapon, refused = control.weapon, ""
        if weapon and (body.stun_us or body.reload_us):
            weapon, refused = Weapon.NONE, "stunned" if body.stun_us else "reloading"
        if weapon:
            reload_us = RELOAD_US if weapon == Weapon.SHOT else THROW_RELOAD_US
            body = body._replace(reload_us=reload_us, heading=heading_of(control.aim))
        return MoveResult(body, weapon, refused, knocks)


def _step(
    arena: Arena,
    body: Body,
    control: Control,
    step_us: int,
    others: Mapping[int, Body],
    knocks: dict[int, Point],
) -> Body:
    """Semi-implicit Euler: the velocity first, then the position with the new velocity."""
    seconds = to_seconds(step_us)
    vx, vy = _steered((body.vx, body.vy), control, seconds)
    wanted = (body.x + vx * seconds, body.y + vy * seconds)
    position, stopped_x, stopped_y = stopped(arena, body.position, wanted)
    velocity = (0.0 if stopped_x else vx, 0.0 if stopped_y else vy)
    for number, other in others.items():
        if distance(position, other.position) < 2 * RADIUS:
            position, velocity = _bump(arena, position, velocity, number, other, knocks)
    return Body(
        *position,
        *velocity,
        max(body.reload_us - step_us, 0),
        max(body.stun_us - step_us, 0),
        _turned(body.heading, control, step_us),
    )


def _turned(heading: int, control: Control, step_us: int) -> int:
    """The heading, closer to where the input leads, the shorter way; without input it stays."""
    way = (_HEADINGS.get((control.x, control.y), heading) - heading + TURN // 2) % TURN - TURN // 2
    most = TURN_SPEED * step_us // 1_000_000
    return (heading + max(-most, min(most, way))) % TURN


def heading_of(aim: Point) -> int:
    """The heading of a direction, by halving what it lies in: atan2 is not the same everywhere."""
    low = 0 if aim[1] > 0 or (aim[1] == 0 and aim[0] > 0) else TURN // 2
    high = low + TURN // 2
    while high - low > 1:
        middle = (low + high) // 2
        sine, cosine = sine_cosine(middle / TURN)
        low, high = (middle, high) if cosine * aim[1] >= sine * aim[0] else (low, middle)
    return low


def _steered(velocity: Point, control: Control, seconds: float) -> Point:
    """The velocity, closer to the wanted one by as much as is allowed; without input he brakes."""
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
    position: Point,
    velocity: Point,
    number: int,
    other: Body,
    knocks: dict[int, Point],
) -> tuple[Point, Point]:
    """Equal masses, fully elastic: the parts of the velocities along the line are exchanged.

    The mover is put back to where the two touch.
    """
    apart = distance(position, other.position)
    nx, ny = (1.0, 0.0)
    if apart > 0:
        nx, ny = (position[0] - other.x) / apart, (position[1] - other.y) / apart
    back = (other.x + nx * 2 * RADIUS, other.y + ny * 2 * RADIUS)
    knocked = knocks.get(number, (0.0, 0.0))
    relative = (velocity[0] - other.vx - knocked[0], velocity[1] - other.vy - knocked[1])
    approach = relative[0] * nx + relative[1] * ny
    if approach < 0:
        velocity = (velocity[0] - approach * nx, velocity[1] - approach * ny)
        knocks[number] = (knocked[0] + approach * nx, knocked[1] + approach * ny)
    position, _, _ = stopped(arena, position, back)
    return position, velocity
