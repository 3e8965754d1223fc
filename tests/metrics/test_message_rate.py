"""Tests of the message rate, whatever the stamps are rounded to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.metrics.traffic import USUAL_RATES, MessageLog, compute_message_rate, measure_network


def log(stamps: np.ndarray) -> MessageLog:
    return MessageLog(stamps, stamps + 0.05, 0, len(stamps))


@given(
    st.sampled_from([rate for rate in USUAL_RATES if rate >= 20]),
    st.floats(0.1, 0.75),
    st.floats(0, 1),
)
def test_stamps_on_a_coarse_grid_have_the_rate_of_their_clock(
    rate: int, coarse: float, phase: float
) -> None:
    grid = coarse / rate
    stamps = np.round((np.arange(400) + phase) / rate / grid) * grid
    assert compute_message_rate(log(stamps)) == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize("share", [0.2, 0.37, 0.5, 0.8])
@pytest.mark.parametrize(("before", "after"), [(20, 10), (10, 30), (60, 40)])
def test_a_change_of_the_rate_is_told_with_its_time(share: float, before: int, after: int) -> None:
    at = 60 * share
    sent = np.concatenate((np.arange(0, at, 1 / before), np.arange(at, 60, 1 / after)))
    kept = np.random.default_rng(before).random(len(sent)) > 0.05
    change = measure_network(log(sent[kept])).change
    assert change is not None
    assert change[0] == pytest.approx(at, abs=0.5)
    assert change[1:] == pytest.approx((before, after), rel=0.01)
    assert measure_network(log(np.arange(0, 60, 1 / before))).change is None
