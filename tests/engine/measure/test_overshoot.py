"""Tests of how far a drawn path is ahead of the truth, against a slow computation."""

from __future__ import annotations

import numpy as np
import pytest

from epic_cli.engine.measure import measure_overshoot


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_compared_with_the_rows_around_the_late_one_alone(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows, margin, (late, reach) = 60, 20, chance.integers(0, 6, 2).tolist()
    # parts of larger arrays: what stands before and behind them does not count
    part = slice(margin, margin + rows)
    truth = chance.normal(0, 0.2, (rows + 2 * margin, 3)).cumsum(0)[part]
    shown = truth + chance.normal(0, 1, 3)
    segments = np.repeat([0, 0, -1, 1], 25).astype(np.int32)[part]
    ahead = []
    for row in range(1, rows):
        step, last = shown[row] - shown[row - 1], row - late + reach
        if segments[row] < 0 or segments[row] != segments[row - 1] or not 0 <= last < rows:
            continue
        if segments[last] == segments[row]:
            places = range(max(row - late - reach, 0), last + 1)
            near = [place for place in places if segments[place] == segments[row]]
            least = min((shown[row] - truth[near]) @ step) / np.linalg.norm(step)
            ahead.append(max(least, 0))
    found = measure_overshoot(shown, segments, truth, segments, late, reach)
    assert found == pytest.approx((max(ahead), np.square(ahead).sum()))
