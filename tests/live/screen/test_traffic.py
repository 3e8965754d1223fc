"""What comes in, in figures: against what was made."""

import math
import random
from collections.abc import Iterable

import pytest

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.live.model import HISTORY, History, LiveTraffic, TrafficFlow
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec


def packet(time: float, delay: float, entity: str = "", sequence: int | None = None) -> Packet:
    return Packet((0.0, 0.0, 0.0), None, time, time + delay, entity, sequence=sequence)


def flow(packets: Iterable[Packet], now: float) -> TrafficFlow:
    traffic, history = LiveTraffic(), History(Entities())
    for one in packets:
        block = PacketBlock(history.entities)
        block.append(one)
        traffic.add(history.take(block))
    traffic.look(history, now, 0.0, Ingest(IngestSpec()).counts)
    return traffic.flow


def test_nothing_is_known_of_nothing() -> None:
    found = flow([], 7)
    assert found.packets == 0
    assert found.history == ()
    assert all(map(math.isnan, (found.loss, found.jitter, found.delay, found.delay95)))


def test_packets_of_the_last_second_are_counted() -> None:
    packets = [packet(index / 20, 0.03) for index in range(100)]
    assert flow(packets, 5.0).packets == 20
    assert flow(packets, 5.5).packets == 10
    assert flow(packets, 100).packets == 0


def test_delays_are_above_the_shortest() -> None:
    delays = [0.1 + 0.001 * (index % 10) for index in range(80)]
    found = flow([packet(index / 20, delay) for index, delay in enumerate(delays)], 4.1)
    assert found.delay == pytest.approx(0.005)
    assert found.delay95 == pytest.approx(0.009)
    assert found.jitter == pytest.approx((sum([0.001] * 72) + 7 * 0.009) / 79)
    assert found.history == pytest.approx([0.009] * 4 + [0.009])


def test_jitter_is_that_of_each_entity() -> None:
    delays = {"near": 0.01, "far": 0.3}
    packets = [packet(index / 20, delays[name], name) for index in range(40) for name in delays]
    packets.sort(key=lambda one: one.arrival or 0)
    assert flow(packets, 2.2).jitter == pytest.approx(0, abs=1e-12)


def test_seconds_in_which_nothing_came_are_left_open() -> None:
    found = flow([packet(0.5, 0), packet(1.2, 0.1), packet(3.5, 0.2)], 4.5)
    assert found.history[:2] == pytest.approx((0, 0.1))
    assert [math.isnan(one) for one in found.history] == [False, False, True, False, True]
    assert len(flow([packet(second, 0) for second in range(500)], 500).history) == HISTORY


@pytest.mark.parametrize("numbered", ["each", "datagrams", "all"])
def test_what_is_missing_is_told_by_the_numbers(numbered: str) -> None:
    made = []
    for index in range(100):
        for place, entity in enumerate("abc"):
            lost = (3 * index + place) % 10 == 4
            number = {"each": index + 1000 * place, "datagrams": index, "all": 3 * index + place}
            if not lost:
                made.append(packet(index / 25, 0.0, entity, number[numbered]))
    made[7], made[9] = made[9], made[7]  # late ones are not lost
    made.append(made[50]._replace(arrival=4.0))  # nor is a copy one more
    assert flow(made, 4).loss == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("datagrams", [2, 3, 7])
@pytest.mark.parametrize("loss", [0.0, 0.1, 0.4])
def test_several_datagrams_hold_the_entities_of_a_tick(datagrams: int, loss: float) -> None:
    chance, made, lost = random.Random(datagrams), [], 0
    for number in range(100 * datagrams):
        tick, part = divmod(number, datagrams)
        if chance.random() < loss and 0 < number < 100 * datagrams - 1:
            lost += 1
            continue
        names = (f"{part}-{one}" for one in range(5))
        made += [packet(tick / 25, 0.0, entity, number) for entity in names]
    assert flow(made, 4).loss == pytest.approx(lost / (100 * datagrams), abs=1e-9)


def test_numbers_that_begin_anew_say_nothing_until_the_old_ones_are_forgotten() -> None:
    before = [packet(index / 20, 0, sequence=60_000 + index) for index in range(40)]
    after = [packet(2 + index / 20, 0, sequence=index) for index in range(140)]
    assert math.isnan(flow(before + after[:10], 2.5).loss)
    assert flow(before + after, 9).loss == 0
    assert math.isnan(flow([packet(0, 0), packet(0.1, 0)], 1).loss)


def test_the_delays_of_a_clock_that_was_reset_are_forgotten() -> None:
    traffic, history = LiveTraffic(), History(Entities())
    counts = Ingest(IngestSpec()).counts
    for index in range(200):
        now = index / 20
        late = 15.0 if 5.0 <= now < 5.6 else 0.02  # until the reset is detected
        block = PacketBlock(history.entities)
        block.append(Packet((0.0, 0.0, 0.0), None, now - late, now))
        traffic.add(history.take(block))
        resets = int(now >= 5.6)
        traffic.look(history, now, now, counts._replace(clock_resets=resets))
        if resets:
            assert max(one for one in traffic.flow.history if not math.isnan(one)) < 0.001
            assert not traffic.flow.delay95 > 0.001
            assert traffic.flow.packets in (20, 21)  # the times are sums of twentieths
