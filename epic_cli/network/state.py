"""Where an entity truly is, and what can be asked where its entities are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from epic_cli.engine.contract import Vector


class State(NamedTuple):
    """Position, velocity, and how often the entity has been teleported up to now."""

    position: Vector
    velocity: Vector
    teleports: int = 0


class Snapshot(NamedTuple):
    """The states of all entities that are there at one time, by name."""

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
        """The entities that are there at ``time``."""

    def next_known(self, time: float) -> float:
        """The first time from ``time`` on at which an entity is there."""

    def recorded(self) -> Iterator[Snapshot] | None:
        """The states as they were recorded, in order of time; None: it is computed."""
