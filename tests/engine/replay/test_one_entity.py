"""Tests that the loop for one entity draws the same rows as the loop for any number of entities."""

import math
import random
from collections.abc import Iterator

import pytest

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay import (
    ArrivalPacing,
    Clock,
    DemoPacing,
    ExactClock,
    FramePacing,
    Pacing,
    Replay,
    SingleClock,
)
from epic_cli.engine.strategies import create, list_names


class OtherArrivalPacing(ArrivalPacing):
    """A copy of the arrival pacing, which the loop for one entity does not recognize."""


class OtherFramePacing(FramePacing):
    """A copy of the frame pacing, which the loop for one entity does not recognize."""


class OtherDemoPacing(DemoPacing):
    """A copy of the demo's pacing, which the loop for one entity does not recognize."""


def odd_packets(rng: random.Random) -> Iterator[Packet]:
    """Yield packets that are late, have equal or unusable stamps, teleport, or are of a second
    entity.
    """
    time = rng.choice([0.0, -3.0, 50.0])
    arrival, second = time, rng.random() < 0.2
    for _ in range(rng.randrange(1, 50)):
        time += rng.choice([0.05] * 8 + [0.0, -0.1, 0.6, 1e-9, rng.expovariate(5)])
        arrival = max(arrival, time) + rng.choice([0.0, 0.01, rng.random() / 10])
        stamp = time if rng.random() < 0.98 else rng.choice([math.nan, -math.inf, 1e30, -1e30])
        came = None if rng.random() < 0.2 else arrival - rng.choice([0.0] * 20 + [0.3])
        x, v = rng.uniform(-9, 9), rng.choice([rng.uniform(-9, 9)] * 30 + [math.nan])
        velocity = (v, 0.0, -v) if rng.random() < 0.95 else None
        name = "b" if second and rng.random() < 0.1 else ""
        yield Packet((x, -x, 1.0), velocity, stamp, came, name, rng.random() < 0.03)


def drawn(strategy: str, pacing: Pacing, wanted: list[Packet], capacity: int) -> list[str]:
    """Return the rows of a replay in two blocks, as text, since NaN is not equal to itself."""
    out, seen, block = SampleBlock(capacity), list[str](), PacketBlock()
    loop = Replay(lambda: create(strategy), pacing, block.entities)

    def draw_all() -> None:
        more = True
        while more:
            more = loop.draw(out)
            seen.extend(map(repr, out.samples(loop.entities)))
            out.clear()

    middle = len(wanted) // 2
    for some in (wanted[:middle], wanted[middle:]):
        block = PacketBlock(loop.entities)
        for packet in some:
            block.append(packet)
        loop.feed(block)
        draw_all()
        seen += [*map(repr, loop.refusals()), repr(loop.horizon())]
    loop.finish()
    draw_all()
    return [*seen, f"{loop.taken} taken, {loop.discarded} discarded"]


@pytest.mark.parametrize("strategy", list_names())
def test_the_two_loops_draw_the_same(strategy: str) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        wanted = list(odd_packets(rng))
        ticks = rng.choice([(1, 20), (1, 60), (1, 2), (7, 1000)])
        latency, capacity = rng.choice([math.nan, 0.1, -0.2]), rng.choice([1, 3, 64, 4096])
        clocks: list[type[Clock]] = [SingleClock, ExactClock]
        for kind in clocks:
            args = ticks if kind is ExactClock else (ticks[0] / ticks[1],)
            known = [
                ArrivalPacing(kind(*args), latency),
                FramePacing(kind(*args), latency),
                DemoPacing(kind(*args)),
            ]
            other = [
                OtherArrivalPacing(kind(*args), latency),
                OtherFramePacing(kind(*args), latency),
                OtherDemoPacing(kind(*args)),
            ]
            for one, two in zip(known, other, strict=True):
                expected = drawn(strategy, two, wanted, 4096)
                assert drawn(strategy, one, wanted, capacity) == expected


def test_an_arrival_where_the_single_clock_stands_still_is_refused() -> None:
    """Shortly before that time, the remaining seconds may be less than a double's last place."""
    tick = 2.0**30
    end = tick * 2.0**24
    for pacing in (ArrivalPacing, OtherArrivalPacing):
        block = PacketBlock()
        for arrival in (end - 8 * tick, end):
            block.append(Packet((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, arrival))
        loop = Replay(lambda: create("epic"), pacing(SingleClock(tick)), block.entities)
        loop.feed(block)
        loop.draw(SampleBlock())
        assert len(loop.refusals()) == 1
