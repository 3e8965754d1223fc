"""Tests of each strategy on difficult streams that its original drew.

The streams have rates that nearly match, silences and bursts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from scipy.spatial.transform import Rotation
from support.conformance import load

from epic_cli import Packet, strategy

MODES = {
    "1.x": "double-lerp",
    "LegacyLerp": "legacy-lerp",
    "Lerp": "lerp",
    "SmoothDampening": "smooth-damp",
}


def switch(on: bool) -> str:
    return "on" if on else "off"


def quake3(of: dict[str, Any]) -> Any:
    return strategy("quake3", cl_time_nudge=of["cl_timeNudge"] / 1000)


def james_frowen(of: dict[str, Any]) -> Any:
    return strategy(
        "james-frowen",
        tick_interval=of["tick_interval"],
        tick_delay=of["tick_delay"],
        diff_threshold=of["diff_threshold"],
        fast_scale=of["time_scale"],
        skip_threshold=of["skip_threshold"],
        moving_average_count=of["moving_average_count"],
    )


def mirror(of: dict[str, Any]) -> Any:
    assert of["drift_ema_n"] == round(1 / of["send_interval"])
    assert of["delivery_ema_n"] == round(2 / of["send_interval"])
    given = (
        "send_interval",
        "buffer_limit",
        "buffer_time_multiplier",
        "catchup_speed",
        "slowdown_speed",
        "catchup_negative_threshold",
        "catchup_positive_threshold",
        "dynamic_adjustment_tolerance",
    )
    return strategy(
        "mirror",
        pause=0,
        quirks="on",
        dynamic_adjustment=switch(of["dynamic_adjustment"]),
        **{name: of[name] for name in given},
    )


def geckos(of: dict[str, Any]) -> Any:
    return strategy(
        "geckos",
        quirks="on",
        server_fps=of["server_fps"],
        auto_correct_time_offset=switch(of["auto_correct_time_offset"]),
    )


def unity_ngo(of: dict[str, Any]) -> Any:
    ticks = of["tick_latency"]
    assert of.get("min_delta", 1 / of["tick_rate"]) == pytest.approx(1 / of["tick_rate"])
    assert of.get("max_delta", ticks / of["tick_rate"]) == pytest.approx(ticks / of["tick_rate"])
    return strategy(
        "unity-ngo",
        mode=MODES[of["interpolation_type"]],
        tick_rate=of["tick_rate"],
        tick_latency=ticks,
        latency=of["latency"],
        server_buffer=of["server_buffer"],
        position_max_interpolation_time=of["max_interpolation_time"],
        position_lerp_smoothing=switch(of.get("lerp_smoothing", True)),
        smoothing_factor="per-frame",
        pause=0,
    )


def get_maker(name: str, **more: str) -> Callable[[dict[str, Any]], Any]:
    """Return what makes a strategy with the settings of a stream, and with these."""
    return lambda of: strategy(name, **more, **of)


#: The files, each with what makes its strategy, and a second in its times.
FILES = {
    "geckos_runs": (geckos, 1000),
    "james_frowen_runs": (james_frowen, 1),
    "mirror_runs": (mirror, 1),
    "quake3_clock_runs": (quake3, 1000),
    "unity_ngo_1_11_runs": (unity_ngo, 1),
    "unity_ngo_2_13_runs": (unity_ngo, 1),
    "panda3d_runs": (get_maker("panda3d", quirks="on"), 1),
    "luanti_runs": (get_maker("luanti"), 1),
    "lightyear_runs": (get_maker("lightyear"), 1),
    "ddnet_runs": (get_maker("ddnet"), 1),
    "source_runs": (get_maker("source"), 1),
}
#: Where a stream states none: the single precision of the original's fractions.
TOLERANCE = 1e-5
STREAMS = [(name, stream) for name in FILES for stream in load(name)["streams"]]


def off(ours: tuple[float, ...], theirs: list[float]) -> float:
    """Return the largest difference between two arrays, relative to max(1, value)."""
    pairs = zip(ours, theirs, strict=True)
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in pairs)


@pytest.mark.parametrize(
    ("name", "stream"), STREAMS, ids=[f"{name}-{one['stream']}" for name, one in STREAMS]
)
def test_it_draws_what_its_original_drew(name: str, stream: dict[str, Any]) -> None:
    make, second = FILES[name]
    made = make(stream["settings"])
    last, compared = (math.nan,) * 3, 0
    for time, *rest in stream["events"]:
        if isinstance(rest[0], float):
            arrival, x, y, z, *more = rest
            velocity, teleport = more[:3] or [0.0, 0.0, 0.0], bool(more[3:])
            packet = Packet(
                (x, y, z), tuple(velocity), time / second, arrival / second, teleport=teleport
            )
            made.update(packet, arrival / second)
            continue
        sample, (drawn,) = made.read(time / second), rest
        compared += bool(drawn)
        if not drawn:  # then the caller goes on drawing what it drew last
            if name != "ddnet_runs":  # which shows its first snapshot
                assert sample.status == ("held" if compared else "none"), time
                assert sample.position == last or not compared
        elif name == "quake3_clock_runs":
            assert made.server_time * second == pytest.approx(drawn[0], abs=stream["tolerance"])
        else:
            assert sample.status != "none", time
            ours = (*sample.position, *sample.velocity)[: len(drawn)]
            assert off(ours, drawn) <= stream.get("tolerance", TOLERANCE), time
        last = sample.position
    assert compared > 30


#: Of each: how many axes its positions have, a second in its times, how rotations are written,
#: settings, and how near ours are (rad); the first's fractions are in single precision.
TURNING: dict[str, tuple[int, float, str, dict[str, str], float]] = {
    "panda3d": (3, 1, "hpr", {"quirks": "on"}, 2e-6),
    "geckos": (1, 1000, "", {"quirks": "on"}, 1e-8),
    "mirror": (3, 1, "quat", {"quirks": "on"}, 1e-6),
    "unity-ngo": (3, 1, "quat", {}, 1e-6),
    "tick-interpolation": (3, 1, "quat", {"recorded": "tick"}, 1e-6),
    "luanti": (3, 1, "quat", {}, 4e-6),
}


def rotation_of(kind: str, numbers: list[float]) -> Rotation:
    """Return the rotation from the numbers that follow a position."""
    if kind == "quat":
        return Rotation.from_quat(numbers)
    if kind == "hpr":  # Panda's pitch is about x, its roll about y; or a quaternion of a packet
        return (
            Rotation.from_quat(numbers)
            if len(numbers) == 4
            else Rotation.from_euler("ZXY", numbers, degrees=True)
        )
    return Rotation.from_euler("ZYX", [*numbers, 0.0, 0.0], degrees=kind != "rad")


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        (run["strategy"], stream)
        for run in load("rotation_runs")["runs"]
        for stream in run["streams"]
    ],
    ids=lambda one: one if isinstance(one, str) else one["stream"],
)
def test_it_turns_as_its_original_turned(name: str, stream: dict[str, Any]) -> None:
    settings, (axes, second, kind, quirks, near) = stream["settings"], TURNING[name]
    kind = settings.get("rotation", "deg") if name == "geckos" else kind
    made, compared = strategy(name, **quirks, **settings), 0
    for time, *rest in stream["events"]:
        if len(rest) == 2:
            arrival, numbers = rest
            x, y, z = [*numbers[:axes], 0.0, 0.0][:3]
            turn = numbers[axes:] if kind == "quat" else rotation_of(kind, numbers[axes:]).as_quat()
            qx, qy, qz, qw = map(float, turn)  # with the sign that the original got
            packet = Packet((x, y, z), None, time / second, rotation=(qx, qy, qz, qw))
            made.update(packet, arrival / second)
            continue
        sample, (drawn,) = made.read(time / second), rest
        if not drawn or (name == "panda3d" and not compared and sample.status == "none"):
            continue
        compared += 1
        assert off(sample.position[:axes], drawn[:axes]) < TOLERANCE, time
        wanted = rotation_of(kind, drawn[axes:])
        away = (Rotation.from_quat(sample.rotation) * wanted.inv()).magnitude()
        assert away < near, time
    assert compared > 25
