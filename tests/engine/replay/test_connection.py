"""Tests that an entity's rows depend on the packets of its connection."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from support.connections import KINDS, connection
from support.recordings import few_of

from epic_cli import Packet, Sample, replay
from epic_cli.engine.packets import ConnectionTimes, Entities, PacketBlock
from epic_cli.engine.replay import Trace, draw_frames, separate
from epic_cli.engine.replay.playback import SampleStream, Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.engine.strategies import list_names
from epic_cli.metrics.arrays import collect_rows

TIMING = Timing((1, 60))
#: Beside each strategy with its defaults.
VARIANTS = (
    "mirror+send_interval=0.05",
    "lightyear+send_interval=0.05",
    "james-frowen+tick_interval=0.05",
    "tick-interpolation+tick_interval=0.05",
    "snapshot+clock=pll+server_step=0.05",
    "unity-ngo+mode=lerp",
    "geckos+quirks=on",
)
STATUSES = ("none", "held", "interpolated", "extrapolated")


def block_of(packets: list[Packet]) -> PacketBlock:
    block = PacketBlock(Entities())
    for packet in packets:
        block.append(packet)
    return block


def by_entity(packets: list[Packet], parts: int = 1) -> dict[str, PacketBlock]:
    found: dict[str, PacketBlock] = {}
    block = block_of(packets)
    size = -(-len(block) // parts)
    for begin in range(0, len(block), size):
        separate(block.part(begin, begin + size), found)
    return found


def rows_together(strategy: Any, packets: list[Packet]) -> dict[str, list[Sample]]:
    rows = defaultdict(list)
    made = read_spec(strategy).make_factory() if isinstance(strategy, str) else strategy
    for sample in replay(packets, made, tick=1 / 60):
        rows[sample.entity].append(sample)
    return rows


def rows_apart(strategy: str, block: PacketBlock) -> list[tuple[object, ...]]:
    rows = collect_rows(Trace(read_spec(strategy).make_factory(), TIMING.resolve(True), block))
    return [
        (float(row["time"]), *row["position"].tolist(), *row["velocity"].tolist(),
         STATUSES[row["status"]])
        for row in rows
    ]  # fmt: skip


def plain(samples: list[Sample]) -> list[tuple[object, ...]]:
    return [(one.time, *one.position, *one.velocity, one.status) for one in samples]


@pytest.mark.parametrize(
    ("strategy", "apart"),
    [
        (strategy, apart)
        for number, strategy in enumerate([*list_names(), *VARIANTS])
        for apart in few_of([number % 2 == 1, number % 2 == 0], 1)
    ],
)
def test_an_entity_is_drawn_apart_from_others_as_it_is_beside_them(
    strategy: str, apart: bool
) -> None:
    for number, kind in enumerate(KINDS):
        teleports = (number + apart) % 2 == 1
        packets = connection(kind, jitter=0.03, apart=apart, teleports=teleports)
        together = rows_together(strategy, packets)
        for name, block in by_entity(packets, (1, 7)[number % 2]).items():
            rows = rows_apart(strategy, block)
            assert rows == plain(together[name])[: len(rows)], (kind, name)


@pytest.mark.parametrize("strategy", ["source", "mirror", "quake3", "unity-ngo", "epic"])
def test_one_entity_of_a_stream_is_drawn_as_all_are(strategy: str) -> None:
    for kind in KINDS:
        packets = connection(kind, jitter=0.03, teleports=True)
        together = rows_together(strategy, packets)
        for name, expected in together.items():
            stream = SampleStream(StrategySpec(strategy).make_factory(), TIMING)
            block, before = block_of(packets), ConnectionTimes()
            found: list[Sample] = []
            for begin in range(0, len(block), 5):
                part = block.part(begin, begin + 5)
                part.keep_entity(name, before)
                for samples in stream.feed(part):
                    found += samples.samples(block.entities)
            for samples in stream.finish():
                found += samples.samples(block.entities)
            assert plain(found) == plain(expected)[: len(found)], (kind, name)


def test_frames_hear_of_the_connection_too() -> None:
    packets = connection("goes silent")
    expected = rows_together("source", packets)["a"]
    block = by_entity(packets)["a"]
    times = np.array([sample.time for sample in expected])
    drawn = np.empty((len(times), 3))
    draw_frames(StrategySpec("source").make_factory(), block, times, drawn)
    positions = np.array([sample.position for sample in expected])
    assert np.array_equal(drawn, positions)


def test_what_one_draws_of_an_entity_that_is_alone_is_not_changed_by_the_columns() -> None:
    packets = [one for one in connection("goes silent", jitter=0.05) if one.entity == "a"]
    for strategy in list_names():
        alone = rows_together(strategy, [one._replace(entity="") for one in packets])[""]
        assert plain(rows_together(strategy, packets)["a"]) == plain(alone)


def test_other_senders_clocks_say_nothing() -> None:
    """A sender with another clock does not affect the rows of the other entities."""
    packets = connection("goes silent")
    packets = [one for one in packets if one.entity == "a" or one.time > 0.5]
    alone = plain(rows_together("source", [one for one in packets if one.entity == "a"])["a"])
    other = [
        one._replace(time=one.time + 1000) if one.entity == "b" else one for one in packets
    ]  # fmt: skip
    assert plain(rows_together("source", other)["a"])[: len(alone)] == alone
    assert plain(rows_together("source", packets)["a"])[: len(alone)] != alone


class Listener:
    """A strategy in plain Python that records the datagrams of other entities."""

    heard: list[tuple[str, float, float]]
    made: list[Listener] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.made.append(self)
        self.packet: Packet | None = None

    def reset(self) -> None:
        self.heard, self.packet = [], None

    def hear(self, time: float, now: float) -> None:
        self.heard.append(("datagram", time, now))

    def update(self, packet: Packet, now: float) -> bool:
        self.heard.append(("own", packet.time, now))
        self.packet = packet
        return True

    def read(self, at: float) -> Sample:
        if self.packet is None:
            return Sample(at, (0, 0, 0), (0, 0, 0), "none")
        return Sample(at, self.packet.position, (0, 0, 0), "interpolated")


@pytest.mark.parametrize("kind", KINDS)
def test_a_strategy_in_plain_python_hears_of_the_others(kind: str) -> None:
    packets = connection(kind, jitter=0.03)
    Listener.made.clear()
    list(replay(packets, Listener, tick=1 / 60))
    together = {made.packet.entity: made.heard for made in Listener.made if made.packet}
    for name, heard in together.items():
        own = [packet for packet in packets if packet.entity == name]
        first = packets.index(own[0])
        expected: list[tuple[str, float, float | None]] = []
        known = own[0].time, own[0].arrival  # of what came before the newest is told, if any
        expected.append(("datagram", *known))
        for packet in packets[first:]:
            if (packet.time, packet.arrival) != known:
                known = packet.time, packet.arrival
                expected.append(("datagram", *known))
            if packet.entity == name:
                expected.append(("own", *known))
        assert heard == expected
        Listener.made.clear()
        Trace(Listener, TIMING.resolve(True), by_entity(packets)[name])
        apart = next(made.heard for made in Listener.made if made.packet)
        assert apart == expected[: len(apart)]
        ends = own[-1].arrival
        assert ends is not None
        assert all(now is not None and now > ends for _, _, now in expected[len(apart) :])


def test_what_hear_raises_stops_the_replay() -> None:
    class Deaf(Listener):
        def hear(self, time: float, now: float) -> None:
            raise RuntimeError(f"nothing at {time} {now}")

    with pytest.raises(RuntimeError, match="nothing"):
        list(replay(connection("goes silent"), Deaf))


def test_datagrams_come_in_order_of_arrival() -> None:
    """A recording grouped by entity gives the same connection as one sorted by arrival."""
    packets = connection("three", jitter=0.03, apart=True)
    grouped = sorted(packets, key=lambda packet: packet.entity)
    one, other = by_entity(packets), by_entity(grouped)
    for name, block in one.items():
        assert rows_apart("source", block) == rows_apart("source", other[name])


def test_a_recording_of_one_entity_has_no_connection() -> None:
    packets = [packet for packet in connection("three") if packet.entity == "a"]
    assert [block.connection for block in by_entity(packets, 4).values()] == [None]
    several = by_entity(connection("three"), 4)
    known = {id(block.connection) for block in several.values()}
    assert len(known) == 1
    assert None not in {block.connection for block in several.values()}
