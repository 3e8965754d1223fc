"""Frames whose clock is not that of the packets' arrivals.

A drawing follows its packets, so the lag at which frames resemble the packets tells by how much the
clocks differ. A drawing bends when a packet comes, and not before: where frames bend regularly at
one time after the arrivals, that time is the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    TIME,
    compute_lengths,
    compute_positive_median,
    make_packet_table,
)
from epic_cli.metrics.digits import format_seconds
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats

#: Spacing (s) at which paths are compared, and most points.
SPACING, MOST_POINTS = 0.05, 8192

#: Largest squared difference of frames that resemble the packets, as a share of their variance, and
#: factor within which two lags fit equally well.
RESEMBLES, AS_WELL = 0.5, 1.5

#: Seconds from which on clocks differ; shorter ones are delays and frames.
DIFFERS = 0.1

#: Movement that repeats itself resembles the packets at lags so far apart (s); up to such a squared
#: difference, the usual lag is the right one.
REPEATS, NEARLY = 1.0, 5e-3

#: Lags that drawings have: from -0.15 s, for what predicts, to a second and two send intervals.
PREDICTS, LATE, LATE_INTERVALS = 0.15, 1.0, 2.0

#: Spacing (s) of the times after arrivals at which bends are sought, and most packets.
STEP, MOST_PACKETS = 0.004, 2000

#: Bends belong to arrivals if they are this many times as sharp there as at any other time.
SHARPER = 1.15

#: The share of the sharpest bends that are as sharp.
AS_SHARP = 0.95

#: A buffer shows a state when it is due: within this share of a step; other drawings set out.
PASSES = 0.5


class FrameClock(NamedTuple):
    """The difference between the frames' clock and the packets'.

    ``offset`` (s) is what is to be added to the frames' times; ``exact``: to a frame, not about.
    """

    offset: float
    exact: bool

    @property
    def apart(self) -> str:
        """The absolute difference with its unit."""
        return f"{'' if self.exact else 'about '}{format_seconds(abs(self.offset))}"

    @property
    def way(self) -> str:
        """The word between the frames' clock and that of the arrivals."""
        return "behind" if self.offset > 0 else "ahead of"

    def move_frames(self, paths: Mapping[str, DrawnPath]) -> dict[str, DrawnPath]:
        """Return the frames on the clock of the arrivals."""
        return {name: path._replace(times=path.times + self.offset) for name, path in paths.items()}

    def write_offset(self, given: float) -> str:
        """Return the offset (s) with the one ``given`` so far, as an option takes it."""
        return f"{given + self.offset:.{4 if self.exact else 2}f}"


class _Entity:
    """An entity's packets in order of arrival and its frames, from 0 s on each."""

    def __init__(self, table: Floats, path: DrawnPath) -> None:
        known = np.isfinite(table[ARRIVAL])
        came = np.where(known, table[ARRIVAL], table[TIME])
        with np.errstate(invalid="ignore"):
            usable = np.isfinite(came) & (np.abs(table[POSITION]) < LARGEST).all(axis=0)
        order = np.argsort(came[usable], kind="stable")
        came, self.sent = came[usable][order], table[POSITION].T[usable][order]
        moved = np.append(False, compute_lengths(np.diff(self.sent, axis=0)) > 0)
        self.moved = moved[: len(came)]
        self.between = float(came[0] - path.times[0]) if len(came) else 0.0
        self.came, self.times = came - came[:1], path.times - path.times[0]
        self.drawn = path.positions.copy()

    @property
    def is_telling(self) -> bool:
        """True if enough packets move, and enough frames are drawn."""
        return min(int(self.moved.sum()), len(self.times)) >= FEWEST_FRAMES

    @property
    def interval(self) -> float:
        """The usual time from packet to packet, s."""
        return compute_positive_median(np.diff(self.came), 0.0)


def find_frame_clock(
    paths: Mapping[str, DrawnPath], packets: Mapping[str, PacketBlock]
) -> FrameClock | None:
    """Return the difference of the clocks, both by entity; None if there is none to be seen.

    Of the entity that moves in most packets. Arrivals that are not known are stamps.
    """
    entities = [_Entity(make_packet_table(packets[name]), path) for name, path in paths.items()]
    entity = max(entities, key=lambda one: int(one.moved.sum()))
    lags = _find_lags(entity) if entity.is_telling else None
    if lags is None and entity.is_telling and _match_coordinates(entity):
        lags = _find_lags(entity)
    if lags is None:
        return None
    least, best = lags
    usual = LATE + LATE_INTERVALS * entity.interval
    bend = _find_bend(entity, best)
    if bend is None:
        return None if -PREDICTS <= least <= usual else _choose_about(entity, best)
    after, passes = bend
    if passes and not -PREDICTS <= least <= usual:  # a buffer by the arrivals has a delay
        begun = _choose_about(entity, best)
        return begun if begun.exact else FrameClock(-after, True)
    late = after > DIFFERS + 1.5 * entity.interval and not passes and _begins_late(entity, after)
    if after < -DIFFERS or late or not -PREDICTS <= least <= usual:
        return FrameClock(-after, True)
    return None


def _choose_about(entity: _Entity, lag: float) -> FrameClock:
    """Return the offset by the first frame if it shows the first packet, else by the lag (s)."""
    first = float(compute_lengths(entity.drawn[:1] - entity.sent[:1])[0])
    left = lag + entity.between
    shows = first <= 0.01 * float(np.ptp(entity.sent, axis=0).max())
    usual = LATE + LATE_INTERVALS * entity.interval
    if shows and -PREDICTS <= left <= usual:
        return FrameClock(entity.between, True)
    return FrameClock(-lag, False)


def _begins_late(entity: _Entity, after: float) -> bool:
    """Return True if no frame, drawn ``after`` (s) sooner, is from before the first packet."""
    return -entity.between >= after - 1.5 * entity.interval


class _Overlaps:
    """The paths of packets and frames at equal times, and their sums at each lag of the frames."""

    def __init__(self, entity: _Entity) -> None:
        self.step = max(SPACING, max(entity.came[-1], entity.times[-1]) / MOST_POINTS)
        sides = []
        for times, places in ((entity.came, entity.sent), (entity.times, entity.drawn)):
            at = np.arange(0.0, float(times[-1]) + self.step, self.step)
            sides.append(np.array([np.interp(at, times, axis) for axis in places.T]))
        center = sides[0].mean(axis=1, keepdims=True)
        self.sent, self.drawn = sides[0] - center, sides[1] - center
        lengths = self.sent.shape[1], self.drawn.shape[1]
        self.size = 1 << (sum(lengths) - 1).bit_length()
        self.ones = [np.ones((len(center), length)) for length in lengths]
        shared = np.round(self.correlate(*self.ones)[0])
        self.shared = np.maximum(shared, 1.0)
        #: The lags (s) at which enough of both overlaps.
        self.enough = shared >= 0.5 * min(lengths)
        lags = np.arange(self.size, dtype=float)
        lags[self.size // 2 :] -= self.size
        self.lags = lags * self.step - entity.between

    def correlate(self, one: Floats, other: Floats) -> Floats:
        """Return the sums of ``one[i] * other[i + lag]``, by axis and lag."""
        spectrum = np.conj(np.fft.rfft(one, self.size)) * np.fft.rfft(other, self.size)
        return np.asarray(np.fft.irfft(spectrum, self.size))

    def find_spread(self) -> Floats:
        """Return the variance of the packets' places, by axis and lag."""
        squares = self.correlate(self.sent * self.sent, self.ones[1]) / self.shared
        spread = squares - np.square(self.correlate(self.sent, self.ones[1]) / self.shared)
        return np.asarray(np.maximum(spread, 0.0))

    def score(self, off: Floats) -> Floats:
        """Return what is off as a share of the variance, by lag; infinite where little moves."""
        spread = self.find_spread().sum(axis=0)
        moves = self.enough & (spread > 0.05 * float(np.square(self.sent).sum(axis=0).mean()))
        return np.asarray(np.where(moves, off / np.where(moves, spread, 1.0), np.inf))


def _find_lags(entity: _Entity) -> tuple[float, float] | None:
    """Return the least lag (s) at which frames resemble the packets, and the best one; or None."""
    both = _Overlaps(entity)
    off = both.correlate(both.sent * both.sent, both.ones[1])
    off += both.correlate(both.ones[0], both.drawn * both.drawn)
    off -= 2 * both.correlate(both.sent, both.drawn)
    score = both.score(off.sum(axis=0) / both.shared)
    best = int(score.argmin())
    if score[best] > RESEMBLES:
        return None
    alike = score <= max(AS_WELL * score[best], score[best] + 1e-4)
    alike |= (score <= NEARLY) & (np.abs(both.lags - both.lags[best]) > REPEATS)
    least = both.lags[alike]
    return float(least[np.abs(least).argmin()]), float(both.lags[best])


def _match_coordinates(entity: _Entity) -> bool:
    """Give the frames the packets' unit, directions and origin, as far as each axis tells.

    False if they do not resemble the packets in any. Axes that are exchanged are not sought.
    """
    both = _Overlaps(entity)
    means = [
        both.correlate(both.sent, both.ones[1]) / both.shared,
        both.correlate(both.ones[0], both.drawn) / both.shared,
    ]
    spread = both.find_spread()
    drawn = both.correlate(both.ones[0], both.drawn * both.drawn) / both.shared
    drawn -= np.square(means[1])
    common = both.correlate(both.sent, both.drawn) / both.shared - means[0] * means[1]
    known = (spread > 1e-9 * spread.max()) & (drawn > 1e-9 * drawn.max())
    told = np.where(known, np.square(common) / np.where(known, drawn, 1.0), 0.0)
    score = both.score((spread - told).sum(axis=0))
    best = int(score.argmin())
    if score[best] > 0.5 * RESEMBLES:
        return False
    center = entity.sent.mean(axis=0)
    for axis in range(len(center)):
        if known[axis, best]:
            slope = common[axis, best] / drawn[axis, best]
            at = both.drawn[axis].mean() - means[1][axis, best]
            apart = entity.drawn[:, axis] - entity.drawn[:, axis].mean() + at
            entity.drawn[:, axis] = center[axis] + means[0][axis, best] + slope * apart
        else:
            entity.drawn[:, axis] = center[axis]
    return True


def _find_bend(entity: _Entity, lag: float) -> tuple[float, bool] | None:
    """Return how long after the arrivals (s) frames bend, and True if they pass the state then.

    It is sought around the lag (s). None: they bend at other times, too.
    """
    times, at = entity.times - entity.between, entity.came[entity.moved][:MOST_PACKETS]
    speeds = np.diff(entity.drawn, axis=0) / np.diff(times)[:, None]
    bends = np.zeros(len(times))
    bends[2:] = compute_lengths(np.diff(speeds, axis=0))
    rare = min(0.05, 0.25 * len(at) / len(times))  # leaps would outweigh all others
    bends = np.minimum(bends, np.quantile(bends, 1 - rare))

    def measure(after: float) -> float:
        frames = np.searchsorted(times, at + (after - 1e-6))
        inside = frames[(frames > 1) & (frames < len(times))]
        return float(bends[inside].mean()) if len(inside) >= 10 else 0.0

    frame, reach = float(np.median(np.diff(times))), 0.5 + 1.5 * entity.interval
    afters = np.arange(lag + reach, lag - reach, -STEP)
    sharp = np.array([measure(after) for after in afters])
    top = int(sharp.argmax())
    apart = np.abs(afters - afters[top]) > max(2 * frame, 0.03)
    if not apart.any() or sharp[top] <= SHARPER * sharp[apart].max():
        return None
    late, early = (
        _find_edge(lambda after: measure(after) >= AS_SHARP * sharp[top], afters[top], way)
        for way in (STEP, -STEP)
    )
    if late - early > 2.5 * frame:
        return None
    # packets that are stamped by the frame that reads them bend in no other one
    after = late if late - early > 0.8 * frame else (late + early) / 2
    frames = np.searchsorted(times, entity.came + (after - 1e-6))
    shown = entity.moved & (frames < len(times))
    missed = compute_lengths(entity.drawn[frames[shown]] - entity.sent[shown])
    steps = compute_lengths(np.diff(entity.sent, axis=0))
    return after, bool(np.median(missed) <= PASSES * np.median(steps[steps > 0]))


def _find_edge(holds: Callable[[float], bool], time: float, step: float) -> float:
    """Return the last time (s) at which a condition holds, by steps from one at which it does."""
    while holds(time + step):
        time += step
    other = time + step
    for _ in range(8):
        middle = (time + other) / 2
        time, other = (middle, other) if holds(middle) else (time, middle)
    return time
