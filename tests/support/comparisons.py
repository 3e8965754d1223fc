"""Comparisons for tests: of one recording, and a small one with known strategies."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from epic_cli import Packet, Sample, replay
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, Participant, Progress, Run, compare_run
from epic_cli.metrics.truth import Truth, make_truth
from epic_cli.show.scene import Selection
from epic_cli.work.jobs import Place
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
    """Compare one recording, without intervals unless asked."""
    spec = CompareSpec(participants, timing, **{"intervals": False, **more})
    return compare_run(Run("", packets, truths), spec, Place(None, stop, progress))


def comparison(*names: str, entities: tuple[str, ...] = ("",)) -> Comparison:
    recorded = {
        name: movements.block(movements.packets(movements.circle, entity=name)) for name in entities
    }
    taking_part = [StrategySpec(f"support.movements:{name}", label=name) for name in names]
    return compared(recorded, taking_part, Timing(), selection=EVERYTHING, threads=1)


def tumbling(seed: int, entity: str = "", known: float = 1.0) -> list[Packet]:
    """Return a circle at some rate, with a silence, turning about any axis.

    A share ``known`` of the packets has a rotation, the first and the last among them.
    """
    chance = np.random.default_rng(seed)
    rate = float(chance.choice([10, 20, 30]))
    packets = [
        packet
        for packet in movements.packets(movements.circle, rate=rate, latency=0.05, entity=entity)
        if not 4 < packet.time < 4 + 3 / rate
    ]
    turned = Rotation.identity()
    for index, one in enumerate(packets):
        turned = Rotation.from_rotvec(chance.normal(0, 0.35, 3)) * turned
        if index in (0, len(packets) - 1) or chance.random() < known:
            sign = chance.choice([-1, 1])
            packets[index] = one._replace(rotation=tuple((sign * turned.as_quat()).tolist()))
    return packets


class Turning:
    """The rotations drawn for ``tumbling`` packets, by SciPy from the rows of ``replay``."""

    def __init__(self, packets: list[Packet], strategies: Sequence[str]) -> None:
        # what it does between packets is tested in tests/metrics/test_turns.py
        turns = make_truth(movements.block(packets), "rebuilt").turns
        assert turns is not None
        self._turns = turns
        self.rows: dict[str, dict[float, Sample]] = {
            name: {round(row.time, 6): row for row in replay(packets, name)} for name in strategies
        }

    def truth(self, time: float) -> Rotation:
        """Return the true rotations."""
        return Rotation.from_quat(self._turns.interpolate(np.array([time]))[0])

    def heading(self, label: str, time: float) -> NDArray[np.float64]:
        """Return the direction of the x axis, seen along z; "truth" is one of the labels."""
        turned = self.truth(time) if label == "truth" else self._turned(label, time)
        return np.asarray(turned.apply([1, 0, 0])[:2])

    def angle(self, label: str, time: float) -> float:
        """Return the angle (degrees) between the drawing and the truth."""
        return float(np.degrees((self._turned(label, time) * self.truth(time).inv()).magnitude()))

    def yaw(self, label: str, time: float) -> float:
        """Return the angle (degrees) about z."""
        turned = self.truth(time) if label == "truth" else self._turned(label, time)
        return float(turned.as_euler("ZYX", degrees=True)[0])

    def _turned(self, label: str, time: float) -> Rotation:
        rotation = self.rows[label][round(time, 6)].rotation
        assert rotation is not None
        return Rotation.from_quat(rotation)


TURNING = ("snapshot", "epic")


def turning(recorded: Mapping[str, list[Packet]]) -> Comparison:
    """Return a comparison of two strategies."""
    blocks = {name: movements.block(packets) for name, packets in recorded.items()}
    taking_part = [StrategySpec(name, label=name) for name in TURNING]
    return compared(blocks, taking_part, Timing(), selection=EVERYTHING, threads=1)
