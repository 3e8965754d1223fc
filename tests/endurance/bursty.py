"""Recordings over bad links, made without anything of ``epic_cli.network``: to measure it against.

Two movements, five links. Everything is drawn from one generator of random numbers, so that a seed
is a recording; any two of a kind are alike in the long run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.metrics.evaluation import Run
from epic_cli.metrics.truth import build

Floats = NDArray[np.float64]
Random = np.random.Generator

#: States of the truth a second, and packets a second.
FINE, RATE = 200, 20


class Recorded(NamedTuple):
    """A movement (``times`` (n), ``places`` and ``speeds`` (n, 3)) and what arrived of it.

    ``numbers`` (m) are of the packets that arrived, in the order of their ``arrivals`` (s).
    """

    times: Floats
    places: Floats
    speeds: Floats
    numbers: NDArray[np.int64]
    arrivals: Floats

    def without(self, begin: float, end: float) -> Recorded:
        """The same without the packets that were sent from ``begin`` to ``end`` (s)."""
        left = (self.numbers < begin * RATE) | (self.numbers >= end * RATE)
        return self._replace(numbers=self.numbers[left], arrivals=self.arrivals[left])

    def run(self, name: str = "", given: bool = True) -> Run:
        """What a comparison takes, with the movement as its ``given`` truth, or without."""
        block, step = PacketBlock(Entities()), FINE // RATE
        for number, arrival in zip(self.numbers.tolist(), self.arrivals.tolist(), strict=True):
            at = number * step
            place, speed = tuple(self.places[at].tolist()), tuple(self.speeds[at].tolist())
            block.append(Packet(place, speed, number / RATE, arrival, sequence=number))
        truth = build(self.times, self.places, self.speeds, None, "given") if given else None
        return Run(name, {"": block}, {"": truth} if truth else None)


def stop_and_go(seconds: float, random: Random) -> Floats:
    """Speeds (n, 3) of somebody who runs somewhere, stops, and runs elsewhere, as feet can."""
    count = round(seconds * FINE)
    wanted, at = np.zeros((count, 3)), 0
    while at < count:
        until = at + max(1, round(random.exponential(0.8) * FINE))
        angle = random.uniform(0, 2 * np.pi)
        go = 6.0 * (random.random() < 0.7)
        wanted[at:until, :2] = go * np.cos(angle), go * np.sin(angle)
        at = until
    return _followed(wanted, 0.08)


def wander(seconds: float, random: Random) -> Floats:
    """Speeds (n, 3) of a car that turns and slows down as it likes, smoothly."""
    count = round(seconds * FINE)
    noise = random.normal(size=(count + 10 * FINE, 2)) * np.sqrt(FINE)
    slow = _followed(_followed(noise, 1.0), 0.3)[10 * FINE :]
    heading = np.cumsum(slow[:, 0]) * 1.5 / FINE
    pace = 15.0 * np.exp(0.4 * slow[:, 1])
    return np.stack((pace * np.cos(heading), pace * np.sin(heading), np.zeros(count)), axis=1)


def _followed(wanted: Floats, seconds: float) -> Floats:
    """What goes towards what is wanted, with this time constant (s)."""
    share, now, found = 1 / (1 + seconds * FINE), wanted[0] * 0, np.empty_like(wanted)
    for index, one in enumerate(wanted):
        now = now + (one - now) * share
        found[index] = now
    return found


def independent(count: int, random: Random, share: float = 0.01) -> NDArray[np.bool_]:
    """Which packets are lost, each by itself."""
    return random.random(count) < share


def bursts(count: int, random: Random, share: float, length: float) -> NDArray[np.bool_]:
    """Which are lost in bursts of geometric length, this many packets in the mean."""
    lost, at = np.zeros(count, bool), 0
    apart = length * (1 - share) / share
    while True:
        at += random.geometric(1 / apart)
        if at >= count:
            return lost
        until = at + random.geometric(1 / length)
        lost[at:until] = True
        at = until


def rerouted(seconds: Floats, random: Random, apart: float = 5.0, most: float = 0.06) -> Floats:
    """By how much (s) each packet is later on another way, ``apart`` seconds from each other."""
    more, at = np.zeros(len(seconds)), 0.0
    while True:
        at += random.exponential(apart)
        if at > seconds[-1]:
            return more
        until = at + random.exponential(apart / 2)
        more[(seconds >= at) & (seconds < until)] += random.uniform(most / 3, most)
        at = until


class Network(NamedTuple):
    """Which packets of so many are ``lost``, and how much later packets are that were sent then."""

    lost: Callable[[int, Random], NDArray[np.bool_]]
    later: Callable[[Floats, Random], Floats] = lambda seconds, _: np.zeros(len(seconds))


MOVEMENTS = {"stop and go": stop_and_go, "wander": wander}

NETWORKS = {
    "1 % independent": Network(independent),
    "2 %, bursts of 2": Network(lambda count, random: bursts(count, random, 0.02, 2)),
    "3 %, bursts of 3": Network(lambda count, random: bursts(count, random, 0.03, 3)),
    "3 %, bursts of 8": Network(lambda count, random: bursts(count, random, 0.03, 8)),
    "route changes": Network(lambda count, random: independent(count, random, 0.005), rerouted),
    "rare, strong changes": Network(
        lambda count, random: independent(count, random, 0.005),
        lambda seconds, random: rerouted(seconds, random, 60.0, 0.15),
    ),
}


def recorded(movement: str, network: str, seconds: float, seed: int) -> Recorded:
    """A recording of so many seconds."""
    kinds = list(MOVEMENTS).index(movement), list(NETWORKS).index(network)
    random = np.random.default_rng([seed, *kinds, round(seconds)])
    speeds = MOVEMENTS[movement](seconds + 2, random)
    times = np.arange(len(speeds)) / FINE
    places = np.cumsum(speeds, axis=0) / FINE
    sent = np.arange(round(seconds * RATE)) / RATE
    link = NETWORKS[network]
    arrivals = sent + 0.04 + link.later(sent, random) + random.gamma(2.0, 0.004, len(sent))
    numbers = np.flatnonzero(~link.lost(len(sent), random))
    numbers = numbers[np.argsort(arrivals[numbers], kind="stable")]
    return Recorded(times, places, speeds, numbers, arrivals[numbers])
