"""Settings of strategies as the values that are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.engine.strategies import get_declaration

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec


def compute_used_values(strategy: StrategySpec) -> dict[str, Any]:
    """Return all settings of a strategy as the values that the strategy uses."""
    known = get_declaration(strategy.name)
    written_values = known.values(strategy.settings)
    used = known.converted(written_values)
    return {**written_values, **{key: used[key] for key in used if isinstance(used[key], float)}}


def round_to_three_digits(value: float) -> float:
    """Return a number with three significant digits; 0 for one that is hardly there."""
    return float(f"{value:.3g}") if abs(value) > 1e-6 else 0.0
