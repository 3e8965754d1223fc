"""Tests of errors along and across the movement, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from support import movements
from support.comparisons import compared

from epic_cli import Packet, Sample
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.metrics.comparison import Result
from epic_cli.metrics.truth import make_truth


class Drawing(movements.Heedless):
    """A strategy that draws a movement late and to one side."""

    def __init__(self, movement: movements.Movement, late: float, aside: float) -> None:
        self.movement, self.late, self.aside = movement, late, aside
        self.label = f"{late:g} s late, {aside:g} aside"

    def make(self) -> Drawing:
        return self

    def read(self, at: float) -> Sample:
        x, y, z = self.movement(at - self.late)
        return Sample(at, (x, y, z + self.aside), (0.0, 0.0, 0.0), "interpolated")


def judged(movement: movements.Movement, late: float, aside: float) -> Result:
    packets = movements.block(movements.packets(movement, 20.0))
    truth = make_truth(movements.block(movements.packets(movement, 20.0, 100.0)), "given")
    drawing = Drawing(movement, late, aside)
    return compared({"": packets}, [drawing], SCREEN_TIMING, {"": truth}, threads=1).results[0]


@pytest.mark.parametrize("late", [0.0, 0.15, -0.1])
@pytest.mark.parametrize("aside", [0.0, 0.4])
def test_on_a_straight_way(late: float, aside: float) -> None:
    one = judged(movements.straight, late, aside)
    speed = math.hypot(8.0, 2.0)
    assert one.value("error_along") == pytest.approx(speed * abs(late), abs=1e-6)
    assert one.value("error_across") == pytest.approx(aside, abs=1e-5)
    assert one.value("residual_along") == pytest.approx(0, abs=1e-4)
    assert one.value("residual_across") == pytest.approx(aside, abs=1e-4)


def test_of_what_never_moves_nothing_is_along() -> None:
    still = [Packet((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), k / 20) for k in range(200)]
    off = Drawing(lambda _: (1.5, 2.0, 3.0), 0.0, 0.0)
    (one,) = compared({"": movements.block(still)}, [off], SCREEN_TIMING, threads=1).results
    assert one.value("error_along") == 0
    assert one.value("error_across") == pytest.approx(0.5)
    assert one.value("residual_across") == pytest.approx(0.5)
