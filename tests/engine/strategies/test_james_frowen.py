"""Tests of NetworkPositionSync's snapshot buffer against runs of the original."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from support.conformance import load
from support.delivery import Original, beside, streams

from epic_cli import Packet, strategy

DATA = load("jamesfrowen")
STREAMS = streams()
# The original counts its frames, its interval and the fraction of a segment in single precision.
TICK = struct.unpack("<f", struct.pack("<f", 0.05))[0]


def at(time: float, x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), time)


@pytest.mark.parametrize("run", DATA["streams"], ids=lambda run: run["stream"])
def test_common_streams(run: dict[str, Any]) -> None:
    made: Any = strategy("james-frowen", tick_interval=TICK)
    original = Original(tolerance=1e-7)
    for row, sample in beside(made, STREAMS[run["stream"]], run["rows"], TICK / 0.05):
        if row["out"] is None:
            original.check(None, sample)
            continue
        if row["is_nan"]:
            # where the original divides zero by zero, the entity is where it belongs
            assert set(row["out"].values()) == {None}
            truth = 10 * (row["interpolation_time"] - 1)
            assert sample.position == pytest.approx((truth, 0, 0), abs=1e-6)
        else:
            original.check(row["out"], sample)
        assert made.client_time == pytest.approx(row["client_time"], abs=1e-12)
        assert made.client_time - 2 * TICK == pytest.approx(row["interpolation_time"], abs=1e-12)
        assert made.scale == pytest.approx(row["timescale"], abs=1e-12)
        if row["source"] == "hold":  # the original's buffer is empty
            assert sample.status == "held"


@pytest.mark.parametrize("case", DATA["timescale_table"], ids=lambda case: str(case["diff"]))
def test_timescale(case: dict[str, Any]) -> None:
    made: Any = strategy(
        "james-frowen", tick_interval=case["tick_interval"], moving_average_count=case["ema_count"]
    )
    # the client time comes to 100, then a timestamp says how far it is off
    made.update(at(95.0), 0.0)
    made.read(0.0)
    made.read(5.0)
    made.update(at(100.0 + case["diff"]), 5.0)
    assert made.scale == pytest.approx(case["scale"], abs=1e-6)
    assert made.client_time == pytest.approx(case["client_time"], abs=1e-6)


@pytest.mark.parametrize(
    ("timestamps", "times", "shown"),
    [
        # upstream's tests of its buffer: one snapshot; before, after and between two of them
        ((1.0,), (0.0, 1.0, 2.0), (1, 1, 1)),
        ((1.1, 1.5), (0.0, 0.5, 1.0), (1, 1, 1)),
        ((1.1, 1.5), (1.6, 1.9), (2, 2)),
        ((1.0, 2.0), (1.0, 1.1, 1.5, 1.9, 2.0), (1, 1.1, 1.5, 1.9, 2)),
    ],
)
def test_upstream_buffer(
    timestamps: tuple[float, ...], times: tuple[float, ...], shown: tuple[float, ...]
) -> None:
    made: Any = strategy("james-frowen", tick_interval=1, diff_threshold=9)
    for value, timestamp in enumerate(timestamps, start=1):
        made.update(at(timestamp, float(value)), 0.0)
    start = timestamps[0] - 2.0  # client time minus two ticks, at local time 0
    drawn = [made.read(time - start).position[0] for time in times]
    assert drawn == pytest.approx(list(shown), abs=1e-9)


def test_late_packets_and_equal_stamps_are_discarded() -> None:
    made = strategy("james-frowen")
    assert made.update(at(1.1), 0.0)
    assert not made.update(at(0.9), 0.0)
    assert not made.update(at(1.1, 5.0), 0.0)


def test_an_empty_buffer_is_left_in_one_tick() -> None:
    made = strategy("james-frowen", tick_interval=0.1, diff_threshold=9)
    for count in range(100):
        if count < 10:
            made.update(at(count / 10, 1.0), count / 10)
        made.read(count / 10)
    made.update(at(10.0, 2.0), 10.0)
    shown = [made.read(10 + tick / 20).position[0] for tick in range(6)]
    assert shown == pytest.approx([1, 1, 1, 1.5, 2, 2])


def test_a_clock_that_is_ahead_is_reset_only_if_asked_for() -> None:
    # a packet 1.5 s late, where 20 ticks are 1 s
    for setting, wanted in (("off", 3.5), ("on", 2.0)):
        made: Any = strategy("james-frowen", tick_interval=0.05, reset_backward=setting)
        for tick in range(71):
            if tick < 40:
                made.update(at(tick / 20), tick / 20)
            made.read(tick / 20)
        made.update(at(2.0), 3.5)
        assert made.client_time == pytest.approx(wanted, abs=0.1)
