"""How what moves on a computed path is turned: its rotation at any time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.engine.link import TURN, sine_cosine
from epic_cli.engine.parameters import Choice
from epic_cli.network.paths import PATHS, RANDOM_PATHS
from epic_cli.network.randomness import stream

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation, Vector
    from epic_cli.network.paths import Path
    from epic_cli.network.state import State

#: At any time, a rotation and how fast it turns (rad/s, about the axes of the world).
Turned = Callable[[float], "tuple[Rotation, Vector]"]

#: A heading is that of the way (s) from before to after: corners take as long.
AROUND = 0.1

#: Turns a second, about an axis that is none of the world's.
SPIN = 0.5
SPIN_AXIS = (0.36, 0.48, 0.8)

#: Entities on paths are so many sizes apart, and each a share of a turn ahead of the one before.
SPACING, GOLDEN = 3.0, 0.6180339887498949

#: A flick takes so long (s), and is held for HOLD to twice that.
FLICK, HOLD = 0.1, 0.5


def turning_path(name: str, speed: float, size: float, seed: int, turning: str) -> Path:
    """One of ``PATHS`` whose states have a rotation and a spin, one of ``TURNINGS``."""
    make = PATHS[name]
    path = make(speed, size, seed)
    if turning == "none":
        return path
    if turning == "heading":
        # paths are cheap forward in time alone: one each for before and after
        return _heading(path, make(speed, size, seed), make(speed, size, seed))
    turned = {"look": _look, "spin": _spin, "flick": _flick}[turning](seed)

    def at(time: float) -> State:
        rotation, spin = turned(time)
        return path(time)._replace(rotation=rotation, spin=spin)

    return at


def spread_path(
    index: int, side: int, name: str, speed: float, size: float, seed: int, turning: str
) -> Path:
    """The ``turning_path`` of one of many: its place in a square grid, ``side`` to a row, a phase.

    Places are SPACING sizes apart. Random paths have a seed each, the others are ahead by a share
    of the time around a circle: multiples of the golden ratio, which crowd nowhere.
    """
    path = turning_path(name, speed, size, (seed + index) % 2**64, turning)
    if not index:
        return path
    row, column = divmod(index, side)
    phase = 0.0 if name in RANDOM_PATHS else index * GOLDEN % 1 * TURN * size / speed

    def at(time: float) -> State:
        state = path(time + phase)
        x, y, z = state.position
        place = (x + column * SPACING * size, y + row * SPACING * size, z)
        return state._replace(position=place)

    return at


def _heading(path: Path, behind: Path, ahead: Path) -> Path:
    """Yaw along the movement, z up; nothing turns where it rests."""

    def at(time: float) -> State:
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

    return at


def _spin(seed: int) -> Turned:
    del seed
    x, y, z = SPIN_AXIS
    spin = x * SPIN * TURN, y * SPIN * TURN, z * SPIN * TURN

    def at(time: float) -> tuple[Rotation, Vector]:
        sine, cosine = sine_cosine(SPIN * time / 2)
        return (x * sine, y * sine, z * sine, cosine), spin

    return at


def _look(seed: int) -> Turned:
    """To the left and right, up and down, as nobody's rhythm is: sums of sines."""
    source = stream(seed, "turning/look")
    phases = [source.random() for _ in range(3)]

    def at(time: float) -> tuple[Rotation, Vector]:
        # of each its height and its slope
        slow, quick, up = (
            (sine, rate * TURN * cosine)
            for rate, phase in zip((0.23, 0.61, 0.37), phases, strict=True)
            for sine, cosine in (sine_cosine(rate * time + phase),)
        )
        yaw, yaw_rate = (slow[k] / 6 + quick[k] / 15 for k in range(2))
        return of_angles(yaw, up[0] / 18), spin_of(yaw, yaw_rate, up[1] / 18)

    return at


def _flick(seed: int) -> Turned:
    """As a mouse does it: held, and now and then another direction at once."""
    source = stream(seed, "turning/flick")
    begins, aims = [0.0], [(0.0, 0.0)]

    def at(time: float) -> tuple[Rotation, Vector]:
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
        return of_angles(yaw, pitch + pitch_way * share), spin_of(
            yaw, yaw_way * rate, pitch_way * rate
        )

    return at


def of_angles(yaw: float, pitch: float) -> Rotation:
    """About z, then about the y of what is turned; in turns."""
    (a, b), (c, d) = sine_cosine(yaw / 2), sine_cosine(pitch / 2)
    return -a * c, b * c, a * d, b * d


def spin_of(yaw: float, yaw_rate: float, pitch_rate: float) -> Vector:
    """In rad/s about the world's axes, of angles with rates in turns/s; ``yaw`` is in turns."""
    sine, cosine = sine_cosine(yaw)
    return -sine * pitch_rate * TURN, cosine * pitch_rate * TURN, yaw_rate * TURN


def smallest_three(rotation: Rotation, bits: int) -> Rotation:
    """What is left of a rotation with so many bits for each but its largest component.

    The three lie within 1/sqrt 2 of 0, in equal steps; the largest is made positive, and follows
    from the others (Fiedler, "Snapshot compression", 2015).
    """
    largest = max(range(4), key=lambda k: abs(rotation[k]))
    sign, steps = math.copysign(1.0, rotation[largest]), 2**bits - 1
    found = [0.0] * 4
    for k in range(4):
        if k != largest:
            share = (sign * rotation[k] * math.sqrt(2) + 1) / 2
            found[k] = (2 * math.floor(share * steps + 0.5) / steps - 1) / math.sqrt(2)
    found[largest] = math.sqrt(max(0.0, 1 - sum(one * one for one in found)))
    size = math.sqrt(sum(one * one for one in found))
    x, y, z, w = (one / size for one in found)
    return x, y, z, w


TURNINGS = ("none", "heading", "look", "spin", "flick")

TURNING = Choice("turning", "none", "How it turns: along its movement, looking about, spinning,"
                 " or in flicks, as a mouse does.", TURNINGS)  # fmt: skip
