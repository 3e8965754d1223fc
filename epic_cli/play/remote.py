"""Another player on a client's screen: drawn by a strategy, and described for the server."""

from __future__ import annotations

import math
from collections.abc import Callable

from epic_cli.engine.contract import Packet, Sample, SmoothingStrategy
from epic_cli.play.arena import Point
from epic_cli.play.view import View, between

#: So many received snapshots are remembered: more than any delay buffer holds.
REMEMBERED = 256

#: A drawn position this near (length units) to the one described is the same.
SAME = 1e-6


class RemotePlayer:
    """Draws a remote player with a strategy, and finds out between which snapshots it draws.

    A strategy does not tell that, and there are many. But a delay buffer treats all coordinates
    alike, so a second one with the same settings is fed the same packets with other positions:
    snapshot n lies at (n, n^2). What it draws is on a chord of that parabola, and for a point
    (x, y) on the chord from a to b

        y - x^2 = (x - a) (b - x),  fraction = (x - a) / (b - a)

    so the received snapshots around x that fulfil this are the two. Where the drawn position is
    then the point between those two states, the client draws that point as ``between`` computes
    it, and the server can compute the same bits. Strategies that extrapolate, or blend with what
    was drawn before, are at no such point; their view is the nearest there is.
    """

    def __init__(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        self._make = make_strategy
        self._strategy = make_strategy()
        self._shadow = make_strategy()
        self._places: dict[int, Point] = {}
        self.last_packet: Packet | None = None
        self.sample: Sample | None = None
        self.view: View | None = None

    def change_strategy(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        """Draws with another strategy from now on; it begins with the newest packet."""
        self._make = make_strategy
        self._strategy = make_strategy()
        self._shadow = make_strategy()
        packet = self.last_packet
        if packet is not None and packet.arrival is not None:
            self.update(packet, packet.arrival)

    def update(self, packet: Packet, now: float) -> None:
        """Takes a received state; its ``sequence`` is the snapshot's number."""
        number = packet.sequence or 0
        if number not in self._places:
            self._places[number] = packet.position[:2]
            while len(self._places) > REMEMBERED:
                del self._places[next(iter(self._places))]
        if self.last_packet is None or packet.time >= self.last_packet.time:
            self.last_packet = packet
        coded = (float(number), float(number * number), 0.0)
        self._strategy.update(packet, now)
        self._shadow.update(packet._replace(position=coded, velocity=(0.0, 0.0, 0.0)), now)

    def read(self, at: float) -> Sample | None:
        """What is drawn at the client's time ``at``; None: nothing yet."""
        sample = self._strategy.read(at)
        shadow = self._shadow.read(at)
        # some strategies draw their origin before they have heard anything, or go to infinity
        # where the clocks do not agree at all
        finite = all(map(math.isfinite, sample.position))
        if sample.status == "none" or not self._places or not finite:
            self.sample = self.view = None
            return None
        self.view = self._find_view(sample, shadow)
        if self.view.exact:
            place = between(
                self._places[self.view.older], self._places[self.view.newer], self.view.fraction
            )
            sample = sample._replace(position=(*place, 0.0))
        self.sample = sample
        return sample

    def _find_view(self, sample: Sample, shadow: Sample) -> View:
        x, y, _ = shadow.position
        if not math.isfinite(x) or not math.isfinite(y):  # a strategy that cannot bear the numbers
            return View(max(self._places), max(self._places), 0.0, exact=False)
        nearest = round(x)
        if nearest in self._places and abs(x - nearest) < 1e-9:
            return self._described(sample, nearest, nearest, 0.0)
        product = y - x * x
        before = [number for number in self._places if number < x]
        after = [number for number in self._places if number > x]
        for older in sorted(before, reverse=True)[:8]:
            newer = round(x + product / (x - older))
            if newer in after and abs((x - older) * (newer - x) - product) < 1e-4:
                return self._described(sample, older, newer, (x - older) / (newer - older))
        if before and after:
            older, newer = max(before), min(after)
            return View(older, newer, (x - older) / (newer - older), exact=False)
        end = max(before) if before else min(after)
        return View(end, end, 0.0, exact=False)

    def _described(self, sample: Sample, older: int, newer: int, fraction: float) -> View:
        place = between(self._places[older], self._places[newer], fraction)
        dx, dy = sample.position[0] - place[0], sample.position[1] - place[1]
        return View(older, newer, fraction, exact=abs(dx) < SAME and abs(dy) < SAME)
