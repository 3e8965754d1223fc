"""The sender: when it samples the movement, and how it puts states into packets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from epic_cli.engine import description
from epic_cli.engine.contract import Packet
from epic_cli.engine.link import HALF, HALF_DELTA, SenderKernel
from epic_cli.engine.parameters import Number, Parameter, Switch
from epic_cli.network.movement import Movement, Snapshot
from epic_cli.network.paths import smallest_three

#: Numbers in packets are rounded to this many decimals: micrometres, microseconds.
DECIMALS = 6


def sample(
    movement: Movement, rate: float | Fraction | None, duration: float = math.inf
) -> Iterator[Snapshot]:
    """Samples a movement ``rate`` times a second, from its start, for ``duration`` seconds.

    The n-th time is start + n/rate. Without a rate, a recorded movement is sent state by state.
    Raises ``ValueError`` for a computed movement without a rate, or a rate not above 0.
    """
    end = min(movement.end, movement.start + duration)
    if rate is None:
        recorded = movement.recorded()
        if recorded is None:
            raise ValueError("a computed path needs a send rate")
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
    """The sender's clock as a function of the receiver's.

    It is ``offset`` seconds ahead at time 0, and runs ``drift`` millionths (ppm) too fast.
    """

    offset: float = 0.0
    drift: float = 0.0

    def read(self, time: float) -> float:
        """The sender's time at ``time``."""
        return time + (self.offset + self.drift * 1e-6 * time)


@dataclass(frozen=True)
class Quantization:
    """What positions (length units) and velocities (units/s) are rounded to; 0: exact.

    Instead of a length, positions can be rounded to ``half`` precision (16 bits, at most 65504), or
    their differences from a base that follows them (``half-delta``, as Unity's Netcode does).
    ``rotation`` is how many bits each of the smallest three components of a quaternion has.
    """

    position: float | str = 0.0
    velocity: float = 0.0
    rotation: int = 0


@dataclass
class Sender:
    """Puts states into packets: timestamps, rounding, repeats and the marks of teleports.

    ``repeats``: how often the last state is sent again when an entity does not move, before the
    sender falls silent about it; None: without limit. A packet is marked as a teleport
    when there was one since the entity's last packet. All numbers are rounded to 1e-6, none is -0.
    """

    clock: SenderClock = field(default_factory=SenderClock)
    quantization: Quantization = field(default_factory=Quantization)
    repeats: int | None = None

    def __post_init__(self) -> None:
        steps = self.quantization
        self._kernel = SenderKernel(steps.position, steps.velocity, self.repeats)

    def packets(self, snapshot: Snapshot) -> list[Packet]:
        """The packets for one sample of the movement, without sequence numbers and arrivals."""
        states, bits = snapshot.states, self.quantization.rotation
        if bits:
            states = [
                (name, one._replace(rotation=one.rotation and smallest_three(one.rotation, bits)))
                for name, one in states
            ]
        return self._kernel.packets(states, self.clock.read(snapshot.time))


#: Hertz.
USUAL_RATE = 20.0

#: The word for the rate at which a movement was recorded.
RECORDED = "recorded"

#: What ``--send`` describes; an entry without a key is the rate.
SENDER: tuple[Parameter, ...] = (
    Number("send_rate", None, "Packets per second, or recorded: every recorded state.  [default:"
           " 20; of recorded movement recorded]", "Hz", 0.001, 100_000, words={RECORDED: RECORDED},
           tune=(1, 128), scale="log"),
    Number("quantize", None, "Round positions to multiples of this many units, or to 16-bit"
           " floats: half of each coordinate, half-delta of its change since a base, as Unity's"
           " Netcode does.", "units", 1e-6, 1e6, words={HALF: HALF, HALF_DELTA: HALF_DELTA},
           tune=(0.001, 2), scale="log"),
    Number("quantize_velocity", None, "Round velocities to multiples of this many units/s.",
           "units/s", 1e-6, 1e6, tune=(0.001, 2), scale="log"),
    Number("rotation_bits", None, "Quantise rotations to their smallest three components, of this"
           " many bits each.", "", 2, 24, whole=True),
    Number("repeats", None, "While nothing moves, repeat the last state this many times, then"
           " send nothing.  [default: keep sending]", "", 0, 1_000_000, tune=(0, 20), whole=True),
    Switch("separate", False, "Send each entity in a datagram of its own; otherwise those of one"
           " moment share one."),
    Number("clock_offset", 0.0, "How far ahead the sender's clock is at time 0.", "s", -1e9, 1e9,
           tune=(-1, 1)),
    Number("clock_drift", 0.0, "How much too fast the sender's clock runs, in parts per million.",
           "ppm", -100_000, 100_000, tune=(-1000, 1000)),
)  # fmt: skip


@dataclass(frozen=True)
class SenderSpec(description.Described):
    """How a movement is put into packets, as ``SENDER`` has it; ``send_rate`` in hertz.

    One of None: the default of the movement. ``20hz,rotation_bits=9`` describes one.
    """

    TABLE, KEY, OWNER = SENDER, "send_rate", "a sender"

    send_rate: float | str | None = None
    quantize: float | str | None = None
    quantize_velocity: float | None = None
    rotation_bits: int | None = None
    repeats: int | None = None
    separate: bool = False
    clock_offset: float = 0.0
    clock_drift: float = 0.0

    def hertz(self, recorded: bool) -> float | None:
        """The rate; None: as recorded, the default for recorded movement."""
        rate = self.send_rate or (RECORDED if recorded else USUAL_RATE)
        return None if rate == RECORDED else float(rate)

    def sender(self) -> Sender:
        """A sender of this kind."""
        return Sender(
            SenderClock(self.clock_offset, self.clock_drift),
            Quantization(
                self.quantize or 0.0, self.quantize_velocity or 0.0, self.rotation_bits or 0
            ),
            self.repeats,
        )
