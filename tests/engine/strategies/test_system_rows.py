"""Tests of systems' strategies against rows of independent implementations of their formulas."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load

from epic_cli import Packet, Sample, replay, strategy

#: The strategy for each file, with the file's settings where they are not the defaults.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "system_chrono": ("chrono", {}),
    "system_minecraft": ("minecraft", {}),
    "system_netcode_for_entities": ("netcode-for-entities", {"net_rate": 20}),
    "system_purrnet": ("purrnet", {"max_buffer": 6}),
}


@pytest.mark.parametrize("file", SYSTEMS)
def test_rows_are_those_of_the_formulas(file: str) -> None:
    expected = load(file)
    name, settings = SYSTEMS[file]
    packets = [
        Packet((x, y, z), (vx, vy, vz), stamp, arrival)
        for _, stamp, arrival, x, y, z, vx, vy, vz in expected["packets"]
    ]
    packets.sort(key=lambda packet: packet.arrival or 0.0)
    tick = f"1/{expected['frame_rate']}"
    drawn = list(replay(packets, strategy(name, **settings), tick=tick, pacing="frame"))
    assert [sample.time for sample in drawn] == pytest.approx([row[0] for row in expected["rows"]])
    for sample, row in zip(drawn, expected["rows"], strict=True):
        assert sample.position == pytest.approx(row[1:], abs=1e-8)


# --------------------------------------------------------------------------------- minecraft


def ticks_of(packets: list[tuple[float, float]], **settings: Any) -> list[float]:
    """Return the place at each tick of 50 ms, for packets that are moves at these ticks."""
    made, drawn, waiting = strategy("minecraft", **settings), [], list(packets)
    for tick in range(30):
        while waiting and waiting[0][0] <= tick:
            at, x = waiting.pop(0)
            assert made.update(Packet((x, 0.0, 0.0), None, at), tick / 20)
        drawn.append(made.read(tick / 20).position[0])
    return drawn


def test_minecraft_jumps_across_its_snap_distance() -> None:
    assert ticks_of([(0, 0.0), (5, 65.0)])[5] == 65
    assert ticks_of([(0, 0.0), (5, 64.0)])[5] == 0
    assert ticks_of([(0, 0.0), (5, 65.0)], snap=0)[5] == 0


def test_the_queue_of_minecraft_takes_two_places_a_packet_one_a_tick() -> None:
    drawn = ticks_of([(0, 0.0), (5, 2.0), (10, 3.0)], mode="queue")
    assert drawn[5:14] == pytest.approx([0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.5, 3.0, 3.0])
    # ten places wait at most: the first packets are lost
    crowd = ticks_of([(0, 0.0), *[(5, float(n)) for n in range(1, 9)]], mode="queue")
    assert crowd[5:8] == pytest.approx([0.0, 3.5, 4.0])


# ---------------------------------------------------------------------- netcode-for-entities


def test_of_two_snapshots_in_a_frame_netcode_for_entities_keeps_the_last() -> None:
    made = strategy("netcode-for-entities")
    at = 1.0
    for time in (0.0, 1 / 60, 2 / 60):
        assert made.update(Packet((9.0, 0.0, 0.0), None, time), at)
    assert made.update(Packet((5.0, 0.0, 0.0), None, 3 / 60), at)
    assert not made.update(Packet((7.0, 0.0, 0.0), None, 2 / 60), at)
    assert [made.read(at + n / 60).position[0] for n in range(40)] == [5.0] * 40


def states(*moves: tuple[float, float], latency: float = 0.0) -> list[Packet]:
    return [Packet((x, 0.0, 0.0), None, time, time + latency) for time, x in moves]


def test_netcode_for_entities_extrapolates_for_its_ticks_and_stops() -> None:
    packets = states(*[(n / 60, n / 60) for n in range(120)])
    made = strategy("netcode-for-entities", max_extrapolation=6)
    drawn: list[Sample] = []
    for frame in range(240):
        if frame < len(packets):
            made.update(packets[frame], frame / 60)
        drawn.append(made.read(frame / 60))
    last = packets[-1].position[0]
    assert drawn[118].position[0] < last
    farthest = max(one.position[0] for one in drawn)
    assert last + 6 / 60 - 1e-6 <= farthest < last + 7 / 60
    assert drawn[-1].status == "extrapolated"


def test_an_entity_that_joins_is_on_the_timeline_of_netcode_for_entities() -> None:
    packets = [
        Packet((n / 20, 0.0, 0.0), None, n / 20, n / 20 + 0.05 + 0.03 * (n % 3), entity=entity)
        for n in range(80)
        for entity in ("a", "b" if n > 30 else "a")
    ]
    rows = replay(packets, "netcode-for-entities", net_rate=20, tick="1/60", pacing="frame")
    places: dict[str, dict[float, float]] = {"a": {}, "b": {}}
    for sample in rows:
        places[sample.entity or ""][sample.time] = sample.position[0]
    later = [time for time in places["b"] if time > 2]
    assert len(later) > 100
    assert [places["a"][time] for time in later] == [places["b"][time] for time in later]


def test_positions_of_netcode_for_entities_are_rounded_on_demand() -> None:
    made = strategy("netcode-for-entities", quantization=10)
    made.update(Packet((0.1234, 5.06, 0.0), None, 0.0), 0.0)
    assert made.read(0.0).position == pytest.approx((0.1, 5.1, 0.0))
