"""Mirror's lag compensation: its values, and a match judged by it."""

from typing import Any

import pytest
from support.conformance import load

from epic_cli.play.server.compensation.contract import Shooter
from epic_cli.play.server.compensation.mirror import (
    HISTORY_LIMIT,
    MirrorCompensation,
    estimate_time,
    sample,
)
from epic_cli.play.server.rewind import PoseHistory

FILE = load("mirror_lagcomp")


@pytest.mark.parametrize(
    "case", FILE["sample"], ids=lambda case: f"{len(case['entries'])}-{case['query']}"
)
def test_a_time_is_found_between_the_captures_as_in_mirror(case: dict[str, Any]) -> None:
    found = sample([float(key) for key in case["entries"]], case["query"], case["interval"])
    assert (found is not None) == case["ok"]
    if found is None:
        assert (case["before"], case["after"], case["t"]) == (None, None, None)
    else:
        before, after, fraction = found
        # the file's key k holds the value 10 k
        assert (10 * case["entries"][before], 10 * case["entries"][after]) == (
            case["before"], case["after"],
        )  # fmt: skip
        assert fraction == pytest.approx(case["t"], abs=1e-12)


@pytest.mark.parametrize("case", FILE["estimate_time"])
def test_what_the_client_saw_is_as_old_as_in_mirror(case: dict[str, float]) -> None:
    time = estimate_time(case["server_time"], case["rtt"], case["buffer_time"])
    assert time == pytest.approx(case["out"], abs=1e-12)


def captured(ticks: int) -> MirrorCompensation:
    """Player 1 moves at 10 units a second; the server ticks every 50 ms."""
    compensation = MirrorCompensation(PoseHistory(), 0.033)
    for tick in range(ticks):
        compensation.capture(tick / 20, {1: (tick / 2, 3.0)})
    return compensation


def test_it_goes_back_half_a_round_trip_and_the_buffer() -> None:
    shooter = Shooter(1.0, 0.1, 0.12, {})
    seen = captured(21).rewind(shooter, {1: (10.0, 3.0)})
    assert seen.view == "estimated"
    assert seen.positions[1] == pytest.approx((10 * (1.0 - 0.05 - 0.12), 3.0))


def test_it_extrapolates_past_the_newest_capture_but_not_further_than_an_interval() -> None:
    seen = captured(20).rewind(Shooter(0.98, 0.0, 0.0, {}), {1: (9.5, 3.0)})
    assert seen.view == "estimated"
    assert seen.positions[1] == pytest.approx((9.8, 3.0))
    late = captured(20).rewind(Shooter(1.1, 0.0, 0.0, {}), {1: (9.5, 3.0)})
    assert late == ({1: (9.5, 3.0)}, "beyond the history")


def test_what_is_older_than_six_captures_is_judged_by_the_present() -> None:
    compensation, present = captured(21), {1: (10.0, 3.0)}
    oldest = 1.0 - (HISTORY_LIMIT - 1) * 0.1
    within = compensation.rewind(Shooter(1.0, 0.0, 1.0 - oldest - 1e-6, {}), present)
    assert within.positions[1] == pytest.approx((10 * oldest, 3.0), abs=1e-4)
    beyond = compensation.rewind(Shooter(1.0, 0.0, 1.0 - oldest + 1e-6, {}), present)
    assert beyond == (present, "beyond the history")
