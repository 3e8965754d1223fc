"""One entity's states, and what detectors ask of them: intervals, steps, holes, steady steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epic_cli.metrics.arrays import lengths, median
from epic_cli.metrics.traffic.robust import Flags, Floats, Numbers, changes, lattice, sigma

#: The fewest states, messages or steps of which anything is said.
FEWEST_STATES = 20

#: What is the same all the time shows in pieces: so many of so many states each.
PIECES = 24
PIECE = 1024

#: The velocity of a steady step changes by less than this share.
STEADY = 0.2

_COLUMNS = ("times", "positions", "velocities", "arrivals", "sequence", "teleports",
            "turns")  # fmt: skip


class Elapsed(NamedTuple):
    """Steady steps: which they are, how many seconds each took, and what rounding adds (sigma, s).

    Positions waver ``across`` the velocity by that much (sigma, length); ``back`` is how an error
    there is correlated with the next one.
    """

    steps: Numbers
    took: Floats
    rounding: float
    across: float
    back: float


@dataclass(frozen=True)
class Stream:
    """One entity's states, ordered by their stamps, each stamp once.

    ``times`` (n) are the stamps in seconds, ``positions`` and ``velocities`` (n, 3; NaN: none),
    ``arrivals`` and ``sequence`` (n; NaN: none), ``teleports`` (n), ``turns`` (n, 7: rotation and
    spin, NaN: none; or n, 0). ``came`` are all sequence numbers that arrived, in order: those of
    copies and of states that share a stamp, too.
    """

    name: str
    times: Floats
    positions: Floats
    velocities: Floats
    arrivals: Floats
    sequence: Floats
    teleports: Flags
    turns: Floats
    came: Floats

    def at(self, places: Numbers) -> Stream:
        """The states of these places only, in their order."""
        return replace(self, **{one: getattr(self, one)[places] for one in _COLUMNS})

    def moved(self, added: Floats) -> Stream:
        """States with something added to their stamps, in the new order; without those of NaN."""
        times = self.times + added
        order = np.argsort(times, kind="stable")[: int(np.isfinite(times).sum())]
        order = order[changes(times[order])]
        kept = self.at(order)
        # what is left out counts as lost
        return replace(kept, times=times[order], came=np.unique(kept.sequence))

    @property
    def entities(self) -> tuple[str, ...]:
        """Its name, where it has one."""
        return (self.name,) if self.name else ()

    @cached_property
    def intervals(self) -> Floats:
        """From each stamp to the next, in seconds (n - 1)."""
        return np.diff(self.times)

    @cached_property
    def period(self) -> float:
        """The usual interval, in seconds."""
        return median(self.intervals)

    @cached_property
    def steps(self) -> Floats:
        """How far it is from each position to the next (n - 1)."""
        squares = np.zeros(len(self.times) - 1)
        for axis in self.positions.T:
            moved = np.diff(axis)
            moved *= moved
            squares += moved
        return np.asarray(np.sqrt(squares, out=squares))

    @cached_property
    def usual_step(self) -> float:
        """The median of the steps that lead somewhere; 0: none does."""
        moving = self.steps[self.steps > 0]
        return median(moving) if len(moving) else 0.0

    @cached_property
    def excerpt(self) -> Stream:
        """Pieces from all over the stream, or all of it where it is short.

        The interval from one piece to the next is longer than any other.
        """
        count = len(self.times)
        if count <= PIECES * PIECE:
            return self
        begins = np.linspace(0, count - PIECE, PIECES).astype(int)
        return self.at((begins[:, None] + np.arange(PIECE)).ravel())

    @cached_property
    def has_velocities(self) -> bool:
        """Whether nearly all states have one, and not all of them are zero."""
        velocities = self.excerpt.velocities
        given = np.isfinite(velocities).all(axis=1)
        return bool(given.mean() > 0.9 and velocities[given].any())

    @cached_property
    def usual_speed(self) -> float:
        """The median speed of the moving states by their velocities, which some have."""
        speeds = lengths(self.excerpt.velocities)
        return median(speeds[speeds > 0])

    @cached_property
    def numbered(self) -> bool:
        """Whether nearly all states have a sequence number."""
        return bool(np.isfinite(self.sequence).mean() > 0.9)

    @cached_property
    def gaps(self) -> Floats:
        """From each sequence number to the next (n - 1; NaN where one is missing)."""
        return np.diff(self.sequence)

    @cached_property
    def usual_gap(self) -> float:
        """The median gap; NaN: there are none."""
        known = np.isfinite(self.gaps)
        return median(self.gaps if known.all() else self.gaps[known]) if known.any() else math.nan

    @cached_property
    def follows(self) -> Flags:
        """Which intervals have no hole in the sequence numbers (n - 1); all, where there are none.

        Numbers may count the packets of this entity or those of all together.
        """
        if math.isnan(self.usual_gap):
            return np.ones(len(self.gaps), bool)
        return np.asarray(self.missing == 0)

    @cached_property
    def missing(self) -> Floats:
        """How many numbers between those of two states never came (n - 1); NaN: unknown."""
        between = np.diff(np.searchsorted(self.came, self.sequence)) - 1
        return np.asarray(np.round(self.gaps / (self.usual_gap or 1.0)) - 1 - between)

    @cached_property
    def lost(self) -> Floats:
        """How many packets were lost in each interval by their numbers (n - 1).

        Numbers may go on while this entity rests: time must have passed as well.
        """
        passed = np.round(self.intervals / self.period) - 1
        return np.maximum(np.minimum(np.nan_to_num(self.missing), passed), 0.0)

    def stretched(self, periods: float) -> Numbers:
        """Which intervals are longer than so many periods though no packet is missing."""
        long = np.flatnonzero(self.intervals > periods * self.period)
        return long[self.follows[long]] if len(long) else long

    @cached_property
    def elapsed(self) -> Elapsed | None:
        """How long steady steps took by displacement and velocity, whatever their stamps say.

        None: there are too few of them, or velocities say something else.
        """
        if not self.has_velocities:
            return None
        before, after = self.velocities[:-1], self.velocities[1:]
        mean = (before + after) / 2
        speed = lengths(mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            steady = (lengths(after - before) < STEADY * speed) & ~self.teleports[1:]
            moved = np.diff(self.positions, axis=0)
            along = (moved * mean).sum(axis=1) / speed
            aside = moved - (along / speed)[:, None] * mean
            steady &= self.intervals < 3 * self.period
            wavers = np.flatnonzero(steady & (along >= 0.8 * self.steps))
            # the way of the step is the way of the velocity
            steady &= along >= 0.99 * self.steps
            took = along / speed
        steps = np.flatnonzero(steady & np.isfinite(took))
        if len(steps) < FEWEST_STATES:
            return None
        took = took[steps]
        # velocities of another scale are another cause's business
        ratio = float(np.sum(took) / np.sum(self.intervals[steps]))
        if not 0.9 < ratio < 1.1:
            return None
        step = lattice(self.positions[:, np.argmax(np.ptp(self.positions, axis=0))])
        rounding = 0.41 * step / float(np.median(speed[steps]))
        both = wavers[:-1][np.diff(wavers) == 1]
        before, after = aside[both], aside[both + 1]
        back = float((before * after).sum() / max(np.square(before).sum(), 1e-300))
        aside = aside[wavers]
        across = sigma(aside[:, np.argmax(np.square(aside).sum(axis=0))]) / 1.41
        return Elapsed(steps, took, rounding, across, back)
