"""Movements with known answers, and strategies that draw them with known faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from epic_cli import Packet, Sample, Status
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

Movement = Callable[[float], tuple[float, float, float]]


def straight(t: float) -> tuple[float, float, float]:
    return 8.0 * t, 3.0 - 2.0 * t, 1.0


def circle(t: float) -> tuple[float, float, float]:
    return 5 * math.cos(t), 5 * math.sin(t), 0.0


def velocity(movement: Movement, t: float) -> tuple[float, float, float]:
    h = 1e-6
    x, y, z = ((b - a) / (2 * h) for a, b in zip(movement(t - h), movement(t + h), strict=True))
    return x, y, z


def packets(
    movement: Movement,
    duration: float = 10.0,
    rate: float = 20.0,
    latency: float | None = 0.0,
    entity: str = "",
) -> list[Packet]:
    return [
        Packet(
            movement(k / rate),
            velocity(movement, k / rate),
            k / rate,
            None if latency is None else k / rate + latency,
            entity,
        )
        for k in range(round(duration * rate) + 1)
    ]


def block(items: Iterable[Packet]) -> PacketBlock:
    made = PacketBlock(Entities())
    for packet in items:
        made.append(packet)
    return made


def unpack(packets: PacketBlock) -> list[Packet]:
    """Return the packets of a block."""
    return [packets[index] for index in range(len(packets))]


def alter(packets: PacketBlock, change: Callable[[Packet], Packet | None]) -> PacketBlock:
    """Return a block of the changed packets; those of which None is made are left out."""
    return block(filter(None, map(change, unpack(packets))))


def send(
    path: str, rate: float, seed: int, seconds: float, conditions: LinkConditions
) -> PacketBlock:
    """Return what comes over a link of an entity on one of the usual paths."""
    movement, link = PathMovement(PATHS[path](5.0, 5.0, seed)), Link(conditions, seed=seed)
    return block(simulate(movement, send_rate=rate, duration=seconds, channel=link))


class Heedless:
    """A base of strategies that take every packet, and draw the same regardless of it."""

    def reset(self) -> None:
        """Do nothing."""

    def update(self, packet: Packet, now: float) -> bool:
        del packet, now
        return True


class Exact(Heedless):
    """A strategy that draws a movement exactly, ``delay`` seconds late, or with one of a few
    faults.
    """

    movement: Movement = staticmethod(circle)
    delay = 0.0
    offset = (0.0, 0.0, 0.0)

    def where(self, at: float) -> tuple[float, float, float]:
        x, y, z = type(self).movement(at - self.delay)
        return x + self.offset[0], y + self.offset[1], z + self.offset[2]

    def status(self, at: float) -> Status:
        del at
        return "interpolated"

    def read(self, at: float) -> Sample:
        return Sample(at, self.where(at), (0.0, 0.0, 0.0), self.status(at))


class Late(Exact):
    delay = 0.1


class Aside(Exact):
    offset = (0.0, 0.0, 0.75)


class Jumping(Exact):
    """A drawing that is two units aside between 5 and 6 s: two jumps."""

    def where(self, at: float) -> tuple[float, float, float]:
        x, y, z = super().where(at)
        return x, y, z + (2.0 if 4.999 < at < 5.999 else 0.0)


class Sleepy(Exact):
    """A drawing: nothing for 2 s, held for the next 2 s, extrapolated from 8 s on."""

    def status(self, at: float) -> Status:
        if at < 1.999:
            return "none"
        return "held" if at < 3.999 else "extrapolated" if at > 7.999 else "interpolated"


class Raising(Exact):
    def read(self, at: float) -> Sample:
        if at > 3:
            raise ZeroDivisionError("the strategy's own fault")
        return super().read(at)


class Nothing(Exact):
    def status(self, at: float) -> Status:
        del at
        return "none"
