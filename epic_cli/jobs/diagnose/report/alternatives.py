"""Strategies as options, and those that draw the same."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from epic_cli.engine.replay.strategy_spec import StrategySpec, write_spec
from epic_cli.engine.strategies.systems import find_system
from epic_cli.metrics.digits import join_words

if TYPE_CHECKING:
    from epic_cli.engine.parameters import Value
    from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch

#: What a recording lacks that would tell compositions apart.
_LACKING = {
    "jitter": "50 ms of jitter",
    "frames": "frames of unequal length",
    "turns": "sharp turns",
}


def write_strategy_option(found: StrategySpec, digits: int = 6) -> str:
    """Return the option that draws a strategy; its numbers have ``digits`` at most."""
    settings = {key: _round_setting(key, value, digits) for key, value in found.settings.items()}
    return f"-s {write_spec(found.name, settings)}"


def _round_setting(key: str, value: Value, digits: int) -> Value:
    if isinstance(value, str) and (intervals := value.removesuffix("i")) != value:
        with contextlib.suppress(ValueError):
            return f"{float(intervals):.{digits}g}i"
    if not isinstance(value, float):
        return value
    if key == "age_offset":  # clocks may be days apart, and 10 us of it show
        return round(value, 5)
    # a tick that is a little too long is at another time after a while
    return float(f"{value:.{8 if key == 'every' else digits}g}")


def describe_alternatives(match: DrawnMatch) -> str:
    """Return other compositions that draw the same frames; empty if there are none."""
    same = ", ".join(map(_write_alternative, match.same_as))
    lacking = () if match.mechanism is None else match.mechanism.lacking
    tell = (
        f" To tell which, log ten seconds with {join_words([_LACKING[word] for word in lacking])}."
    )
    return f"The same here: {same}.{tell if lacking else ''}" if same else ""


def _write_alternative(spec: StrategySpec) -> str:
    """Return the option of a strategy; behind a system's title where it has the system's name."""
    option = write_strategy_option(spec)
    system = find_system(spec.name)
    return f"{system.title} ({option})" if system and system.is_composition else option
