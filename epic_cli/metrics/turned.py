"""What a strategy's rotations are measured to be, row by row: angles, rays, the long way round."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.measure import turn_overshoot
from epic_cli.metrics.lag import find_lag
from epic_cli.metrics.truth import JUMP_FACTOR, JUMP_FLOOR, OVERSHOOT_WINDOW
from epic_cli.metrics.turns import RESTING, angles, between, forward, known, one_sided, vectors

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.lag import Lag
    from epic_cli.metrics.metric import DrawnRows

#: A rotation that is within a quarter of a turn of the truth's has arrived there: |w| of it.
_ARRIVED = math.sqrt(0.5)


def judged(drawn: DrawnRows, counted: Integers) -> Integers:
    """The segments of the rows whose rotations are compared, -1 of the others."""
    turns = drawn.truth.turns
    assert turns is not None
    assert drawn.rotations is not None
    both = known(turns.rotations) & known(drawn.rotations)
    return np.where(both, counted, -1).astype(np.int32)


def lag_of(drawn: DrawnRows, counted: Integers) -> Lag:
    """How late it is turned."""
    turns = drawn.truth.turns
    assert turns is not None
    assert drawn.rotations is not None
    window = drawn.truth.window
    rows = judged(drawn, counted)
    whole = bool((rows[window.rows] >= 0).all()) and known(drawn.rotations[window.beginning]).all()
    return find_lag(
        turns.turns,
        drawn.truth.times,
        drawn.rotations,
        rows,
        window if whole else None,
        RESTING,
    )


def sums(drawn: DrawnRows) -> dict[str, Floats]:
    """What is added up over the rows (n each), by name; worked out once."""
    kept = drawn.__dict__
    if "_turned" not in kept:
        kept["_turned"] = _sums(drawn)
    found: dict[str, Floats] = kept["_turned"]
    return found


def _sums(drawn: DrawnRows) -> dict[str, Floats]:
    truth, shown, sampled = drawn.truth, drawn.rotations, drawn.truth.turns
    assert sampled is not None
    assert shown is not None
    rows = judged(drawn, truth.segments)
    true = sampled.rotations
    steps, true_steps = between(shown[:-1], shown[1:]), between(true[:-1], true[1:])
    pairs = np.append(False, (rows[1:] >= 0) & (rows[1:] == rows[:-1]))[: len(rows)]
    turned, truly = (
        np.concatenate((np.zeros((1, 3)), vectors(one)))[: len(rows)] for one in (steps, true_steps)
    )
    floor = JUMP_FLOOR * sampled.usual_step + 2 * RESTING
    limit = np.append(np.inf, JUMP_FACTOR * sampled.step_limit + floor)[: len(rows)]
    fours = pairs.copy()
    fours[1:] &= pairs[:-1]
    fours[2:] &= pairs[:-2]
    fours[:3] = False
    rays = np.square(forward(shown) - forward(true)).sum(axis=1)
    found = {
        "turn_rows": np.ones(len(rows)),
        "angle_squares": angles(shown, true) ** 2,
        "turn_rates": np.where(pairs, np.square(truly).sum(axis=1), 0.0) / truth.tick**2,
        "aim_shares": rays,
        "aim_squares": rays * drawn.aim_range**2,
        "long_ways": _long_ways(drawn, rows),
        "turn_jumps": pairs & (np.sqrt(np.square(turned).sum(axis=1)) > limit),
        "turn_overshoots": _overshoots(drawn, rows) ** 2,
        "turn_fours": fours,
        "turn_third": np.where(fours, _second_differences(turned), 0.0),
        "turn_third_of": np.where(fours, _second_differences(truly), 0.0),
    }
    return {name: np.where(rows >= 0, values, 0.0) for name, values in found.items()}


def _second_differences(spins: Floats) -> Floats:
    """Squared, of the steps (n, 3): the third differences of what is turned."""
    found = np.zeros(len(spins))
    found[2:] = np.square(spins[2:] - 2 * spins[1:-1] + spins[:-2]).sum(axis=1)
    return found


def _overshoots(drawn: DrawnRows, rows: Integers) -> Floats:
    """How far (n, degrees) it is turned past everywhere the truth is around that time."""
    truth, shown, found = drawn.truth, drawn.rotations, np.empty(len(rows))
    assert truth.turns is not None
    true = truth.turns.rotations
    segments = np.where(known(true), truth.segments, -1).astype(np.int32)
    late, reach = (round(one / truth.tick) for one in (drawn.turn_lag, OVERSHOOT_WINDOW))
    least = math.radians(RESTING)
    turn_overshoot(shown, rows, true, segments, late, max(reach, 1), least, found)
    return np.degrees(found)


def _long_ways(drawn: DrawnRows, rows: Integers) -> Floats:
    """The rows in which it has gained or lost a whole turn on the truth as late as it is drawn.

    What is left between the two, followed from row to row, is then the same rotation on the other
    side: q has become -q.
    """
    sampled, found = drawn.truth.turns, np.zeros(len(rows))
    assert sampled is not None
    assert drawn.rotations is not None
    late = sampled.turns.at(drawn.truth.times, drawn.turn_lag)
    chosen = np.flatnonzero((rows >= 0) & known(late))
    if not len(chosen):
        return found
    left = one_sided(between(late[chosen], drawn.rotations[chosen]))[:, 3]
    arrived = np.abs(left) > _ARRIVED
    chosen, left = chosen[arrived], left[arrived]
    same = rows[chosen[1:]] == rows[chosen[:-1]]
    found[chosen[1:][same & (left[1:] * left[:-1] < 0)]] = 1.0
    return found
