"""Tests that true states written as CSV are read back as the movement."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.network.movement import Snapshot, State
from epic_cli.network.truth_file import TruthWriter, read_movement
from epic_cli.recordings.writing import Unwritable

vectors = st.tuples(*[st.floats(-1e9, 1e9).map(lambda value: round(value, 6) + 0.0)] * 3)


@given(entity=st.text(max_size=5), position=vectors, velocity=vectors)
def test_truth_is_read_back(entity: str, position: tuple[float], velocity: tuple[float]) -> None:
    writer = TruthWriter()
    states = [(entity, State(position, velocity))]  # type: ignore[arg-type]
    try:
        rows = [writer.format_rows(Snapshot(time, states)) for time in (0.0, 1.0)]
    except Unwritable:
        return
    movement = read_movement(io.BytesIO(writer.header + b"".join(rows)))
    assert movement.take_snapshot(0.0) == (0.0, [(entity, State(position, velocity))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a\nb", "cannot be shown"),
        ("\x1b[31m", "cannot be shown"),
        ("\udc80", "cannot be shown"),
        (" a", "without its outer blanks"),
    ],
)
def test_a_name_that_would_not_be_read_back_is_not_written(name: str, message: str) -> None:
    snapshot = Snapshot(0.0, [(name, State((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))])
    with pytest.raises(Unwritable, match=message):
        TruthWriter().format_rows(snapshot)
