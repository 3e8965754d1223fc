"""A small comparison with known strategies, for the views."""

from __future__ import annotations

import math

from epic_cli.analysis.compare import Comparison, compare
from epic_cli.analysis.scenes.scene import Selection
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from support import movements

EVERYTHING = Selection(4000, -math.inf, math.inf)


def comparison(*names: str, entities: tuple[str, ...] = ("",)) -> Comparison:
    recorded = {
        name: movements.block(movements.packets(movements.circle, entity=name)) for name in entities
    }
    candidates = [StrategySpec(f"support.movements:{one}", label=one) for one in names]
    return compare(recorded, candidates, Timing(), selection=EVERYTHING, threads=1)
