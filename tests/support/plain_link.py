"""The link in plain Python, step by step: an oracle for the compiled link.

Every random number comes from ``random.Random.random()``, every function from ``plain_maths``.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from epic_cli.network.link import GilbertElliott, LinkConditions
from support.plain_maths import exponential, logarithm, normal_probability

SAME = 1e-9


def normal(source: Random) -> float:
    while True:
        u = 2 * source.random() - 1
        v = 2 * source.random() - 1
        square = u * u + v * v
        if 0 < square < 1:
            return u * math.sqrt(-2 * logarithm(square) / square)


def uniform_quantile(u: float) -> float:
    return 2 * u - 1


def unbounded_pareto_quantile(u: float) -> float:
    return (exponential(-logarithm(1 - u) / 3) - 1.5) / math.sqrt(0.75)


def pareto_quantile(u: float) -> float:
    return min((exponential(-logarithm(1 - u) / 3) - 1.5) * (4 / 3), 4.0)


def gamma_quantile(u: float) -> float:
    left = -logarithm(1 - u)
    x = math.sqrt(2 * left) + left
    for _ in range(6 if x > 0 else 0):
        x -= (x - logarithm(1 + x) - left) * (1 + x) / x
    return (x - 2) / math.sqrt(2)


QUANTILES = {
    "uniform": uniform_quantile,
    "pareto": pareto_quantile,
    "pareto-unbounded": unbounded_pareto_quantile,
    "gamma": gamma_quantile,
}


class PlainDelays:
    def __init__(self, source: Random) -> None:
        self.source = source
        self.z: float | None = None

    def change(self, now: LinkConditions) -> None:
        self.now = now
        if not now.correlation:
            self.z = None
        elif self.z is None:
            self.z = normal(self.source)

    def next(self) -> float:
        """Return the next delay, which may be below 0."""
        if not self.now.jitter:
            return self.now.latency
        return self.now.latency + self.now.jitter * self.deviation()

    def deviation(self) -> float:
        kind, correlation = self.now.distribution, self.now.correlation
        if kind in QUANTILES and not correlation:
            return QUANTILES[kind](self.source.random())
        z = normal(self.source)
        if self.z is not None:
            z = self.z = correlation * self.z + math.sqrt(1 - correlation * correlation) * z
        if kind == "normal":
            return z
        if kind == "paretonormal":
            return 0.25 * max(-4.0, min(4.0, z)) + 0.75 * pareto_quantile(normal_probability(z))
        return QUANTILES[kind](normal_probability(z))


class PlainLink:
    """An oracle of ``Link`` in plain Python."""

    def __init__(self, conditions: LinkConditions, *, seed: int = 0, purpose: str = "link") -> None:
        self.steps = [(0.0, conditions), *conditions.later]
        self.start: float | None = None
        self.now: Any = None
        self.random = {
            name: Random(f"{seed}/{purpose}/{name}")
            for name in ("loss", "duplicate", "reorder", "corrupt")
        }
        self.delays = [
            PlainDelays(Random(f"{seed}/{purpose}/{name}")) for name in ("delay", "duplicate delay")
        ]
        self.bad = self.lost = self.jumped = False
        self.since_jump = 0
        self.queue: list[float] = []  # when each packet that was let in begins to be sent
        self.free_at = -math.inf
        self.last = -math.inf
        self.dropped = self.corrupted = self.clipped = 0

    def send(self, time: float) -> tuple[float, ...]:
        self.start = time if self.start is None else self.start
        wanted = [step for since, step in self.steps if since <= time - self.start + SAME][-1]
        if wanted is not self.now:
            self.now = wanted
            self.bad = self.bad and isinstance(wanted.loss, GilbertElliott)
            for source in self.delays:
                source.change(wanted)
        now = self.now
        lost = self.loses()
        duplicated = self.random["duplicate"].random() < now.duplicate
        delays = [source.next() for source in self.delays]
        corrupt = [self.random["corrupt"].random() < now.corrupt for _ in delays]
        jumps = self.jumps()
        arrivals = []
        for delay, broken in list(zip(delays, corrupt, strict=True))[: 1 + duplicated - lost]:
            sent = time if jumps else self.through_queue(time)
            if sent is None:
                self.dropped += 1
            elif broken:
                self.corrupted += 1
            else:
                self.clipped += delay < 0 and not jumps
                arrivals.append(sent + (0.0 if jumps else max(delay, 0.0)))
        arrivals.sort()
        if now.in_order:
            arrivals = [max(arrival, self.last) for arrival in arrivals]
            self.last = max(arrivals, default=self.last)
        return tuple(arrivals)

    def loses(self) -> bool:
        loss, correlation = self.now.loss, self.now.loss_correlation
        draws = self.random["loss"].random(), self.random["loss"].random()
        if isinstance(loss, GilbertElliott):
            share = loss.one_minus_h if self.bad else loss.one_minus_k
            self.lost = draws[0] < share
            self.bad ^= draws[1] < (loss.r if self.bad else loss.p)
        elif correlation:
            self.lost = draws[0] < correlation * self.lost + (1 - correlation) * loss
        else:
            self.lost = draws[0] < loss
        return bool(self.lost)

    def jumps(self) -> bool:
        share, correlation = self.now.reorder, self.now.reorder_correlation
        if correlation:
            share = correlation * self.jumped + (1 - correlation) * share
        drawn = self.random["reorder"].random() < share
        self.since_jump += 1
        if self.since_jump < self.now.reorder_gap:
            return False
        self.jumped = drawn
        if drawn:
            self.since_jump = 0
        return bool(drawn)

    def through_queue(self, time: float) -> float | None:
        transmission = 8 * self.now.packet_size / self.now.rate
        start = max(time, self.free_at)
        if start > time + SAME:
            limit = self.now.queue
            waiting = sum(value > time + SAME for value in self.queue)
            if limit.packets is not None and waiting >= limit.packets:
                return None
            if limit.seconds is not None and start - time > limit.seconds + SAME:
                return None
            self.queue.append(start)
        self.free_at = start + transmission
        return self.free_at
