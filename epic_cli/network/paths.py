"""Computed paths: position, velocity and rotation in closed form at any time.

``speed`` is in length units per second, ``size`` in length units, time in seconds from 0. At a
corner the velocity is the one after it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.link import TURN, exponential, sine_cosine
from epic_cli.engine.parameters import Choice, Number
from epic_cli.network.movement import Path, State
from epic_cli.network.randomness import make_generator

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation, Vector

GRAVITY = 9.81

_HALF_SQRT_2 = math.sqrt(0.5)


def make_straight(speed: float, size: float, seed: int) -> Path:
    """Return a path along x at constant speed; ``size`` has no effect."""
    del size, seed
    return lambda time: State((speed * time, 0.0, 0.0), (speed, 0.0, 0.0))


def make_circle(speed: float, size: float, seed: int) -> Path:
    """Return a path around the origin with radius ``size``, counterclockwise from (size, 0)."""
    del seed

    def compute_state(time: float) -> State:
        sine, cosine = sine_cosine(speed * time / (TURN * size))
        return State((size * cosine, size * sine, 0.0), (-speed * sine, speed * cosine, 0.0))

    return compute_state


def make_figure_eight(speed: float, size: float, seed: int) -> Path:
    """Return a horizontal figure eight (Gerono's lemniscate); ``speed`` is that in the middle.

    x = size sin a, y = size sin a cos a, with a = time speed / (size sqrt 2); it is 2 ``size``
    wide. The middle is its fastest point.
    """
    del seed
    turn_rate = speed * _HALF_SQRT_2 / size

    def compute_state(time: float) -> State:
        sine, cosine = sine_cosine(turn_rate * time / TURN)
        along = turn_rate * size
        return State(
            (size * sine, size * sine * cosine, 0.0),
            (along * cosine, along * (cosine * cosine - sine * sine), 0.0),
        )

    return compute_state


def make_zigzag(speed: float, size: float, seed: int) -> Path:
    """Return a path of legs of length ``size``, alternately 45 degrees left and right of x."""
    del seed
    component = speed * _HALF_SQRT_2

    def compute_state(time: float) -> State:
        leg, since = _find_piece(time, size / speed)
        left = leg % 2 == 0
        aside = component * since
        y = aside if left else size * _HALF_SQRT_2 - aside
        velocity = (component, component if left else -component, 0.0)
        return State((component * time, y, 0.0), velocity)

    return compute_state


def make_stop_and_go(speed: float, size: float, seed: int) -> Path:
    """Return a path that runs ``size`` along x, rests for as long, and repeats; it stops dead."""
    del seed

    def compute_state(time: float) -> State:
        piece, since = _find_piece(time, size / speed)
        gone = (piece + 1) // 2 * size
        if piece % 2:
            return State((gone, 0.0, 0.0), (0.0, 0.0, 0.0))
        return State((gone + speed * since, 0.0, 0.0), (speed, 0.0, 0.0))

    return compute_state


def make_jump(speed: float, size: float, seed: int) -> Path:
    """Return a run along x with jumps of height ``size`` (z up, gravity 9.81 units/s^2).

    Each jump follows a run of the same duration. The take-off speed is sqrt(2 g size).
    """
    del seed
    take_off = math.sqrt(2 * GRAVITY * size)
    flight = 2 * take_off / GRAVITY

    def compute_state(time: float) -> State:
        piece, since = _find_piece(time, flight)
        z = vz = 0.0
        if piece % 2:
            z = since * (take_off - GRAVITY / 2 * since)
            vz = take_off - GRAVITY * since
        return State((speed * time, 0.0, z), (speed, 0.0, vz))

    return compute_state


def _find_piece(time: float, length: float) -> tuple[int, float]:
    """Return the index of the piece that contains ``time``, and the time since its beginning.

    A time within rounding of a piece's end is in the next piece.
    """
    number = math.floor(time / length + 1e-9)
    return number, max(time - number * length, 0.0)


#: x and y.
_Plane = tuple[float, float]


class _PathPiece(NamedTuple):
    """A piece of a random path, with the target velocity ``wish`` until ``end``.

    ``teleports`` counts the teleports so far.
    """

    start: float
    end: float
    position: _Plane
    velocity: _Plane
    wish: _Plane
    teleports: int = 0


class _RandomPath(ABC):
    """A path of random pieces; subclasses define the motion in a piece and the next piece."""

    purpose = ""

    def __init__(self, speed: float, size: float, seed: int) -> None:
        self.speed = speed
        self.size = size
        self._seed = seed
        self._source = make_generator(seed, self.purpose)
        self._piece = self.make_first_piece(self._source)

    def __call__(self, time: float) -> State:
        """Return the state at ``time`` (seconds, from 0)."""
        if time < self._piece.start:
            self._source = make_generator(self._seed, self.purpose)
            self._piece = self.make_first_piece(self._source)
        while time >= self._piece.end:
            self._piece = self.make_next_piece(self._piece, self._source)
        (x, y), (vx, vy) = self.compute_within(self._piece, time - self._piece.start)
        return State((x, y, 0.0), (vx, vy, 0.0), self._piece.teleports)

    @abstractmethod
    def make_first_piece(self, source: Random) -> _PathPiece:
        """Return the first piece, at time 0."""

    @abstractmethod
    def make_next_piece(self, piece: _PathPiece, source: Random) -> _PathPiece:
        """Return the piece that follows ``piece``."""

    @abstractmethod
    def compute_within(self, piece: _PathPiece, since: float) -> tuple[_Plane, _Plane]:
        """Return position and velocity ``since`` seconds into a piece."""


class Strafe(_RandomPath):
    """A strafing player: eight directions or none, for 0.2 to 1.2 s each.

    Acceleration and friction in one: dv/dt = (wish - v) / 0.15 s, hence v = wish + (v0 - wish)
    exp(-t / 0.15). The player turns back when further than ``size`` from the origin.
    """

    purpose = "path/strafe"
    RESPONSE = 0.15  # seconds to make up for 63 % of the difference

    def make_first_piece(self, source: Random) -> _PathPiece:
        """Return a piece that starts at rest at the origin, in a random direction."""
        rest = (0.0, 0.0)
        return self.make_next_piece(_PathPiece(0.0, 0.0, rest, rest, rest), source)

    def make_next_piece(self, piece: _PathPiece, source: Random) -> _PathPiece:
        """Return a piece in another direction.

        One time in nine it has no direction, as without keys.
        """
        position, velocity = self.compute_within(piece, piece.end - piece.start)
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
        return _PathPiece(piece.end, piece.end + hold, position, velocity, wish)

    def compute_within(self, piece: _PathPiece, since: float) -> tuple[_Plane, _Plane]:
        """Return position and velocity ``since`` seconds into a piece, by the closed form."""
        left = exponential(-since / self.RESPONSE)
        moved = self.RESPONSE * (1 - left)
        (x, y), (vx, vy), (wish_x, wish_y) = piece.position, piece.velocity, piece.wish
        dx, dy = vx - wish_x, vy - wish_y
        position = (x + wish_x * since + dx * moved, y + wish_y * since + dy * moved)
        return position, (wish_x + dx * left, wish_y + dy * left)


class Teleporting(_RandomPath):
    """A player who walks straight for 1 to 3 s, then teleports to within ``size`` of the origin."""

    purpose = "path/teleport"

    def make_first_piece(self, source: Random) -> _PathPiece:
        """Return a walk that starts at the origin."""
        return self._make_walk(source, 0.0, (0.0, 0.0), 0)

    def make_next_piece(self, piece: _PathPiece, source: Random) -> _PathPiece:
        """Return a walk that starts at a random place, in a random direction."""
        x, y = 2 * source.random() - 1, 2 * source.random() - 1
        place = (self.size * x, self.size * y)
        return self._make_walk(source, piece.end, place, piece.teleports + 1)

    def _make_walk(self, source: Random, start: float, place: _Plane, teleports: int) -> _PathPiece:
        sine, cosine = sine_cosine(source.random())
        end = start + 1 + 2 * source.random()
        velocity = (self.speed * cosine, self.speed * sine)
        return _PathPiece(start, end, place, velocity, velocity, teleports)

    def compute_within(self, piece: _PathPiece, since: float) -> tuple[_Plane, _Plane]:
        """Return position and velocity on a straight line."""
        (x, y), (vx, vy) = piece.position, piece.velocity
        return (x + vx * since, y + vy * since), piece.velocity


#: Makers of paths, by name; each takes a speed, a size and a seed.
PATHS: dict[str, Callable[[float, float, int], Path]] = {
    "straight": make_straight,
    "circle": make_circle,
    "figure-eight": make_figure_eight,
    "zigzag": make_zigzag,
    "stop-and-go": make_stop_and_go,
    "jump": make_jump,
    "strafe": Strafe,
    "teleport": Teleporting,
}

#: Names of paths that depend on the seed.
RANDOM_PATHS = tuple(name for name, make in PATHS.items() if isinstance(make, type))

#: The keys of one entity on a path.
PATH = (
    Choice(
        "path", "circle", "Path of an entity; strafe and teleport depend on --seed.", PATHS
    ),
    Number("speed", 5.0, "Speed; on the figure-eight its top speed.", "units/s",
           1e-6, 1e6, tune=(0.1, 50), scale="log"),
    Number("size", 5.0, "Size of the path: a radius, the length of a leg, the height of a jump.",
           "units", 1e-3, 1e6, tune=(0.5, 50), scale="log"),
)  # fmt: skip


#: A rotation and its spin (rad/s, about the world's axes) at a time (s).
Turned = Callable[[float], "tuple[Rotation, Vector]"]

#: A heading is averaged over this time (s) before and after, so corners take as long.
AROUND = 0.1

#: Turns a second, about an axis that is not one of the world's.
SPIN = 0.5
SPIN_AXIS = (0.36, 0.48, 0.8)

#: Spacing of entities in sizes, and the fraction of a turn that each is ahead of the one before.
SPACING, GOLDEN = 3.0, 0.6180339887498949

#: Duration of a flick (s); the rest after it lasts HOLD to twice HOLD.
FLICK, HOLD = 0.1, 0.5


def make_turning_path(name: str, speed: float, size: float, seed: int, turning: str) -> Path:
    """Return the path ``name`` of ``PATHS`` with rotations and spins by ``turning``.

    ``turning`` is one of ``TURNINGS``.
    """
    make = PATHS[name]
    path = make(speed, size, seed)
    if turning == "none":
        return path
    if turning == "heading":
        # paths are cheap forward in time alone: one each for before and after
        return _face_movement(path, make(speed, size, seed), make(speed, size, seed))
    turned = {"look": _look_around, "spin": _spin_steadily, "flick": _flick_view}[turning](seed)

    def compute_state(time: float) -> State:
        rotation, spin = turned(time)
        return path(time)._replace(rotation=rotation, spin=spin)

    return compute_state


def make_spread_path(
    index: int, side: int, name: str, speed: float, size: float, seed: int, turning: str
) -> Path:
    """Return the path of entity ``index``, placed in a square grid with ``side`` places to a row.

    Places are ``SPACING`` sizes apart. Random paths have a seed each; other paths are ahead by a
    phase, multiples of the golden ratio, which spread evenly.
    """
    path = make_turning_path(name, speed, size, (seed + index) % 2**64, turning)
    if not index:
        return path
    row, column = divmod(index, side)
    phase = 0.0 if name in RANDOM_PATHS else index * GOLDEN % 1 * TURN * size / speed

    def compute_state(time: float) -> State:
        state = path(time + phase)
        x, y, z = state.position
        place = (x + column * SPACING * size, y + row * SPACING * size, z)
        return state._replace(position=place)

    return compute_state


def _face_movement(path: Path, behind: Path, ahead: Path) -> Path:
    """Return a path with a yaw in the direction of movement, z up.

    An entity at rest does not turn.
    """

    def compute_state(time: float) -> State:
        state, first, last = path(time), behind(max(time - AROUND, 0.0)), ahead(time + AROUND)
        if first.teleports != state.teleports:
            first = state
        if last.teleports != state.teleports:
            last = state
        x, y = (last.position[k] - first.position[k] for k in range(2))
        vx, vy = (last.velocity[k] - first.velocity[k] for k in range(2))
        length, spin = math.sqrt(x * x + y * y), 0.0
        if length > 1e-9:
            spin = (x * vy - y * vx) / (length * length)
        else:
            (x, y, _), length = state.velocity, math.hypot(*state.velocity[:2])
        cosine = x / length if length > 1e-9 else 1.0
        w, z = math.sqrt(max(0.0, 1 + cosine) / 2), math.sqrt(max(0.0, 1 - cosine) / 2)
        rotation = (0.0, 0.0, math.copysign(z, y), w)
        return state._replace(rotation=rotation, spin=(0.0, 0.0, spin))

    return compute_state


def _spin_steadily(seed: int) -> Turned:
    del seed
    x, y, z = SPIN_AXIS
    spin = x * SPIN * TURN, y * SPIN * TURN, z * SPIN * TURN

    def compute_state(time: float) -> tuple[Rotation, Vector]:
        sine, cosine = sine_cosine(SPIN * time / 2)
        return (x * sine, y * sine, z * sine, cosine), spin

    return compute_state


def _look_around(seed: int) -> Turned:
    """Return a function for a view that turns left and right, up and down.

    The angles are sums of sines without a common period.
    """
    source = make_generator(seed, "turning/look")
    phases = [source.random() for _ in range(3)]

    def compute_state(time: float) -> tuple[Rotation, Vector]:
        # of each its height and its slope
        slow, quick, up = (
            (sine, rate * TURN * cosine)
            for rate, phase in zip((0.23, 0.61, 0.37), phases, strict=True)
            for sine, cosine in (sine_cosine(rate * time + phase),)
        )
        yaw, yaw_rate = (slow[k] / 6 + quick[k] / 15 for k in range(2))
        return make_rotation(yaw, up[0] / 18), make_spin(yaw, yaw_rate, up[1] / 18)

    return compute_state


def _flick_view(seed: int) -> Turned:
    """Return a function for a view that rests for a while, then turns quickly, as with a mouse."""
    source = make_generator(seed, "turning/flick")
    begins, aims = [0.0], [(0.0, 0.0)]

    def compute_state(time: float) -> tuple[Rotation, Vector]:
        while begins[-1] <= time:
            begins.append(begins[-1] + FLICK + HOLD * (1 + source.random()))
            yaw = aims[-1][0] + (2 * source.random() - 1) / 3
            aims.append((yaw, (2 * source.random() - 1) / 12))
        place = bisect_right(begins, time) - 1
        share = min((time - begins[place]) / FLICK, 1.0) if place else 0.0
        rate = 6 * share * (1 - share) / FLICK
        share *= share * (3 - 2 * share)
        (yaw, pitch), after = aims[max(place - 1, 0)], aims[place]
        yaw_way, pitch_way = after[0] - yaw, after[1] - pitch
        yaw += yaw_way * share
        return make_rotation(yaw, pitch + pitch_way * share), make_spin(
            yaw, yaw_way * rate, pitch_way * rate
        )

    return compute_state


def make_rotation(yaw: float, pitch: float) -> Rotation:
    """Return the rotation by ``yaw`` about z, then ``pitch`` about the turned y (both in turns)."""
    (a, b), (c, d) = sine_cosine(yaw / 2), sine_cosine(pitch / 2)
    return -a * c, b * c, a * d, b * d


def make_spin(yaw: float, yaw_rate: float, pitch_rate: float) -> Vector:
    """Return the angular velocity (rad/s, about the world's axes) of a yaw and its rates.

    ``yaw`` is in turns, ``yaw_rate`` and ``pitch_rate`` are in turns/s.
    """
    sine, cosine = sine_cosine(yaw)
    return -sine * pitch_rate * TURN, cosine * pitch_rate * TURN, yaw_rate * TURN


TURNINGS = ("none", "heading", "look", "spin", "flick")

TURNING = Choice("turning", "none", "Turning: along the movement, looking about, spinning, or in"
                 " flicks, as by a mouse.", TURNINGS)  # fmt: skip
