from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support import movements

from epic_cli.metrics.truth import compute_sliding_maximum, make_truth, sample_truth


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.integers(1, 70))
def test_sliding_maximum(values: list[float], reach: int) -> None:
    found = compute_sliding_maximum(np.array(values), reach)
    expected = [max(values[max(0, k - reach) : k + reach + 1]) for k in range(len(values))]
    assert found.tolist() == expected


def test_rows_count_when_the_movement_has_been_known_for_a_while() -> None:
    packets = movements.packets(movements.circle, 10.0)
    packets = [packet for packet in packets if not 4.01 < packet.time < 5.99]
    times = np.arange(-10.0, 220.0) * 0.05
    sampled = sample_truth(make_truth(movements.block(packets)), times, 0.05, 0.5)
    counted = times[sampled.counted]
    np.testing.assert_allclose(
        counted, np.concatenate((np.arange(10, 81), np.arange(130, 201))) * 0.05
    )
    assert np.flatnonzero(sampled.begins).tolist() == [10, 130]
