"""How corrections fade, against the Source engine's and lightyear's values."""

import math
from typing import Any

import pytest
from support.conformance import load

from epic_cli.play.client.correction import SMOOTHING_CURVES, Correction, Smoothing, SmoothingCurve

SOURCE = load("source_lagcomp_smoothing")
LIMITS = {
    "smooth_above": SOURCE["defaults"]["min_prediction_epsilon"],
    "snap_above": SOURCE["defaults"]["max_prediction_error"],
}


@pytest.mark.parametrize("case", SOURCE["error_decay"], ids=lambda case: str(case["age"]))
def test_a_correction_fades_as_in_source(case: dict[str, Any]) -> None:
    correction = Correction(Smoothing(case["smooth_time"]))
    correction.add((case["error"], 0.0), 0.0)
    assert correction.left(case["age"]) == pytest.approx((case["offset"], 0.0), abs=1e-12)


def test_a_second_correction_is_added_to_what_is_left_of_the_first() -> None:
    correction = Correction(Smoothing(0.1))
    correction.add((10.0, 0.0), 1.0)
    correction.add((0.0, 2.0), 1.05)
    assert correction.left(1.05) == pytest.approx((5.0, 2.0))
    assert correction.left(1.1) == pytest.approx((2.5, 1.0))


@pytest.mark.parametrize(("size", "drawn"), [(0.49, 0.0), (0.5, 0.5), (64.0, 64.0), (64.1, 0.0)])
def test_sources_limits_leave_small_and_large_errors_alone(size: float, drawn: float) -> None:
    correction = Correction(Smoothing(0.1, **LIMITS))
    correction.add((0.0, size), 2.0)
    assert correction.left(2.0) == (0.0, drawn)


def test_a_snap_forgets_what_was_left_and_a_trifle_does_not() -> None:
    correction = Correction(Smoothing(0.1, **LIMITS))
    correction.add((10.0, 0.0), 1.0)
    correction.add((0.1, 0.0), 1.05)
    assert correction.left(1.075) == pytest.approx((2.5, 0.0))
    correction.add((65.0, 0.0), 1.08)
    assert correction.left(1.08) == (0.0, 0.0)


def test_an_exponential_one_halves_in_each_duration_however_often_it_is_drawn() -> None:
    correction = Correction(Smoothing(0.2, "exponential"))
    correction.add((8.0, -4.0), 1.0)
    for halvings in range(6):
        left = correction.left(1.0 + 0.2 * halvings)
        assert left == pytest.approx((8 / 2**halvings, -4 / 2**halvings))
    frame = math.exp(math.log(0.5) / 0.2 / 60)
    assert correction.left(1.0 + 7 / 60)[0] == pytest.approx(8 * frame**7)


@pytest.mark.parametrize("curve", SMOOTHING_CURVES)
def test_without_a_duration_nothing_is_left_at_once(curve: SmoothingCurve) -> None:
    correction = Correction(Smoothing(0.0, curve))
    correction.add((1.0, 1.0), 0.0)
    assert correction.left(0.0) == (0.0, 0.0)
