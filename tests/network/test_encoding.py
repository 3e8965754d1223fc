"""Tests of the encoding of sent states: fields, messages, thresholds, budgets, deltas."""

from __future__ import annotations

import itertools
import math
import random
import struct

import numpy as np
import pytest

from epic_cli.engine.parameters import SettingError
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.network import encoding
from epic_cli.network.encoding import HEADERS, BitWriter, EncodedState, MessageReader, write_message
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import Snapshot, State
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.sender import (
    LAYOUTS,
    SendDecision,
    Sender,
    SenderSpec,
    SentDatagram,
    sample_movement,
)
from epic_cli.network.simulation import SimulationSpec, Statistics, simulate

SENDERS = [
    "",
    "bits=16,range=64",
    "bits=9,range=64,rotation_bits=7",
    "quantize=0.01",
    "quantize=0.01,range=50,rotation=yaw",
    "quantize=half,rotation=half,velocity=half",
    "quantize=half-delta,rotation=euler",
    "layout=unreal",
    "layout=mirror",
    "layout=unity-ngo",
    "velocity=none,rotation=none",
]
PACKS = [
    "",
    "pack=delta",
    "pack=chain",
    "redundancy=2",
    "pack=delta,redundancy=3",
    "redundancy=9,mtu=200",
]


def described(*entries: str) -> SenderSpec:
    return SenderSpec.parse(",".join(filter(None, entries)))


def moving(*, seed: int = 1, entities: int = 3, seconds: int = 8) -> list[Snapshot]:
    spec = MovementSpec.parse(f"strafe,turning=look,entities={entities},duration={seconds}")
    return list(sample_movement(spec.make_movement(seed), 20, seconds))


def sent(spec: SenderSpec, snapshots: list[Snapshot]) -> tuple[Sender, list[SentDatagram]]:
    """Return all datagrams sent; a third is lost, the others are acknowledged two moments later."""
    sender, dice = Sender(spec, spec.range or 0.0), random.Random(1)
    waiting: list[int] = []
    found = []
    for snapshot in snapshots:
        for number in waiting[:-4]:
            sender.acknowledge(number)
        for datagram in sender.make_datagrams(snapshot):
            found.append(datagram)
            waiting += [datagram.number] * (dice.random() > 0.33)
    return sender, found


class Receiver:
    """A receiver that decodes datagrams by their layout, with the states decoded before."""

    def __init__(self, shape: encoding.Encoding) -> None:
        self.shape = shape
        self.known: dict[tuple[int, int], EncodedState] = {}

    def read(self, data: bytes) -> list[encoding.Moment]:
        self.bits, self.place = "".join(f"{byte:08b}" for byte in data), 0
        first, moments = self.take(16), []
        for _ in range(self.count()):
            number, stamp = first - self.take(8), self.take(32) / 1e6
            changes = tuple(self.change(number) for _ in range(self.count()))
            self.known |= {(number, one.entity): one.state for one in changes}
            moments.append(encoding.Moment(number, stamp, changes))
        assert len(self.bits) - self.place < 8
        assert "1" not in self.bits[self.place :]
        return moments

    def take(self, width: int) -> int:
        self.place += width
        return int(self.bits[self.place - width : self.place] or "0", 2)

    def count(self) -> int:
        more, low = self.take(1), self.take(7)
        return low + 128 * self.count() if more else low

    def step(self, width: int) -> int:
        half, odd = divmod(self.take(width), 2)
        return -half - 1 if odd else half

    def change(self, number: int) -> encoding.StateChange:
        entity, back = self.count(), self.take(8)
        before = self.known[number - back, entity].parts if back else (None,) * 4
        self.take(self.shape.flags)
        teleported = bool(self.take(1))
        both = zip(self.shape.fields, before, strict=True)
        parts = tuple(self.part(field, base) if self.take(1) else None for field, base in both)
        state = EncodedState(parts, teleported)
        return encoding.StateChange(entity, state, number - back if back else None)

    def part(self, field: encoding.Field, base: encoding.Whole | None) -> encoding.Whole:
        if base is not None:
            if not self.take(1):
                return base
            width = self.take(7)
            if width < 127:
                return tuple(number + self.step(width) for number in base)
        if field.widths:
            return tuple(map(self.take, field.widths))
        width = self.take(7)
        return tuple(self.step(width) for _ in range(field.size))


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("what", SENDERS[1:])
def test_a_message_is_as_long_as_was_counted_and_reads_back(what: str, pack: str) -> None:
    sender, found = sent(described(what, pack), moving(seconds=2))
    receiver, bits = Receiver(sender.encoding), 0
    reader = MessageReader(sender.encoding)
    for datagram in found:
        data = write_message(
            sender.encoding, datagram.moments, lambda *which: receiver.known[which]
        )
        assert len(data) + HEADERS == datagram.size <= (200 if "mtu" in pack else 1200)
        assert receiver.read(data) == [*reversed(datagram.moments)]
        moments = reader.read(data, datagram.number, datagram.time)
        assert moments[-1] == datagram.moments[0]
        reader.keep(moments)
        bits += 8 * datagram.size
    assert sender.bits < bits
    assert sender.states == sum(len(one.moments[0].changes) for one in found)


@pytest.mark.parametrize("entities", [1, 300])
def test_plain_floats_are_counted_as_if_they_were_written(entities: int) -> None:
    snapshots = moving(entities=entities)[: 40 if entities == 1 else 12]
    sender, found = sent(described("mtu=65535"), snapshots)
    for datagram in found:
        changes = tuple(
            encoding.StateChange(
                number,
                sender.encoding.quantize((one.position, one.velocity, one.rotation, one.spin)),
            )
            for number, one in enumerate(datagram.packets)
        )
        moment = encoding.Moment(datagram.number, datagram.time, changes)
        data = write_message(sender.encoding, [moment], lambda *_: pytest.fail("no base"))
        assert len(data) + HEADERS == datagram.size


def test_numbers_out_of_the_range_are_clipped_and_counted() -> None:
    sender = Sender(described("bits=8,range=10"), 10)
    (packet,) = sender.make_packets(
        Snapshot(0.0, [("a", State((11.0, -99.0, 3.0), (0.0, 0.0, 0.0)))])
    )
    assert packet.position[:2] == (10.0, -10.0)
    assert sender.clipped == 2


def test_halves_and_floats_are_those_of_numpy() -> None:
    given = tuple(np.random.default_rng(2).normal(0, 300, 3))
    for field, kind in (
        (encoding.make_half_field(3), np.float16),
        (encoding.make_float_field(3), np.float32),
    ):
        assert field.to_values(field.to_whole(given)) == tuple(np.array(given, kind).astype(float))
    assert encoding.make_half_field(1).to_values(encoding.make_half_field(1).to_whole((1e9,))) == (
        65504.0,
    )
    assert encoding.make_float_field(1).to_whole((1.5,)) == struct.unpack(
        ">I", struct.pack(">f", 1.5)
    )


def test_sizes_that_others_published() -> None:
    """Fiedler compresses a rotation from 128 bits to 29; NGO a position from 12 bytes to 6.

    NGO compresses a rotation from 16 bytes to 4.
    """
    rotation = [0.0, 0.0, 0.6, 0.8]
    for field, part, wanted in (
        (encoding.make_float_field(4), rotation, 128),
        (encoding.make_smallest_three_field(9), rotation, 29),
        (encoding.make_smallest_three_field(10), rotation, 32),
        (encoding.make_bounded_field(2**-9, 256), [1.0, 2.0, 3.0], 3 * 19),
        (encoding.make_half_field(3), [1.0, 2.0, 3.0], 48),
    ):
        bits = BitWriter()
        field.write(bits, field.to_whole(part))
        assert bits.length == wanted


@pytest.mark.parametrize(("layout", "flags"), [("unreal", 4), ("mirror", 8), ("unity-ngo", 32)])
def test_what_an_engine_puts_before_a_state_is_counted(layout: str, flags: int) -> None:
    (as_engine,) = Sender(described(f"layout={layout}")).make_datagrams(moving(entities=1)[0])
    (alike,) = Sender(described(LAYOUTS[layout])).make_datagrams(moving(entities=1)[0])
    assert as_engine.bits == [alike.bits[0] + flags]


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("layout=unreal,bits=16,range=50", "bits=16,range=50,quantize_velocity=1,rotation=euler,"
         "rotation_bits=8"),
        ("layout=unreal,velocity=full", "quantize=0.01,rotation=euler,rotation_bits=8"),
        ("layout=unreal,rotation=full", "quantize=0.01,quantize_velocity=1,rotation=full"),
        ("layout=mirror,velocity=full", "rotation_bits=10"),
        ("layout=unity-ngo,bits=12,range=9", "bits=12,range=9,velocity=none,rotation_bits=10"),
    ],
)  # fmt: skip
def test_keys_that_are_given_change_a_layout(given: str, same: str) -> None:
    snapshots = moving()
    first, other = (Sender(described(text), described(text).range or 0) for text in (given, same))
    assert [first.make_packets(one) for one in snapshots] == [
        other.make_packets(one) for one in snapshots
    ]


def test_32_bits_of_a_coordinate_are_steps_over_the_range_too() -> None:
    sender = Sender(described("bits=32,range=1e9"), 1e9)
    (packet,) = sender.make_packets(Snapshot(0.0, [("a", State((2e9, 0.3, 0.0), (0.0, 0.0, 0.0)))]))
    assert packet.position[0] == 1e9
    assert 0 < abs(packet.position[1] - 0.3) <= 1e9 / 2**32


# ---------------- when


def states_of(spec: str, movement: str, strategy: str = "") -> list[float]:
    simulation = SimulationSpec(MovementSpec.parse(movement), SenderSpec.parse(spec)).open()
    judged = read_spec(strategy) if strategy else None
    blocks = simulation.iterate_blocks(1, judged=judged)
    return [block[index].time for block in blocks for index in range(len(block))]


def test_at_least_so_often_and_once_more_at_rest() -> None:
    times = states_of("20hz,threshold=0.5,at_least=1s", "stop-and-go,speed=1,size=1,duration=12")
    assert np.diff(times).max() <= 1.0 + 1e-9
    assert len(times) < 40
    quiet = states_of("20hz,threshold=0.5", "stop-and-go,speed=1,size=1,duration=3.9")
    # it goes for a second, stands for one: once more when it has come to rest
    assert any(1.0 <= time <= 1.1 for time in quiet)
    assert not any(1.2 < time < 2.0 for time in quiet)


@pytest.mark.parametrize(
    "strategy", ["dis", "dead-reckoning", "epic", "kalman", "chase+ahead=velocity"]
)
def test_the_senders_predictor_draws_what_the_receiver_draws(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sender and receiver draw at the same times; no packet is late or lost."""
    spec, snapshots = SenderSpec.parse("20hz,threshold=0.2,against=judged"), moving(entities=1)
    judged = read_spec(strategy)
    sender, receiver = Sender(spec, 0.0, judged), judged.make()
    guesses: list[object] = []
    drawn_by = SendDecision._read_copy

    def noted(self: SendDecision, time: float, entity: str) -> object:
        guesses.append(drawn_by(self, time, entity))
        return guesses[-1]

    monkeypatch.setattr(SendDecision, "_read_copy", noted)
    quiet = 0
    for number, snapshot in enumerate(snapshots):
        drawn = receiver.read(snapshot.time)
        packets = sender.make_packets(snapshot)
        for packet in packets:
            receiver.update(packet._replace(arrival=snapshot.time), snapshot.time)
        assert number == 0 or guesses[-1] == (drawn.position, drawn.rotation)
        if not packets:
            quiet += 1
            ((_, state),) = snapshot.states
            assert math.dist(drawn.position, state.position) <= 0.2
    assert 20 < quiet < len(snapshots)


def test_a_budget_is_kept_and_the_worst_goes_first() -> None:
    spec = described("60hz,budget=24kbit,bits=16,range=4096")
    snapshots = list(
        sample_movement(
            MovementSpec.parse("circle,entities=40,duration=20").make_movement(1), 60, 20
        )
    )
    _, found = sent(spec, snapshots)
    spent = list(itertools.accumulate(8 * one.size for one in found))
    for bits, one in zip(spent, found, strict=True):
        assert bits <= 24_000 * one.time + 8 * 1200 + 1e-6
    assert spent[-1] > 0.9 * 24_000 * 20
    counts: dict[str, int] = {}
    for datagram in found:
        for packet in datagram.packets:
            counts[packet.entity] = counts.get(packet.entity, 0) + 1
    assert min(counts.values()) > 0.7 * max(counts.values())


# ---------------- over a link


def arrived(spec: str, loss: float, latency: float = 0.05) -> tuple[Statistics, list[float]]:
    statistics = Statistics()
    movement = MovementSpec.parse("strafe,duration=200").make_movement(3)
    conditions = LinkConditions(latency=latency, loss=loss)
    given = SenderSpec.parse(spec)
    packets = simulate(
        movement,
        send_rate=given.get_rate(recorded=False),
        duration=200,
        channel=Link(conditions, seed=1),
        back=Link(conditions, seed=1, purpose="back"),
        sender=Sender(given, given.range or 0.0),
        statistics=statistics,
    )
    return statistics, [packet.time for packet in packets]


@pytest.mark.parametrize("loss", [0.02, 0.2])
def test_a_chain_breaks_at_a_loss_until_the_next_full_state(loss: float) -> None:
    """The k-th of n = 20 states a second after a keyframe is decoded with (1 - loss)^(k + 1)."""
    statistics, times = arrived("20hz,quantize=0.001,pack=chain", loss)
    wanted = sum((1 - loss) ** (k + 1) for k in range(20)) / 20
    assert len(times) / 4001 == pytest.approx(wanted, abs=0.04)
    assert statistics.undecodable > 0


def test_redundancy_brings_back_what_was_lost() -> None:
    _, once = arrived("20hz", 0.2)
    _, thrice = arrived("20hz,redundancy=2", 0.2)
    assert len(once) / 4001 == pytest.approx(0.8, abs=0.03)
    assert len(thrice) / 4001 == pytest.approx(1 - 0.2**3, abs=0.01)
    assert thrice == sorted(set(thrice))


def test_a_chain_with_redundancy_breaks_only_where_all_copies_are_lost() -> None:
    alone, _ = arrived("20hz,quantize=0.001,pack=chain", 0.05)
    thrice, times = arrived("20hz,quantize=0.001,pack=chain,redundancy=2", 0.05)
    assert thrice.undecodable < 0.1 * alone.undecodable
    assert len(times) / 4001 > 0.98


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("against=dis", "against needs threshold"),
        ("at_least=1s", "at_least needs threshold"),
        ("bits=12,quantize=half", "exclude each other"),
        ("range=12", "range needs bits"),
        ("bits=8,range=4,quantize=0.1", "leave one of them out"),
        ("threshold=1,against=nonsense", "nonsense"),
        ("rotation=full,rotation_bits=9", "takes no rotation_bits"),
        ("bits=1", "bits=1 is not allowed"),
        ("pack=zip", "pack=zip is not allowed"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        SenderSpec.parse(text)


def test_an_endless_movement_needs_a_range() -> None:
    spec = SimulationSpec(MovementSpec.parse("circle,duration=endless"), SenderSpec(bits=12))
    with pytest.raises(SettingError, match="need a range"):
        spec.open().iterate_blocks(1)


@pytest.mark.parametrize("what", SENDERS)
@pytest.mark.parametrize("when", ["", "threshold=0.05,at_least=2s,against=dis", "budget=9kbit"])
def test_a_description_reads_back(what: str, when: str) -> None:
    spec = described("30hz", what, when)
    assert SenderSpec.parse(spec.write()) == spec
