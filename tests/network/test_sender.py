"""Tests of the packets that the sender makes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.conformance import load

from epic_cli.network.movement import PathMovement, Snapshot, State
from epic_cli.network.paths import make_stop_and_go, make_straight
from epic_cli.network.sender import Sender, SenderSpec, sample_movement


def look(time: float, x: float, vx: float = 0.0, teleports: int = 0) -> Snapshot:
    return Snapshot(time, [("a", State((x, 0.0, 0.0), (vx, 0.0, 0.0), teleports))])


def test_sampled_at_multiples_of_the_interval() -> None:
    """Adding 0.1 repeatedly would drift; 3/10 is not 0.30000000000000004."""
    movement = PathMovement(make_straight(1, 1, 0))
    assert [snapshot.time for snapshot in sample_movement(movement, 10, 0.5)] == [
        0,
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
    ]
    late = next(
        snapshot for snapshot in itertools.islice(sample_movement(movement, 10), 99_999, None)
    )
    assert late.time == 9_999.9


def test_a_path_has_no_rate_of_its_own() -> None:
    with pytest.raises(ValueError, match="needs a send rate"):
        next(sample_movement(PathMovement(make_straight(1, 1, 0)), None))
    with pytest.raises(ValueError, match="send rate is -1"):
        next(sample_movement(PathMovement(make_straight(1, 1, 0)), -1))


@pytest.mark.parametrize("seed", range(4))
def test_half_precision_rounds_as_numpy(seed: int) -> None:
    sender, random = Sender(SenderSpec(quantize="half")), np.random.default_rng(seed)
    given = [*(10 ** random.uniform(-9, 5, 500) * random.choice([-1, 1], 500)), 2049, 2051, 0, -0.0]
    for n, x in enumerate(given):
        (packet,) = sender.make_packets(look(n, float(x)))
        wanted = float(np.float16(np.clip(x, -65504, 65504)))
        assert packet.position[0] == round(wanted, 6)


def test_differences_in_half_precision_are_those_of_netcode_for_gameobjects() -> None:
    sender = Sender(SenderSpec(quantize="half-delta"))
    for n, one in enumerate(load("compression_runs")["positions"]):
        snapshot = Snapshot(n, [("a", State(tuple(one["sent"]), (0, 0, 0), 0))])
        (packet,) = sender.make_packets(snapshot)
        assert packet.position == pytest.approx(one["received"], abs=1e-6)


def test_differences_in_half_precision_begin_anew_at_a_teleport_and_rest() -> None:
    sender = Sender(SenderSpec(quantize="half-delta", repeats=0))
    drawn = [0.0, 30.0123, 30.0123, 900.0123, 900.0123]
    teleports = [0, 0, 0, 1, 1]
    found = [
        [packet.position[0] for packet in sender.make_packets(look(n, x, 0, jumps))]
        for n, (x, jumps) in enumerate(zip(drawn, teleports, strict=True))
    ]
    assert found == [[0.0], [float(np.float16(30.0123))], [], [900.0123], []]


@pytest.mark.parametrize(("repeats", "sent"), [(None, 21), (0, 11), (1, 12), (3, 14), (100, 21)])
def test_repeats_while_nothing_moves(repeats: int | None, sent: int) -> None:
    """The entity moves for ten intervals and rests for ten."""
    movement = PathMovement(make_stop_and_go(1, 1, 0))
    sender = Sender(SenderSpec(repeats=repeats))
    packets = [
        p for snapshot in sample_movement(movement, 10, 2.0) for p in sender.make_packets(snapshot)
    ]
    moved_again = packets[-1].time == 2.0 and packets[-1].velocity == (1, 0, 0)
    assert moved_again
    assert len(packets) == sent + (0 if repeats in (None, 100) else 1)


def test_entities_rest_one_by_one() -> None:
    sender = Sender(SenderSpec(repeats=0))
    still, moving = State((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)), State((2.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    moved = State((3.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    first = list(sender.make_packets(Snapshot(0, [("a", still), ("b", moving)])))
    second = list(sender.make_packets(Snapshot(1, [("a", still), ("b", moved)])))
    assert [packet.entity for packet in first] == ["a", "b"]
    assert [packet.entity for packet in second] == ["b"]
