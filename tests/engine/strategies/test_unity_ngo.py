"""Tests of Unity's interpolators against runs of the original, upstream tests and the formula."""

from __future__ import annotations

import importlib
import math
import struct
from itertools import pairwise
from typing import Any

import pytest
from support.conformance import load
from support.delivery import check_rows, drawn, packets, streams, ticks

from epic_cli import Packet, replay, strategy

LEGACY = load("unity_ngo_legacy")
NEW = load("unity_ngo_new")
STREAMS = streams()
MODES = {"LegacyLerp": "legacy-lerp", "Lerp": "lerp", "SmoothDampening": "smooth-damp"}


def interpolator(kind: str, *given: Any) -> Any:
    module = importlib.import_module("epic_cli.engine.strategies.adaptive_delay")
    name = kind.upper().replace("-", "_")
    return module.BufferedInterpolator(module.Interpolation[name], *given)


def single(value: float) -> bytes:
    """Return the bits of a number in single precision."""
    return struct.pack("<f", value)


@pytest.mark.parametrize("scenario", LEGACY["scenarios"], ids=lambda scenario: scenario["name"])
def test_double_lerp_in_the_originals_scenarios(scenario: dict[str, Any]) -> None:
    made = interpolator("double-lerp", scenario["maximum_interpolation_time"], True, False)
    for op in scenario["ops"]:
        if op["op"] == "add":
            made.add((op["value"], 0, 0), op["sent_time"])
        elif op["op"] == "reset_to":
            made.reset_to((op["value"], 0, 0))
        else:
            shown = made.update(op["dt"], op["render_time"], op["server_time"])[0]
            # the original throws where there is no data; since 2.3 it shows zero, as we do
            assert single(shown) == single(0.0 if op["throws"] else op["out"]), op


@pytest.mark.parametrize("run", LEGACY["streams"], ids=lambda run: run["stream"])
def test_double_lerp_in_the_common_streams(run: dict[str, Any]) -> None:
    stream = STREAMS[run["stream"]]
    positions, velocities = (interpolator("double-lerp", 0.1, True, False) for _ in range(2))
    waiting = packets(stream)
    compared = 0
    for time, row in zip(ticks(stream), run["rows"], strict=True):
        while waiting and waiting[0].arrival <= time + 1e-9:  # type: ignore[operator]
            packet = waiting.pop(0)
            positions.add(packet.position, packet.time)
            velocities.add(packet.velocity, packet.time)
        shown = positions.update(0.05, row["render_time"], row["server_time"])[:2]
        shown += velocities.update(0.05, row["render_time"], row["server_time"])[:2]
        if row["out"] is not None:
            wanted = [row["out"][key] for key in ("x", "y", "vx", "vy")]
            assert [single(value) for value in shown] == [single(value) for value in wanted], row
            compared += 1
    # the offset of a sender's clock is the network time's affair; here nothing gets out in time
    assert compared > 8 or run["stream"] == "sender_clock_offset"


@pytest.mark.parametrize(
    "run", NEW["streams"], ids=lambda run: f"{run['stream']}-{run['type']}-{run['lerp_smoothing']}"
)
def test_later_kinds_in_the_common_streams(run: dict[str, Any]) -> None:
    made = strategy(
        "unity-ngo",
        mode=MODES[run["type"]],
        position_lerp_smoothing="on" if run["lerp_smoothing"] else "off",
        smoothing_factor="per-frame",
        tick_rate=20,
        latency=0.08,
    )
    # the original is in single precision, and 1000 units are passed in one of the streams
    far = run["stream"] == "teleport"
    check_rows(made, STREAMS[run["stream"]], run["rows"], tolerance=5e-3 if far else 1e-4)


def smoothing_run(kind: str, rate: float, per_frame: bool, frame: float) -> float:
    """Return positions over 2.11 s of an object that moves at 2.3/s for 1.53 s, then rests."""
    tick = 1 / 30
    made = interpolator(kind, rate, True, per_frame)
    made.reset_to((3.17, 0, 0))
    time, count, shown = 0.0, 0, 3.17
    for _ in range(int(2.11 / frame)):
        time += frame
        while count * tick <= time:
            made.add((3.17 + 2.3 * min(count * tick, 1.53), 0, 0), count * tick)
            count += 1
        shown = made.update(frame, time - 2 * tick, time)[0]
    return shown


@pytest.mark.parametrize("case", NEW["lerp_smoothing_run"]["cases"], ids=str)
def test_lerp_smoothing(case: dict[str, Any]) -> None:
    shown = smoothing_run(
        MODES[case["type"]],
        case["maximum_interpolation_time"],
        case["version"].startswith("before"),
        case["frame_dt"],
    )
    assert shown == pytest.approx(case["final"], abs=3e-6)


@pytest.mark.parametrize("kind", ["lerp", "smooth-damp"])
def test_upstream_assertions_on_the_factor_of_2026(kind: str) -> None:
    assert smoothing_run(kind, 1.0, False, 1 / 60) > 4.17
    slow = smoothing_run(kind, 0.87, False, 1 / 30)
    assert abs(slow - smoothing_run(kind, 0.87, False, 1 / 240)) <= 0.01
    assert smoothing_run(kind, 0.995, False, 1 / 60) < smoothing_run(kind, 0.99, False, 1 / 60)


@pytest.mark.parametrize("case", NEW["smoothdamp"]["cases"], ids=str)
def test_smooth_damp(case: dict[str, Any]) -> None:
    step_smooth_damp = importlib.import_module(
        "epic_cli.engine.strategies.adaptive_delay"
    ).step_smooth_damp
    value, velocity = case["current"], case["velocity"]
    for step in case["steps"]:
        value, velocity = step_smooth_damp(
            value, case["target"], velocity, case["smooth_time"], case["dt"]
        )
        assert value == pytest.approx(step["value"], abs=1e-9)
        assert velocity == pytest.approx(step["velocity"], abs=1e-9)


@pytest.mark.parametrize(
    ("timestamps", "at", "wanted"),
    [
        # upstream's tests of message loss and of duplicates, with a tick of one second
        ((1, 2, 4, 5), (1, 2, 2.5, 3), (1, 1, 1.5, 2)),
        ((1, 1, 2, 2), (1, 2, 2.5, 3), (1, 1, 1.5, 2)),
    ],
)
@pytest.mark.parametrize("kind", ["double-lerp", "legacy-lerp"])
def test_upstream_loss_and_duplicates(
    kind: str, timestamps: tuple[float, ...], at: tuple[float, ...], wanted: tuple[float, ...]
) -> None:
    made = interpolator(kind, 0.01, True, False)
    made.tick = made.latency = 1.0
    for timestamp in timestamps:
        made.add((timestamp, 0, 0), timestamp)
    shown = [made.update(0.5, server - 1, server)[0] for server in at]
    assert shown == pytest.approx(wanted, abs=1e-6)


def test_a_burst_shows_only_the_newest() -> None:
    for kind in MODES.values():
        made = strategy("unity-ngo", mode=kind)
        for count in range(200):
            made.update(Packet((count, 0, 0), (0, 0, 0), count / 20), 0.0)
        assert made.read(0.05).position[0] == 199


def test_the_server_time_follows_slowly_and_jumps_when_far_off() -> None:
    clock = importlib.import_module("epic_cli.engine.strategies.adaptive_delay").NetworkTime()
    clock.sync(10.0, 0.0)
    assert clock.advance(0.0, 0.0) == pytest.approx(9.95)
    clock.sync(10.999, 0.5)  # of the same second of the server's
    assert clock.advance(0.5, 0.5) == pytest.approx(10.45 + 0.0025)
    clock.sync(11.1, 1.0)
    assert clock.advance(1.5, 0.5) == pytest.approx(11.45 + 0.0075)
    clock.sync(13.0, 2.0)
    assert clock.advance(2.0, 0.5) == pytest.approx(12.95 + 0.0025)
    assert clock.advance(3.5, 1.5) == pytest.approx(14.45 - 0.0125)
    clock.sync(14.0, 3.5)  # far behind: the time stands still until it is right
    assert clock.advance(3.6, 0.1) == pytest.approx(14.45 - 0.0125)
    assert clock.advance(4.5, 0.9) == pytest.approx(14.95 - 0.0085)


def test_a_frame_reads_packets_before_it_adds_its_time() -> None:
    made = strategy("unity-ngo", mode="lerp", position_lerp_smoothing="off", server_buffer=0.07)
    for k in range(100):  # as the server sends them, 40 ms after a frame and 60 before the next
        made.update(Packet((k, 0, 0), (10, 0, 0), k / 10), k / 10 + 0.04)
        sample = made.read(k / 10 + 0.1)
    # 9.9 was the server's time in the frame before: 10.0 - 0.07 now, less two ticks
    assert sample.position[0] == pytest.approx(97)


def test_the_server_time_swings_about_what_is_wanted() -> None:
    # the original's adjustment has no rest: each frame takes a hundredth of its length, up or down
    clock = importlib.import_module("epic_cli.engine.strategies.adaptive_delay").NetworkTime()
    clock.sync(10.0, 0.0)
    off = [clock.advance(k / 20, 1 / 20) - (9.95 + k / 20) for k in range(1, 7)]
    assert off == pytest.approx([0.00025, -0.00025] * 3, abs=1e-9)


@pytest.mark.parametrize("latency", [0.1, 0.09996, 0.1001])
@pytest.mark.parametrize("rate", [20, 60])
def test_frames_on_the_timestamps_own_times_do_not_freeze_it(latency: float, rate: int) -> None:
    # whether a frame comes a hair before or after a timestamp is rounding's choice, all of the time
    sent = [Packet((k / rate, 0, 0), (1, 0, 0), k / rate, k / rate + latency) for k in range(3600)]
    shown = [sample.position[0] for sample in replay(sent, "unity-ngo", tick=1 / rate)][
        rate * 5 : 3600
    ]
    steps = [after - before for before, after in pairwise(shown)]
    assert min(steps) == pytest.approx(1 / rate, rel=0.02)
    assert max(steps) == pytest.approx(1 / rate, rel=0.02)


@pytest.mark.parametrize("silence", [0.6, 3.0])
@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("legacy-lerp", (2.5, 3.75, 4.375)),
        ("lerp", (4.5, 4.95, 4.995)),
        ("smooth-damp", (2.5147, 4.2649, 4.8263)),
    ],
)
def test_what_has_rested_eases_to_the_next_state(
    mode: str, wanted: tuple[float, ...], silence: float
) -> None:
    # the original's Reset keeps what is drawn; its next segment begins there
    made = strategy(
        "unity-ngo", mode=mode, tick_rate=20, latency=0.08, smoothing_factor="per-frame"
    )
    timestamps = [k / 20 for k in range(21)]
    sent = [Packet((0, 0, 0), (0, 0, 0), time, time + 0.08) for time in timestamps]
    sent.append(Packet((5, 0, 0), (0, 0, 0), 1 + silence, 1 + silence + 0.08))
    shown = [sample.position[0] for sample in drawn(made, sent, [k / 20 for k in range(100)])]
    assert shown[: shown.index(next(filter(None, shown)))] == [0.0] * shown.count(0.0)
    assert [x for x in shown if x][:3] == pytest.approx(wanted, abs=1e-4)


def test_it_rests_where_each_axis_rounds_to_the_target() -> None:
    # for the original that is within 0.005; every frame halves what is left
    made = strategy("unity-ngo", tick_rate=20, latency=0.08)
    sent = [
        Packet((5.0 * (k > 20), -2.0 * (k > 20), 0), (0, 0, 0), k / 20, k / 20 + 0.08)
        for k in range(22)
    ]
    shown = [sample.position for sample in drawn(made, sent, [k / 20 for k in range(100)])]
    off = [max(abs(5 - x), abs(-2 - y)) for x, y, _ in shown]
    rests = shown.index(shown[-1])
    assert rests < 60
    assert 0 < off[rests] <= 0.005 < off[rests - 1]


def test_late_packets_of_one_frame_count_as_a_burst() -> None:
    for mode in ("legacy-lerp", "lerp", "smooth-damp"):
        for late, jumps in ((98, False), (100, True)):
            made = strategy("unity-ngo", mode=mode, tick_rate=20, latency=0.08)
            for k in range(20):
                made.update(Packet((k, 0, 0), (0, 0, 0), k / 20), k / 20 + 0.08)
                made.read(k / 20 + 0.08)
            for k in range(late):
                assert not made.update(Packet((k, 0, 0), (0, 0, 0), 0.5), 1.04)
            assert made.update(Packet((20, 0, 0), (0, 0, 0), 1.0), 1.08)
            assert (made.read(1.08).position[0] == 20) == jumps


@pytest.mark.parametrize("mode", ["double-lerp", "legacy-lerp", "lerp", "smooth-damp"])
def test_clients_of_before_the_mend_render_tick_latency_later(mode: str) -> None:
    sent = [Packet((math.sin(k / 7), k, 0), (1, 0, 0), k / 20, k / 20 + 0.08) for k in range(80)]
    at = [k / 60 for k in range(240)]
    options: Any = {"mode": mode, "tick_rate": 20, "latency": 0.08, "tick_latency": 2}
    now = drawn(strategy("unity-ngo", render_from="server-time", **options), sent, at)
    before = drawn(strategy("unity-ngo", render_from="local-time", **options), sent, at)
    gap = [b.position[1] - a.position[1] for a, b in zip(now, before, strict=True)]
    # 2 ticks are 2 units here; double-lerp and legacy-lerp take packets by the server time
    assert 0.5 < sum(gap[120:]) / 120 < 2.5
