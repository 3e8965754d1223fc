"""Tests of Unreal's smoothing: the fading offset, both distances, the linear mode's clock."""

import random
from typing import Any

import pytest
from support.conformance import load
from support.delivery import drawn
from support.filter_cases import packet

from epic_cli import Packet, strategy

VALUES = load("unreal_smoothing")


def with_offset(offset: float, **settings: Any) -> Any:
    """Return a strategy whose capsule rests at 1000, with the mesh at this offset."""
    one = strategy("unreal", prediction="off", **settings)
    one.update(packet(1.0, 1000.0 + offset, 1.0), 0.0)
    one.read(0.0)
    one.update(packet(1.1, 1000.0, 1.0), 0.0)
    return one


@pytest.mark.parametrize("case", VALUES["exponential"])
def test_the_offset_shrinks_by_a_part_each_frame(case: Any) -> None:
    one = with_offset(case["offset0"], network_simulated_smooth_location_time=case["smooth_time"])
    for frame, wanted in enumerate(case["seq"], 1):
        drawn = one.read(frame * case["dt"]).position[0] - 1000
        assert drawn == pytest.approx(wanted, abs=1e-9)


def test_the_smooth_time_is_halved_for_who_stands() -> None:
    one = strategy("unreal", network_simulated_smooth_location_time=0.2)
    one.update(packet(0.0, 100.0), 0.0)
    one.read(0.0)
    one.update(packet(0.1, 0.0), 0.0)
    assert one.read(0.05).position[0] == pytest.approx(50)


@pytest.mark.parametrize("case", VALUES["smooth_correction"])
def test_a_correction_moves_the_mesh_as_far_as_the_distances_allow(case: Any) -> None:
    one = strategy("unreal", prediction="off", network_smoothing_mode="linear")
    start = case["old"]
    one.update(packet(0.0, start + case["mesh_offset"]), 0.0)
    one.update(packet(0.1, start), 0.0)  # the mesh is off by mesh_offset now
    assert one.read(0.0).position[0] == pytest.approx(start + case["mesh_offset"])
    one.update(packet(0.2, case["new"]), 0.0)
    offset = one.read(0.0).position[0] - case["new"]
    assert offset == pytest.approx(case["offset_after"])
    assert (offset == 0) == case["teleported"]


def test_the_distances_are_settings() -> None:
    one = strategy(
        "unreal",
        prediction="off",
        network_max_smooth_update_distance=2.0,
        network_no_smooth_update_distance=3.0,
    )
    drawn = []
    for k, x in enumerate((0.0, 2.0, 4.5, 8.0)):
        one.update(packet(k * 0.1, x), 0.0)
        drawn.append(one.read(0.0).position[0])
    # all of 2; of 2.5 only 2 are added; 3.5 is a teleport
    assert drawn == pytest.approx([0.0, 0.0, 0.5, 8.0])


def test_the_linear_mode() -> None:
    case = VALUES["linear"]
    one = with_offset(case["original_offset"], network_smoothing_mode="linear")
    for frame, row in enumerate(case["rows"], 1):
        drawn = one.read(frame * case["dt"]).position[0] - 1000
        assert drawn == pytest.approx(row["offset"], abs=1e-9)
        left = (case["server_ts"] - row["client_ts"]) / case["last_correction_delta"]
        assert 1 - left == pytest.approx(row["lerp_percent"])
        assert drawn == pytest.approx(case["original_offset"] * left, abs=1e-9)
    assert one.read(5.0).position[0] - 1000 == pytest.approx(case["rows"][-1]["offset"])


def test_the_linear_mode_takes_half_a_second_at_most() -> None:
    one = strategy("unreal", prediction="off", network_smoothing_mode="linear")
    one.update(packet(0.0, 100.0), 0.0)
    one.read(10.0)
    one.update(packet(10.0, 0.0), 10.0)
    assert one.read(10.25).position[0] == pytest.approx(50)
    assert one.read(10.5).position[0] == pytest.approx(0)


def test_a_packet_before_the_linear_modes_clock_moves_the_mesh_at_once() -> None:
    one = with_offset(100, network_smoothing_mode="linear")
    one.read(0.5)
    one.update(packet(1.11, 1010.0, 1.0), 0.5)  # the clock stands at 1.115
    assert one.read(0.505).position[0] == 1010


def test_the_linear_mode_does_not_overshoot_for_who_stands() -> None:
    one = with_offset(100, network_smoothing_mode="linear")
    one.update(packet(1.2, 1000.0), 0.0)  # 0.125 s at most behind: at 1.075
    one.read(0.0)
    assert one.read(0.0625).position[0] == pytest.approx(1050)
    assert one.read(0.5).position[0] == 1000


def test_disabled_jumps() -> None:
    one = strategy("unreal", prediction="off", network_smoothing_mode="disabled")
    one.update(packet(0.0, 0.0), 0.0)
    one.update(packet(0.1, 5.0), 0.1)
    sample = one.read(0.1)
    assert (sample.position[0], sample.status) == (5.0, "held")


def proxy(packets: list[Packet], frames: list[float], *, linear: bool) -> list[float]:
    """Return what a proxy draws: packets are read in a frame, and then it simulates the frame."""
    rows: list[float] = []
    waiting, last = list(packets), packets[0].arrival or 0.0
    capsule = offset = corrected = clock = behind = stamp = 0.0
    velocity, seen = 0.0, False
    for at in frames:
        while waiting and (waiting[0].arrival or 0.0) <= at:
            new = waiting.pop(0)
            step, stamp = new.time - stamp, new.time
            if seen:
                offset = corrected = offset + capsule - new.position[0]
            clock = max(min(clock, stamp), stamp - min(1.25 * step, 0.5)) if seen else stamp
            behind = stamp - clock
            capsule, velocity, seen = new.position[0], (new.velocity or (0.0,))[0], True
        passed, last = at - last, at
        capsule += velocity * passed
        if not rows:
            pass
        elif linear:
            clock = clock + passed
            if behind:
                clock = min(clock, stamp + 0.15 * behind)
            gone = min(max(1 - (stamp - clock) / behind, 0), 1.15) if behind else 1
            if gone >= 1 and not velocity:
                gone, clock = 1, stamp
            offset = corrected * (1 - gone)
        else:
            time = 0.1 if velocity else 0.05
            offset = offset * (1 - passed / time) if passed < time else 0.0
        rows.append(capsule + offset)
    return rows


@pytest.mark.parametrize("mode", ["exponential", "linear"])
def test_a_proxy_reads_packets_in_a_frame_and_simulates_all_of_it(mode: str) -> None:
    dice = random.Random(5)
    packets, arrival = [], 0.0
    for k in range(200):
        arrival = max(arrival, 0.05 * k + 0.03 + dice.choice((0, 0.01, 0.07, 0.1)))
        speed = dice.choice((0.0, 4.0, -7.0))
        packets.append(packet(0.05 * k, dice.uniform(-20, 20), speed, arrival))
    begun = packets[0].arrival or 0.0
    frames = [begun + 0.0165 * k + dice.uniform(0, 0.016) for k in range(600)]
    one = strategy("unreal", network_smoothing_mode=mode)
    rows = [sample.position[0] for sample in drawn(one, packets, frames)]
    assert rows == pytest.approx(proxy(packets, frames, linear=mode == "linear"), abs=1e-5)


def test_the_velocity_is_the_capsules() -> None:
    one = strategy("unreal")
    one.update(packet(0.0, 0.0, 10.0), 0.08)
    sample = one.read(0.1)
    assert (sample.velocity[0], sample.status) == (10, "extrapolated")


def test_the_status_without_prediction() -> None:
    one = with_offset(10)
    statuses = [one.read(time).status for time in (0.05, 0.2, 0.25)]
    assert statuses == ["interpolated", "interpolated", "held"]
