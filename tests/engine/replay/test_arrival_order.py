"""Tests of recordings sorted by send time, whose packets are reordered by arrival across blocks."""

import random
from collections.abc import Iterator

import pytest

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay.arrival_order import MOST_PACKETS, WINDOW, sort_by_arrival
from epic_cli.engine.text import TextScanner


def log(rng: random.Random, count: int, delay: float) -> list[tuple[float, float]]:
    """Return packets sorted by send time, with their arrivals."""
    times = [index * rng.uniform(0.009, 0.011) for index in range(count)]
    return [(time, time + rng.uniform(0, delay)) for time in sorted(times)]


def blocks(packets: list[tuple[float, float]], rng: random.Random) -> list[PacketBlock]:
    """Yield blocks of different lengths, with the text of each packet, as a reader yields them."""
    scanner, found, at = TextScanner(Entities()), [], 0
    while at < len(packets):
        size = rng.randint(1, 60)
        lines = [f"{a},0,0 / 1,0,0 / {t} arrival={a}\n" for t, a in packets[at : at + size]]
        found.append(scanner.scan("".join(lines).encode()))
        at += size
    return [*found, scanner.scan(b"", final=True)]


@pytest.mark.parametrize("seed", range(20))
def test_all_packets_come_in_the_order_of_sort(seed: int) -> None:
    rng = random.Random(seed)
    packets = log(rng, 2000, rng.choice((0.001, 0.1, 0.9 * WINDOW)))
    found = []
    for block in sort_by_arrival(blocks(packets, rng)):
        inside = [(block[at].arrival, block.line_text(at)) for at in range(len(block))]
        found += sorted(inside, key=lambda one: one[0] or 0)  # the replay sorts within a block
    assert [one for one, _ in found] == sorted(arrival for _, arrival in packets)
    assert all(f"arrival={arrival}".encode() in text for arrival, text in found)


def test_blocks_in_order_are_passed_as_they_are() -> None:
    given = blocks([(at / 10, at / 10 + 0.1) for at in range(500)], random.Random(1))
    assert [*map(id, sort_by_arrival(given))] == [*map(id, given)]


def test_packets_behind_a_refused_line_are_left_out_only_if_strict() -> None:
    scanner = TextScanner(Entities())
    line = b"1,0,0 / 1,0,0 / 1 arrival=1\n"
    given = [scanner.scan(line + b"oops\n" + line), scanner.scan(b"", final=True)]
    counts = [sum(map(len, sort_by_arrival(given, *how))) for how in ((), (False,), (True,))]
    assert counts == [2, 2, 1]


def test_packets_without_arrivals_do_not_wait() -> None:
    def endless() -> Iterator[PacketBlock]:
        while True:
            block = PacketBlock(Entities())
            block.append(Packet((0, 0, 0), (0, 0, 0), 1.0))
            yield block

    assert len(next(sort_by_arrival(endless()))) == 1


def test_no_more_wait_than_stated() -> None:
    taken = 0

    def at_once() -> Iterator[PacketBlock]:
        nonlocal taken
        entities = Entities()
        while True:
            block = PacketBlock(entities)
            for _ in range(1000):
                block.append(Packet((0, 0, 0), (0, 0, 0), 1.0, 1.0))
            taken += len(block)
            yield block

    next(sort_by_arrival(at_once()))
    assert taken <= MOST_PACKETS + 1000
