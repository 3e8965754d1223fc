from __future__ import annotations

import math

import numpy as np
import pytest
from support import movements

from epic_cli import Packet
from epic_cli.metrics.notes import (
    Cut,
    CutOut,
    Excluded,
    StatesLeftOut,
    TooFewStates,
    Unusable,
    VelocitiesReplaced,
)
from epic_cli.metrics.truth import Truth, build_truth, make_truth, make_truths


def shifted(packet: Packet, by: float) -> tuple[float, float, float]:
    x, y, z = packet.position
    return x + by, y + by, z + by


def of(packets: list[Packet]) -> Truth:
    return make_truth(movements.block(packets))


def cut(truth: Truth) -> tuple[int, Cut, object]:
    (note,) = truth.notes
    assert isinstance(note, CutOut)
    return note.count, note.cut, note.seconds


def test_a_rebuilt_truth_follows_the_movement_between_its_packets() -> None:
    truth = of(movements.packets(movements.circle))
    times = np.linspace(0, 10, 997)
    motion = truth.interpolate(times)
    np.testing.assert_allclose(
        motion.positions, [movements.circle(t) for t in times], atol=5 * 0.05**4 / 384 * 1.01
    )
    np.testing.assert_allclose(
        motion.velocities, [movements.velocity(movements.circle, t) for t in times], atol=1e-3
    )
    assert truth.notes == ()
    assert (truth.start, truth.end, truth.origin) == (0.0, 10.0, "rebuilt")


def test_truths_that_are_given_keep_their_times() -> None:
    packets = movements.packets(movements.circle, 2.0)
    truths, missing = make_truths({"": movements.block(packets)}, "given")
    assert (truths[""].start, truths[""].end, missing) == (0.0, 2.0, [])


def test_marked_teleports_are_cut_out() -> None:
    packets = movements.packets(movements.circle, 2.0)
    moved = [
        packet if packet.time < 0.99 else packet._replace(position=shifted(packet, 1))
        for packet in packets
    ]
    moved[20] = moved[20]._replace(teleport=True)
    truth = of(moved)
    assert cut(truth) == (1, Cut.MARKED_TELEPORT, pytest.approx(0.05))
    assert truth.interpolate(np.array([0.94, 0.97, 1.0])).segments.tolist() == [0, -1, 1]
    assert truth.starts.tolist() == [0.0, 1.0]


def test_unmarked_teleports_are_seen() -> None:
    packets = movements.packets(movements.circle, 4.0)
    moved = [
        packet if packet.time < 1.99 else packet._replace(position=shifted(packet, 9))
        for packet in packets
    ]
    assert cut(of(moved)) == (1, Cut.UNMARKED_TELEPORT, pytest.approx(0.05))


def test_gaps_are_cut_out() -> None:
    packets = [
        packet for packet in movements.packets(movements.circle) if not 3.01 < packet.time < 4.49
    ]
    truth = of(packets)
    assert cut(truth) == (1, Cut.GAP, pytest.approx(1.5))
    assert truth.interpolate(np.array([3.0, 3.5, 4.5])).segments.tolist() == [0, -1, 1]


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_velocities_that_are_missing_are_derived(kept: int) -> None:
    packets = [
        one if kept and index % kept == 0 and index else one._replace(velocity=None)
        for index, one in enumerate(movements.packets(movements.straight))
    ]
    assert of(packets).notes == (VelocitiesReplaced(Unusable.ABSENT),)
    np.testing.assert_allclose(of(packets).interpolate(np.array([1.0])).velocities[0], (8, -2, 0))


def test_derived_velocities_do_not_cross_a_cut() -> None:
    times = np.arange(10.0) * 0.1
    positions = np.zeros((10, 3))
    positions[:5, 0] = times[:5]
    positions[5:, 0] = 100 - times[5:]
    marks = np.arange(10) == 5
    truth = build_truth(times, positions, np.zeros((10, 3)), marks)
    expected = np.repeat([1.0, -1.0], 5)
    np.testing.assert_allclose(truth.interpolate(times).velocities[:, 0], expected)


def test_states_that_are_not_finite_are_left_out() -> None:
    packets = movements.packets(movements.straight, 2.0)
    packets[5] = packets[5]._replace(position=(math.inf, 0.0, 0.0))
    packets[6] = packets[6]._replace(time=math.nan)
    truth = of(packets)
    assert truth.notes[0] == StatesLeftOut(2, Excluded.NOT_FINITE)
    np.testing.assert_allclose(
        truth.interpolate(np.array([0.26])).positions[0], movements.straight(0.26)
    )


@pytest.mark.parametrize(
    ("packets", "usable", "message"),
    [
        ([], 0, "no usable state"),
        ([Packet((0, 0, 0), (0, 0, 0), 0)], 1, "one usable state"),
        ([Packet((0, 0, 0), (0, 0, 0), 0)] * 3, 1, "one usable state"),
        ([Packet((math.nan, 0, 0), (0, 0, 0), float(t)) for t in range(3)], 0, "no usable state"),
    ],
)
def test_too_little_is_not_made_up(packets: list[Packet], usable: int, message: str) -> None:
    with pytest.raises(TooFewStates, match=f"{message}: a movement needs two$") as caught:
        of(packets)
    assert caught.value.usable == usable
