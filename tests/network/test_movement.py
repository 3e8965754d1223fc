"""Tests of recorded movement: reading, derived velocities, and interpolation."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.network.movement import RecordedMovement, State
from epic_cli.network.sender import sample_movement
from epic_cli.network.truth_file import read_movement
from epic_cli.recordings.tables import TableRefusal

TWO = """entity,time,x,y,z,vx,vy,vz
a,0,0,0,0,1,0,0
b,0,5,0,0,0,2,0
a,0.1,0.1,0,0,1,0,0
b,0.1,5,0.2,0,0,2,0
b,0.2,5,0.4,0,0,2,0
"""


def movement(text: str, **options: Any) -> RecordedMovement:
    return read_movement(io.BytesIO(text.encode()), **options)


def only(text: str, time: float, **options: Any) -> State | None:
    states = movement(text, **options).take_snapshot(time).states
    return states[0][1] if states else None


def test_one_entity_only() -> None:
    recorded = movement(TWO, entity="b")
    assert list(recorded.tracks) == ["b"]
    with pytest.raises(ValueError, match="no state of the entity 'c'"):
        movement(TWO, entity="c")


def test_velocities_by_choice() -> None:
    text = "time,x,y,z,vx,vy,vz\n0,0,0,0,9,9,9\n1,1,0,0,9,9,9\n"
    for velocities, expected in (("auto", 9), ("taken", 9), ("derived", 1)):
        state = only(text, 0, velocities=velocities)
        assert state is not None
        assert state.velocity[0] == expected
    with pytest.raises(TableRefusal, match="vx is missing"):
        movement("time,x,y,z\n0,0,0,0\n", velocities="taken")


def test_a_teleport_is_not_bridged() -> None:
    text = "time,x,y,z,teleport\n0,0,0,0,0\n1,1,0,0,0\n2,50,0,0,1\n3,51,0,0,0\n"
    recorded = movement(text)
    at = {time: recorded.take_snapshot(time).states[0][1] for time in (0.5, 1.5, 1.999, 2.0, 2.5)}
    assert at[0.5].position == pytest.approx((0.5, 0, 0))
    assert at[1.5] == at[1.999] == State((1, 0, 0), (1, 0, 0), 0)
    assert at[2.0] == State((50, 0, 0), (1, 0, 0), 1)
    assert at[2.5].position == pytest.approx((50.5, 0, 0))
    assert at[2.5].teleports == 1


def test_a_step_too_fast_is_a_teleport() -> None:
    text = "time,x,y,z\n0,0,0,0\n1,3,4,0\n2,3,4,5.1\n"
    counts = [
        look.states[0][1].teleports for look in sample_movement(movement(text, max_speed=5), None)
    ]
    assert counts == [0, 0, 1]


def test_an_endless_gap_takes_no_time() -> None:
    text = "time,x,y,z\n0,0,0,0\n1e11,1,0,0\n"
    assert [look.time for look in sample_movement(movement(text), 1000)] == [0, 1e11]


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(0, 29), st.booleans(), st.sampled_from("ab")),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(("auto", "derived")),
)
def test_a_log_in_order_of_arrival_is_the_movement_that_was_sent(
    sent: list[tuple[int, int, bool, str]], velocities: str
) -> None:
    """States up to 2.9 s late, some of them doubled, give the movement of the sorted states."""
    rows = [
        (
            stamp / 10,
            (stamp + delay) / 10,
            f"{name},{stamp / 10},{number},0,0,{1 - number},0,0,{m:d}",
        )
        for number, (stamp, delay, m, name) in enumerate(sent)
    ]
    arrived = sorted(rows, key=lambda row: row[1])
    in_order = sorted(arrived, key=lambda row: row[0])
    log, table = (
        movement(
            "entity,time,x,y,z,vx,vy,vz,teleport\n" + "\n".join(row[2] for row in given),
            velocities=velocities,
        )
        for given in (arrived, in_order)
    )
    assert [dict(look.states) for look in sample_movement(log, None)] == [
        dict(look.states) for look in sample_movement(table, None)
    ]
    apart = {(stamp, name) for stamp, _, _, name in sent}
    assert log.repeated == table.repeated == len(sent) - len(apart)
    assert sum(map(len, log.tracks.values())) == len(apart)
    assert table.late == 0 == (arrived == in_order) * log.late


def test_of_two_rows_of_one_time_the_later_counts() -> None:
    text = "time,x,y,z\n0,0,0,0\n1,1,0,0\n1,2,0,0\n2,4,0,0\n"
    assert only(text, 1) == State((2, 0, 0), (2, 0, 0), 0)
