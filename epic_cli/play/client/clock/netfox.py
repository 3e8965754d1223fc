"""netfox (Godot): a reference clock that is nudged, and a simulation clock that is stretched."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

from epic_cli.play.client.clock.contract import ClockSync, Exchange, Steering

#: Seconds between two samples, and how many of them count.
SYNC_INTERVAL = 0.25
SYNC_SAMPLES = 8

#: A nudge takes this part of the offset.
ADJUST_STEPS = 8

#: Seconds; a reference clock that is further off is set anew.
PANIC_THRESHOLD = 2.0

#: The simulation clock runs at most this many times as fast, and at least at its inverse.
MAX_STRETCH = 1.25

#: Seconds; a smaller difference of the two clocks is not stretched away.
IGNORED_DIFFERENCE = 0.001


class Netfox(ClockSync):
    """Two clocks: samples nudge the one, the other follows it faster or slower, never backwards.

    The first answer sets both to the server's stamp in it, which is one way old. From then on,
    four times a second, the reference clock takes an eighth of the offset averaged over the last
    eight samples, or all of it beyond 2 s. Every frame the simulation clock's speed follows from
    its difference to the reference clock.

    Source: netfox (https://github.com/foxssake/netfox, MIT), network-time-synchronizer.gd and
    network-time.gd. It has two quirks, kept here: the average favours the slow samples, and at no
    difference the simulation clock runs 2.5 % fast, so that it settles a ninth of a tick ahead.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._reference: float | None = None  # ahead of the machine's clock
        self._samples: deque[tuple[float, float]] = deque(maxlen=SYNC_SAMPLES)
        self._asked = -math.inf
        self._is_set = False

    def measure(self, exchange: Exchange) -> None:
        """Takes a sample when one is due."""
        if exchange.sent < self._asked + SYNC_INTERVAL:
            return
        self._asked = exchange.sent
        if self._reference is None:
            self._reference = exchange.answered - exchange.returned
            return
        self._samples.append((exchange.offset - self._reference, exchange.round_trip))
        offset = average_offset(self._samples)
        if abs(offset) > PANIC_THRESHOLD:
            self._reference += offset
            self._samples.clear()
        else:
            self._reference += offset / ADJUST_STEPS

    def steer(self, now: float, time: float) -> Steering | None:
        """Faster or slower, by the difference to the reference clock."""
        if self._reference is None:
            return None
        difference = now + self._reference - time
        if not self._is_set:
            self._is_set = True
            return Steering(jump=difference)
        counted = math.copysign(max(abs(difference) - IGNORED_DIFFERENCE, 0.0), difference)
        return Steering(stretch(counted, self._step))


def average_offset(samples: Collection[tuple[float, float]]) -> float:
    """The offsets (seconds), each weighted by the logarithm of 1 + its round trip."""
    weights = [math.log(1 + round_trip) for _, round_trip in samples]
    total = sum(weights)
    if math.isclose(total, 0.0, abs_tol=1e-5):
        return sum(offset for offset, _ in samples) / len(samples)
    return (
        sum(offset * weight for (offset, _), weight in zip(samples, weights, strict=True)) / total
    )


def stretch(difference: float, tick: float) -> float:
    """The speed for a reference clock that is ahead by this difference; both in seconds.

    share = (difference + tick) / (2 tick), 0 to 1
    speed = 1 / 1.25 + (1.25 - 1 / 1.25) share
    """
    share = min(max((difference + tick) / (2 * tick), 0.0), 1.0)
    slowest = 1 / MAX_STRETCH
    return slowest + (MAX_STRETCH - slowest) * share
