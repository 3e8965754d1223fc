"""What a receiver estimates of its sender."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest

module: Any = importlib.import_module("epic_cli.engine.strategies.parts.sender_time")


def test_the_time_is_the_timestamp_that_would_come_in_now() -> None:
    clock = module.SenderTime()
    for count in range(50):
        clock.add(100 + count / 20, 3 + count / 20)
    assert clock.time(5.5) == pytest.approx(102.5)


def test_the_estimate_is_an_average() -> None:
    clock = module.SenderTime()
    clock.add(0.0, 0.1)
    clock.add(1.0, 1.2)
    assert clock.offset == pytest.approx(0.11)


def test_time_never_goes_back_and_a_large_error_restarts_the_average() -> None:
    clock = module.SenderTime()
    clock.add(0.0, 0.0)
    assert clock.time(1.0) == 1
    clock.add(1.0, 1.4)
    assert clock.offset == pytest.approx(0.04)
    assert clock.time(1.01) == 1
    clock.add(2.0, 5.0)
    assert clock.offset == 3
    assert clock.time(4.5) == pytest.approx(1.5)


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


def test_the_send_interval_is_measured_and_a_silence_is_none() -> None:
    interval = module.SendInterval(math.nan, 0.3)
    assert interval.value == 0.3
    for timestamp in (1.0, 1.1):
        interval.add(timestamp)
    assert interval.value == pytest.approx(0.1)
    interval.add(11.1)
    assert interval.value == pytest.approx(0.11)
    interval.add(11.1)  # no time between two timestamps is no interval
    assert interval.value == pytest.approx(0.11)
    interval.clear()
    assert (interval.value, interval.count) == (0.3, 0)


def test_a_given_send_interval_stays() -> None:
    interval = module.SendInterval(0.05)
    for timestamp in (1.0, 2.0, 3.0):
        interval.add(timestamp)
    assert interval.value == 0.05
