"""Tests that a row's status is true, for every strategy and choice, whatever the traffic.

``held``: the row stands where the row before stood. ``interpolated``: it is on the way to a known
target; were no further packet to come, it would arrive at a state that has been received.
"""

import math
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from support.recordings import EXHAUSTIVE, seeds
from support.variants import VARIANTS, Variant

from epic_cli import Packet, Sample, strategy
from epic_cli.engine.strategies import get_declaration

CHASE = get_declaration("chase").settings

SEEDS = seeds(4, 2)
TICK = 0.05

#: No further packet comes for so long, drawn in frames of such a length, s.
SILENCE = 4.0
FRAME = 0.002
ROUNDING = 1e-3
#: How near to its target an entity rests, where the original takes that for being there, units.
NEAR = {"unity-ngo": 0.01}


def traffic(seed: int) -> list[Packet]:
    """Return packets of a sender that moves, stops and jumps, over a lossy, jittery network."""
    numbers = random.Random(seed)
    period = numbers.choice([1 / 60, 0.05, 0.1, 0.2])
    latency, jitter = numbers.uniform(0, 0.2), numbers.choice([0, 0.01, 0.05])
    loss, silence = numbers.choice([0, 0.1, 0.3]), numbers.choice([0, 0.02])
    position, velocity, time = [100.0, -30.0, 5.0], [4.0, 0.0, 0.0], 0.0
    packets = []
    while time < 8:
        step = period + (numbers.uniform(0.3, 2) if numbers.random() < silence else 0)
        time += step
        if numbers.random() < 0.1:
            speed = numbers.choice([0.0, 0.0, 10.0])
            angle = numbers.uniform(0, math.tau)
            velocity = [speed * math.cos(angle), speed * math.sin(angle), 0.0]
        position = [x + v * step for x, v in zip(position, velocity, strict=True)]
        teleport = numbers.random() < 0.01
        if teleport or numbers.random() < 0.01:
            position = [x + numbers.uniform(-30, 30) for x in position]
        if numbers.random() >= loss:
            arrival = time + latency + numbers.expovariate(1 / jitter) if jitter else time + latency
            x, y, z = position
            vx, vy, vz = velocity
            packets.append(Packet((x, y, z), (vx, vy, vz), time, arrival, teleport=teleport))
    return sorted(packets, key=lambda packet: packet.arrival or 0)


class Row(NamedTuple):
    """A drawn row, the number of packets received by then, and the distance covered in a frame."""

    sample: Sample
    received: int
    step: float


def rows(one: Any, packets: list[Packet]) -> Iterator[Row]:
    """Return the sample of each tick; every packet is taken before its tick."""
    received = 0
    before = None
    for tick in range(round(10 / TICK)):
        at = tick * TICK
        while received < len(packets) and (packets[received].arrival or 0) <= at:
            one.update(packets[received], packets[received].arrival)
            received += 1
        sample = one.read(at)
        pace = math.dist(sample.position, before.position) / TICK if before else 0.0
        yield Row(sample, received, pace * FRAME)
        before = sample


def distance_to_segment(point: Any, begin: Any, end: Any) -> float:
    """Return the distance of a point from the segment between two others."""
    along = [e - b for b, e in zip(begin, end, strict=True)]
    squared = math.fsum(a * a for a in along)
    share = 0.0
    if squared > 0:
        share = math.fsum(a * (p - b) for a, p, b in zip(along, point, begin, strict=True))
        share = min(max(share / squared, 0.0), 1.0)
    return math.dist(point, [b + a * share for b, a in zip(begin, along, strict=True)])


class Arrival(NamedTuple):
    """The last interpolated sample, the sample after it, and the step that led to the last."""

    last: Sample
    after: Sample
    step: float


def undisturbed(variant: Variant, packets: list[Packet], row: Row) -> Arrival:
    """Return the position that a row leads to if no further packet comes."""
    one = variant.make()
    known = packets[: row.received]
    for drawn in rows(one, known):
        if drawn.sample.time == row.sample.time:
            break
    last, step = row.sample, row.step
    for frame in range(1, round(SILENCE / FRAME)):
        sample = one.read(row.sample.time + frame * FRAME)
        if sample.status != "interpolated":
            return Arrival(last, sample, step)
        last, step = sample, math.dist(last.position, sample.position)
    return Arrival(last, last, step)


def distance_to_target(name: str, known: list[Packet], last: Sample, after: Sample) -> float:
    """Return the distance from where the entity comes to rest to the nearest known target."""
    if not get_declaration(name).aims_at_prediction:
        return min(
            distance_to_segment(packet.position, last.position, after.position) for packet in known
        )
    nearest = math.inf
    for packet in known:
        ahead = [
            p + v * SILENCE for p, v in zip(packet.position, packet.velocity or (), strict=True)
        ]
        nearest = min(nearest, distance_to_segment(last.position, packet.position, ahead))
    return nearest


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_held_stands_where_the_row_before_stood(variant: Variant) -> None:
    for seed in SEEDS:
        before = None
        for sample, *_ in rows(variant.make(), traffic(seed)):
            if before is not None and before.status != "none" and sample.status == "held":
                assert sample.position == before.position, (seed, sample)
            before = sample


def known_targets() -> list[Variant]:
    """Return the variants that predict a straight line and move towards it alone."""
    return [
        variant
        for variant in VARIANTS
        if not (get_declaration(variant.name).aims_at_prediction and variant.settings)
        and variant.settings
        not in ({"every": "packet"}, {"catch_up": "timer"}, {"catch_up": "timed-queue"})
    ]


@pytest.mark.parametrize("variant", known_targets(), ids=str)
def test_interpolated_arrives_at_a_known_target(variant: Variant) -> None:
    for seed in SEEDS:
        packets = traffic(seed)
        found = [
            row for row in rows(variant.make(), packets) if row.sample.status == "interpolated"
        ]
        for row in random.Random(seed).sample(found, min(6 if EXHAUSTIVE else 2, len(found))):
            last, after, step = undisturbed(variant, packets, row)
            known = packets[: row.received]
            off = distance_to_target(variant.name, known, last, after)
            assert off <= step + NEAR.get(variant.name, ROUNDING), (seed, row, after)


@pytest.mark.parametrize("name", sorted({variant.name for variant in VARIANTS}))
def test_an_entity_of_which_nothing_is_heard_is_not_interpolated_for_ever(name: str) -> None:
    one = strategy(name)
    for row in rows(one, traffic(2)):
        last = row.sample
    for tick in range(1, 400):
        before, last = last, one.read(10 + tick * TICK)
    assert last.status != "interpolated" or math.dist(last.position, before.position) < 1e-6


@pytest.mark.parametrize(
    "how", [word for each in CHASE if each.name == "how" for word in each.choices]
)
def test_a_chase_that_has_arrived_is_held_from_the_next_frame_on(how: str) -> None:
    made = strategy("chase", how=how, interval=0.05, snap_near=0.01)
    for place in range(2):
        made.update(Packet((place, 0, 0), (0, 0, 0), place / 20), place / 20)
        rows = [made.read(place / 20 + frame / 60) for frame in range(3 + 300 * place)]
    stands = [row for before, row in pairwise(rows) if row.position == before.position]
    assert {row.status for row in stands} == {"held"}, stands[:2]
