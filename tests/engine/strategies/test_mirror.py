"""Tests of Mirror's snapshot interpolation against runs of the original and its own tests."""

from __future__ import annotations

import importlib
import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.conformance import load
from support.delivery import Original, beside, drawn, packets, streams, ticks

from epic_cli import Packet, replay, strategy

FUNCTIONS = load("mirror_functions")
RUNS = load("mirror_streams")["runs"]
STREAMS = streams()


MovingAverage: Any = importlib.import_module("epic_cli.engine.strategies.parts").MovingAverage


def mirror(**settings: float | str) -> Any:
    return strategy("mirror", **settings)


def at(time: float, x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), time)


@pytest.mark.parametrize("quirks", ["off", "on"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['stream']}-{run['mode']}")
def test_draws_what_the_original_drew_by_its_timeline(run: dict[str, Any], quirks: str) -> None:
    stream = STREAMS[run["stream"]]
    made = mirror(
        send_interval=stream["send_interval_ms"] / 1000,
        dynamic_adjustment="on" if run["mode"] == "dynamic" else "off",
        quirks=quirks,
    )
    original = Original()
    for row, sample in beside(made, stream, run["rows"]):
        original.check(row["out"], sample)
        # one stream has a late packet, which the original counts in
        if quirks == "on" and row["out"] is not None:
            assert made.timeline == pytest.approx(row["local_timeline"], abs=1e-9)
            assert made.timescale == pytest.approx(row["timescale"], abs=1e-12)
            assert made.buffer_time == pytest.approx(row["buffer_time"], abs=1e-9)
            assert made.drift == pytest.approx(row["drift_ema"], abs=1e-9)


def test_measured_send_interval_draws_the_same_once_it_is_known() -> None:
    stream = STREAMS["constant_velocity"]
    known = drawn(mirror(send_interval=0.05), packets(stream), ticks(stream))
    measured = drawn(mirror(), packets(stream), ticks(stream))
    for ours, theirs in list(zip(measured, known, strict=True))[4:]:
        assert ours.position == pytest.approx(theirs.position, abs=1e-9)


@pytest.mark.parametrize("sequence", load("mirror_ema")["sequences"])
def test_moving_average(sequence: dict[str, Any]) -> None:
    average = MovingAverage(sequence["alpha"])
    for step in sequence["steps"]:
        assert average.add(step["add"]) == pytest.approx(step["value"], abs=1e-9)
        assert average.variance == pytest.approx(step["variance"], abs=1e-9)
        assert math.sqrt(average.variance) == pytest.approx(step["std"], abs=1e-9)


@pytest.mark.parametrize("case", FUNCTIONS["timescale"], ids=lambda case: str(case["drift"]))
def test_timescale(case: dict[str, Any]) -> None:
    # with an average over one packet, drift is what the second packet is ahead of its place
    made = mirror(
        send_interval=0.1,
        buffer_time_multiplier=60,
        dynamic_adjustment="off",
        drift_ema_duration=0,
        catchup_speed=case["catchup"],
        slowdown_speed=case["slowdown"],
        pause=0,
    )
    made.update(at(10), 0)
    made.update(at(10 + case["drift"]), 0)
    if case["drift"] < 0:  # behind its place: the timeline has run ahead
        made.reset()
        made.update(at(10), 0)
        made.read(0)
        made.read(-case["drift"] + 1)
        made.update(at(11), 1)
    assert made.drift - made.buffer_time == pytest.approx(case["drift"], abs=1e-9)
    assert made.timescale == pytest.approx(case["out"], abs=1e-12)


@pytest.mark.parametrize("case", FUNCTIONS["timeline_clamp"], ids=lambda case: str(case["local"]))
def test_timeline_clamp(case: dict[str, Any]) -> None:
    made = mirror(
        send_interval=case["buffer_time"],
        buffer_time_multiplier=1,
        dynamic_adjustment="off",
        pause=0,
    )
    first = min(case["local"], 0.0)
    made.update(at(first + case["buffer_time"] - 1), 0)
    made.read(0)
    made.read(case["local"] - (first - 1))
    assert made.timeline == pytest.approx(case["local"])
    made.update(at(case["latest_remote"]), 0)
    assert made.timeline == pytest.approx(case["out"], abs=1e-12)


@pytest.mark.parametrize("case", FUNCTIONS["dynamic_adjustment"], ids=str)
def test_dynamic_adjustment(case: dict[str, Any]) -> None:
    # three arrivals whose intervals have the wanted deviation in the average over one second
    weight = 2 / (round(1 / case["send_interval"]) + 1)
    spread = case["jitter_std"] / math.sqrt((1 - weight) * weight)
    made = mirror(
        send_interval=case["send_interval"],
        dynamic_adjustment_tolerance=case["tolerance"],
        delivery_time_ema_duration=1,
        pause=0,
    )
    for timestamp, arrival in ((1, 0), (2, 1), (3, 2 + spread), (4, 3)):
        made.update(at(timestamp), arrival)
    assert made.buffer_time / case["send_interval"] == pytest.approx(case["out"], abs=1e-9)


@pytest.mark.parametrize("case", FUNCTIONS["sample"], ids=lambda case: str(case["t"]))
def test_sample(case: dict[str, Any]) -> None:
    times = case["times"]
    made = mirror(
        send_interval=50, buffer_time_multiplier=2, dynamic_adjustment="off", pause=0,
        drift_ema_duration=0, catchup_negative_threshold=-100, catchup_positive_threshold=100,
    )  # fmt: skip
    for place, time in enumerate(times):
        made.update(at(time, float(place)), 0)
    wanted = case["from"] + (case["to"] - case["from"]) * case["out_t"]
    assert made.read(case["t"] - made.timeline).position[0] == pytest.approx(wanted, abs=1e-9)


def test_a_late_packet_moves_the_timeline_back_only_with_quirks() -> None:
    def play(quirks: str) -> tuple[float, float]:
        made = mirror(send_interval=0.05, dynamic_adjustment="off", quirks=quirks)
        for count in range(20):
            made.update(at(count * 0.05), count * 0.05)
            made.read(count * 0.05)
        before = made.timeline
        made.update(at(0.33), 0.96)
        return before, made.timeline

    before, after = play("off")
    assert after == before
    before, after = play("on")
    assert after == pytest.approx(0.33)
    assert before > after


def test_a_way_longer_than_snap_distance_is_jumped() -> None:
    stream = STREAMS["teleport"]
    shown = drawn(mirror(snap_distance=100), packets(stream), ticks(stream))
    assert not [sample for sample in shown if 50 < sample.position[0] < 1000]
    shown = drawn(mirror(), packets(stream), [time / 100 for time in range(100, 275)])
    assert [sample for sample in shown if 50 < sample.position[0] < 1000]


def test_after_a_pause_of_which_nothing_was_drawn_it_begins_at_the_first_state() -> None:
    made = mirror(send_interval=0.05)
    assert made.read(0.0).status == "none"
    made.update(at(0.0, 100.0), 0.01)
    made.update(at(5.0, 101.0), 5.01)
    shown = [made.read(5.02 + tick / 50).position[0] for tick in range(8)]
    assert shown == sorted(shown)
    assert min(shown) >= 100
    assert shown[-1] == 101


#: The send interval of what follows, s.
INTERVAL = 1 / 60


def network_transform(sent: list[Packet], frames: list[float]) -> list[float]:
    """Return what NetworkTransformUnreliable draws of packets on the x axis, read in frames.

    A time snapshot comes with each packet, and alone in each interval without, with the latency of
    the packet before.
    """
    came = [(packet.arrival or 0.0, packet.time, packet.position[0]) for packet in sent]
    for (arrival, time, _), (_, until, _) in pairwise(list(came)):
        for k in range(1, round((until - time) / INTERVAL)):
            came.append((arrival + k * INTERVAL, time + k * INTERVAL, math.nan))
    came.sort()
    line, scale, drift, buffered = 0.0, 1.0, math.nan, 2 * INTERVAL
    states: dict[float, float] = {}
    rows = []
    for last, at in pairwise(frames):
        while came and came[0][0] <= at:
            _, time, x = came.pop(0)
            line = time - buffered if math.isnan(drift) else line
            line = min(max(line, time - 2 * buffered), time)
            behind = time - line
            drift = behind if math.isnan(drift) else drift + (behind - drift) * 2 / 61
            off = (drift - buffered) / INTERVAL
            scale = 1.02 if off > 1 else 0.96 if off < -1 else 1.0
            if not math.isnan(x):
                if states and max(states) + 3 * INTERVAL < time:
                    states.clear()
                states[time + INTERVAL] = x
        line += (at - last) * scale
        times = sorted(states)
        rows.append(float(np.interp(line, times, [states[time] for time in times])))
    return rows


def test_the_timeline_goes_on_while_nothing_is_sent() -> None:
    dice = random.Random(3)
    sent, tick = [], 1
    while tick < 3000:
        late = 0.03 + 0.06 * (tick // 150 % 2)  # it falls back, then catches up, also at rest
        x = 30 * math.sin(tick / 50)
        sent.append(Packet((x, 0, 0), (0, 0, 0), tick * INTERVAL, tick * INTERVAL + late))
        tick += dice.choice((*(1,) * 40, 2, 30, 60))
    frames = [k / 90 for k in range(4, 4500)]
    made = strategy("mirror-unreliable", dynamic_adjustment="off", send_interval=INTERVAL)
    made.read(frames[0])
    rows = [sample.position[0] for sample in drawn(made, sent, frames[1:])]
    off = np.abs(np.subtract(rows, network_transform(sent, frames)))
    assert np.mean(off < 1e-6) > 0.8
    assert np.percentile(off, 95) < 0.1  # 0.39 without time snapshots; a frame is up to 0.4


def test_a_frame_before_the_first_packet_counts_in_a_replay_as_well() -> None:
    # the original's timeline goes on by whole frames, also in the frame that takes a first packet
    packets = [at(k / 20, k / 2)._replace(arrival=k / 20 + 0.08) for k in range(40)]
    rows = [sample.position[0] for sample in replay(packets, "mirror", send_interval=0.05)]
    assert rows[2:7] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5], abs=1e-9)


@pytest.mark.parametrize("intervals", [0, 1, 2.5])
def test_network_transform_draws_a_timeline_offset_later(intervals: float) -> None:
    made: Any = strategy("mirror", send_interval=0.05, timeline_offset=intervals)
    for k in range(100):
        made.update(Packet((k * 0.5, 0, 0), (10, 0, 0), k * 0.05), k * 0.05 + 0.08)
        sample = made.read(k * 0.05 + 0.08)
    assert sample.position[0] == pytest.approx(10 * (made.timeline - intervals * 0.05))


# --------------------------------------------------------------- what Mirror's own tests assert

FACTS = FUNCTIONS["upstream_test_facts"]
#: A strategy whose clock only a packet or a frame moves.
STILL: dict[str, Any] = {"dynamic_adjustment": "off", "pause": 0}


@pytest.mark.parametrize("name", ["timescale", "timeline_clamp", "dynamic_adjustment", "sample"])
def test_what_it_asserts_of_a_function_is_what_the_real_code_answered(name: str) -> None:
    """All recorded answers of the real code are compared."""
    for fact in FACTS[name]:
        given = {key: value for key, value in fact.items() if key != "expect"}
        (case,) = (
            case for case in FUNCTIONS[name] if {key: case[key] for key in given} == given
        )  # fmt: skip
        answer = case["out"] if "out" in case else [case["from"], case["to"], case["out_t"]]
        assert answer == pytest.approx(fact["expect"], abs=1e-12)


def test_the_thresholds_are_one_send_interval() -> None:
    for case in FUNCTIONS["timescale"]:
        assert (case["neg"], case["pos"]) == (-0.1, 0.1)


def test_insert() -> None:
    same, many = FACTS["insert"]
    assert "same remoteTime twice" in same["op"]
    made = mirror()
    for _ in range(2):
        made.update(at(1), 0)
    assert made.waiting == same["expect_count"]
    assert "64 distinct with limit 32" in many["op"]
    made.reset()
    for place in range(64):
        made.update(at(place), 0)
    assert made.waiting == many["expect_count"]


@pytest.mark.parametrize("fact", FACTS["init_timeline"])
def test_the_first_packet_sets_the_timeline(fact: dict[str, Any]) -> None:
    buffer_time = fact["buffer_time"]
    made = mirror(send_interval=1, buffer_time_multiplier=buffer_time, **STILL)
    made.update(at(fact["first_remote"]), 0)
    assert made.timeline == fact["expect_timeline"]


@pytest.mark.parametrize("fact", FACTS["drift"], ids=lambda fact: str(fact["remote_times"]))
def test_drift(fact: dict[str, Any]) -> None:
    made = mirror(
        send_interval=1, buffer_time_multiplier=fact["buffer_time"],
        drift_ema_duration=fact["ema_n"], quirks="on", **STILL,
    )  # fmt: skip
    for timestamp in fact["remote_times"]:
        made.update(at(timestamp), 0)
    assert made.drift == pytest.approx(fact["expect_drift_ema"])


@pytest.mark.parametrize("fact", FACTS["step"], ids=lambda fact: str(fact["step"]))
def test_step(fact: dict[str, Any]) -> None:
    made = mirror(
        send_interval=fact["buffer_time"], buffer_time_multiplier=1,
        drift_ema_duration=0, **STILL,
    )  # fmt: skip
    for time, x in fact["values"].items():
        made.update(at(float(time), x), 0)
    made.read(0)
    # its first packet, at 10, puts the timeline at 10 - 30
    begin = 10 - fact["buffer_time"]
    drawn = made.read(begin + fact["step"] - made.timeline)
    assert drawn.position[0] == pytest.approx(fact["expect_value"])
    assert made.waiting == fact.get("expect_left", made.waiting)


@pytest.mark.parametrize("sequence", load("mirror_ema")["sequences"], ids=lambda one: one["n"])
def test_the_weight_of_an_average_over_n(sequence: dict[str, Any]) -> None:
    assert sequence["alpha"] == pytest.approx(2 / (sequence["n"] + 1))
