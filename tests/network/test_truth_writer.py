"""Tests that true states written as CSV are read back as the movement."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.network.movement import PathMovement, Snapshot, State
from epic_cli.network.paths import Teleporting
from epic_cli.network.truth_file import TruthWriter, read_movement
from epic_cli.recordings.writing import Unwritable


def test_truth_marks_the_first_row_after_a_teleport() -> None:
    movement = PathMovement(Teleporting(1, 5, 1), "a")
    writer = TruthWriter()
    rows = [writer.format_rows(movement.take_snapshot(n / 10)).decode() for n in range(300)]
    marks = [n for n, row in enumerate(rows) if row.endswith(",1\n")]
    counts = [movement.take_snapshot(n / 10).states[0][1].teleports for n in range(300)]
    assert marks == [n for n in range(1, 300) if counts[n] != counts[n - 1]] != []


def test_truth_is_rounded() -> None:
    row = TruthWriter().format_rows(
        Snapshot(0.5, [("", State((1 / 3, -1e-9, 2.0), (0.0, 0.0, 0.0)))])
    )
    assert row == b",0.5,0.333333,0,2,0,0,0,0\n"


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
