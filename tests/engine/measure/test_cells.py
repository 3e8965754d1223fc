"""Tests of the sums per time cell and of the error parts, against slow and obvious numpy."""

from __future__ import annotations

import numpy as np
import pytest

from epic_cli.engine.measure import (
    count_backward_steps,
    sort_distances,
    sum_rows,
    sum_squares_along,
    sum_values,
)

RANDOM = np.random.default_rng(5)
ROWS, CELLS = 400, 7


def make_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return drawn and true positions (n, 3), the segment of each row and its cell."""
    truth = np.cumsum(RANDOM.normal(size=(ROWS, 3)), axis=0)
    shown = truth + RANDOM.normal(size=(ROWS, 3))
    counted = np.repeat(RANDOM.integers(-1, 3, 40), 10).astype(np.int32)
    places = np.sort(RANDOM.integers(0, CELLS, ROWS)).astype(np.int32)
    return shown, truth, counted, places


def test_rows_are_summed_in_their_cells() -> None:
    shown, truth, counted, places = make_rows()
    errors = np.linalg.norm(shown - truth, axis=1)[counted >= 0]
    speeds, limit = RANDOM.random(ROWS), RANDOM.random(ROWS - 1)
    found = np.zeros((CELLS, 7))
    sum_rows(places, counted, shown, truth, errors, speeds, limit, 1.5, 0.2, found)
    expected = np.zeros((CELLS, 7))
    expected[:, 1] = np.bincount(places[counted >= 0], errors**2, CELLS)
    for row in np.flatnonzero(counted >= 0):
        cell = expected[places[row]]
        cell[[0, 2]] += 1, speeds[row]
        before = counted[max(row - 3, 0) : row] == counted[row]
        if before[-1:].any():
            step = np.linalg.norm(shown[row] - shown[row - 1])
            cell[3] += step > 1.5 * limit[row - 1] + 0.2
        if row >= 3 and before.all():
            thirds = (np.diff(path[row - 3 : row + 1], 3, axis=0) for path in (shown, truth))
            cell[4:] += 1, *((third**2).sum() for third in thirds)
    np.testing.assert_allclose(found, expected)


def test_a_place_outside_of_the_cells_is_refused() -> None:
    _, _, counted, places = make_rows()
    with pytest.raises(ValueError, match="place"):
        sum_values(places, counted, RANDOM.random(ROWS), np.zeros(CELLS - 1))


@pytest.mark.parametrize("resting", [0.0, 1.0, 1e9])
def test_errors_are_split_along_the_last_movement(resting: float) -> None:
    shown, truth, counted, _ = make_rows()
    velocities = RANDOM.normal(size=(ROWS, 3))
    expected = np.where(np.arange(ROWS) % 9 == 0, 9, counted).astype(np.int32)
    along, across = np.empty(ROWS), np.empty(ROWS)
    sum_squares_along(shown, truth, velocities, counted, expected, resting, along, across)
    speeds = np.linalg.norm(velocities, axis=1)
    moving = np.flatnonzero(speeds > resting)
    for row in range(ROWS):
        off = shown[row] - truth[row] if counted[row] == expected[row] else np.zeros(3)
        part = 0.0
        if len(moving):
            last = moving[moving <= row][-1] if moving[0] <= row else moving[0]
            part = (off @ velocities[last] / speeds[last]) ** 2
        assert along[row] == pytest.approx(part, abs=1e-12)
        assert across[row] == pytest.approx(off @ off - part, abs=1e-9)
    assert (across >= 0).all()


def test_steps_against_the_movement_are_counted() -> None:
    shown = np.zeros((9, 3))
    shown[:, 0] = [0, 1, 2, 1.5, 2, 3, 4, 3, 5]
    velocities = np.tile([2.0, 0.0, 0.0], (9, 1))
    counted = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1], np.int32)
    segments = np.zeros(9, np.int32)
    assert count_backward_steps(shown, counted, velocities, segments, 1, 0.1, 0.01) == 1
    assert count_backward_steps(shown, counted, -velocities, segments, 1, 0.1, 0.01) == 6
    # where nothing moves, the direction is the last one; before the first one there is none
    assert count_backward_steps(shown, counted, velocities, segments, 1, 9.0, 0.01) == 0


def test_a_step_counts_if_it_is_backward_also_a_little_earlier_and_later() -> None:
    shown, _, counted, _ = make_rows()
    velocities, expected = RANDOM.normal(size=(ROWS, 3)), 0
    shown[:9, 0], velocities[:12], counted[:9] = np.arange(9) * 9.0, [-9, 0, 0], 0  # also the first
    directions = velocities / np.linalg.norm(velocities, axis=1)[:, None]
    for row in range(1, ROWS):
        near = np.clip([row, row - 5, row + 5], [1, 1, 1], ROWS - 1)
        back = (directions[near] @ (shown[row] - shown[row - 1]) < -0.1).all()
        expected += bool(back and counted[row] == counted[row - 1] >= 0)
    segments = np.zeros(ROWS, np.int32)
    assert count_backward_steps(shown, counted, velocities, segments, 5, 0.0, 0.1) == expected > 9


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000, 70_000])
def test_distances_are_sorted(count: int) -> None:
    values = RANDOM.exponential(10.0 ** RANDOM.integers(-9, 9), count)
    values[::7] = 3.25 + 1e-12 * RANDOM.random(len(values[::7]))  # these agree in the upper bits
    values[::5] = RANDOM.choice([0.0, 1.0, np.inf], len(values[::5]))
    found = values.copy()
    sort_distances(found)
    np.testing.assert_array_equal(found, np.sort(values))
