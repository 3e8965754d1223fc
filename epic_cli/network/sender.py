"""The sender: when it samples the movement, which states it sends, and their encoding in bits."""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter
from typing import NamedTuple

from epic_cli.engine import description
from epic_cli.engine.contract import Packet, Rotation, SmoothingStrategy, Vector
from epic_cli.engine.link import SenderKernel
from epic_cli.engine.parameters import Choice, Custom, Number, Parameter, SettingError, Switch
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.network import encoding
from epic_cli.network.encoding import (
    FARTHEST_BASE,
    HEADERS,
    EncodedState,
    Encoding,
    Field,
    Moment,
    StateChange,
    count_bits,
)
from epic_cli.network.movement import Movement, RecordedMovement, Snapshot, State

#: Numbers in packets are rounded to this many decimals: micrometers, microseconds.
DECIMALS = 6


def sample_movement(
    movement: Movement, rate: float | Fraction | None, duration: float = math.inf
) -> Iterator[Snapshot]:
    """Yield snapshots of a movement ``rate`` times a second.

    The snapshots go from the movement's start to ``duration`` seconds later; the n-th is at start +
    n/rate. Without a rate, yield a recorded movement's own states. Raises ``ValueError`` for a
    computed movement without a rate, or a rate not above 0.
    """
    end = min(movement.end, movement.start + duration)
    if rate is None:
        recorded = movement.iterate_recorded()
        if recorded is None:
            raise ValueError("a computed path needs a send rate, such as 20 Hz")
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
        snapshot = movement.take_snapshot(time)
        if snapshot.states:
            yield snapshot
            number += 1
            continue
        known = movement.find_next_known(time)  # a gap may be long: skip the times in it
        if known > end:
            return
        number = max(number + 1, math.ceil((known - movement.start) * per / each - 1e-6))


@dataclass(frozen=True)
class SenderClock:
    """The sender's clock as a function of the receiver's.

    The sender is ``offset`` seconds ahead at time 0, and its clock runs ``drift`` ppm too fast.
    """

    offset: float = 0.0
    drift: float = 0.0

    def read(self, time: float) -> float:
        """Return the sender's time at the receiver's ``time``, in seconds."""
        return time + (self.offset + self.drift * 1e-6 * time)


#: Hertz.
USUAL_RATE = 20.0

#: The word for the rate at which a movement was recorded.
RECORDED = "recorded"

#: Instead of a step: positions in half precision (IEEE 754 binary16); or, as in Netcode for
#: GameObjects (NetworkDeltaPosition), their difference to a baseline, which moves when the
#: difference is ``FARTHEST_DELTA`` or more along an axis. Rounding errors carry over to the next.
HALF, HALF_DELTA = "half", "half-delta"
FARTHEST_DELTA = 64.0

#: The word for a copy of each judged strategy.
JUDGED = "judged"

#: Baselines of a state: none, the last acknowledged state, the last state sent.
PACKINGS = ("full", "delta", "chain")

#: Seconds between keyframes of a chain.
KEYFRAME = 1.0

#: Bytes of a datagram, headers included, that passes every network unfragmented.
USUAL_MTU = 1200

#: The fields that engines send, as descriptions.
LAYOUTS = {
    "unreal": "quantize=0.01,quantize_velocity=1,rotation=euler,rotation_bits=8",
    "mirror": "velocity=none,rotation_bits=10",
    "unity-ngo": "quantize=half-delta,velocity=none,rotation_bits=10",
}

#: Bits of flags before a state.
_FLAGS = {"unreal": 4, "mirror": 8, "unity-ngo": 32}


#: The keys that say how states are encoded.
_ENCODED = (
    "quantize", "bits", "range", "velocity", "quantize_velocity", "rotation", "rotation_bits",
    "layout", "pack", "redundancy", "budget", "mtu",
)  # fmt: skip


def _read_predictor(text: str) -> StrategySpec | str:
    return text if text == JUDGED else read_spec(text)


def _write_predictor(value: StrategySpec | str) -> str:
    return value if isinstance(value, str) else value.label


#: The keys of ``--send``; an entry without a key is the rate.
SENDER: tuple[Parameter, ...] = (
    Number("send_rate", None, "Packets per second, or recorded: every recorded state.  [default:"
           " 20; of recorded movement recorded]", "Hz", 0.001, 100_000, words={RECORDED: RECORDED},
           tune=(1, 128), scale="log"),
    Number("threshold", None, "Send a state only when the receivers' error is larger than this.",
           "units", 0, 1e9, tune=(0.001, 2), scale="log"),
    Number("angle_threshold", None, "Send a state only when the error of the receivers' rotation is"
           " larger than this.", "degrees", 0, 180, tune=(0.1, 30), scale="log"),
    Custom("against", None, "With a threshold, compare each state with what a copy of this strategy"
           " draws from the sent states, instead of with the last sent state; judged: with what"
           " each judged strategy draws.", f"{JUDGED} or NAME[+key=value]", _read_predictor,
           _write_predictor, kind=(StrategySpec, str)),
    Number("at_least", None, "With a threshold, send a state at least this often (heartbeat).", "s",
           0.001, 1e6, tune=(0.1, 10), scale="log"),
    Number("quantize", None, "Round positions to multiples of this step, or to 16-bit floats:"
           " half of each coordinate, half-delta of its change since a baseline, as Unity's Netcode"
           " does.", "units", 1e-6, 1e6, words={HALF: HALF, HALF_DELTA: HALF_DELTA},
           tune=(0.001, 2), scale="log"),
    Number("bits", None, "Bits per coordinate of a position, over the range.", "", 2, 32,
           tune=(6, 24), whole=True),
    Number("range", None, "Largest coordinate that can be sent, of either sign.  [default:"
           " with bits=, but no step, the smallest power of two that holds the movement]", "units",
           1e-6, 1e12),
    Choice("velocity", None, "Send velocities as 32-bit floats, 16-bit floats, or not at all."
           "  [default: full]", ("full", HALF, "none"), tune=False),
    Number("quantize_velocity", None, "Round velocities to multiples of this step.",
           "units/s", 1e-6, 1e6, tune=(0.001, 2), scale="log"),
    Choice("rotation", None, "Send rotations as four 32-bit floats (full), as 16-bit floats, as"
           " the smallest three components, as yaw, pitch and roll (euler), as yaw about z"
           " alone, or"
           " not at all.  [default: full; with rotation_bits smallest-three]",
           ("full", HALF, "smallest-three", "euler", "yaw", "none"), tune=False),
    Number("rotation_bits", None,
           "Bits per component of a rotation.  [default: 10; for angles 16]", "", 2, 24,
           whole=True),
    Choice("layout", None, "Send the fields that an engine sends; other keys change them.",
           tuple(LAYOUTS),
           tune=False),
    Choice("pack", None, "Send each state in full; as a delta against the last acknowledged one"
           " (delta); or against the last one sent (chain), which a loss breaks until the next"
           " keyframe, at most a second later.  [default: full]", PACKINGS, tune=False),
    Number("redundancy", 0, "Repeat the states of this many previous datagrams in each, if they"
           " fit.", "", 0, 64, tune=(0, 3), whole=True),
    Number("budget", None, "Send at most this many bits a second (32kbit), headers included;"
           " the states that receivers predict worst are sent first.", "bit/s", 1, 1e12),
    Number("mtu", USUAL_MTU, "Largest datagram, with its headers.", "bytes", 200, 65535,
           whole=True),
    Number("repeats", None, "At rest, repeat the last state this many times, then send nothing."
           "  [default: keep sending]", "", 0, 1_000_000, tune=(0, 20), whole=True),
    Switch("separate", False, "Send each entity in a datagram of its own; by default those of one"
           " moment share datagrams."),
    Number("clock_offset", 0.0, "Lead of the sender's clock at time 0.", "s", -1e9, 1e9,
           tune=(-1, 1)),
    Number("clock_drift", 0.0, "Rate error of the sender's clock, in parts per million; above 0 is"
           " fast.",
           "ppm", -100_000, 100_000, tune=(-1000, 1000)),
)  # fmt: skip


@dataclass(frozen=True)
class SenderSpec(description.Described):
    """The settings of a sender, which puts a movement into packets.

    The fields are those of ``SENDER``. ``send_rate`` is in hertz. None stands for the movement's
    default. Written as ``20hz,threshold=0.05,bits=16``.
    """

    TABLE, KEY, OWNER = SENDER, "send_rate", "a sender"

    send_rate: float | str | None = None
    threshold: float | None = None
    angle_threshold: float | None = None
    against: StrategySpec | str | None = None
    at_least: float | None = None
    quantize: float | str | None = None
    bits: int | None = None
    range: float | None = None
    velocity: str | None = None
    quantize_velocity: float | None = None
    rotation: str | None = None
    rotation_bits: int | None = None
    layout: str | None = None
    pack: str | None = None
    redundancy: int = 0
    budget: float | None = None
    mtu: int = USUAL_MTU
    repeats: int | None = None
    separate: bool = False
    clock_offset: float = 0.0
    clock_drift: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, needs in (("against", "threshold"), ("at_least", "threshold")):
            if getattr(self, key) is not None and not self.selective:
                raise SettingError(f"{key} needs {needs}")
        if self.bits is not None and isinstance(self.quantize, str):
            raise SettingError(f"bits={self.bits} and quantize={self.quantize} exclude each other")
        if None not in (self.bits, self.range, self.quantize):
            raise SettingError("bits, range and quantize cannot all be set: leave one of them out")
        if self.range is not None and self.bits is None and not isinstance(self.quantize, float):
            raise SettingError("range needs bits, or a step: quantize=0.01")
        if None not in (self.quantize_velocity, self.velocity):
            raise SettingError(f"quantize_velocity and velocity={self.velocity} exclude each other")
        if self.rotation_bits is not None and self.rotation in ("full", HALF, "none"):
            raise SettingError(
                f"rotation={self.rotation} takes no rotation_bits: leave rotation_bits out"
            )

    @property
    def selective(self) -> bool:
        """True if a state is sent only when the receivers' error exceeds a threshold."""
        return self.threshold is not None or self.angle_threshold is not None

    @property
    def encoded(self) -> bool:
        """True if the spec sets how states are encoded."""
        return any(key in _ENCODED for key, _ in self.list_entries())

    def drop_strategies(self) -> SenderSpec:
        """Return the spec for a sender where no strategies are judged.

        Raises ``SettingError`` for ``against=judged``.
        """
        if self.against == JUDGED:
            raise SettingError(f"against={JUDGED}: no strategy is judged here; name one")
        return self

    def get_rate(self, recorded: bool) -> float | None:
        """Return the send rate; None for the recorded states, the default of recorded movement."""
        rate = self.send_rate or (RECORDED if recorded else USUAL_RATE)
        return None if rate == RECORDED else float(rate)

    def expand_layout(self) -> SenderSpec:
        """Return the spec with the keys of its ``layout`` filled in; keys that are set stay."""
        if self.layout is None:
            return self
        found, usual = replace(self, layout=None), self.parse(LAYOUTS[self.layout])
        given = {key for key, _ in self.list_entries()}
        for key, _ in usual.list_entries():
            if key not in given:
                with contextlib.suppress(SettingError):  # one that is given excludes it
                    found = replace(found, **{key: getattr(usual, key)})
        return found

    def reach(self, farthest: Callable[[], float]) -> float:
        """Return the largest coordinate that can be sent; 0 for no limit.

        The limit is the range, or else the smallest range that holds the coordinate ``farthest()``.
        """
        if self.range is not None or self.bits is None:
            return self.range or 0.0
        if isinstance(self.quantize, float):
            return float(self.quantize * 2 ** (self.bits - 1))
        return 2.0 ** math.ceil(math.log2(max(farthest(), 1e-6)))

    def get_farthest(self, movement: Movement, duration: float) -> float:
        """Return the largest coordinate that the movement reaches within ``duration`` seconds.

        Raise ``SettingError`` for an endless computed movement.
        """
        recorded = isinstance(movement, RecordedMovement)
        if not recorded and math.isinf(duration):
            raise SettingError(f"bits={self.bits} of an endless movement need a range: set range")
        snapshots = sample_movement(movement, self.get_rate(recorded), duration)
        return max(
            (abs(x) for moment in snapshots for _, state in moment.states for x in state.position),
            default=0.0,
        )

    def make_encoding(self, reach: float) -> Encoding:
        """Return the encoding of a state's position, velocity, rotation and spin."""
        spec = self.expand_layout()
        return Encoding(
            (
                spec._make_position_field(reach),
                spec._make_velocity_field(),
                spec._make_rotation_field(),
                spec._make_velocity_field(),
            ),
            _FLAGS.get(self.layout or "", 0),
        )

    def _make_position_field(self, reach: float) -> Field:
        if self.quantize in (HALF, HALF_DELTA):
            return encoding.make_half_field(3)
        if self.bits is not None:
            return encoding.make_bit_field(self.bits, reach)
        if self.quantize is None:
            return encoding.make_float_field(3)
        step = float(self.quantize)
        return (
            encoding.make_bounded_field(step, math.ceil(reach / step) * step)
            if reach
            else encoding.make_step_field(step)
        )

    def _make_velocity_field(self) -> Field:
        if self.quantize_velocity is not None:
            return encoding.make_step_field(self.quantize_velocity)
        return (
            encoding.make_half_field(3) if self.velocity == HALF else encoding.make_float_field(3)
        )

    def _make_rotation_field(self) -> Field:
        kind = self.rotation or ("full" if self.rotation_bits is None else "smallest-three")
        if kind in ("euler", "yaw"):
            return encoding.make_turn_field(self.rotation_bits or 16, 3 if kind == "euler" else 1)
        if kind == "smallest-three":
            return encoding.make_smallest_three_field(self.rotation_bits or 10)
        return encoding.make_half_field(4) if kind == HALF else encoding.make_float_field(4)


class SentDatagram(NamedTuple):
    """Packets that leave together at ``time`` (s), in ``size`` bytes with all headers.

    ``bits`` are those of the new states; repeated packets follow the new ones. ``moments`` are the
    arguments of ``write_message``, except for plain floats in full.
    """

    time: float
    number: int
    packets: list[Packet]
    size: int
    bits: list[int]
    moments: tuple[Moment, ...] = ()


#: Position and rotation of an entity at the receivers.
Received = tuple["Vector", "Rotation | None"]

#: Most packets in flight.
MOST_STAMPS = 65_536

#: Bits of a datagram's headers, of each moment in it without its count, of a state's base.
_DATAGRAM, _MOMENT, _BASE = 8 * HEADERS + 16 + 8, 8 + 32, 8

#: Bits of a state in plain floats, without its number and rotation: a teleport flag, a flag for
#: each of four parts, position and velocity.
_PLAIN = _BASE + 1 + 4 + 32 * 6


class SendDecision:
    """The choice of the states to send, by an error threshold or a bit budget.

    ``predictor`` is the receivers' strategy, of which the sender runs a copy for each entity; the
    copy draws at every moment before it gets the new state. Without a predictor, receivers have the
    last state sent.
    """

    def __init__(self, spec: SenderSpec, predictor: StrategySpec | None) -> None:
        self._spec = spec
        self._predictor = predictor
        self._copies: dict[str, SmoothingStrategy] = {}
        self._known: dict[str, Received] = {}
        self._sent: dict[str, tuple[float, State]] = {}  # when, and as it was then
        self._before: dict[str, State] = {}  # as it was at the moment before
        self._bits, self._filled_at = 8.0 * spec.mtu, -math.inf

    def choose_due(
        self, time: float, states: Sequence[tuple[str, State]], cost: Callable[[str, State], int]
    ) -> list[tuple[str, State]]:
        """Return the states to send at ``time``; with a budget, the largest errors first.

        ``cost`` gives the bits of a state.
        """
        found = []
        for entity, state in states:
            error = self._find_error(time, entity, state)
            if error is not None:
                found.append((error, entity, state))
            self._before[entity] = state
        if self._spec.budget is not None:
            found.sort(key=itemgetter(0), reverse=True)
            found = found[
                : self._count_affordable(time, (cost(entity, state) for _, entity, state in found))
            ]
        return [(entity, state) for _, entity, state in found]

    def record_sent(
        self, time: float, packets: Iterable[Packet], states: Mapping[str, State]
    ) -> None:
        """Record that these packets, made from these states, leave at ``time``."""
        for packet in packets:
            entity = packet.entity
            self._known[entity] = packet.position, packet.rotation
            self._sent[entity] = time, states[entity]
            if self._predictor is not None:
                copy = self._copies.get(entity)
                if copy is None:
                    copy = self._copies[entity] = self._predictor.make()
                copy.update(packet._replace(arrival=time), time)

    def _find_error(self, time: float, entity: str, state: State) -> float | None:
        """Return the receivers' error for a state.

        Infinite if it must be sent, None if it is not due.
        """
        spec, known = self._spec, self._read_copy(time, entity)
        since, last = self._sent.get(entity, (-math.inf, None))
        if known is None or last is None or last.teleports != state.teleports:
            return math.inf
        error, turned = (
            math.dist(known[0], state.position),
            _measure_angle(known[1], state.rotation),
        )
        if (
            not spec.selective
            or (spec.threshold is not None and error > spec.threshold)
            or (spec.angle_threshold is not None and turned > spec.angle_threshold)
            or (spec.at_least is not None and time - since >= spec.at_least - 1e-9)
            or (state == self._before[entity] and state != last)  # it has come to rest
        ):
            return error
        return None

    def _read_copy(self, time: float, entity: str) -> Received | None:
        copy = self._copies.get(entity)
        if copy is None:
            return self._known.get(entity)
        drawn = copy.read(time)
        return None if drawn.status == "none" else (drawn.position, drawn.rotation)

    def _count_affordable(self, time: float, costs: Iterable[int]) -> int:
        """Return how many states the budget allows, given their costs in bits.

        Unused bits accumulate up to one datagram.
        """
        assert self._spec.budget is not None
        full = 8.0 * self._spec.mtu
        self._bits = min(self._bits + (time - self._filled_at) * self._spec.budget, full)
        self._filled_at = time
        count, left = 0, self._bits - _DATAGRAM - _MOMENT - 8
        for bits in costs:
            left -= bits
            if left < 0:
                break
            count += 1
        return count

    def spend(self, size: int) -> None:
        """Deduct a datagram of ``size`` bytes from the budget."""
        self._bits -= 8 * size


def _measure_angle(one: Rotation | None, other: Rotation | None) -> float:
    """Return the angle between two rotations in degrees; 0 if one is unknown."""
    if one is None or other is None:
        return 0.0
    product = abs(sum(a * b for a, b in zip(one, other, strict=True)))
    sizes = math.hypot(*one) * math.hypot(*other)
    return math.degrees(2 * math.acos(min(product / sizes, 1.0)))


class _DeltaBaseline(NamedTuple):
    """The baselines of an entity's position for half-precision deltas (``HALF_DELTA``)."""

    given: Vector
    teleports: int
    whole: encoding.Whole
    sent: Vector
    bases: list[tuple[float, float]]  # of each coordinate, with what rounding has lost


class Sender:
    """An encoder of states to packets and datagrams, following a ``SenderSpec``.

    ``reach`` is the largest coordinate (``SenderSpec.reach``). ``judged`` is the strategy that a
    threshold copies for ``against=judged``. A packet is a teleport if there was one since the
    entity's last packet. All numbers are rounded to 1e-6, and -0 becomes 0; 32-bit floats are
    counted, not rounded to. ``entities`` are numbered in messages in this order, others follow.
    Plain floats are put into ``moments`` only if ``messages`` are written.

    ``number`` is that of the next datagram. ``states``, their ``bits`` (without headers) and
    ``clipped`` coordinates are counted.
    """

    def __init__(
        self,
        spec: SenderSpec | None = None,
        reach: float = 0.0,
        judged: StrategySpec | None = None,
        entities: Iterable[str] = (),
        *,
        messages: bool = False,
    ) -> None:
        self.encoding = (spec or SenderSpec()).make_encoding(reach)
        self._spec = spec = (spec or SenderSpec()).expand_layout()
        self._reach = reach
        self.clock = SenderClock(spec.clock_offset, spec.clock_drift)
        self._kernel = SenderKernel(spec.repeats)
        against = judged if spec.against == JUDGED else spec.against
        predictor = against if isinstance(against, StrategySpec) else None
        selects = spec.selective or spec.budget is not None
        self._selection = SendDecision(spec, predictor) if selects else None
        has_velocity, turns = spec.velocity != "none", spec.rotation != "none"
        self._kept = (True, has_velocity, turns, has_velocity and turns)
        exact = not messages and all(field.exact for field in self.encoding.fields)
        self._plain = (
            spec.pack in (None, "full") and not spec.redundancy and exact and all(self._kept)
        )
        #: Whether datagrams are as long on the wire as their bits; else as the link says.
        self.sized = spec.encoded
        self._delta_baselines: dict[str, _DeltaBaseline] = {}
        self._numbers = {entity: number for number, entity in enumerate(entities)}
        self.number = 0
        self._history: OrderedDict[int, dict[int, EncodedState]] = OrderedDict()
        self._bases: dict[int, int] = {}  # by entity the newest datagram that can be a base
        self._full_at: dict[int, float] = {}
        self._repeated: deque[tuple[Moment, list[Packet], int]] = deque(maxlen=spec.redundancy)
        #: The stamp of the state of which a packet has the changes, by its entity and stamp.
        self.base_stamps: OrderedDict[tuple[str, float], float] = OrderedDict()
        self._stamps: dict[int, float] = {}
        self.states = self.bits = self.clipped = 0

    @property
    def asks(self) -> bool:
        """True if the sender needs acknowledgements."""
        return self._spec.pack == "delta"

    @property
    def repeats_or_chains(self) -> bool:
        """True if packets may repeat earlier ones or depend on them."""
        return self._spec.pack == "chain" or self._spec.redundancy > 0

    def make_packets(self, snapshot: Snapshot) -> list[Packet]:
        """Return the packets for one snapshot, without sequence numbers and arrivals."""
        if self._plain and self._selection is None:  # nothing depends on what they cost
            return self._kernel.packets(snapshot.states, self.clock.read(snapshot.time))
        return [packet for sent in self.make_datagrams(snapshot) for packet in sent.packets]

    def make_datagrams(self, snapshot: Snapshot) -> list[SentDatagram]:
        """Return the datagrams for one snapshot; an empty list if no state is due."""
        time, states = snapshot
        if self._selection is not None:
            states = self._selection.choose_due(time, states, self._count_state_bits)
        whole = {}
        rounded = states
        if not self._plain:
            rounded = []
            for entity, state in states:
                whole[entity], left = self._quantize_state(entity, state)
                rounded.append((entity, left))
        packets = self._kernel.packets(rounded, self.clock.read(time))
        found = self._pack_datagrams(time, packets, whole)
        if self._selection is not None:
            self._selection.record_sent(time, packets, dict(states))
            for datagram in found:
                self._selection.spend(datagram.size)
        return found

    def acknowledge(self, number: int) -> None:
        """Allow the datagram ``number`` as a baseline, since it has arrived."""
        if self._spec.pack == "delta":
            for entity in self._history.get(number, ()):
                self._bases[entity] = max(number, self._bases.get(entity, -1))

    def _select_parts(self, state: State) -> list[Sequence[float] | None]:
        spin = None if state.rotation is None else state.spin
        parts = (state.position, state.velocity, state.rotation, spin)
        return [part if kept else None for part, kept in zip(parts, self._kept, strict=True)]

    def _quantize_state(self, entity: str, state: State) -> tuple[EncodedState, State]:
        """Return a state as whole numbers, and as the state that receivers decode."""
        parts = self._select_parts(state)
        follows = self._quantize_delta(entity, state) if self._spec.quantize == HALF_DELTA else None
        if follows is not None:
            parts[0] = None
        whole = self.encoding.quantize(parts)
        position, velocity, rotation, spin = self.encoding.decode_parts(whole, parts)
        if follows is not None:
            whole, position = EncodedState((follows.whole, *whole.parts[1:])), follows.sent
        elif self._reach and max(map(abs, state.position)) > self._reach:
            self.clipped += sum(abs(number) > self._reach for number in state.position)
        left = (position, velocity, state.teleports, rotation, spin)
        return whole, State(*left)  # type: ignore[arg-type]

    def _quantize_delta(self, entity: str, state: State) -> _DeltaBaseline:
        """Return an entity's position as a receiver computes it from half-precision deltas."""
        known = self._delta_baselines.get(entity)
        again = known is not None and known.teleports == state.teleports
        if known is not None and again and known.given == state.position:
            return known
        bases = known.bases if known is not None and again else [(x, 0.0) for x in state.position]
        field = self.encoding.fields[0]
        left = [x + loss - base for x, (base, loss) in zip(state.position, bases, strict=True)]
        whole = field.to_whole(left)
        sent, moved = [], []
        for (base, _), step, wanted in zip(bases, field.to_values(whole), left, strict=True):
            sent.append(base + step)
            moved.append((base + step if abs(step) >= FARTHEST_DELTA else base, wanted - step))
        x, y, z = sent
        found = _DeltaBaseline(state.position, state.teleports, whole, (x, y, z), moved)
        self._delta_baselines[entity] = found
        return found

    # ---------------- datagrams

    def encode_message(self, datagram: SentDatagram) -> bytes:
        """Encode a recent datagram to bytes, without headers.

        The datagram must have ``moments``.
        """
        return encoding.write_message(
            self.encoding, datagram.moments, lambda number, entity: self._history[number][entity]
        )

    def _pack_datagrams(
        self, time: float, packets: Sequence[Packet], whole: Mapping[str, EncodedState]
    ) -> list[SentDatagram]:
        """Split packets into as few datagrams as the MTU allows."""
        found: list[SentDatagram] = []
        inside: list[Packet] = []
        changes: list[StateChange | None] = []
        sizes: list[int] = []
        used = 0
        most = 8 * self._spec.mtu - _DATAGRAM - _MOMENT - count_bits(len(packets))
        for packet in packets:
            number = self._numbers.setdefault(packet.entity, len(self._numbers))
            change, bits = self._encode_change(time, number, packet, whole.get(packet.entity))
            if inside and (self._spec.separate or used + bits > most):
                found.append(self._make_datagram(time, inside, changes, sizes))
                inside, changes, sizes, used = [], [], [], 0
                change, bits = self._encode_change(time, number, packet, whole.get(packet.entity))
            inside.append(packet)
            changes.append(change)
            sizes.append(bits)
            used += bits
        if inside:
            found.append(self._make_datagram(time, inside, changes, sizes))
        return found

    def _encode_change(
        self, time: float, entity: int, packet: Packet, whole: EncodedState | None
    ) -> tuple[StateChange | None, int]:
        """Return a packet's change in the next datagram, and its number of bits.

        The change is None for plain floats in full.
        """
        if whole is None:
            turn = 0 if packet.rotation is None else 4 + 3 * (packet.spin is not None)
            return None, count_bits(entity) + _PLAIN + 32 * turn
        if packet.teleport:
            whole = EncodedState(whole.parts, teleported=True)
        base = self._choose_baseline(time, entity)
        known = None if base is None else self._history[base][entity]
        bits = count_bits(entity) + _BASE + self.encoding.count_bits(whole, known)
        return StateChange(entity, whole, base), bits

    def _choose_baseline(self, time: float, entity: int) -> int | None:
        """Return the number of the datagram that holds the baseline for the entity's next state.

        None: the state is sent in full.
        """
        base = self._bases.get(entity)
        if base is None or self.number - base > FARTHEST_BASE:
            return None
        if self._spec.pack == "chain" and time - self._full_at[entity] >= KEYFRAME - 1e-9:
            return None
        return base

    def _make_datagram(
        self,
        time: float,
        packets: list[Packet],
        changes: Sequence[StateChange | None],
        sizes: list[int],
    ) -> SentDatagram:
        number, stamp, bits = self.number, packets[0].time, sum(sizes)
        self.number += 1
        self.states += len(packets)
        self.bits += bits
        own = _MOMENT + count_bits(len(packets)) + bits
        if self._plain:
            return SentDatagram(time, number, packets, -(-(_DATAGRAM + own) // 8), sizes)
        moment = Moment(number, stamp, tuple(filter(None, changes)))
        moments, inside, length = [moment], list(packets), _DATAGRAM + own
        for before, repeated, size in reversed(self._repeated):
            if length + size > 8 * self._spec.mtu or number - before.number > FARTHEST_BASE:
                break
            moments.append(before)
            inside += repeated
            length += size
        if self._repeated.maxlen:
            self._repeated.append((moment, list(packets), own))
        if self._spec.pack not in (None, "full"):
            self._store_baseline(time, moment, packets)
        return SentDatagram(time, number, inside, -(-length // 8), sizes, tuple(moments))

    def _store_baseline(self, time: float, moment: Moment, packets: Sequence[Packet]) -> None:
        """Store a moment as a baseline.

        For chained deltas, store the stamps of their baselines, too.
        """
        number = moment.number
        self._history[number] = {change.entity: change.state for change in moment.changes}
        self._stamps[number] = moment.stamp
        while len(self._history) > 2 * FARTHEST_BASE + 1:  # of what is repeated, too
            oldest, _ = self._history.popitem(last=False)
            del self._stamps[oldest]
        if self._spec.pack != "chain":
            return
        for change, packet in zip(moment.changes, packets, strict=True):
            self._bases[change.entity] = number
            if change.base is None:
                self._full_at[change.entity] = time
            else:
                self.base_stamps[packet.entity, moment.stamp] = self._stamps[change.base]
        while len(self.base_stamps) > MOST_STAMPS:
            self.base_stamps.popitem(last=False)

    def _count_state_bits(self, entity: str, state: State) -> int:
        """Return the number of bits of a state if it were sent now."""
        number = self._numbers.get(entity, len(self._numbers))
        base = self._bases.get(number)
        known = self._history.get(base, {}).get(number) if base is not None else None
        size = self.encoding.count_bits(self.encoding.quantize(self._select_parts(state)), known)
        return count_bits(number) + _BASE + size
