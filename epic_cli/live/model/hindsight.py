"""What was drawn in the last seconds against what has become known since, or what was sent."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import zip_longest
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.live.model.traffic import HISTORY
from epic_cli.metrics import named
from epic_cli.metrics.measurement import Entity, Measurement, measure, pool
from epic_cli.metrics.notes import TooFewStates
from epic_cli.metrics.recovery import events_of
from epic_cli.metrics.score import Weights
from epic_cli.metrics.truth import JUMP_WINDOW, sample_truth, truth_of

if TYPE_CHECKING:
    from epic_cli.live.model.history import Floats, History, Rows

#: Seconds of it that figures are of.
WINDOW = 5.0

#: Seconds from the beginning of one round to the next, and how long may be measured between two
#: pictures.
_EVERY, _BUDGET = 0.5, 0.012

#: Seconds that have to be drawn of an entity before its figures mean something, and after which
#: they are no figures of now.
_WHOLE, _STALE = 2.0, 1.0

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

    The truth of an entity is the movement through the packets of it that have come in by now, or
    through those that were sent, where they are known. Where there are too many for each round,
    they take turns, so that those measured last are a fair sample; those that are listed on the
    screen are measured in each. ``curves`` are those of the only entity that is looked at, by the
    second of the receiver's clock: error (root mean square), lag and longest delay (s);
    ``apart`` are the times (s) and distances of the rows that were measured last.
    """

    def __init__(self, tick: float) -> None:
        self._tick = tick
        self._measured: dict[str, tuple[float, Measurement]] = {}
        self._turns: dict[str, float] = {}  # when each had its turn
        self._left: deque[tuple[str, bool]] = deque()  # of this round; whether it is their turn
        self._gathered: dict[str, tuple[PacketBlock, PacketBlock | None, Rows]] = {}
        self._gathered_at = self._begun = -math.inf
        self._only: str | None = None
        self.curves: tuple[dict[int, float], ...] = ({}, {}, {})
        self.apart: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    def forget(self) -> None:
        """Something else is drawn."""
        self._measured.clear()
        self._turns.clear()
        self._left.clear()
        self._begun = -math.inf

    def look(
        self,
        history: History,
        now: float,
        real_time: float,
        only: str | None = None,
        listed: Sequence[str] = (),
        truth: History | None = None,
    ) -> None:
        """Measures as many entities as there is time for, or this one ``only``; call it often.

        ``now`` is on the receiver's clock, ``real_time`` on any (s); ``listed`` come first.
        ``truth`` is what was sent.
        """
        begin = perf_counter()
        if only != self._only:
            self._only, self.curves = only, ({}, {}, {})
        paused = now == self._gathered_at and self._begun > -math.inf  # there is nothing new
        if real_time - self._begun >= _EVERY and not paused:
            self._begun, self._gathered_at = real_time, now
            self._gathered = _gathered(history, now, only, truth)
            if only is not None:
                points = history.points(now - WINDOW)
                own = points[points["entity"] == history.entities.number_of(only)]
                self.curves[2].update(_by_second(own["time"], own["delay"], np.max))
                for curve in self.curves:
                    while len(curve) > HISTORY:
                        del curve[next(iter(curve))]
            in_turn = sorted(self._gathered, key=lambda name: self._turns.get(name, -math.inf))
            some = [one for one in listed if one in self._gathered and len(in_turn) > len(listed)]
            both = zip_longest(some, in_turn)  # neither waits for the end of the other
            self._left = deque(
                (one, place == 1)
                for two in both
                for place, one in enumerate(two)
                if one is not None
            )
        while self._left:
            name, has_turn = self._left.popleft()
            found = self._measure(*self._gathered[name])
            if has_turn:
                self._turns[name] = self._gathered_at
            if found is not None:
                self._measured[name] = self._gathered_at, found
            if perf_counter() - begin > _BUDGET:
                break
        for name in [name for name, one in self._measured.items() if one[0] < now - WINDOW]:
            del self._measured[name]
            self._turns.pop(name, None)

    def _measure(
        self, packets: PacketBlock, sent: PacketBlock | None, rows: Rows
    ) -> Measurement | None:
        if len(rows) < 2 or rows["time"][-1] - rows["time"][0] < _WHOLE:
            return None
        try:
            truth = truth_of(packets) if sent is None else truth_of(sent, "given")
        except TooFewStates:
            return None
        events = events_of(packets, truth, 0.0, 0.0)
        times = np.ascontiguousarray(rows["time"])
        since = self._gathered_at - WINDOW
        sampled = sample_truth(truth, times, self._tick, 0.0, events.first, since)
        if not sampled.counted.any():
            return None
        shown = np.ascontiguousarray(rows["position"])
        status = np.ascontiguousarray(rows["status"])
        found = measure(shown, status, Entity("", packets, sampled, events), Weights())
        if self._only is not None:
            counted = sampled.counted
            apart = np.square(shown - sampled.positions).sum(axis=1)[counted]
            errors, lags, _ = self.curves
            self.apart = times[counted], np.sqrt(apart)
            errors |= _by_second(times[counted], apart, lambda some: math.sqrt(some.mean()))
            lags[int(times[-1])] = found.lag.seconds
        return found

    def figures(self, only: str | None = None) -> list[str]:
        """The figures of the entities that were measured, or of ``only`` one; none yet: empty."""
        turns = self._turns
        latest = max(turns.values(), default=-math.inf)  # older than that where time is scarce
        since = min(self._gathered_at - _STALE, latest)
        known = [
            one
            for name, (_, one) in self._measured.items()
            if one.rows
            and (name == only if only is not None else turns.get(name, -math.inf) >= since)
        ]
        if not known:
            return []
        measured = pool(known)
        found = []
        for name, words in _SHOWN:
            metric = named(name)
            cell = metric.cell(float(metric.value(measured)), measured.resolution)
            found.append(words.format(cell).replace("- ms", "-"))
        if only is None and len(known) < len(self._gathered):
            found.append(f"of {len(known):,} of {len(self._gathered):,} entities")
        return found

    def worst(self) -> str | None:
        """The entity with the largest error, where there are several; None: there are not."""
        errors = {name: one.error for name, (_, one) in self._measured.items() if one.rows}
        return max(errors, key=lambda name: errors[name]) if len(errors) > 1 else None

    def error(self, name: str) -> float:
        """The root mean square error of an entity; NaN: not known."""
        return self._measured[name][1].error if name in self._measured else float("nan")


def _by_second(
    times: Floats, values: Floats, figure: Callable[[Floats], float]
) -> dict[int, float]:
    """A figure of the values in each whole second, and in the last one."""
    seconds = np.floor(times)
    return {
        int(one): float(figure(values[seconds == one]))
        for one in np.unique(seconds[seconds > seconds.min(initial=np.inf)])
    }


def _gathered(
    history: History, now: float, only: str | None, truth: History | None
) -> dict[str, tuple[PacketBlock, PacketBlock | None, Rows]]:
    """The packets of each entity, those that were sent, where that is known, and the rows."""
    packets = history.by_entity(only)
    sent = {} if truth is None else truth.by_entity(only)
    rows = history.rows(now - WINDOW - JUMP_WINDOW)
    order = np.argsort(rows["entity"], kind="stable")
    entities = rows["entity"][order]
    found = {}
    for name, block in packets.items():
        number = history.entities.number_of(name)
        begin, end = np.searchsorted(entities, (number, number + 1))
        found[name] = block, sent.get(name), rows[order[begin:end]]
    return found
