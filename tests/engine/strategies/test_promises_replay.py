"""Tests that a strategy draws through ``replay`` what it draws when called directly.

The order of calls is that of a game: frames are drawn before anything has come in, and a packet is
taken before the first frame at or after its arrival.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

import pytest
from support.arrival_oracle import arrival_of
from support.arrival_oracle import draw as called
from support.oracle import add, f32
from support.recordings import EXHAUSTIVE
from support.variants import VARIANTS, Variant

from epic_cli import Packet, replay, strategy
from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.playback import CLOCKS, ClockName, is_listening
from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate

TICKS = [Fraction(1, 20), Fraction(1, 60), Fraction(1, 7)]


def traffic(seed: int, entities: Sequence[str] = ("",)) -> list[Packet]:
    """Return packets with jitter, loss, a silence, duplicates and a teleport.

    The clocks may disagree.
    """
    numbers = random.Random(seed)
    period = numbers.choice([1 / 60, 0.05, 0.1])
    jitter, loss = numbers.choice([0, 0.01, 0.04]), numbers.choice([0, 0.2])
    ahead = numbers.choice([0, 0, 1000, -1000])
    packets, time = [], numbers.choice([2.0, 2.013, 40.0])
    end, silence = time + 6, time + 3
    position = [numbers.uniform(-9, 9) for _ in range(3)]
    while time < end:
        time += period + (1.5 if 0 <= time - silence < period else 0)
        velocity = [numbers.choice([0.0, 3.0, -5.0]) for _ in range(3)]
        position = [x + v * period for x, v in zip(position, velocity, strict=True)]
        for number, entity in enumerate(entities):
            if numbers.random() < loss or time < end - 6 + number:
                continue
            arrival = time + 0.08 + numbers.uniform(0, jitter)
            x, y, z = position
            vx, vy, vz = velocity
            jump = numbers.random() < 0.01
            packets.append(
                Packet((x, y, z), (vx, vy, vz), time + ahead, arrival, entity, teleport=jump)
            )
            if numbers.random() < 0.05:
                packets.append(packets[-1]._replace(arrival=arrival + 0.02))
    return sorted(packets, key=arrival_of)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_rows_are_those_of_the_same_calls(variant: Variant) -> None:
    place = len(str(variant)) % len(TICKS)  # each variant has one of the ticks
    for seed, tick in enumerate(TICKS):
        if seed != place and not EXHAUSTIVE:
            continue
        packets = traffic(seed)
        rows = list(replay(packets, variant.make, tick=tick))
        frames = (1, 9)[seed % 2]
        assert rows == called(variant.make, packets, tick, frames=frames), (seed, frames)


@pytest.mark.parametrize("name", list_names())
def test_the_rows_of_each_of_several_entities_are_those_of_the_same_calls(name: str) -> None:
    packets = traffic(3, ("a", "b", "c"))
    joined = next(index for index, packet in enumerate(packets) if packet.entity != "a")
    # a clock begins anew at a teleport of an entity that is alone, of which hear cannot tell
    packets = [one._replace(teleport=False) for one in packets[:joined]] + packets[joined:]
    rows = list(replay(packets, name))
    last = arrival_of(packets[-1])
    for entity in ("a", "b", "c"):
        known = [one for one in packets if one.entity == entity or is_listening(strategy(name))]
        wanted = called(partial(strategy, name), known, until=last, frames=2, entity=entity)
        assert [row for row in rows if row.entity == entity] == wanted


def moved_to_frames(packets: Sequence[Packet], tick: Fraction) -> list[Packet]:
    """Return the packets with each arrival moved to the first tick at or after it."""
    moved = []
    for packet in packets:
        frame = int(arrival_of(packet) // tick)
        while float(frame * tick) < arrival_of(packet):
            frame += 1
        moved.append(packet._replace(arrival=float(frame * tick)))
    return moved


@pytest.mark.parametrize("name", list_names())
def test_frame_pacing_draws_packets_as_if_they_had_arrived_at_the_frame(name: str) -> None:
    first = len(name) % len(TICKS)  # each strategy has one of the ticks
    for seed, tick in enumerate(TICKS) if EXHAUSTIVE else [(first, TICKS[first])]:
        packets = traffic(seed)
        rows = list(replay(packets, name, tick=tick, pacing="frame"))
        wanted = list(replay(moved_to_frames(packets, tick), name, tick=tick))
        assert len(wanted) - 1 <= len(rows) <= len(wanted)
        assert rows == wanted[: len(rows)], seed


@pytest.mark.parametrize("name", list_names())
def test_with_frame_pacing_several_entities_are_drawn_as_one_by_one(name: str) -> None:
    # states of one stamp travel together, else they are one datagram only to those who see frames
    together = dict[float, float]()
    packets = [
        one._replace(arrival=together.setdefault(one.time, arrival_of(one)))
        for one in traffic(3, ("a", "b", "c"))
    ]
    packets.sort(key=arrival_of)
    rows = list(replay(packets, name, tick=TICKS[1], pacing="frame"))
    wanted = list(replay(moved_to_frames(packets, TICKS[1]), name, tick=TICKS[1]))
    assert rows == wanted[: len(rows)]
    assert len(wanted) - 3 <= len(rows)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("name", list_names())
def test_the_rows_of_demo_pacing_are_those_of_the_same_calls(name: str, clock: ClockName) -> None:
    packets = [packet._replace(time=arrival_of(packet) % 40 - 0.1) for packet in traffic(1)]
    rows = list(replay(packets, name, pacing="demo", clock=clock))
    one = strategy(name)
    times = iter([row.time for row in rows])
    wanted = []
    now = 0.0
    for packet in packets:
        one.update(packet, now)
        while now < (packet.time + 0.15 if clock == "exact" else add(f32(packet.time), f32(0.15))):
            now = next(times)
            wanted.append(one.read(now))
    assert rows == wanted
    assert len(rows) > 50


def draw_circle(
    name: str, settings: Mapping[str, Value], ahead: float
) -> list[tuple[float, float, float]]:
    """Return what is drawn of a circle where the receiver's clock is ahead of the sender's (s)."""
    link = LinkConditions(latency=0.0625, jitter=0.03125, distribution="uniform")
    circle = PathMovement(PATHS["circle"](5.0, 5.0, 1))
    sent = simulate(circle, send_rate=20, duration=12.0, channel=Link(link, seed=1))
    packets = [packet._replace(arrival=arrival_of(packet) + ahead) for packet in sent]
    rows = list(replay(packets, partial(strategy, name, **settings), tick=1 / 60))
    return [row.position for row in rows[60:]]


@pytest.mark.parametrize("name", list_names())
def test_clocks_that_differ_matter_where_it_is_declared(name: str) -> None:
    one_clock = get_declaration(name).one_clock

    def measure_change(settings: Mapping[str, Value]) -> float:
        agreed = draw_circle(name, settings, 0.0)
        return max(
            math.dist(*pair)
            for ahead in (128.0, -128.0)
            for pair in zip(agreed, draw_circle(name, settings, ahead), strict=False)
        )

    # a plausible age is taken for one, on clocks that agree: a few hundredths of a second's way
    assert (measure_change({}) > 1) == (one_clock is not None)
    if one_clock is not None and one_clock.instead:
        settings = {key: 0.05 if value is None else value for key, value in one_clock.instead}
        assert measure_change(settings) < 1
