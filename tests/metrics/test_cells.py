from __future__ import annotations

import numpy as np
import pytest
from support import movements
from support.comparisons import compared

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics import METRICS
from epic_cli.metrics.measurement import FIELDS, Grid, Resampled, make_grid
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import Strafe
from epic_cli.network.simulation import simulate

RECORDED = {
    name: movements.block(
        simulate(
            PathMovement(Strafe(5, 5, seed), name),
            duration=8,
            channel=Link(LinkConditions(0.08, 0.03, loss=0.05), seed=seed),
        )
    )
    for seed, name in enumerate(("a", "b"))
}
NAMES = ("dumb-terminal", "snapshot", "epic", "dis", "projective", "kalman")


def test_the_cells_together_are_the_measurement() -> None:
    """Resampling that takes every cell exactly once reproduces the measured values."""
    comparison = compared(RECORDED, read_specs(NAMES), SCREEN_TIMING, threads=1, intervals=True)
    for result in comparison.by_entity:
        measured = result.measured
        assert measured is not None
        assert measured.sums is not None
        whole = measured.sums.sum(axis=0)
        once = Resampled(
            whole[None, :], whole, measured.resolution, measured.tick, measured.weights
        )
        for metric in METRICS:
            if metric.interval:
                value = result.value(metric.name)
                assert float(np.ravel(metric.value(once))[0]) == pytest.approx(
                    value, rel=1e-6, abs=1e-9, nan_ok=True
                ), metric.name


def test_a_grid_covers_all_times_of_all_entities() -> None:
    times = [np.arange(100, 400) / 60, np.arange(0, 300) / 60]
    cells = make_grid([(float(each[0]), float(each[-1])) for each in times])
    for time in times:
        places = cells.find_places(time)
        assert places.min() >= 0
        assert places.max() < cells.size
    assert cells.length == pytest.approx(0.1)
    assert make_grid([(0.0, 1_000_000 / 60)]).size <= 257
    assert make_grid([(0.0, 599 / 60)] * 5000).size == 16
    assert Grid(0.0, 0.5, 3).find_places(np.array([-1.0, 0.6, 9.0])).tolist() == [0, 1, 2]
    assert len(set(FIELDS)) == len(FIELDS)
