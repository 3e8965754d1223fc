"""How far from the truth something is drawn, and how far a client's clock is off."""

from __future__ import annotations

import math
from collections import deque

from epic_cli.play.client.client import Client
from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.times import to_seconds

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


class ClockError:
    """Compares what a client takes for the server's time with that time, once a frame.

    ``set`` counts how often the clock was set, ``held`` the frames that were waited for.
    """

    def __init__(self) -> None:
        self.set = 0
        self.held = 0
        self._first = math.nan
        self._count = 0
        self._total = 0.0
        self._largest = 0.0
        self._speeds = (math.inf, -math.inf)

    def add(self, client: Client, server_us: int) -> None:
        """A client has made a frame at this time of the server."""
        taken_us = client.timekeeper.server_us(client.now_us)
        if taken_us is None:
            return
        if not self._count:
            self._first = to_seconds(server_us)
        error = abs(to_seconds(taken_us - server_us))
        self._count += 1
        self._total += error
        self._largest = max(self._largest, error)
        speed = client.timekeeper.clock.speed
        self._speeds = (min(self._speeds[0], speed), max(self._speeds[1], speed))

    def figures(self) -> list[tuple[str, float, str]]:
        """The lines of a summary: name, value, unit."""
        slowest, fastest = self._speeds if self._count else (math.nan, math.nan)
        return [
            ("clock known after", self._first, "s"),
            ("clock error", self._total / self._count if self._count else math.nan, "s"),
            ("largest clock error", self._largest if self._count else math.nan, "s"),
            ("clock set", self.set, "times"),
            ("slowest clock", slowest, "speed"),
            ("fastest clock", fastest, "speed"),
            ("frames waited", self.held, ""),
        ]
