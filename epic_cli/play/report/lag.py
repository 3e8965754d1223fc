"""How far from the truth, and how far behind it, something is drawn."""

from __future__ import annotations

import math
from collections import deque

from epic_cli.play.world.arena import Point, distance

#: Seconds; no longer lag is looked for.
LONGEST_LAG = 1.0


class DrawnError:
    """Compares what is drawn with the truth, one sample a step, in constant memory.

    The error is the distance to where the truth is now. The lag is the shift at which the drawn
    path fits the true one best (least mean square), to a fraction of a step by a parabola
    through the three best; NaN before there is a second of it, or when nothing has moved.
    ``epic compare`` has the whole of a path before it looks for the lag, so it can try any shift;
    a match has no end, so here sums are kept for the whole steps.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._truth: deque[Point] = deque(maxlen=math.ceil(LONGEST_LAG / step) + 1)
        self._squares = [0.0] * (math.ceil(LONGEST_LAG / step) + 1)
        self._moved = False
        self.count = 0
        self.total = 0.0
        self.largest = 0.0

    def add(self, drawn: Point | None, truth: Point) -> None:
        """One sample; ``drawn`` None: nothing was drawn."""
        if self._truth and truth != self._truth[0]:
            self._moved = True
        self._truth.appendleft(truth)
        if drawn is None:
            return
        error = distance(drawn, truth)
        self.count += 1
        self.total += error
        self.largest = max(self.largest, error)
        if len(self._truth) == len(self._squares):
            for shift, position in enumerate(self._truth):
                self._squares[shift] += distance(drawn, position) ** 2

    @property
    def mean(self) -> float:
        """The mean error in length units."""
        return self.total / self.count if self.count else math.nan

    @property
    def lag(self) -> float:
        """In seconds."""
        squares = self._squares
        best = min(range(len(squares)), key=squares.__getitem__)
        if not self._moved or not any(squares):
            return math.nan
        if not 0 < best < len(squares) - 1:
            return best * self._step
        before, here, after = squares[best - 1 : best + 2]
        bend = before - 2 * here + after
        shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
        return (best + shift) * self._step
