"""The clock synchronizations against the values of their originals."""

from typing import Any

import pytest
from support.conformance import load

from epic_cli.engine.strategies.correct import fading_share
from epic_cli.play.clock import (
    ADJUST_STEPS,
    FRAME_WINDOW,
    LONGEST_WAIT,
    MAX_STRETCH,
    RECOMMENDATION_INTERVAL,
    SMALLEST_WAIT,
    SYNC_INTERVAL,
    SYNC_SAMPLES,
    Exchange,
    FrameAdvantages,
    RoundTripEstimator,
    choose_speed,
    compute_average_offset,
    compute_interpolation_delay,
    stretch,
)
from epic_cli.play.world import interpolate_points

BOTH = load("netfox_lightyear")
NETFOX, LIGHTYEAR = BOTH["netfox"], BOTH["lightyear"]
GGPO = load("ggpo_timesync")


def test_the_constants_are_those_of_netfox() -> None:
    defaults = NETFOX["defaults"]
    assert defaults["sync_interval"] == SYNC_INTERVAL
    assert defaults["sync_samples"] == SYNC_SAMPLES
    assert defaults["adjust_steps"] == ADJUST_STEPS
    assert defaults["max_time_stretch"] == MAX_STRETCH


@pytest.mark.parametrize("case", NETFOX["clock_stretch"], ids=lambda case: f"{case['diff']:.3f}")
def test_the_clock_is_stretched_as_in_netfox(case: dict[str, float]) -> None:
    assert stretch(case["diff"], case["ticktime"]) == pytest.approx(case["out"], abs=1e-12)


@pytest.mark.parametrize("case", NETFOX["offset"])
def test_offsets_are_averaged_as_in_netfox(case: dict[str, Any]) -> None:
    assert compute_average_offset(case["samples_offset_rtt"]) == pytest.approx(
        case["out"], abs=1e-12
    )


@pytest.mark.parametrize("case", NETFOX["interp"])
def test_a_view_is_interpolated_as_in_netfox(case: dict[str, float]) -> None:
    a, b, out = case["a"], case["b"], case["out"]
    assert interpolate_points((a, -a), (b, -b), case["f"]) == (out, -out)


def test_round_trip_and_jitter_are_averaged_as_in_lightyear() -> None:
    estimator = RoundTripEstimator()
    for case in LIGHTYEAR["rtt"]:
        estimator.add(case["sample"])
        assert estimator.round_trip == pytest.approx(case["srtt"], abs=1e-12)
        assert estimator.jitter == pytest.approx(case["jitter"], abs=1e-12)


@pytest.mark.parametrize(
    ("samples", "counts_as"),
    [
        ([0.1, 0.1, 9.0], 0.1 + 3 * 0.05 * 5 / 6),  # three mean deviations
        ([0.0, 0.0, 9.0], 0.0),
        ([0.1] * 40 + [0.2], 0.12),  # no deviation is left: a fifth more
        ([2.0, 2.0, 9.0], 2.5),  # half a second more
    ],
)
def test_an_outlier_counts_as_no_more_than_lightyear_lets_it(
    samples: list[float], counts_as: float
) -> None:
    estimator, expected = RoundTripEstimator(), RoundTripEstimator()
    for sample in samples:
        estimator.add(sample)
    for sample in [*samples[:-1], counts_as]:
        expected.add(sample)
    assert estimator.round_trip == pytest.approx(expected.round_trip, abs=1e-5)


@pytest.mark.parametrize("case", LIGHTYEAR["interp_delay"])
def test_the_interpolation_delay_is_lightyears(case: dict[str, float]) -> None:
    # the file's ratio, least delay and multiple of the jitter are lightyear's defaults
    assert (case["ratio"], case["min_ms"], case["jitter_multiple"]) == (1.7, 5, 4)
    seconds = [case[name] / 1000 for name in ("send_interval_ms", "jitter_ms", "tick_ms")]
    assert compute_interpolation_delay(*seconds) == pytest.approx(
        case["delay_ms"] / 1000, abs=1e-12
    )


@pytest.mark.parametrize("case", LIGHTYEAR["correction_decay"])
def test_a_correction_decays_as_in_lightyear(case: dict[str, float]) -> None:
    left = fading_share(case["dt"], case["decay_period"], case["ratio"])
    assert left == pytest.approx(case["factor"], abs=1e-12)


@pytest.mark.parametrize(
    ("error", "speed"),
    [(-5.0, 1.05), (5.0, 1 / 1.05), (-10.0, 1.1), (-25.0, 1.1), (10.0, 1 / 1.1), (-1.0, 1.01)],
)
def test_an_error_of_so_many_ticks_is_worked_off_at_lightyears_speed(
    error: float, speed: float
) -> None:
    assert choose_speed(error) == pytest.approx(speed)


def test_the_constants_are_those_of_ggpo() -> None:
    constants = GGPO["constants"]
    assert constants["FRAME_WINDOW_SIZE"] == FRAME_WINDOW
    assert constants["MIN_FRAME_ADVANTAGE"] == SMALLEST_WAIT
    assert constants["MAX_FRAME_ADVANTAGE"] == LONGEST_WAIT
    assert constants["RECOMMENDATION_INTERVAL"] == RECOMMENDATION_INTERVAL


@pytest.mark.parametrize("case", GGPO["cases"], ids=lambda case: "/".join(map(str, case.values())))
def test_frames_are_waited_for_as_in_ggpo(case: dict[str, Any]) -> None:
    advantages = FrameAdvantages()
    local, remote = case["local_advantage"], case["remote_advantage"]
    for frame in range(case["frames_recorded"]):
        advantages.add(frame, local, remote)
    is_idle = not (case.get("require_idle_input") and case.get("input_alternates"))
    assert advantages.compute_local_wait(idle=is_idle) == case["sleep_frames"]
    # the other side measures the same two, the other way round
    mirrored = FrameAdvantages()
    for frame in range(case["frames_recorded"]):
        mirrored.add(frame, remote, local)
    if is_idle:
        assert mirrored.compute_remote_wait() == case["sleep_frames"]


def test_an_exchange_is_measured_as_in_the_network_time_protocol() -> None:
    """The server is 100 s ahead, and held the move for 30 ms; 50 ms there, 20 ms back."""
    exchange = Exchange(sent=1.0, received=101.05, answered=101.08, returned=1.1)
    assert exchange.round_trip == pytest.approx(0.07)
    assert exchange.offset == pytest.approx(100.015)
