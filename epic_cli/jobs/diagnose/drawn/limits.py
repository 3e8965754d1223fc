"""Limits of extrapolation that only some entities show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.settings import compute_used_values
from epic_cli.metrics.arrays import find_minimum

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn.entity import DrawnEntity
    from epic_cli.jobs.diagnose.fitted import FittedStrategy
    from epic_cli.jobs.diagnose.mechanism import Mechanism

#: Limits (s) that are tried first, and the share by which the error of the first entity may grow.
LIMITS, AS_NEAR = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0), 1.05


def settle_limit(
    entities: Sequence[DrawnEntity], found: list[FittedStrategy], parts: Mechanism
) -> tuple[list[FittedStrategy], Mechanism]:
    """Return strategies and parts with the limit of extrapolation that another entity shows.

    They were found for the first of the ``entities``, which may have no gap as long as that.
    """
    limit = _find_limit(entities, found[-1])
    if limit is None:
        return found, parts
    found = [each._replace(candidate=_limit(each.candidate, limit)) for each in found]
    return found, parts._replace(strategy=_limit(parts.strategy, limit))


def _find_limit(entities: Sequence[DrawnEntity], best: FittedStrategy) -> float | None:
    """Return the limit (s) with which an entity is understood, too; None without such a one."""
    if compute_used_values(best.candidate).get("beyond") != math.inf:
        return None

    def measure(entity: DrawnEntity, limit: float) -> float:
        limited = best._replace(candidate=_limit(best.candidate, limit))
        return entity.comparison.measure_error(limited).residual

    errors = {one.name: one.comparison.measure_error(best).residual for one in entities[1:]}
    missed = [entity for entity in entities[1:] if errors[entity.name] > entity.understood]
    if not missed:
        return None
    entity = missed[0]
    near = min(LIMITS, key=lambda limit: measure(entity, limit))
    exact, _ = find_minimum(lambda limit: measure(entity, limit), near / 1.7, near * 1.7, 10)
    for digits in (1, 2, 3):
        limit = float(f"{exact:.{digits}g}")
        if measure(entity, limit) <= entity.understood:
            same = measure(entities[0], limit) <= max(AS_NEAR * best.residual, entities[0].enough)
            return limit if same else None
    return None


def _limit(spec: StrategySpec, limit: float) -> StrategySpec:
    """Return a buffer that extrapolates for a limited time (s)."""
    return StrategySpec(spec.name, {**spec.settings, "beyond": limit})
