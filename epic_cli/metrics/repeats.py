"""Detection of packets that repeat a state.

They are sent faster than the simulation steps, or a second message repeats what the first has said.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import (
    FEWEST_STATES,
    Flags,
    Floats,
    Numbers,
    Stream,
    find_lattice,
    mark_changes,
)

#: Fewest repeats, as a share of a moving entity's packets.
SHARE = 0.08

#: An entity rests if it stands for longer than this many of its usual changes.
RESTS = 1.5

#: The share of changes that have to be n packets apart, or one more or less.
EVEN = 0.9

#: Changes over which the rounding to packets evens out to at most one packet.
BLOCK = 6

#: The share of changes that have to come within a packet of a simulation step.
CLOSE = 0.95

#: Largest difference of an even interval between two states from the usual one, as a share.
EVEN_WITHIN = 0.1

#: Oldest state that a second message repeats, in packets.
OLDEST = 4

#: Tolerance for rounded stamps, in simulation steps.
TINY = 0.01

#: Most states that a ratio of packets to states is written with.
MOST_STATES = 6

#: Rounded positions repeat by themselves if a usual step has fewer lattice steps.
FINE = 4.0


class Repeats(NamedTuple):
    """The mean number of packets ``between`` two changes, and a mask ``again`` (n) of repeats.

    A packet repeats a state if the entity moves and its position is that of a packet before. New
    states are a ``step`` (s) apart. ``stepped``: packets are sent regularly, and states change in
    steps of a simulation; otherwise repeats come between states that are sent regularly.
    """

    between: float
    again: Flags
    step: float
    stepped: bool = True

    @property
    def ratio(self) -> Fraction:
        """The number of packets per state."""
        return Fraction(self.between).limit_denominator(MOST_STATES)


def find_repeats(stream: Stream) -> Repeats | None:
    """Find the packets that repeat the state of the previous packet.

    None without such a pattern.
    """
    return _find_in_steps(stream) or _find_between_states(stream)


def _find_in_steps(stream: Stream) -> Repeats | None:
    """Find repeats in packets that are sent regularly, faster than the simulation steps."""
    near = stream.intervals < 1.5 * stream.period
    steps = stream.steps
    changed: Numbers = np.flatnonzero(steps > 0) + 1
    if len(changed) < FEWEST_STATES or not (steps == 0).any():
        return None
    # in packets, by stamps: some may be lost
    apart = np.round(np.diff(stream.times[changed]) / stream.period)
    usual = float(np.mean(apart[apart <= 2 * compute_median(apart)]))
    moving = apart <= np.ceil(RESTS * usual)
    # where a packet is missing, a change may have come with it
    holes = np.append(0, np.cumsum(~near))
    whole_runs = moving & (holes[changed[1:]] == holes[changed[:-1] - 1])
    if whole_runs.sum() < FEWEST_STATES:
        return None
    between = float(apart[whole_runs].mean())
    whole = np.floor(between + 1e-9) + np.array([0.0, 1.0])
    if abs(between - round(between)) < 0.02:
        whole = np.array([round(between)], float)
    if 1 - 1 / between < SHARE or np.isin(apart[whole_runs], whole).mean() < EVEN:
        return None
    if not _is_regular(apart, whole_runs, between) or _is_rounded(stream):
        return None
    step = float(Fraction(between).limit_denominator(MOST_STATES)) * stream.period
    again = _mark_between(stream, changed, moving)
    # a state that rests is one again in each step
    last = _find_last(changed, len(steps) + 1)
    turns = np.floor((stream.times - stream.times[last]) / step + TINY)
    again[1:] |= (np.diff(last) == 0) & (np.diff(turns) == 0)
    return Repeats(between, again, step)


def _find_between_states(stream: Stream) -> Repeats | None:
    """Find the repeats of a second message, which come between states that are sent regularly.

    What it repeats may be older than the packet before: ``again`` then marks a step back.
    """
    new = np.ones(len(stream.times), bool)
    for back in range(1, OLDEST + 1):
        new[back:] &= (stream.positions[back:] != stream.positions[:-back]).any(axis=1)
    changed: Numbers = np.flatnonzero(new)
    if len(changed) < FEWEST_STATES:
        return None
    apart = np.diff(stream.times[changed])
    usual = compute_median(apart)
    moving = apart <= RESTS * usual
    even = np.abs(apart[moving] - usual) < EVEN_WITHIN * usual
    again = _mark_between(stream, changed, moving)
    between = 1 + float(again.sum() / moving.sum())
    if 1 - 1 / between < SHARE or even.mean() < EVEN or _is_rounded(stream):
        return None
    since = stream.times - stream.times[_find_last(changed[1:][moving], len(new))]
    again |= ~new & (np.abs(since / usual - np.round(since / usual)) > EVEN_WITHIN)  # in rests, too
    return Repeats(between, again, usual, stepped=False)


def _find_last(places: Numbers, count: int) -> Numbers:
    """Return the last of these places (sorted) at each of ``count`` places; the first before it."""
    return places[np.maximum(np.searchsorted(places, np.arange(count), side="right") - 1, 0)]


def _mark_between(stream: Stream, changed: Numbers, moving: Flags) -> Flags:
    """Mark the packets (n) between two changes of a moving entity."""
    again = np.zeros(len(stream.times), bool)
    for begin, end in zip(changed[:-1][moving], changed[1:][moving], strict=True):
        again[begin + 1 : end] = True
    return again


def _is_regular(apart: Floats, counted: Flags, between: float) -> bool:
    """Return True if the state changes at a regular interval for some time."""
    if len(apart) <= BLOCK:
        return False
    sums = np.convolve(apart, np.ones(BLOCK), "valid")
    steady = np.convolve(counted, np.ones(BLOCK), "valid") > BLOCK - 0.5
    off = np.abs(sums[steady] - BLOCK * between)
    return bool(len(off) and (off <= 1.01).mean() > EVEN)


def _is_rounded(stream: Stream) -> bool:
    """Return True if positions are rounded so coarsely that a slow movement repeats them."""
    axis = stream.positions[:, np.argmax(np.ptp(stream.positions, axis=0))]
    return find_lattice(axis) * FINE > stream.usual_step


def find_step_times(stream: Stream) -> Floats:
    """Return the time (s) of each state's simulation step; NaN for repeated states.

    A state is stamped with the first packet after its step, up to a packet late: the earliest
    stamps within a step are those of the steps themselves.
    """
    found = find_repeats(stream)
    if found is None:
        return stream.times
    if not found.stepped:
        return np.where(found.again, np.nan, stream.times)
    step = found.step
    new = stream.times[1:][(stream.steps > 0) & (stream.intervals < 1.5 * stream.period)]
    phases = np.sort(new % step)
    twice = np.append(phases, phases + step)
    within = np.searchsorted(twice, phases + stream.period + TINY * step) - np.arange(len(phases))
    if within.max() < CLOSE * len(phases):
        return np.where(found.again, np.nan, stream.times)
    begin = phases[int(within.argmax())]
    turns = np.floor((stream.times - begin) / step + TINY)
    return np.where(mark_changes(turns), begin + turns * step, np.nan)


def drop_repeats(stream: Stream) -> Stream:
    """Return the stream without repeated states, each state at the time of its simulation step."""
    times = find_step_times(stream)
    kept = np.flatnonzero(np.isfinite(times))
    return stream.select_states(kept).move_states((times - stream.times)[kept])
