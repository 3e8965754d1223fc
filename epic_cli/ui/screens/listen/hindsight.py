"""What was drawn in the last seconds against what has become known since."""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.metrics import named
from epic_cli.analysis.metrics.measure import Entity, measure
from epic_cli.analysis.metrics.measurement import Measurement, pool
from epic_cli.analysis.metrics.recovery import events_of
from epic_cli.analysis.notes import TooFewStates
from epic_cli.analysis.sampled_truth import sample_truth
from epic_cli.analysis.truth import truth_of
from epic_cli.analysis.weights import Weights

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.ui.screens.listen.history import History, Rows

#: Seconds of it that figures are of.
WINDOW = 5.0

#: Seconds from the beginning of one round of all entities to the next, and how long may be
#: measured between two pictures.
_EVERY, _BUDGET = 0.5, 0.012

#: What is shown, in this order: the metric, and what it is called here.
_SHOWN = (
    ("error", "error {}"),
    ("error95", "95% {}"),
    ("lag", "lag {} ms"),
    ("residual", "residual {}"),
    ("jumps", "jumps {}"),
    ("jerk", "jerk {}"),
    ("held", "held {}"),
    ("extrapolated", "extrapolated {}"),
)


class Hindsight:
    """The metrics of ``epic compare`` over a window that goes on.

    The truth of an entity is the movement through the packets of it that have come in by now.
    """

    def __init__(self, tick: float) -> None:
        self._tick = tick
        self._measured: dict[str, tuple[float, Measurement]] = {}
        self._left: dict[str, tuple[PacketBlock, Rows]] = {}  # of this round
        self._begun = -math.inf

    def forget(self) -> None:
        """Something else is drawn."""
        self._measured.clear()
        self._left.clear()
        self._begun = -math.inf

    def look(self, history: History, now: float, real_time: float, only: str | None = None) -> None:
        """Measures as many entities as there is time for, or this one ``only``; call it often.

        ``now`` is on the receiver's clock, ``real_time`` on any (s).
        """
        begin = perf_counter()
        if not self._left and real_time - self._begun >= _EVERY:
            self._begun = real_time
            self._left = _gathered(history, now, only)
        while self._left:
            name = next(iter(self._left))
            found = self._measure(*self._left.pop(name))
            if found is not None:
                self._measured[name] = now, found
            if perf_counter() - begin > _BUDGET:
                break
        for name in [name for name, one in self._measured.items() if one[0] < now - WINDOW]:
            del self._measured[name]

    def _measure(self, packets: PacketBlock, rows: Rows) -> Measurement | None:
        if len(rows) < 2:
            return None
        try:
            truth = truth_of(packets)
        except TooFewStates:
            return None
        events = events_of(packets, truth, 0.0, 0.0)
        times = np.ascontiguousarray(rows["time"])
        sampled = sample_truth(truth, times, self._tick, 0.0, events.first)
        if not sampled.counted.any():
            return None
        shown = np.ascontiguousarray(rows["position"])
        status = np.ascontiguousarray(rows["status"])
        return measure(shown, status, Entity("", packets, sampled, events), Weights())

    def figures(self, only: str | None = None) -> list[str]:
        """The figures of all entities that were measured, or of ``only`` one; none yet: empty."""
        known = [
            one
            for name, (_, one) in self._measured.items()
            if (only is None or name == only) and one.rows
        ]
        if not known:
            return []
        measured = pool(known)
        found = []
        for name, words in _SHOWN:
            metric = named(name)
            cell = metric.cell(metric.value(measured), measured.resolution)
            found.append(words.format(cell).replace("- ms", "-"))
        return found

    def worst(self) -> str | None:
        """The entity with the largest error, where there are several; None: there are not."""
        errors = {name: one.error for name, (_, one) in self._measured.items() if one.rows}
        return max(errors, key=lambda name: errors[name]) if len(errors) > 1 else None

    def error(self, name: str) -> float:
        """The root mean square error of an entity; NaN: not known."""
        return self._measured[name][1].error if name in self._measured else float("nan")


def _gathered(
    history: History, now: float, only: str | None
) -> dict[str, tuple[PacketBlock, Rows]]:
    """The packets and the rows of each entity."""
    packets = history.by_entity(only)
    rows = history.rows(now - WINDOW)
    order = np.argsort(rows["entity"], kind="stable")
    entities = rows["entity"][order]
    found = {}
    for name, block in packets.items():
        number = history.entities.number_of(name)
        begin, end = np.searchsorted(entities, (number, number + 1))
        found[name] = block, rows[order[begin:end]]
    return found
