"""Tests of the 1 euro filter against runs of the original program and its closed forms."""

import math
from typing import Any

import pytest
from support.conformance import load
from support.filter_cases import packet

from epic_cli import SettingError, strategy

VALUES = load("one_euro")


def filtered(one: Any, time: float, x: float) -> float:
    one.update(packet(time, x), time)
    return float(one.state[0][0])


@pytest.mark.parametrize("case", VALUES["cases"])
def test_filters_as_the_original_program(case: Any) -> None:
    one: Any = strategy(
        "one-euro", **{name: case[name] for name in ("freq", "mincutoff", "beta", "dcutoff")}
    )
    times = [case["t0"] + index * case["dt"] for index in range(len(case["input"]))]
    drawn = [filtered(one, time, x) for time, x in zip(times, case["input"], strict=True)]
    assert drawn == pytest.approx(case["output"], abs=1e-12)


def test_filters_equal_and_earlier_stamps_as_the_original_program() -> None:
    # the file leaves beta out; 0.1 gives all its values
    one: Any = strategy("one-euro", freq=20, mincutoff=1, beta=0.1, dcutoff=1, quirks="on")
    for row in VALUES["time_anomalies"]["rows"]:
        assert filtered(one, row["t"], row["x"]) == pytest.approx(row["out"], abs=1e-12)


@pytest.mark.parametrize("quirks", ["off", "on"])
def test_a_timestamp_of_zero_counts_as_none_with_quirks_only(quirks: str) -> None:
    one: Any = strategy("one-euro", freq=20, quirks=quirks)
    one.update(packet(0.0, 0.0), 0.0)
    frequency = 20 if quirks == "on" else 10
    alpha = 1 / (1 + frequency / (2 * math.pi))
    assert filtered(one, 0.1, 1.0) == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize("bad", VALUES["bad_arguments"])
def test_refuses_what_the_original_refuses(bad: Any) -> None:
    with pytest.raises(SettingError, match="is not allowed"):
        strategy("one-euro", **dict(bad["args"].items()))
