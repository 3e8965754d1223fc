"""The statistics against closed forms and slow ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.jobs.diagnose.detectors.movement.coarse_stamps import _find_clock_step
from epic_cli.jobs.diagnose.mechanism.chases import read_shares
from epic_cli.metrics.repeats import Repeats, find_repeats
from epic_cli.metrics.traffic import (
    find_lattice,
    find_lower_envelope,
    fit_robust_line,
    make_table_traffic,
)


def test_a_line_is_found_through_wild_values() -> None:
    times = np.arange(40.0)
    values = 3 + 0.5 * times
    values[::5] += 100
    line = fit_robust_line(times, values)
    assert line.slope == pytest.approx(0.5)
    assert line.start == pytest.approx(3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=60), st.integers(2, 5))
def test_the_lower_envelope_is_the_least_of_each_window(values: list[float], windows: int) -> None:
    times = np.arange(len(values), dtype=float)
    found = find_lower_envelope(times, np.array(values), windows)
    per = len(values) // windows
    assert found.levels.tolist() == [min(values[k * per : (k + 1) * per]) for k in range(windows)]
    assert [values[int(time)] for time in found.times] == found.levels.tolist()


@given(
    st.lists(st.integers(-200, 200), min_size=30, max_size=200),
    st.sampled_from([0.05, 0.25, 1 / 32, 3.0]),
)
def test_a_lattice_is_recognized_though_its_numbers_are_rounded(
    turns: list[int], step: float
) -> None:
    turns += [0, 1, 2]  # neighbors, which tell the step
    found = find_lattice(np.round(np.array(turns) * step, 6))
    assert found == pytest.approx(step, rel=0.001)


def test_a_clock_steps_where_all_of_its_intervals_are_sharp() -> None:
    sharp, wide = np.full(50, 0.1), np.linspace(0.0955, 0.1045, 50)
    for others, step in ((sharp, 0.05), (wide, 0.0)):
        found = _find_clock_step(np.concatenate((np.full(50, 0.05), others)))
        assert found == pytest.approx(step)


def find_repeats_among(stamps: np.ndarray, every: int) -> Repeats | None:
    """Find the repeats where every so many of the states are sent again 20 ms later."""
    sent = np.concatenate((stamps, stamps[::every] + 0.02))
    order, state = np.argsort(sent), np.concatenate((stamps, stamps[::every]))
    rows = np.full((10, len(sent)), np.nan)
    rows[0], rows[7], rows[9] = sent, sent + 0.05, 0
    rows[1:4] = 5 * np.sin(state), 3 * np.cos(0.7 * state), 0 * state
    return find_repeats(make_table_traffic({"": rows[:, order]}).streams[0])


def test_repeats_of_a_second_message_are_many() -> None:
    stamps = np.arange(300) / 20
    found = find_repeats_among(stamps, 3)
    assert found is not None
    assert found.again.sum() == pytest.approx(100, abs=2)
    assert find_repeats_among(stamps, 30) is None
    uneven = np.cumsum(np.random.default_rng(2).choice([0.03, 0.05, 0.11], 300))
    assert find_repeats_among(uneven, 3) is None  # whose states do not come at a steady rate


def test_a_slow_constant_speed_is_read_as_it_is() -> None:
    """0.05 units a frame: no frame goes a whole unit."""
    elapsed, left = np.full(200, 1 / 60), np.tile([3.0, 4.0, 0.0], (200, 1))
    found = [one.strategy.settings for one in read_shares(0.2, {}, left, left / 100, elapsed)]
    (speed,) = (one["speed"] for one in found if one["how"] == "speed" and "axes" not in one)
    assert speed == pytest.approx(3.0)
