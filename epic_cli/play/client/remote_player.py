"""Another player on a client's screen: drawn by a strategy, and described for the server."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from epic_cli.engine.contract import Packet, Sample, SmoothingStrategy
from epic_cli.engine.strategies.parts import adapted
from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import View, between

#: This many received snapshots are remembered: more than any delay buffer holds.
REMEMBERED = 256

#: Where packets are lost, a strategy draws between snapshots that are up to this many apart.
MOST_LOST = 8

#: A drawn position this near (length units) to the one described is the same.
SAME = 1e-6


class RemotePlayer:
    """Draws a remote player with a strategy, and finds out between which snapshots it draws.

    A strategy does not say, and there are many of them. But a delay buffer treats all coordinates
    alike, so a second one with the same settings is fed the same packets with other positions:
    snapshot n lies at (n, n^2). What it draws is on a chord of that parabola, and for a point
    (x, y) on the chord from a to b

        y - x^2 = (x - a) (b - x),  fraction = (x - a) / (b - a)

    so the received snapshots around x that fulfil this are the two. Where the drawn position is
    then the point between those two states, the client draws that point as ``between`` computes
    it, and the server can compute the same bits. Strategies that extrapolate, draw curves, or
    blend with what was drawn before, are at no such point; their view is the nearest point on the
    straight lines through the snapshots.
    """

    def __init__(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        self._begin(make_strategy)
        self._positions: dict[int, Point] = {}
        self.last_packet: Packet | None = None
        self.sample: Sample | None = None
        self.view: View | None = None

    def change_strategy(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        """Draws with another strategy from now on; it begins with the newest packet."""
        self._begin(make_strategy)
        packet = self.last_packet
        if packet is not None and packet.arrival is not None:
            self.update(packet, packet.arrival)

    def set_clock(self, jump: float) -> None:
        """The client's time has jumped by these seconds; the strategy begins again there."""
        packet = self.last_packet
        if packet is not None and packet.arrival is not None:
            self.last_packet = packet._replace(arrival=packet.arrival + jump)
        self.change_strategy(self._make_strategy)

    def _begin(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        self._make_strategy = make_strategy
        self._strategy, self._shadow = adapted(make_strategy()), adapted(make_strategy())
        for one in (self._strategy, self._shadow):
            one.reset()  # a plain Python strategy may make its state there

    def update(self, packet: Packet, now: float) -> None:
        """Takes a received state; its ``sequence`` is the snapshot's number."""
        number = packet.sequence or 0
        if number not in self._positions:
            self._positions[number] = packet.position[:2]
            while len(self._positions) > REMEMBERED:
                del self._positions[next(iter(self._positions))]
        if self.last_packet is None or packet.time >= self.last_packet.time:
            self.last_packet = packet
        coded = (float(number), float(number * number), 0.0)
        self._strategy.update(packet, now)
        self._shadow.update(
            packet._replace(position=coded, velocity=(0.0, 0.0, 0.0), rotation=None), now
        )

    def read(self, at: float) -> Sample | None:
        """What is drawn at the client's time ``at``; None: nothing yet."""
        sample = self._strategy.read(at)
        shadow = self._shadow.read(at)
        # some strategies draw their origin before anything has arrived, or go to infinity where
        # the clocks do not agree at all
        finite = all(map(math.isfinite, sample.position))
        if sample.status == "none" or not self._positions or not finite:
            self.sample = self.view = None
            return None
        self.view = self._find_view(sample, shadow)
        if self.view.exact:
            position = between(
                self._positions[self.view.older],
                self._positions[self.view.newer],
                self.view.fraction,
            )
            sample = sample._replace(position=(*position, 0.0))
        self.sample = sample
        return sample

    def _find_view(self, sample: Sample, shadow: Sample) -> View:
        x, y, _ = shadow.position
        view = self._on_chord(x, y) if math.isfinite(x) and math.isfinite(y) else None
        drawn = sample.position[:2]
        if view is not None:
            position = between(
                self._positions[view.older], self._positions[view.newer], view.fraction
            )
            if abs(drawn[0] - position[0]) < SAME and abs(drawn[1] - position[1]) < SAME:
                return view
        return self._nearest(drawn, x if math.isfinite(x) else math.inf)

    def _on_chord(self, x: float, y: float) -> View | None:
        """Between which snapshots a point of the shadow lies; None: on no chord of the parabola."""
        nearest = round(x)
        if nearest in self._positions and abs(x - nearest) < 1e-9:
            return View(nearest, nearest, 0.0)
        product = y - x * x
        before = sorted((number for number in self._positions if number < x), reverse=True)
        for older in before[:MOST_LOST]:
            newer = round(x + product / (x - older))
            if newer not in self._positions or newer < x:
                continue
            if abs((x - older) * (newer - x) - product) < 1e-4:
                return View(older, newer, (x - older) / (newer - older))
        return None

    def _nearest(self, drawn: Point, x: float) -> View:
        """The point nearest to the drawn one on the line through the snapshots near the shadow."""
        numbers = sorted(self._positions)
        nearest = min(numbers, key=lambda number: abs(number - x)) if x < math.inf else numbers[-1]
        best = View(nearest, nearest, 0.0, exact=False)
        least = distance(drawn, self._positions[nearest])
        around = [number for number in numbers if abs(number - x) <= MOST_LOST]
        for older, newer in pairwise(around):
            start, end = self._positions[older], self._positions[newer]
            dx, dy = end[0] - start[0], end[1] - start[1]
            length = dx * dx + dy * dy
            if not length:
                continue
            along = (drawn[0] - start[0]) * dx + (drawn[1] - start[1]) * dy
            fraction = min(max(along / length, 0.0), 1.0)
            off = distance(drawn, between(start, end, fraction))
            if off < least:
                best, least = View(older, newer, fraction, exact=False), off
        return best
