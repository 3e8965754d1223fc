"""The true state of an entity, and the interface of movements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from epic_cli.engine.contract import Rotation, Vector


class State(NamedTuple):
    """Position, velocity, how often the entity has been teleported up to now; how it is turned.

    ``rotation`` is a quaternion x, y, z, w, ``spin`` in rad/s about the axes of the world.
    """

    position: Vector
    velocity: Vector
    teleports: int = 0
    rotation: Rotation | None = None
    spin: Vector | None = None


class Snapshot(NamedTuple):
    """The states of all entities that exist at one time, by name."""

    time: float
    states: list[tuple[str, State]]


class Movement(Protocol):
    """Entities that move, known at every time from ``start`` to ``end``."""

    @property
    def start(self) -> float:
        """The first time at which something is known, in seconds."""

    @property
    def end(self) -> float:
        """The last one; infinite for a movement that does not end."""

    def snapshot(self, time: float) -> Snapshot:
        """The entities that exist at ``time``."""

    def next_known(self, time: float) -> float:
        """The first time from ``time`` on at which an entity exists."""

    def recorded(self) -> Iterator[Snapshot] | None:
        """The recorded states, in order of time; None: the movement is computed."""
