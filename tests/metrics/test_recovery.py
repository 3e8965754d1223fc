from __future__ import annotations

import numpy as np
import pytest
from support import movements

from epic_cli.metrics.recovery import Events, measure_recovery
from epic_cli.metrics.truth import make_truth, sample_truth

TICK = 1 / 64


@pytest.mark.parametrize("step", [-1, 0, 1, 31, 32, 33])
def test_a_leap_within_half_a_second_ends_an_outage(step: int) -> None:
    times = np.arange(0, 5, TICK)
    truth = make_truth(movements.block(movements.packets(movements.circle)), "given")
    sampled = sample_truth(truth, times, TICK)
    place = sampled.positions
    leap = 3 + step * TICK
    shown = place + np.where((times > 2) & (times < leap), 7.0, 0.0)[:, None]
    at, no = np.array([3.0]), np.array([False])
    found = measure_recovery(
        shown, sampled, Events(at, at, no, no, np.array([1.0]), 0.0, 0.05), 0.0, place, 0.01
    )
    assert found.leaps == (0 <= step < 32)
