"""Comparisons for tests: of one recording, and a small one with known strategies."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from epic_cli.analysis.compare.result import Comparison
from epic_cli.analysis.compare.run import Progress, compare_run
from epic_cli.analysis.compare.spec import CompareSpec, Participant, Run
from epic_cli.analysis.scenes.scene import Selection
from epic_cli.analysis.truth import Truth
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from support import movements

EVERYTHING = Selection(4000, -math.inf, math.inf)


def compared(
    packets: Mapping[str, PacketBlock],
    participants: Sequence[Participant],
    timing: Timing,
    truths: Mapping[str, Truth] | None = None,
    *,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    **more: Any,
) -> Comparison:
    """One recording, without intervals unless asked."""
    spec = CompareSpec(participants, timing, **{"intervals": False, **more})
    return compare_run(Run("", packets, truths), spec, progress=progress, stop=stop)


def comparison(*names: str, entities: tuple[str, ...] = ("",)) -> Comparison:
    recorded = {
        name: movements.block(movements.packets(movements.circle, entity=name)) for name in entities
    }
    taking_part = [StrategySpec(f"support.movements:{one}", label=one) for one in names]
    return compared(recorded, taking_part, Timing(), selection=EVERYTHING, threads=1)
