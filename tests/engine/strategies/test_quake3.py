"""Tests of Quake III's clock, trajectories and error decay against runs of the original."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from support.conformance import load

from epic_cli import Packet, strategy

TRAJECTORIES = load("quake3_trajectory")
CLOCK = load("quake3_clock_error")


def quake3(**settings: float | str) -> Any:
    return strategy("quake3", **settings)


def at(time: float, x: float = 0.0, speed: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (speed, 0.0, 0.0), time)


@pytest.mark.parametrize(
    "case", TRAJECTORIES["cases"], ids=lambda case: f"{case['type']}-{case['at_ms']}"
)
def test_trajectory(case: dict[str, Any]) -> None:
    made = quake3(
        trajectory=case["type"].lower().replace("_", "-"),
        tr_duration=case["tr_duration_ms"] / 1000,
        gravity=TRAJECTORIES["gravity"],
        quirks="on",
    )
    start = case["tr_time_ms"] / 1000
    made.update(Packet(tuple(case["base"]), tuple(case["delta"]), start), start)
    made.read(start)
    sample = made.read(case["at_ms"] / 1000)
    # the original computes in single precision, and the file has six digits of that
    assert sample.position == pytest.approx(case["pos"], rel=1e-5, abs=1e-4)
    assert sample.velocity == pytest.approx(case["vel"], rel=1e-5, abs=1e-4)


def test_velocities_are_the_derivatives_without_quirks() -> None:
    for kind in ("linear", "linear-stop", "sine", "gravity"):
        for time in (1.3, 1.77, 2.5):
            made = [quake3(trajectory=kind, tr_duration=1.0) for _ in range(3)]
            drawn = []
            for one, offset in zip(made, (-1e-4, 0, 1e-4), strict=True):
                one.update(Packet((10.0, 20.0, 100.0), (30.0, -40.0, 200.0), 1.0), 1.0)
                one.read(1.0)
                drawn.append(one.read(time + offset))
            for axis in range(3):
                slope = (drawn[2].position[axis] - drawn[0].position[axis]) / 2e-4
                assert drawn[1].velocity[axis] == pytest.approx(slope, rel=1e-4, abs=1e-3)


def missile(*seen: tuple[float, float], **settings: float | str) -> Any:
    """Return a missile at rest that is elsewhere in the packets at these times.

    The missile is drawn at each of these times.
    """
    # drawn a little ahead of the clock, so that a snapshot counts from its own time on
    made = quake3(trajectory="linear", cl_time_nudge=-0.03, **settings)
    for time, x in ((1.0, 0.0), *seen):
        made.update(at(time, x), time)
        made.read(time)
    return made


@pytest.mark.parametrize("case", CLOCK["error_decay"], ids=lambda case: str(case["age_ms"]))
def test_error_decay(case: dict[str, Any]) -> None:
    decay = case["cg_errorDecay"] / 1000
    made = missile((2.0, -case["error"]), cg_error_decay=decay, quirks="on")
    shown = made.read(2 + case["age_ms"] / 1000).position[0]
    assert shown + case["error"] == pytest.approx(case["applied"], abs=1e-9)


def test_an_error_is_seen_from_the_first_frame_on_without_quirks() -> None:
    made = missile((2.0, -8.0))
    assert made.read(2.0).position[0] == pytest.approx(0)
    assert made.read(2.05).position[0] == pytest.approx(-4)
    assert made.read(2.2).position[0] == pytest.approx(-8)


def test_an_error_adds_what_is_left_of_the_one_before() -> None:
    # 4 of the first are left after 50 ms, and 2 are new
    assert missile((2.0, -8.0), (2.05, -10.0)).read(2.05).position[0] + 10 == pytest.approx(6)


def test_small_errors_and_those_beyond_the_snap_distance_are_not_smoothed() -> None:
    for x in (0.09, 50.0):
        assert missile((2.0, x), snap_distance=20.0).read(2.0).position[0] == x


@pytest.mark.parametrize("case", CLOCK["lerp"], ids=lambda case: str(case["cg_time"]))
def test_lerp(case: dict[str, Any]) -> None:
    made = quake3()
    made.update(at(case["snap_time"] / 1000, case["p0"]), case["snap_time"] / 1000)
    made.read(case["snap_time"] / 1000)
    made.update(at(case["next_time"] / 1000, case["p1"]), case["snap_time"] / 1000)
    # the clock is moved only once this frame's time is set
    shown = made.read(case["cg_time"] / 1000)
    assert shown.position[0] == pytest.approx(case["value"], abs=1e-9)
    part = case["p0"] + (case["p1"] - case["p0"]) * case["frac"]
    assert shown.position[0] == pytest.approx(part, abs=1e-9)


def test_time_nudge() -> None:
    for nudge in (-0.03, 0.0, 0.03):
        made = quake3(trajectory="linear", cl_time_nudge=nudge)
        made.update(at(1.0, 0.0, 10.0), 1.0)
        made.read(1.0)
        assert made.read(2.0).position[0] == pytest.approx(10 - 10 * nudge)


def test_a_clock_that_is_put_back_stands_until_its_time_has_come() -> None:
    """Delay packets by 150 ms from one second on, too little to begin anew."""
    made, shown = quake3(trajectory="linear", cg_error_decay=0.0), []
    packets = {n / 10 + (0.15 if n > 9 else 0.0): at(n / 10, n, 10.0) for n in range(20)}
    for now in np.arange(0, 2, 1 / 60):
        for time in [time for time in packets if time <= now]:
            made.update(packets.pop(time), time)
        shown.append(made.read(now).position[0])
    steps = np.diff(shown)
    assert steps.min() == 0
    assert sorted(shown) == shown


def test_linear_stop_goes_on_for_its_duration() -> None:
    made = quake3(trajectory="linear-stop", tr_duration=0.05)
    made.update(at(1.0, 0.0, 10.0), 1.0)
    shown = [made.read(time) for time in (1.0, 1.04, 1.2, 1.3)]
    assert [sample.position[0] for sample in shown] == pytest.approx([0, 0.4, 0.5, 0.5])
    assert [sample.status for sample in shown] == ["extrapolated"] * 3 + ["held"]


def test_players_freeze_at_the_newest_snapshot() -> None:
    made = quake3()
    made.update(at(1.0, 3.0, 10.0), 1.0)
    sample = made.read(5.0)
    assert (sample.position[0], sample.velocity[0], sample.status) == (3, 0, "held")


def test_with_quirks_times_are_whole_milliseconds() -> None:
    """Frames between two milliseconds draw what those at the first of them do, and no others."""
    dice = random.Random(5)
    packets = [
        Packet((math.sin(k / 9), k, 0.0), time=k / 20, arrival=k / 20 + dice.uniform(0.02, 0.3))
        for k in range(1, 200)
    ]
    times = np.cumsum([dice.uniform(0.004, 0.03) for _ in range(600)])
    whole = np.floor(times * 1000) / 1000
    drawn = [draw(quake3(quirks=quirks), packets, at) for quirks, at in
             (("on", times), ("on", whole), ("off", whole), ("off", times))]  # fmt: skip
    assert drawn[0] == drawn[1]
    assert drawn[2] != drawn[3]


def draw(made: Any, packets: list[Packet], times: Any) -> list[tuple[float, ...]]:
    """Return what is drawn in frames, which read the packets that came since the last one."""
    waiting, found = sorted(packets, key=lambda one: one.arrival or 0.0), []
    for at in times.tolist():
        while waiting and (waiting[0].arrival or 0.0) <= math.floor(at * 1000) / 1000:
            packet = waiting.pop(0)
            made.update(packet, packet.arrival)
        found.append(made.read(at).position)
    return found
