"""Tests of how prediction corrections fade, against tables of the engines' formulas."""

from __future__ import annotations

import pytest

from epic_cli import Packet
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies.correct import Fading, VisualOffset


def left(fading: Fading, times: list[float], time: float = 0.1, size: float = 100.0) -> list[float]:
    """Return the remaining part of a correction at these times after it."""
    offset = VisualOffset(fading, time)
    offset.add(size, 0.0, 0.0, 5.0)
    return [offset.left(5.0 + value)[0] for value in times]


@pytest.mark.parametrize(
    ("fading", "times", "expected"),
    [
        (Fading.SNAP, [0.0, 0.05], [0, 0]),
        (Fading.LINEAR, [0.0, 0.025, 0.05, 0.1, 9.0], [100, 75, 50, 0, 0]),
        (Fading.EXPONENTIAL, [0.0, 0.1, 0.2, 0.3], [100, 50, 25, 12.5]),
        # Unreal, frames of 50 ms and of a 60th
        (Fading.FRAMES, [0.05, 0.1, 0.15], [50, 25, 12.5]),
        (Fading.FRAMES, [1 / 60, 2 / 60], [83.3333333, 69.4444444]),
        (Fading.FRAMES, [0.1], [0]),
        # Lance: the same share of it in each of ten frames
        (Fading.STEPS, [k / 100 for k in range(13)], [*range(100, 0, -10), 0, 0, 0]),
        (Fading.STEPS, [0.05, 0.05, 0.06], [50, 50, 40]),
        (Fading.OVERSHOOTING, [0.0, 0.05, 0.1, 0.115, 2.0], [100, 50, 0, -15, -15]),
    ],
)
def test_tables_of_the_formulas(fading: Fading, times: list[float], expected: list[float]) -> None:
    assert left(fading, times) == pytest.approx(expected, abs=1e-6)


def test_a_spring_is_the_solution_of_its_equation() -> None:
    position, velocity, step, frequency = 100.0, 0.0, 1e-6, 2 / 0.1
    for k in range(1, 200_001):
        velocity += (-2 * frequency * velocity - frequency**2 * position) * step
        position += velocity * step
        if k % 50_000 == 0:
            assert left(Fading.SPRING, [k * step]) == pytest.approx([position], abs=0.01)


def test_a_spring_keeps_its_velocity_when_it_is_hit_again() -> None:
    offset = VisualOffset(Fading.SPRING, 0.1)
    offset.add(1.0, 0.0, 0.0, 0.0)
    before = offset.left(0.05)[0]
    slope = (before - offset.left(0.05 - 1e-7)[0]) / 1e-7
    offset.add(2.0, 0.0, 0.0, 0.05)
    assert offset.left(0.05)[0] == pytest.approx(before + 2)
    assert (offset.left(0.05 + 1e-7)[0] - before - 2) / 1e-7 == pytest.approx(slope, rel=1e-3)


def test_a_bend_of_lance_leaves_the_rest_until_the_next() -> None:
    offset = VisualOffset(Fading.STEPS, 1 / 6)
    offset.steps, offset.share = 10, 0.6
    for start, size in ((0.0, 100.0), (1.0, 10.0)):
        offset.add(size, 0.0, 0.0, start)
        drawn = [offset.left(start + k / 60)[0] for k in range(1, 15)]
        whole = size if start == 0 else 50.0  # 40 of the first were left
        assert drawn == pytest.approx([whole * (1 - 0.06 * min(k, 10)) for k in range(1, 15)])


@pytest.mark.parametrize(
    "fading", [kind for kind in Fading if kind not in (Fading.SNAP, Fading.STEPS)]
)
def test_what_is_drawn_goes_on_from_where_it_was(fading: Fading) -> None:
    name = fading.name.lower()
    strategy = StrategySpec("visual-offset", {"fading": name, "time": 0.2}).make()
    strategy.update(Packet((0, 0, 0), (10, 0, 0), 1.0, 1.0), 1.0)
    before = strategy.read(1.1).position[0]
    assert before == pytest.approx(1.0)
    strategy.update(Packet((3, 0, 0), (10, 0, 0), 1.1, 1.1, teleport=True), 1.1)
    assert strategy.read(1.1).position[0] == pytest.approx(before)
    assert strategy.read(1.1 + 1e-9).position[0] == pytest.approx(before, abs=1e-6)
    late = strategy.read(4.0).position[0] - (3 + 2.9 * 10)
    assert abs(late) < (0.31 if fading is Fading.OVERSHOOTING else 1e-3)


def test_limits_leave_small_and_large_corrections_alone() -> None:
    offset = VisualOffset(Fading.LINEAR, 0.1, 0.5, 64.0)
    for size, drawn in ((0.49, 0.0), (0.5, 0.5), (64.0, 64.0), (64.1, 0.0)):
        offset.add(1000.0, 0.0, 0.0, 1.0)  # drops what was left
        offset.add(0.0, size, 0.0, 2.0)
        assert offset.left(2.0) == (0.0, drawn, 0.0)
