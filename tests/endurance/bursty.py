"""Recordings over bad links, made without ``epic_cli.network``, to measure the figures against.

Four movements, eleven links. Everything is drawn from one generator of random numbers, so that a
seed is a recording; any two of a kind are alike in the long run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.metrics.evaluation import Run
from epic_cli.metrics.truth import build_truth

Floats = NDArray[np.float64]
Random = np.random.Generator

#: States of the truth a second, and packets a second.
FINE, RATE = 200, 20


class Recorded(NamedTuple):
    """A movement (``times`` (n), ``places`` and ``speeds`` (n, 3)) and the packets that arrived.

    ``numbers`` (m) are of the packets that arrived, in the order of their ``arrivals`` (s);
    ``sequences`` (m) count those that were sent, where these are not all.
    """

    times: Floats
    places: Floats
    speeds: Floats
    numbers: NDArray[np.int64]
    arrivals: Floats
    sequences: NDArray[np.int64] | None = None

    def without(self, begin: float, end: float) -> Recorded:
        """Return a copy without the packets sent from ``begin`` to ``end`` (s)."""
        left = (self.numbers < begin * RATE) | (self.numbers >= end * RATE)
        return self._replace(numbers=self.numbers[left], arrivals=self.arrivals[left])

    def run(self, name: str = "", given: bool = True) -> Run:
        """Return the run for a comparison, with the movement as its ``given`` truth, or without a
        truth.
        """
        block, step = PacketBlock(Entities()), FINE // RATE
        sequences = self.numbers if self.sequences is None else self.sequences
        every = zip(
            *(values.tolist() for values in (self.numbers, self.arrivals, sequences)), strict=True
        )
        for number, arrival, sequence in every:
            at = number * step
            place, speed = tuple(self.places[at].tolist()), tuple(self.speeds[at].tolist())
            block.append(Packet(place, speed, number / RATE, arrival, sequence=int(sequence)))
        truth = build_truth(self.times, self.places, self.speeds, None, "given") if given else None
        return Run(name, {"": block}, {"": truth} if truth else None)


def stop_and_go(seconds: float, random: Random, share: float = 0.7, hold: float = 0.8) -> Floats:
    """Return the speeds (n, 3) of a runner who stops now and then, and then runs elsewhere."""
    count = round(seconds * FINE)
    wanted, at = np.zeros((count, 3)), 0
    while at < count:
        until = at + max(1, round(random.exponential(hold) * FINE))
        angle = random.uniform(0, 2 * np.pi)
        go = 6.0 * (random.random() < share)
        wanted[at:until, :2] = go * np.cos(angle), go * np.sin(angle)
        at = until
    return _followed(wanted, 0.08)


def rests(seconds: float, random: Random) -> Floats:
    """Return the speeds (n, 3) of a player who stands completely still half of the time."""
    speeds = stop_and_go(seconds, random, 0.5, 1.0)
    return np.where(np.abs(speeds).max(axis=1, keepdims=True) > 0.01, speeds, 0.0)


def circle(seconds: float, random: Random) -> Floats:
    """Return the speeds (n, 3) of a circle at constant speed."""
    angle = random.uniform(0, 2 * np.pi) + 3.0 * np.arange(round(seconds * FINE)) / FINE
    return 6.0 * np.stack((np.cos(angle), np.sin(angle), np.zeros(len(angle))), axis=1)


def wander(seconds: float, random: Random) -> Floats:
    """Return the speeds (n, 3) of a car that turns and slows down smoothly and at random."""
    count = round(seconds * FINE)
    noise = random.normal(size=(count + 10 * FINE, 2)) * np.sqrt(FINE)
    slow = _followed(_followed(noise, 1.0), 0.3)[10 * FINE :]
    heading = np.cumsum(slow[:, 0]) * 1.5 / FINE
    pace = 15.0 * np.exp(0.4 * slow[:, 1])
    return np.stack((pace * np.cos(heading), pace * np.sin(heading), np.zeros(count)), axis=1)


def _followed(wanted: Floats, seconds: float) -> Floats:
    """Apply a low-pass with this time constant (s) to the wanted values."""
    share, now, found = 1 / (1 + seconds * FINE), wanted[0] * 0, np.empty_like(wanted)
    for index, one in enumerate(wanted):
        now = now + (one - now) * share
        found[index] = now
    return found


def independent(count: int, random: Random, share: float = 0.01) -> NDArray[np.bool_]:
    """Return the mask of lost packets, each lost independently."""
    return random.random(count) < share


def bursts(count: int, random: Random, share: float, length: float) -> NDArray[np.bool_]:
    """Return the mask of packets lost in bursts of geometric length with this mean."""
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
    """Return the extra delay (s) of each packet on a route that changes now and then.

    The packets' usual route ends after ``apart`` seconds on average; another one is up to ``most``
    seconds longer.
    """
    more, at = np.zeros(len(seconds)), 0.0
    while True:
        at += random.exponential(apart)
        if at > seconds[-1]:
            return more
        until = at + random.exponential(apart / 2)
        more[(seconds >= at) & (seconds < until)] += random.uniform(most / 3, most)
        at = until


def wavering(seconds: Floats, random: Random, memory: float, size: float = 0.012) -> Floats:
    """Return each packet's extra delay (s) where the delay wanders (Ornstein and Uhlenbeck)."""
    kept = np.exp(-1 / (memory * RATE))
    more, now = np.empty(len(seconds)), random.normal()
    for index, step in enumerate(random.normal(size=len(seconds)) * np.sqrt(1 - kept**2)):
        now = kept * now + step
        more[index] = size * max(now, -3.0)
    return 3 * size + more


class Network(NamedTuple):
    """A network: the mask of ``lost`` packets, and the extra delays of the others.

    ``train`` packets arrive together, with the last one. With ``on_change``, an entity at rest
    sends nothing.
    """

    lost: Callable[[int, Random], NDArray[np.bool_]]
    later: Callable[[Floats, Random], Floats] = lambda seconds, _: np.zeros(len(seconds))
    train: int = 1
    on_change: bool = False


MOVEMENTS = {"stop and go": stop_and_go, "wander": wander, "circle": circle, "rests": rests}

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
    "2 % independent": Network(lambda count, random: independent(count, random, 0.02)),
    "latency wanders in 1 s": Network(
        independent, lambda seconds, random: wavering(seconds, random, 1.0)
    ),
    "latency wanders in 4 s": Network(
        independent, lambda seconds, random: wavering(seconds, random, 4.0)
    ),
    "trains of three": Network(independent, train=3),
    "sent on change": Network(independent, on_change=True),
}


def recorded(movement: str, network: str, seconds: float, seed: int) -> Recorded:
    """Return a recording of this many seconds."""
    kinds = list(MOVEMENTS).index(movement), list(NETWORKS).index(network)
    random = np.random.default_rng([seed, *kinds, round(seconds)])
    return sent_over(NETWORKS[network], movement, seconds, random)


def sent_over(link: Network, movement: str, seconds: float, random: Random) -> Recorded:
    """Return a recording of this many seconds over this link."""
    speeds = MOVEMENTS[movement](seconds + 2, random)
    times = np.arange(len(speeds)) / FINE
    places = np.cumsum(speeds, axis=0) / FINE
    sent = np.arange(round(seconds * RATE)) / RATE
    arrivals = sent + 0.04 + link.later(sent, random) + random.gamma(2.0, 0.004, len(sent))
    for first in range(0, len(sent), link.train) if link.train > 1 else ():
        arrivals[first : first + link.train] = arrivals[first : first + link.train].max()
    kept, sequences = ~link.lost(len(sent), random), None
    if link.on_change:
        states = np.concatenate((places, speeds), axis=1)[:: FINE // RATE][: len(sent)]
        moves = np.append(True, (states[1:] != states[:-1]).any(axis=1))
        kept, sequences = kept & moves, np.cumsum(moves)
    numbers = np.flatnonzero(kept)
    numbers = numbers[np.argsort(arrivals[numbers], kind="stable")]
    counted = None if sequences is None else sequences[numbers]
    return Recorded(times, places, speeds, numbers, arrivals[numbers], counted)
