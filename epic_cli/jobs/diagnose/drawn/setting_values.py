"""The settings of strategies that a search changes, and the values that it tries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.parameters import Choice, Number, Value
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.fitted import FittedStrategy

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: The most whole numbers that are all tried.
WHOLE = 48


def list_tunable_settings(candidate: StrategySpec) -> list[Number]:
    """Return the settings worth tuning, settings in seconds first."""
    settings = get_declaration(candidate.name).settings
    found = [
        setting for setting in settings if isinstance(setting, Number) and setting.tune is not None
    ]
    return sorted(found, key=lambda one: one.unit != "s")


def state_default_number(found: FittedStrategy, setting: Number) -> FittedStrategy:
    """Return the strategy with a default setting stated as a number, so that it can be fitted."""
    known = get_declaration(found.candidate.name)
    value = known.converted(known.values(found.candidate.settings))[setting.name]
    if setting.whole or not isinstance(value, float) or not setting.low <= value < math.inf:
        return found
    stated = found.change({setting.name: value})
    return stated._replace(residual=found.residual, apart=found.apart)


def list_word_options(candidate: StrategySpec) -> list[dict[str, Value]]:
    """Return the other values of each choice and switch that is worth trying, quirks too."""
    known = get_declaration(candidate.name)
    usual = known.values(candidate.settings)
    return [
        {setting.name: word}
        for setting in known.settings
        if isinstance(setting, Choice) and (setting.tune or setting.name == "quirks")
        for word in setting.choices
        if setting.convert(word) != usual[setting.name]
    ]


def iterate_setting_values(setting: Number, values: int) -> Iterator[float]:
    """Yield values of a setting from its lowest to its highest one that is worth trying."""
    low, high = setting.tune or (setting.low, setting.high)
    if setting.low == 0 < low:  # which is often a way of its own
        yield 0.0
    if setting.whole and high - low < WHOLE:
        yield from (float(index) for index in range(round(low), round(high) + 1))
        return
    space = np.geomspace if setting.scale == "log" else np.linspace
    for row in space(low, high, values):
        yield float(round(row)) if setting.whole else float(f"{row:.4g}")
