"""What one participant draws of one entity, measured at each row against the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.measure import accumulate_errors, overshoot
from epic_cli.metrics import SUMS, TURN_SUMS
from epic_cli.metrics.cells import Grid, tally
from epic_cli.metrics.lag import find_lag
from epic_cli.metrics.measurement import Measurement, Turned
from epic_cli.metrics.metric import AIM_RANGE, DrawnRows
from epic_cli.metrics.recovery import Events, recovery
from epic_cli.metrics.sampled_truth import JUMP_FACTOR, JUMP_FLOOR, OVERSHOOT_WINDOW, SampledTruth
from epic_cli.metrics.turned import judged, lag_of
from epic_cli.metrics.weights import SCALE

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.weights import Weights

#: A step against the truth's direction is a backward one from this share of the usual step on,
#: if the truth does not turn within so many seconds.
BACKWARD_FLOOR = 0.01
TURN_WINDOW = 0.1

#: What is drawn this share of the movement's extent outside of it, and more than the entity
#: ever moves in so many seconds, has diverged.
STRAY_SHARE, STRAY_SECONDS = 0.5, 1.0


@dataclass(frozen=True)
class Entity:
    """An entity that can be measured: its packets, its truth at the ticks, what happened to it."""

    name: str
    packets: PacketBlock
    truth: SampledTruth
    events: Events
    aim_range: float = AIM_RANGE


def measure(
    shown: Floats,
    status: Integers,
    entity: Entity,
    weights: Weights,
    cells: Grid | None = None,
    rotations: Floats | None = None,
) -> Measurement:
    """Measures what a ``Trace`` drew of an entity at n ticks against the truth there.

    ``shown`` is (n, 3), ``status`` (n). An undrawn row is measured like any other: there, ``shown``
    has the last state that was received. ``rotations`` (n, 4) are drawn with it. With
    ``cells``, sums are kept for each.
    """
    sampled, events = entity.truth, entity.events
    errors, counted = np.empty(len(shown)), np.empty(len(shown), np.int32)
    statuses = np.zeros(4, np.int64)
    resolution = sampled.truth.resolution
    found = accumulate_errors(
        shown,
        status,
        sampled.positions,
        sampled.segments,
        sampled.step_limit,
        JUMP_FACTOR,
        JUMP_FLOOR * sampled.usual_step + 2 * resolution,
        sampled.low,
        sampled.high,
        errors,
        counted,
        statuses,
    )
    errors = errors[: found.rows]
    lag = find_lag(
        sampled.truth,
        sampled.times,
        shown,
        counted,
        None if found.broken else sampled.window,
        resolution,
    )
    shift = 0.0 if math.isnan(lag.seconds) else lag.seconds
    drawn, turned = DrawnRows(shown, status, sampled, shift), None
    if rotations is not None and sampled.turns is not None:
        drawn = replace(drawn, rotations=rotations, aim_range=entity.aim_range)
        angular = lag_of(drawn, counted)
        late = 0.0 if math.isnan(angular.seconds) else angular.seconds
        drawn = replace(drawn, turn_lag=late)
    added = {
        name: of(drawn)
        for name, of in SUMS.items()
        if drawn.rotations is not None or name not in TURN_SUMS
    }
    if drawn.rotations is not None:
        rows = judged(drawn, counted) >= 0
        if rows.any():
            turned = Turned(np.sqrt(added["angle_squares"][rows]), angular)
    backward = sampled.truth.path.backward_steps(
        sampled.times,
        shown,
        counted,
        shift,
        max(1, round(TURN_WINDOW / sampled.tick)),
        BACKWARD_FLOOR * sampled.usual_speed,
        BACKWARD_FLOOR * sampled.usual_step + resolution,
    )
    ahead, squares = overshoot(
        shown,
        counted,
        sampled.positions,
        sampled.segments,
        round(shift / sampled.tick),
        max(1, round(OVERSHOOT_WINDOW / sampled.tick)),
    )
    recovered = recovery(
        shown, sampled, events, shift, max(SCALE * sampled.usual_speed, resolution)
    )
    extent = float(np.linalg.norm(sampled.high - sampled.low))
    measured = Measurement(
        errors,
        found.broken,
        lag,
        found.excess if found.excess > 2 * resolution else 0.0,  # else it is rounding
        found.jumps,
        backward,
        ahead if ahead > resolution else 0.0,
        squares,
        found.fours,
        found.third,
        found.truth_third,
        statuses,
        recovered,
        found.beyond,
        extent,
        max(STRAY_SHARE * extent, STRAY_SECONDS * sampled.top_speed, resolution),
        sampled.usual_speed,
        resolution,
        sampled.tick,
        weights,
        {name: float(values[counted >= 0].sum()) for name, values in added.items()},
        turned=turned,
    )
    if cells is None:
        return measured
    return replace(measured, sums=tally(cells, drawn, added, counted, errors, measured))
