"""Tests of a receiver's estimates of its sender's clock and send rate."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

module: Any = importlib.import_module("epic_cli.engine.strategies.parts")


def test_the_time_is_the_timestamp_that_would_come_in_now() -> None:
    clock = module.SenderTime()
    for count in range(50):
        clock.add(100 + count / 20, 3 + count / 20)
    assert clock.time(5.5) == pytest.approx(102.5)


def delayed(delays: list[float], period: float = 0.05) -> Any:
    """Return the estimated sender's time after packets with these delays."""
    clock = module.SenderTime()
    for count, delay in enumerate(delays):
        clock.add(count * period, count * period + delay)
    return clock


def test_the_estimate_is_the_mean_of_the_middle_half() -> None:
    assert delayed([0.1]).offset == pytest.approx(0.1)
    assert delayed([0.3, 0.1]).offset == pytest.approx(0.1)
    assert delayed([0.3, 0.1, 0.12]).offset == pytest.approx(0.12)
    wild = [0.08, 0.4, 0.09, 0.1, 0.3, 0.01, 0.12, 0.13]
    assert delayed(wild).offset == pytest.approx((0.09 + 0.1 + 0.12 + 0.13) / 4)


@given(
    offset=st.floats(-1e5, 1e5),
    count=st.integers(4, 200),
    late=st.floats(0.001, 10),
    place=st.floats(0, 1),
)
def test_one_late_packet_changes_nothing(
    offset: float, count: int, late: float, place: float
) -> None:
    delays = [offset] * count
    assert delayed(delays).offset == pytest.approx(offset, abs=1e-9)
    delays[int(place * (count - 1))] += late
    assert delayed(delays).offset == pytest.approx(offset, abs=1e-9)


@given(st.lists(st.floats(-0.2, 0.2), max_size=100), st.floats(-0.2, 0.2))
def test_a_latency_that_changes_is_followed_within_24_packets(
    before: list[float], after: float
) -> None:
    assert delayed(before + [after] * 24).offset == pytest.approx(after, abs=1e-9)


def test_a_clock_that_has_been_set_is_followed_with_the_third_packet() -> None:
    for count, offset in ((1, 0.08), (2, 0.08), (3, 100.08), (50, 100.08)):
        assert delayed([0.08] * 40 + [100.08] * count).offset == pytest.approx(offset)
    assert delayed([0.08] * 40 + [100.08, 100.08, 0.08] * 5).offset == pytest.approx(0.08)


def test_time_never_goes_back() -> None:
    clock = delayed([0.0] * 40, 0.1)
    assert clock.time(4.0) == 4
    for count in range(40, 80):
        clock.add(count / 10, count / 10 + 0.3)
    assert clock.offset == pytest.approx(0.3)
    assert clock.time(4.1) == 4
    assert clock.time(8.0) == pytest.approx(7.7)


def test_a_given_offset_is_not_estimated() -> None:
    clock = module.SenderTime(0.08)
    clock.add(0.0, 7.0)
    assert clock.time(1.0) == pytest.approx(0.92)
    clock.clear()
    assert clock.time(0.5) == pytest.approx(0.42)


def test_clear_forgets_the_estimate() -> None:
    clock = module.SenderTime()
    clock.add(0.0, 7.0)
    clock.time(9.0)
    clock.clear()
    clock.add(5.0, 6.0)
    assert clock.time(6.0) == 5


def measured(timestamps: Iterable[float]) -> Any:
    interval = module.SendInterval(math.nan, 0.3)
    for timestamp in timestamps:
        interval.add(timestamp)
    return interval


def test_the_send_interval_is_measured() -> None:
    assert measured([]).value == 0.3
    assert measured([1.0]).value == 0.3
    assert measured([1.0, 1.1]).value == pytest.approx(0.1)
    assert measured([1.0, 1.1, 1.1, 0.7]).value == pytest.approx(0.1)
    interval = measured([1.0, 1.1])
    interval.clear()
    assert (interval.value, interval.count) == (0.3, 0)


@given(
    period=st.floats(0.002, 1), count=st.integers(3, 100), gap=st.integers(2, 1000), place=st.data()
)
def test_one_silence_changes_nothing(
    period: float, count: int, gap: int, place: st.DataObject
) -> None:
    timestamps = [k * period for k in range(count)]
    assert measured(timestamps).value == pytest.approx(period)
    begin = place.draw(st.integers(1, count))
    timestamps = [k * period if k < begin else (k + gap) * period for k in range(count)]
    assert measured(timestamps).value == pytest.approx(period)


@given(st.lists(st.integers(2, 50), min_size=5, max_size=40), st.floats(0.002, 1))
def test_it_is_exact_while_three_of_eight_differences_are_one_interval(
    lost: list[int], period: float
) -> None:
    groups = [lost[k : k + 5] for k in range(0, len(lost), 5)]
    steps = [step for group in groups for step in (1, 1, 1, *group)]
    times = [0.0, *accumulate(step * period for step in steps)]
    assert measured(times).value == pytest.approx(period)


@given(st.lists(st.floats(0.001, 10), max_size=40), st.floats(0.002, 1))
def test_a_rate_that_changes_is_followed_within_32_packets(
    before: list[float], period: float
) -> None:
    steps = [*before, *[period] * 32]
    assert measured([0.0, *accumulate(steps)]).value == pytest.approx(period, rel=1e-6)


@pytest.mark.parametrize(("other", "packets"), [(0.1, 21), (0.2, 21), (0.03, 12)])
def test_half_of_them_are_enough_where_the_rates_are_far_apart(other: float, packets: int) -> None:
    steps = [0.05] * 40 + [other] * packets
    assert measured([0.0, *accumulate(steps[:-1])]).value == pytest.approx(0.05)
    assert measured([0.0, *accumulate(steps)]).value == pytest.approx(other)


def test_stamps_in_whole_milliseconds_give_the_mean() -> None:
    stamps = [round(k / 60, 3) for k in range(200)]
    assert measured(stamps).value == pytest.approx(1 / 60, abs=1e-3 / 32)


def test_a_given_send_interval_stays() -> None:
    interval = module.SendInterval(0.05)
    for timestamp in (1.0, 2.0, 3.0):
        interval.add(timestamp)
    assert interval.value == 0.05
