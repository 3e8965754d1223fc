"""Tests of the velocities that strategies receive for packets without one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet, Sample, Vector, replay, strategies, strategy
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.packets import Entities, Groups, PacketBlock, VelocityFiller
from epic_cli.engine.replay.playback import has_need_of_estimates


class Witness:
    """A strategy in plain Python that stores its packets."""

    seen: list[Packet]

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.seen = []

    def update(self, packet: Packet, now: float) -> bool:
        del now
        self.seen.append(packet)
        return True

    def read(self, at: float) -> Sample:
        return Sample(at, (0, 0, 0), (0, 0, 0), "none")


class OwnEstimate(Witness):
    """A strategy that estimates missing velocities itself."""

    declaration = Declaration("own", "", "", estimates_velocity=True)


def at(time: float, x: float, **others: Any) -> Packet:
    return Packet((x, 2 * x, 0), others.pop("velocity", None), time, **others)


def estimates(*packets: Packet) -> list[float]:
    """Return the velocities along x that a strategy gets."""
    witness = Witness()
    for _ in replay(packets, witness):
        pass
    assert [packet._replace(velocity=None) for packet in witness.seen] == [
        packet._replace(velocity=None) for packet in packets
    ]
    assert all(
        packet.velocity and packet.velocity[1] == 2 * packet.velocity[0] for packet in witness.seen
    )
    return [packet.velocity[0] for packet in witness.seen if packet.velocity]


def test_it_is_the_slope_since_the_newest_packet() -> None:
    assert estimates(at(0, 5), at(0.5, 6), at(1, 8), at(3, 8)) == [0, 2, 4, 0]


def test_one_that_was_overtaken_looks_at_the_newest_too_and_leaves_it() -> None:
    assert estimates(at(0, 0), at(1, 4), at(0.5, 3), at(2, 5)) == [0, 4, 2, 1]


def test_equal_stamps_keep_the_velocity() -> None:
    assert estimates(at(0, 0), at(1, 4), at(1, 5), at(2, 8)) == [0, 4, 4, 3]


def test_nothing_moves_across_a_teleport() -> None:
    assert estimates(at(0, 0), at(1, 4), at(2, 90, teleport=True), at(3, 91)) == [0, 4, 0, 1]


def test_velocities_that_are_there_stay() -> None:
    given_one = at(1, 4, velocity=(7, 14, 0))
    assert estimates(at(0, 0), given_one, at(1, 4), at(2, 5)) == [0, 7, 7, 1]


def test_what_is_not_finite_is_no_place_to_look_back_at() -> None:
    block = PacketBlock()
    for packet in (at(0, 0), at(1, math.inf), at(math.nan, 3), at(2, 4), at(3, 1.7e308)):
        block.append(packet)
    VelocityFiller().fill(block)
    velocities = [block[index].velocity for index in range(len(block))]
    assert [velocity[0] for velocity in velocities if velocity] == [0, 0, 0, 2, 0]


def test_a_strategy_with_an_estimate_of_its_own_gets_none() -> None:
    witness = OwnEstimate()
    for _ in replay([at(0, 0), at(1, 4)], witness):
        pass
    assert [packet.velocity for packet in witness.seen] == [None, None]


VECTORS = st.tuples(*[st.floats(-1e3, 1e3)] * 3)
PACKETS = st.lists(
    st.tuples(
        VECTORS,
        st.none() | VECTORS,
        st.floats(0, 3),
        st.none(),
        st.sampled_from("ab"),
        st.sampled_from([False, False, False, True]),
    ).map(lambda fields: Packet(*fields)),
    max_size=12,
)


def filled(packets: list[Packet], size: int = 1000) -> list[Packet]:
    """Return the packets with velocities, filled in by blocks of this size."""
    filler, found = VelocityFiller(), []
    entities = PacketBlock().entities
    for first in range(0, len(packets), size):
        part = PacketBlock(entities)
        for packet in packets[first : first + size]:
            part.append(packet)
        assert filler.fill(part) == sum(p.velocity is None for p in packets[first : first + size])
        found += [part[index] for index in range(len(part))]
    return found


@given(PACKETS, st.integers(1, 5), st.integers(0, 12))
@examples(150)
def test_a_velocity_never_depends_on_what_comes_later(
    packets: list[Packet], size: int, count: int
) -> None:
    whole = filled(packets)
    assert filled(packets[:count]) == whole[:count]
    assert filled(packets, size) == whole


def is_grouped(packets: list[Packet]) -> bool:
    """Return True if a replay takes the packets as grouped by entity."""
    groups, entities = Groups(), Entities()
    for packet in packets:
        block = PacketBlock(entities)
        block.append(packet)
        if groups.next_group(block) == 0:
            return True
    return False


@given(PACKETS)
@examples(150)
def test_filling_in_gives_what_strategies_get(packets: list[Packet]) -> None:
    assume(not is_grouped(packets))  # each entity then begins anew, and with it the estimates
    made: list[Witness] = []

    def make() -> Witness:
        made.append(Witness())
        return made[-1]

    for _ in replay(packets, make):
        pass
    seen = [packet for witness in made for packet in witness.seen]
    assert sorted(map(repr, seen)) == sorted(map(repr, filled(packets)))


@pytest.mark.parametrize("name", [declaration.name for declaration in strategies()])
def test_every_strategy_draws_a_recording_without_velocities(name: str) -> None:
    line = [Packet((10 * t, 5.0, 0), None, t, t + 0.02) for t in (k / 20 for k in range(60))]
    given_line = [part._replace(velocity=(10.0, 0.0, 0.0)) for part in line]
    shown, wanted = list(replay(line, name)), list(replay(given_line, name))
    assert [sample.time for sample in shown] == [sample.time for sample in wanted]
    last, same = shown[len(shown) - 5], wanted[len(wanted) - 5]
    assert last.position == pytest.approx(same.position, abs=0.2)


def test_who_needs_estimates() -> None:
    def needs(name: str, **settings: str) -> bool:
        return has_need_of_estimates(strategy(name, **settings))

    assert needs("epic")
    assert not needs("lerp")
    assert not needs("extrapolator")
    assert needs("extrapolator", velocity="given")
    assert has_need_of_estimates(Witness())
    assert not has_need_of_estimates(OwnEstimate())


def test_a_packet_may_have_none() -> None:
    velocity: Vector | None = None
    block = PacketBlock()
    block.append(Packet((1, 2, 3), velocity, 0.5))
    assert block[0].velocity is None
    assert block.lacks_velocity()
    block = PacketBlock()
    block.append(Packet((1, 2, 3), (0, 0, 0), 0.5))
    assert not block.lacks_velocity()
