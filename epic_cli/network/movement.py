"""Movements to send: entities on computed paths, or recorded entities."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from epic_cli.engine.contract import Rotation, Vector
from epic_cli.engine.measure import interpolate_motion
from epic_cli.engine.packets import turn_between


class State(NamedTuple):
    """An entity's position, velocity, count of teleports so far, rotation and spin.

    ``rotation`` is a quaternion x, y, z, w; ``spin`` is in rad/s about the world's axes.
    """

    position: Vector
    velocity: Vector
    teleports: int = 0
    rotation: Rotation | None = None
    spin: Vector | None = None


#: The state at any time (seconds, from 0).
Path = Callable[[float], State]


class Snapshot(NamedTuple):
    """The states of all entities that exist at one time, by name."""

    time: float
    states: list[tuple[str, State]]


class Movement(Protocol):
    """Moving entities whose states are known at every time from ``start`` to ``end``."""

    @property
    def start(self) -> float:
        """The first known time, s."""

    @property
    def end(self) -> float:
        """The last known time, s; infinite for an endless movement."""

    def take_snapshot(self, time: float) -> Snapshot:
        """Return the states of the entities that exist at ``time``."""

    def find_next_known(self, time: float) -> float:
        """Return the first time from ``time`` on at which an entity exists."""

    def iterate_recorded(self) -> Iterator[Snapshot] | None:
        """Return an iterator over the recorded states in order of time.

        None for a computed movement.
        """


class PathMovement:
    """Entities on endless computed paths from time 0 on: one main path, and ``others`` by name."""

    start = 0.0
    end = math.inf

    def __init__(self, path: Path, entity: str = "", *others: tuple[str, Path]) -> None:
        self._paths = ((entity, path), *others)

    @property
    def turns(self) -> bool:
        """True if the entities have rotations."""
        return self._paths[0][1](self.start).rotation is not None

    def take_snapshot(self, time: float) -> Snapshot:
        """Return the states of the entities at ``time``."""
        return Snapshot(time, [(entity, path(time)) for entity, path in self._paths])

    def find_next_known(self, time: float) -> float:
        """Return ``time``: a path has no gaps."""
        return time

    def iterate_recorded(self) -> None:
        """Return None: a computed path has no recorded states."""


class Track:
    """The recorded states of one entity, and its interpolated movement between them.

    Between two states the entity follows the cubic Hermite curve through their positions and
    velocities, and the rotation's curve through rotations and spins (slerp where spins are
    missing). After a break (``breaks``, see ``add``) the track restarts: before a teleport the
    entity stays at its last state, with that velocity; in a gap longer than ``max_gap`` seconds it
    does not exist. Times are in seconds and rise.
    """

    def __init__(self, max_gap: float) -> None:
        self.max_gap = max_gap
        self.times = array("d")
        self._numbers = array("d")  # x, y, z, vx, vy, vz of each state
        self._teleports = array("l")
        self._turns = array("d")  # rotation and spin, NaN where unknown; empty: none is known

    def __len__(self) -> int:
        return len(self.times)

    @property
    def turns(self) -> bool:
        """True if the entity has rotations."""
        return bool(self._turns)

    def add(
        self,
        time: float,
        position: Vector,
        velocity: Vector,
        breaks: bool,
        rotation: Rotation | None = None,
        spin: Vector | None = None,
    ) -> None:
        """Append a recorded state; with ``breaks`` it is not connected to the state before."""
        count = self._teleports[-1] if self._teleports else 0
        self.times.append(time)
        self._numbers.extend(position + velocity)
        self._teleports.append(count + breaks)
        if rotation is not None or self._turns:
            missing = 7 * (len(self.times) - 1) - len(self._turns)
            self._turns.extend([math.nan] * missing)
            self._turns.extend(rotation or [math.nan] * 4)
            self._turns.extend(spin or [math.nan] * 3)

    def get_state(self, index: int) -> State:
        """Return the recorded state at this index."""
        x, y, z, vx, vy, vz = self._numbers[6 * index : 6 * index + 6]
        found = State((x, y, z), (vx, vy, vz), self._teleports[index])
        if not self._turns:
            return found
        a, b, c, d, wx, wy, wz = self._turns[7 * index : 7 * index + 7]
        if math.isnan(a):
            return found
        return found._replace(rotation=(a, b, c, d), spin=None if math.isnan(wx) else (wx, wy, wz))

    def interpolate(self, time: float) -> State | None:
        """Return the entity's state at ``time``; None if it does not exist then."""
        index = bisect_right(self.times, time) - 1
        if index < 0:
            return None
        before = self.get_state(index)
        since = time - self.times[index]
        if since == 0 or index + 1 == len(self.times):
            return None if since else before
        step = self.times[index + 1] - self.times[index]
        after = self.get_state(index + 1)
        if step > self.max_gap:
            return None
        if after.teleports != before.teleports:
            return before
        motion = interpolate_motion(before[:2], after[:2], step, since / step)
        rotation, spin = before.rotation, None
        if rotation is not None and after.rotation is not None:
            ends = (rotation, before.spin), (after.rotation, after.spin)
            rotation, spin = turn_between(*ends, step, since / step)
        return State(*motion, before.teleports, rotation, before.spin and spin)

    def find_next_known(self, time: float) -> float:
        """Return the first time from ``time`` on at which the entity exists.

        Infinite if it does not exist later.
        """
        if self.interpolate(time) is not None:
            return time
        index = bisect_right(self.times, time)
        return self.times[index] if index < len(self.times) else math.inf


class RecordedMovement:
    """Recorded entities, each on its track, from the first state to the last.

    ``late`` counts the states that stood after later ones of their entity in the file, ``repeated``
    those that had the time of another.
    """

    def __init__(self, tracks: dict[str, Track], late: int = 0, repeated: int = 0) -> None:
        self.tracks = tracks
        self.late, self.repeated = late, repeated
        self.start = min(track.times[0] for track in tracks.values())
        self.end = max(track.times[-1] for track in tracks.values())
        self.turns = any(track.turns for track in tracks.values())

    def take_snapshot(self, time: float) -> Snapshot:
        """Return the states of the entities that exist at ``time``."""
        found = ((name, track.interpolate(time)) for name, track in self.tracks.items())
        return Snapshot(time, [(name, state) for name, state in found if state is not None])

    def find_next_known(self, time: float) -> float:
        """Return the first time from ``time`` on at which an entity exists."""
        return min(track.find_next_known(time) for track in self.tracks.values())

    def iterate_recorded(self) -> Iterator[Snapshot]:
        """Yield a snapshot of the recorded states at each recorded time."""
        in_order = merge(*map(self._iterate_track, self.tracks.items()), key=itemgetter(0))
        for time, group in groupby(in_order, key=itemgetter(0)):
            yield Snapshot(time, [(name, state) for _, name, state in group])

    @staticmethod
    def _iterate_track(item: tuple[str, Track]) -> Iterator[tuple[float, str, State]]:
        name, track = item
        return ((track.times[index], name, track.get_state(index)) for index in range(len(track)))
