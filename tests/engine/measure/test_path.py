from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.measure import Path


def cubic(t: np.ndarray) -> np.ndarray:
    return np.stack([t**3 - 2 * t, 4 - t**2, 0 * t + 7], axis=1)


def slope(t: np.ndarray) -> np.ndarray:
    return np.stack([3 * t**2 - 2, -2 * t, 0 * t], axis=1)


def read(path: Path, times: np.ndarray, shift: float = 0.0) -> tuple[np.ndarray, ...]:
    n = len(times)
    out = np.empty((n, 3)), np.empty((n, 3)), np.empty(n, np.int32)
    path.read(times, shift, *out)
    return out


NODES = np.array([0.0, 0.3, 1.0, 1.1, 2.0])
NO_SEGMENTS = np.zeros(0, np.int32)
WHOLE = Path(NODES, cubic(NODES), slope(NODES), np.zeros(5, np.int32))
BROKEN = Path(NODES, cubic(NODES), slope(NODES), np.array([0, 0, 1, 1, 1], np.int32))


def test_states_are_met_bit_by_bit() -> None:
    positions, velocities, _ = read(WHOLE, NODES)
    assert (positions == cubic(NODES)).all()
    assert (velocities == slope(NODES)).all()


@given(st.lists(st.floats(-1, 3), max_size=30), st.floats(-1, 1))
def test_the_order_of_the_times_does_not_matter(times: list[float], shift: float) -> None:
    asked = np.array(times)
    together = read(BROKEN, asked, shift)
    for index, time in enumerate(times):
        alone = read(BROKEN, np.array([time]), shift)
        for whole, one in zip(together, alone, strict=True):
            np.testing.assert_array_equal(whole[index], one[0])


@pytest.mark.parametrize(
    ("times", "rows", "message"),
    [
        ([0.0, 0.0], 2, "increase"),
        ([1.0, 0.0], 2, "increase"),
        ([0.0, float("nan")], 2, "increase"),
        ([0.0, 1.0], 3, "for each time"),
    ],
)
def test_what_is_no_path_is_refused(times: list[float], rows: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Path(np.array(times), np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros(rows, np.int32))


def test_paths_go_to_another_process_bit_by_bit() -> None:
    times = np.linspace(-0.1, 2.1, 57)
    for path in (WHOLE, BROKEN, Path(NODES[:0], cubic(NODES[:0]), slope(NODES[:0]), NO_SEGMENTS)):
        for here, there in zip(
            read(path, times), read(pickle.loads(pickle.dumps(path)), times), strict=True
        ):
            assert here.tobytes() == there.tobytes()
    made: Any = WHOLE.__reduce__()
    make, (states, motions, segments) = made
    with pytest.raises(ValueError, match="one position"):
        make(states, motions, segments[:-4])
