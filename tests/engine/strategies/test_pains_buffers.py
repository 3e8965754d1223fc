"""What is known to go wrong in delay buffers, for each of them.

Everything is judged by the drawn age: how long before a row the entity was where it is drawn.
An entity at x = SPEED * t on the sender's clock makes that easy to see.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from support.delivery import drawn

from epic_cli import Declaration, Packet, Sample, strategy
from epic_cli.engine.strategies import declaration

SPEED = 10.0
INTERVAL = 0.05
LATENCY = 0.08
#: The strategies and the settings that tell them the send rate where they do not measure it.
BUFFERS: dict[str, tuple[str, dict[str, float | str]]] = {
    "mirror": ("mirror", {}),
    "mirror-quirks": ("mirror", {"quirks": "on"}),
    "geckos": ("geckos", {"server_fps": 20}),
    "geckos-quirks": ("geckos", {"server_fps": 20, "quirks": "on"}),
    "unity-double-lerp": ("unity-ngo", {"mode": "double-lerp"}),
    "unity-legacy-lerp": ("unity-ngo", {}),
    "unity-lerp": ("unity-ngo", {"mode": "lerp"}),
    "unity-smooth-damp": ("unity-ngo", {"mode": "smooth-damp"}),
    "source": ("source", {}),
    "source-quirks": ("source", {"quirks": "on"}),
    "quake3": ("quake3", {}),
    "quake3-linear": ("quake3", {"trajectory": "linear"}),
    "quake3-linear-stop": ("quake3", {"trajectory": "linear-stop"}),
    "hermite": ("hermite", {}),
    "hermite-adaptive": ("hermite", {"smoothing": "adaptive"}),
    "gambetta": ("gambetta", {}),
    "gambetta-quirks": ("gambetta", {"quirks": "on"}),
    "james-frowen": ("james-frowen", {}),
    "buffer-min": ("buffer", {"clock": "min", "delay": "3i", "monotonic": "on"}),
    "buffer-mean": ("buffer", {"clock": "mean", "catch_up": "rate", "catch_up_limit": 0.5}),
}
every = pytest.mark.parametrize("name", BUFFERS)
#: With quirks an original may do what the others must not: draw time backwards.
by_default = pytest.mark.parametrize("name", [name for name in BUFFERS if "quirks" not in name])


def made(name: str, **more: float | str) -> Any:
    found, settings = BUFFERS[name]
    return strategy(found, **{**settings, **more})


def declared(name: str) -> Declaration:
    return declaration(BUFFERS[name][0])


def state(time: float, arrival: float, x: float | None = None, speed: float = SPEED) -> Packet:
    where = SPEED * time if x is None else x
    return Packet((where, 0.0, 0.0), (speed, 0.0, 0.0), time, arrival)


def steady(until: float, interval: float = INTERVAL, start: float = 0.0) -> list[Packet]:
    count = round((until - start) / interval)
    times = [start + index * interval for index in range(count + 1)]
    return [state(time, time + LATENCY) for time in times]


def frames(start: float, end: float, step: float = INTERVAL) -> list[float]:
    return [start + count * step for count in range(round((end - start) / step) + 1)]


def ages(samples: list[Sample]) -> list[float]:
    return [sample.time - sample.position[0] / SPEED for sample in samples]


def usual_age(name: str) -> float:
    shown = list(drawn(made(name), steady(20.0), frames(0.013, 20.0)))
    return sum(ages(shown)[-100:]) / 100


@every
def test_a_constant_velocity_is_a_line(name: str) -> None:
    shown = list(drawn(made(name), steady(20.0), frames(0.013, 20.0)))
    late = ages(shown)[-100:]
    wavering = declared(name).lag_wavers
    assert max(late) - min(late) < max(1e-6, wavering.seconds if wavering else 0)
    assert all(sample.velocity[0] == pytest.approx(SPEED, abs=1e-4) for sample in shown[-100:])


@every
def test_resuming_after_a_pause(name: str) -> None:
    """At rest and silent for 10 s, then on as before: no slow motion, no jump by stale time."""
    before = steady(10.0)
    after = [
        state(packet.time + 10.0, packet.arrival + 10.0, packet.position[0])  # type: ignore[operator]
        for packet in steady(20.0, start=10.0)[1:]
    ]
    before[-1] = before[-1]._replace(velocity=(0.0, 0.0, 0.0))
    shown = list(drawn(made(name), [*before, *after], frames(0.013, 30.0)))
    age = usual_age(name)
    # as far behind as ever within 2 s of the first packet
    for sample in shown:
        if sample.time > 22.5:
            assert sample.time - 10 - sample.position[0] / SPEED == pytest.approx(age, abs=0.03)
    # what is extrapolated before the rest is known is taken back; ahead it never rushes
    moved = [
        later.position[0] - earlier.position[0]
        for earlier, later in pairwise(shown)
        if earlier.time > 15
    ]
    assert max(moved) < 3.5 * SPEED * INTERVAL


@by_default
def test_a_teleport_of_1000_units_is_one_jump_with_a_snap_distance(name: str) -> None:
    packets = [
        packet._replace(position=(packet.position[0] + (1000 if packet.time >= 5 else 0), 0.0, 0.0))
        for packet in steady(10.0)
    ]
    snap = "snap" if name.startswith("buffer") else "snap_distance"
    for settings in ({snap: 100.0}, {}):
        shown = list(drawn(made(name, **settings), packets, frames(0.013, 10.0, 0.01)))
        between = [sample for sample in shown if 110 < sample.position[0] < 990]
        if settings:
            assert not between
            assert all(-1 < sample.position[0] < 1200 for sample in shown)
        assert shown[-1].position[0] > 1080


@every
def test_irregular_send_rates(name: str) -> None:
    dice = random.Random(7)
    time, packets = 0.0, []
    while time < 30:
        packets.append(state(time, time + LATENCY))
        time += dice.choice((0.02, 0.05, 0.05, 0.08, 0.1))
    shown = list(drawn(made(name), packets, frames(0.013, 30.0)))
    late = ages(shown)[-200:]
    assert max(late) - min(late) < 0.2
    assert max(late) < usual_age(name) + 0.2


@every
@pytest.mark.parametrize("rate", [1.01, 0.99])
def test_a_senders_clock_that_is_1_percent_off_for_ten_minutes(name: str, rate: float) -> None:
    packets = [
        Packet((SPEED * time, 0.0, 0.0), (SPEED / rate, 0.0, 0.0), time * rate, time + LATENCY)
        for time in (index * INTERVAL for index in range(12_001))
    ]
    shown = list(drawn(made(name), packets, frames(0.013, 600.0)))
    late = ages(shown)[-600:]
    assert max(late) < usual_age(name) + 0.08
    assert min(late) > usual_age(name) - 0.08


@every
def test_packets_faster_than_ticks(name: str) -> None:
    packets = steady(10.0, interval=0.002)
    shown = list(drawn(made(name), packets, frames(0.013, 10.0)))
    late = ages(shown)[-100:]
    assert max(late) < usual_age(name) + 0.1
    assert max(late) - min(late) < 0.06


@every
def test_two_packets_in_one_frame(name: str) -> None:
    """Every second packet waits for the next: both count, and the line stays a line."""
    packets = [
        packet._replace(arrival=packet.arrival + (INTERVAL if count % 2 else 0.0))  # type: ignore[operator]
        for count, packet in enumerate(steady(20.0))
    ]
    packets.sort(key=lambda packet: (packet.arrival, packet.time))
    shown = list(drawn(made(name), packets, frames(0.013, 20.0)))
    late = ages(shown)[-100:]
    # legacy-lerp falls behind where frames come soon after the timestamps they draw: declared
    slack = 0.5 if name == "unity-legacy-lerp" else 0.16
    assert max(late) - min(late) < slack
    assert max(late) < usual_age(name) + slack


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        # a prediction is taken back: that is no time running backwards
        (name, {"cl_extrapolate": "off"} if name == "source" else {})
        for name in BUFFERS
        if "quirks" not in name and not name.startswith("quake3-linear")
    ],
)
def test_drawn_time_never_runs_backwards(name: str, settings: dict[str, float | str]) -> None:
    """Whatever the order, an entity that moves one way is never drawn going the other way."""
    dice = random.Random(3)
    for _ in range(20):
        packets = [
            packet._replace(arrival=packet.arrival + dice.choice((0, 0, 0.02, 0.09, 0.4)))  # type: ignore[operator]
            for packet in steady(8.0)
        ]
        packets.sort(key=lambda packet: packet.arrival or 0.0)
        shown = list(drawn(made(name, **settings), packets, frames(0.013, 9.0)))
        for earlier, later in pairwise(shown):
            assert later.position[0] >= earlier.position[0] - 1e-9


@every
def test_nothing_before_the_first_packet_and_no_guess_after_one(name: str) -> None:
    tried = made(name)
    assert tried.read(0.0) == Sample(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "none")
    tried.update(state(1.0, 1.0, 3.0, 0.0), 1.0)
    shown = [tried.read(time) for time in (1.0, 1.1, 2.0, 9.0)]
    if declared(name).waits_for_two:
        assert {sample.status for sample in shown} == {"none"}
    else:
        assert {sample.position for sample in shown} == {(3.0, 0.0, 0.0)}
