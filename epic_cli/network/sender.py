"""The sender: when it samples the movement, and how it puts states into packets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from epic_cli.engine.contract import Packet, Vector
from epic_cli.engine.link.transit import rounded
from epic_cli.network.state import Movement, Snapshot, State

#: Numbers in packets are rounded to this many decimals: micrometres, microseconds.
DECIMALS = 6


def sample(
    movement: Movement, rate: float | Fraction | None, duration: float = math.inf
) -> Iterator[Snapshot]:
    """Samples a movement ``rate`` times a second, from its start, for ``duration`` seconds.

    The n-th time is start + n/rate. Without a rate, a recorded movement is taken as it stands.
    Raises ``ValueError`` where there is nothing recorded to take, or a rate is not above 0.
    """
    end = min(movement.end, movement.start + duration)
    if rate is None:
        recorded = movement.recorded()
        if recorded is None:
            raise ValueError("a computed path has no rate of its own: give one")
        for snapshot in recorded:
            if snapshot.time > end:
                return
            yield snapshot
        return
    if rate <= 0:
        raise ValueError(f"the send rate is {rate}: it must be above 0")
    per, each = Fraction(rate).as_integer_ratio()
    number = 0
    while (time := movement.start + number * each / per) <= end:
        snapshot = movement.snapshot(time)
        if snapshot.states:
            yield snapshot
            number += 1
            continue
        known = movement.next_known(time)  # a gap may be long: skip the times in it
        if known > end:
            return
        number = max(number + 1, math.ceil((known - movement.start) * per / each - 1e-6))


@dataclass(frozen=True)
class SenderClock:
    """The sender's clock: what it shows at a time of the receiver's clock.

    It is ``offset`` seconds ahead at time 0, and runs ``drift`` millionths (ppm) too fast.
    """

    offset: float = 0.0
    drift: float = 0.0

    def read(self, time: float) -> float:
        """What it shows at ``time``."""
        return time + (self.offset + self.drift * 1e-6 * time)


@dataclass(frozen=True)
class Quantization:
    """What positions (length units) and velocities (units/s) are rounded to; 0: exact."""

    position: float = 0.0
    velocity: float = 0.0

    def apply(self, state: State) -> State:
        """The state as the receiver will read it."""
        return State(
            _quantized(state.position, self.position),
            _quantized(state.velocity, self.velocity),
            state.teleports,
        )


def _quantized(vector: Vector, step: float) -> Vector:
    if step:
        x, y, z = (math.floor(value / step + 0.5) * step for value in vector)
        vector = (x, y, z)
    return rounded(vector)


@dataclass
class Sender:
    """Puts states into packets: timestamps, rounding, repeats and the marks of teleports.

    ``repeats``: how often the last state is sent again when an entity does not move, before the
    sender falls silent about it; None: as long as it lasts. A packet is marked as a teleport
    when there was one since the entity's last packet. All numbers are rounded to 1e-6.
    """

    clock: SenderClock = field(default_factory=SenderClock)
    quantization: Quantization = field(default_factory=Quantization)
    repeats: int | None = None
    _last: dict[str, State] = field(default_factory=dict)
    _repeated: dict[str, int] = field(default_factory=dict)

    def packets(self, snapshot: Snapshot) -> Iterator[Packet]:
        """The packets for one sample of the movement, without sequence numbers and arrivals."""
        sent = round(self.clock.read(snapshot.time), DECIMALS)
        for entity, truth in snapshot.states:
            state = self.quantization.apply(truth)
            last = self._last.get(entity)
            if self.repeats is not None:
                count = self._repeated.get(entity, 0) + 1 if state == last else 0
                self._repeated[entity] = min(count, self.repeats + 1)
                if count > self.repeats:
                    continue
            self._last[entity] = state
            teleport = last is not None and last.teleports != state.teleports
            yield Packet(state.position, state.velocity, sent, entity=entity, teleport=teleport)
