"""What tuned strategies draw beside the usual ones, for pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.tuning.tune import Tunings


def pictured(found: Tunings, selection: Selection, threads: int | None = None) -> Comparison:
    """All strategies as they are tuned and as they were, where they were not tuned, with scenes."""
    taking_part = {
        one.label: one
        for each in found.tunings
        for one in (
            StrategySpec(each.strategy, each.settings),
            StrategySpec(each.strategy, each.held),
        )
    }
    on = found.divided.judged or found.divided.tuned
    return on.compare(list(taking_part.values()), found.seed, threads, selection)
