"""The game itself, which server and clients share: times, rules, moves and events.

Floating-point seconds that are summed step by step drift apart on two machines that sum in
different steps. So the simulation, the event queue and the packets count microseconds, under names
that end in ``_us``; everything else is in seconds.

The simulation is one function. Nothing in it is random or depends on the machine: IEEE 754 rounds
``+``, ``-``, ``*``, ``/`` and ``sqrt`` in one way only, so a client that runs the same moves as the
server gets the same bits.

Source of the moves: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, listings 8.1
and 8.2.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.link import sine_cosine
from epic_cli.engine.strategies.parts import WeightedTimedAverage

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation


SECOND_US = 1_000_000


def convert_to_us(seconds: float) -> int:
    """Convert seconds to the nearest whole number of microseconds."""
    return round(seconds * SECOND_US)


def convert_to_seconds(time_us: int) -> float:
    """Convert microseconds to seconds; ``convert_to_us`` converts them back exactly."""
    return time_us / SECOND_US


class MachineClock:
    """A clock that shows ``offset`` (seconds) at the match's time 0 and runs at ``rate``.

    The machine is switched on at the match's time ``start_us``; its timers count from there.
    """

    def __init__(self, offset: float, rate: float, start_us: int) -> None:
        self._offset = offset
        self._rate = rate
        self._start_us = start_us
        self.start_us = self.read(start_us)

    def read(self, match_us: int) -> int:
        """Return the time that the clock shows at a time of the match; both in microseconds."""
        return round(self._offset * SECOND_US + match_us * self._rate)

    def compute_match_time(self, local_us: int) -> int:
        """Return the match's time at which a timer set to this clock's ``local_us`` fires."""
        return self._start_us + round((local_us - self.start_us) / self._rate)


class FixedStepLoop:
    """A loop that takes steps of fixed length, however often it is called.

        while loop.advance(now_us):
            simulate_one_step()

    The n-th step is due at ``first_us + n * step_us``, rounded to a microsecond once, so a step
    of 1/60 s does not drift. ``time_us`` is the time of the step taken last.

    Source: "Multiplayer Platformer Log #5 - Entity Interpolation", Synchronizing Client Update
    Loop. The log takes a step as soon as more than its length has passed; here a step is due when
    exactly that has passed, since a simulated clock shows such times.

    Raises ``ValueError`` for a step of no length.
    """

    def __init__(self, step_us: Fraction | int, first_us: int) -> None:
        self.time_us = first_us
        self.due_us = first_us
        self.change_step(step_us)

    def change_step(self, step_us: Fraction | int) -> None:
        """Change the step's length; the step that is due keeps its time.

        Raise ``ValueError`` for a step of no length.
        """
        if not step_us > 0:
            raise ValueError("a step must be longer than 0 s")
        self._step_us = step_us
        self._first_us = self.due_us
        self._taken = 0

    def advance(self, now_us: int) -> bool:
        """Take a step if one is due at this time of the machine's clock; return True if so."""
        if now_us < self.due_us:
            return False
        self.time_us = self.due_us
        self._taken += 1
        self.due_us = self._first_us + round(self._taken * self._step_us)
        return True


#: The duration of the average, in seconds.
DURATION = 1.0


class RoundTrip:
    """The running average of the round trip, as in *Multiplayer Game Programming*.

    It begins with the first measurement.
    """

    def __init__(self) -> None:
        self.count = 0
        self._average: WeightedTimedAverage | None = None

    @property
    def estimate(self) -> float:
        """The average round trip in seconds; 0 before the first measurement."""
        return self._average.value if self._average else 0.0

    def add(self, measured: float, now: float) -> None:
        """Add a round trip that ended at the time ``now``; both in seconds."""
        self.count += 1
        if self._average is None:
            self._average = WeightedTimedAverage(DURATION, now - DURATION)
        self._average.add(measured, now)


Point = tuple[float, float]

#: The radius of a player, who is a circle to rays and players, and a square to walls.
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


def stop_at_walls(arena: Arena, before: Point, after: Point) -> tuple[Point, bool, bool]:
    """Return where a move from ``before`` to ``after`` ends, and whether walls stopped x and y.

    Each axis is stopped by itself, so that a player slides along a wall. A step is shorter than a
    wall is thick, so no player passes through one.
    """
    x, stopped_x = _stop_along_axis(after[0], arena.width, before[0], before[1], arena.blocks, 0)
    y, stopped_y = _stop_along_axis(after[1], arena.height, before[1], x, arena.blocks, 1)
    return (x, y), stopped_x, stopped_y


def _stop_along_axis(
    wanted: float, end: float, before: float, across: float, blocks: tuple[Block, ...], axis: int
) -> tuple[float, bool]:
    reached = min(max(wanted, RADIUS), end - RADIUS)
    for block in blocks:
        low, high = block[axis] - RADIUS, block[axis + 2] + RADIUS
        side_low, side_high = block[1 - axis] - RADIUS, block[3 - axis] + RADIUS
        if side_low < across < side_high and low < reached < high:
            reached = low if before <= (low + high) / 2 else high
    return reached, reached != wanted


def normalize_vector(vector: Point) -> Point:
    """Return the vector of length 1 in this direction; (1, 0) for the zero vector."""
    length = math.sqrt(vector[0] * vector[0] + vector[1] * vector[1])
    if length == 0:
        return (1.0, 0.0)
    return (vector[0] / length, vector[1] / length)


def measure_distance(one: Point, other: Point) -> float:
    """Return the distance between two points."""
    dx, dy = one[0] - other[0], one[1] - other[1]
    return math.sqrt(dx * dx + dy * dy)


def measure_ray_to_wall(arena: Arena, origin: Point, aim: Point) -> float:
    """Return the length of a ray until it meets a wall; ``aim`` has the length 1.

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


def measure_ray_to_player(origin: Point, aim: Point, player: Point) -> float | None:
    """Return the length of a ray until it meets a player; None if it misses him."""
    dx, dy = player[0] - origin[0], player[1] - origin[1]
    along = dx * aim[0] + dy * aim[1]
    across = dx * aim[1] - dy * aim[0]
    square = RADIUS * RADIUS - across * across
    if along < 0 or square < 0:
        return None
    return max(along - math.sqrt(square), 0.0)


def find_first_hit(
    arena: Arena, origin: Point, aim: Point, players: Mapping[int, Point], reach: float = math.inf
) -> int | None:
    """Return the player whom a ray meets first.

    None if a wall or the ray's end (``reach``) is nearer.
    """
    nearest = min(measure_ray_to_wall(arena, origin, aim), reach)
    hit = None
    for number, player in players.items():
        met = measure_ray_to_player(origin, aim, player)
        if met is not None and met <= nearest:
            hit, nearest = number, met
    return hit


def is_visible(arena: Arena, origin: Point, target: Point) -> bool:
    """Return True if no wall stands between two points."""
    aim = normalize_vector((target[0] - origin[0], target[1] - origin[1]))
    return measure_ray_to_wall(arena, origin, aim) >= measure_distance(origin, target)


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


#: A full turn; headings are whole numbers, as in Quake, to be the same on every machine.
TURN = 65_536

#: Headings by the direction of the arrows.
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
    """Kinds of weapons: none, a shot that hits at once, or a thrown ball that flies."""

    NONE = 0
    SHOT = 1
    THROW = 2


class Control(NamedTuple):
    """The input of a player during one move: direction, trigger, aim."""

    x: int = 0
    y: int = 0
    weapon: Weapon = Weapon.NONE
    aim: Point = (1.0, 0.0)


class Body(NamedTuple):
    """A player's state in the simulation, with the times left to reload and to recover.

    ``heading`` is the direction in which he looks, in 65,536ths of a turn from x to y.
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
        """The position of the player (x, y)."""
        return (self.x, self.y)

    @property
    def rotation(self) -> Rotation:
        """The heading as a quaternion."""
        angle = (self.heading + TURN // 2) % TURN - TURN // 2
        sine, cosine = sine_cosine(angle / (2 * TURN))
        return (0.0, 0.0, sine, cosine)


class MoveResult(NamedTuple):
    """The result of a move: the player's state, the fired weapon, and knocks to other players.

    ``refused`` is the reason why a trigger did nothing. ``knocks`` are changes of velocity by
    player.
    """

    body: Body
    weapon: Weapon
    refused: str
    knocks: dict[int, Point]


class Rules(NamedTuple):
    """The rules of the game that both sides must share: the arena, and the longest step (s)."""

    arena: Arena = DEFAULT_ARENA
    step: float = STEP

    @property
    def step_us(self) -> int:
        """The longest step of the simulation, in whole microseconds."""
        return convert_to_us(self.step)

    def simulate(
        self,
        body: Body,
        control: Control,
        duration_us: int,
        others: Mapping[int, Body] | None = None,
    ) -> MoveResult:
        """Simulate a move of this duration, in steps no longer than ``step``.

        ``others`` are the players whom the body can bump into. Only the server knows where they
        are: a client leaves them out, and is corrected after a bump.
        """
        knocks: dict[int, Point] = {}
        left_us, longest_us = duration_us, self.step_us
        while left_us > 0:
            step_us = min(left_us, longest_us)
            body = _step_body(self.arena, body, control, step_us, others or {}, knocks)
            left_us -= longest_us
        weapon, refused = control.weapon, ""
        if weapon and (body.stun_us or body.reload_us):
            weapon, refused = Weapon.NONE, "stunned" if body.stun_us else "reloading"
        if weapon:
            reload_us = RELOAD_US if weapon == Weapon.SHOT else THROW_RELOAD_US
            body = body._replace(reload_us=reload_us, heading=compute_heading(control.aim))
        return MoveResult(body, weapon, refused, knocks)


def _step_body(
    arena: Arena,
    body: Body,
    control: Control,
    step_us: int,
    others: Mapping[int, Body],
    knocks: dict[int, Point],
) -> Body:
    """Take a step of semi-implicit Euler: the velocity, then the position with that velocity."""
    seconds = convert_to_seconds(step_us)
    vx, vy = _steer_velocity((body.vx, body.vy), control, seconds)
    wanted = (body.x + vx * seconds, body.y + vy * seconds)
    position, stopped_x, stopped_y = stop_at_walls(arena, body.position, wanted)
    velocity = (0.0 if stopped_x else vx, 0.0 if stopped_y else vy)
    for number, other in others.items():
        if measure_distance(position, other.position) < 2 * RADIUS:
            position, velocity = _resolve_collision(
                arena, position, velocity, number, other, knocks
            )
    return Body(
        *position,
        *velocity,
        max(body.reload_us - step_us, 0),
        max(body.stun_us - step_us, 0),
        _turn_heading(body.heading, control, step_us),
    )


def _turn_heading(heading: int, control: Control, step_us: int) -> int:
    """Return the heading, turned the shorter way toward the input; without input it stays."""
    way = (_HEADINGS.get((control.x, control.y), heading) - heading + TURN // 2) % TURN - TURN // 2
    most = TURN_SPEED * step_us // 1_000_000
    return (heading + max(-most, min(most, way))) % TURN


def compute_heading(aim: Point) -> int:
    """Return the heading (65,536ths of a turn) of a direction.

    It is found by bisection, since atan2 differs between machines.
    """
    low = 0 if aim[1] > 0 or (aim[1] == 0 and aim[0] > 0) else TURN // 2
    high = low + TURN // 2
    while high - low > 1:
        middle = (low + high) // 2
        sine, cosine = sine_cosine(middle / TURN)
        low, high = (middle, high) if cosine * aim[1] >= sine * aim[0] else (low, middle)
    return low


def _steer_velocity(velocity: Point, control: Control, seconds: float) -> Point:
    """Return the velocity, changed toward the input by the allowed acceleration, or braked."""
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


def _resolve_collision(
    arena: Arena,
    position: Point,
    velocity: Point,
    number: int,
    other: Body,
    knocks: dict[int, Point],
) -> tuple[Point, Point]:
    """Resolve a collision of equal masses, fully elastic; return the mover's position and velocity.

    The players exchange the parts of their velocities along the line between them. The mover is put
    back to where the two touch.
    """
    apart = measure_distance(position, other.position)
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
    position, _, _ = stop_at_walls(arena, position, back)
    return position, velocity


class View(NamedTuple):
    """The snapshots between which a player was drawn, and the fraction from the older to the newer.

    ``exact``: this gives the drawn position to the last bit. Otherwise the strategy drew something
    other than a point between two snapshots, and this is the nearest such point.
    """

    older: int
    newer: int
    fraction: float
    exact: bool = True


def interpolate_points(older: Point, newer: Point, fraction: float) -> Point:
    """Interpolate two points.

    Client and server both use this function, so they get the same bits.
    """
    return (
        older[0] + (newer[0] - older[0]) * fraction,
        older[1] + (newer[1] - older[1]) * fraction,
    )


#: The number of newest moves in an input packet: two packets in a row may be lost.
MOVES_IN_PACKET = 3

#: The most moves that a client without an answer remembers.
MOST_MOVES = 600


class Move(NamedTuple):
    """An input held from ``timestamp_us - duration_us`` to ``timestamp_us`` on the client's clock.

    ``views`` tells what the player saw of each other player, where the move fires a weapon.
    """

    control: Control
    timestamp_us: int
    duration_us: int
    views: tuple[tuple[int, View], ...] = ()


class MoveList:
    """The moves not simulated yet, oldest first, and the timestamp of the newest one ever added."""

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
        """Add and return a move if it is newer than all earlier moves; otherwise return None.

        The move lasts from the timestamp before it; the very first one lasts no time. If moves
        between the two were lost, it lasts longer by theirs, though no longer than ``longest_us``.
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
        """Remove the moves up to this timestamp, which the server's state includes."""
        while self._moves and self._moves[0].timestamp_us <= timestamp_us:
            self._moves.popleft()

    def take_first(self) -> Move:
        """Remove and return the oldest move."""
        return self._moves.popleft()

    def get_first(self) -> Move | None:
        """Return the oldest move; None if there is none."""
        return self._moves[0] if self._moves else None

    def list_newest(self, count: int = MOVES_IN_PACKET) -> list[Move]:
        """Return the newest moves, oldest first."""
        return list(self._moves)[-count:]


Value = float | int | str | bool


class Event(NamedTuple):
    """An event of a match at its ``time``, on the server or on the screen of a player (``where``).

    Times are in seconds, in ``details`` too; there ``stamp`` is on the clock of the player.
    """

    time: float
    where: str
    what: str
    player: str
    details: dict[str, Value]
