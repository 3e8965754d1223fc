"""One entity's packets and the frames that a game drew of it, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.strategies.parts import SendInterval
from epic_cli.metrics.arrays import compute_lengths, compute_positive_median

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Seconds at the beginning that are skipped, or a quarter if that is less.
SETTLES = 1.0

#: The oldest that packets may be on arrival (s) by clocks that agree, and how old the youngest is
#: taken to be by others.
LONGEST_AGE, USUAL_LATENCY = 2.0, 0.05

#: Stamps that differ by less are the same (s).
SAME_TIME = 1e-9


#: Units (s) that clocks of logs are rounded to, and how far from whole numbers dates may be.
ROUNDINGS, WHOLE = (0.01, 0.001), 0.01


class Frames(NamedTuple):
    """One entity: packets in order of arrival, and frames with the positions drawn in them.

    ``arrivals`` and ``stamps`` (n), ``positions`` and ``velocities`` (n, 3) are of the packets
    newer than all before them; ``times`` (m), ``drawn`` (m, 3); ``newest`` (m) is the index of the
    last packet that has arrived in each frame. ``taken`` are the same frames with all packets, for
    games that take a late or doubled one as the newest; None if no packet is. Where packets have no
    velocities, those are slopes. ``are_ticks``: frames that show what one before drew are left out.
    """

    arrivals: Floats
    stamps: Floats
    positions: Floats
    velocities: Floats
    times: Floats
    drawn: Floats
    newest: NDArray[np.int64]
    taken: Frames | None = None
    has_velocities: bool = True
    are_ticks: bool = False

    @property
    def late(self) -> float:
        """The share of the packets that are older than one before."""
        taken = self.taken
        if taken is None:
            return 0.0
        return float((taken.stamps < np.maximum.accumulate(taken.stamps)).mean())

    def iterate_views(self) -> Iterator[tuple[bool, Frames]]:
        """Yield the frames, and those that take late packets if there are any, and which it is."""
        yield False, self
        if self.taken is not None:
            yield True, self.taken

    @property
    def unit(self) -> float:
        """The usual step from packet to packet (length)."""
        steps = compute_lengths(np.diff(self.positions, axis=0))
        return compute_positive_median(steps, 1.0)

    @property
    def usual_speed(self) -> float:
        """The usual speed of the entity while it moves (length/s)."""
        return self.unit / self.interval

    @property
    def high_speed(self) -> float:
        """The speed that the entity exceeds in a tenth of its steps (length/s)."""
        steps, times = compute_lengths(np.diff(self.positions, axis=0)), np.diff(self.stamps)
        moves = (steps > 0) & (times > 0)
        return float(np.quantile(steps[moves] / times[moves], 0.9)) if moves.any() else 0.0

    @property
    def interval(self) -> float:
        """The usual time from stamp to stamp (s)."""
        return find_usual_interval(self.stamps)

    @property
    def frame(self) -> float:
        """The usual time from frame to frame (s)."""
        return float(np.median(np.diff(self.times)))

    @property
    def clock_offset(self) -> float:
        """The difference of the clocks (s), about, if they do not agree; 0: they do."""
        ages = self.arrivals - self.stamps
        apart = float(np.abs(ages).max()) >= LONGEST_AGE
        return round(float(ages.min()) - USUAL_LATENCY, 3) if apart else 0.0

    @property
    def ticks(self) -> Floats:
        """Stamps that count packets, each a send interval after the previous one."""
        found: list[float] = []
        interval = SendInterval()
        for stamp in self.stamps.tolist():
            interval.add(stamp)
            found.append(found[-1] + interval.value if found else 0.0)
        return np.array(found)

    @property
    def missed_turns(self) -> float:
        """The distance of 95 % of the packets, at most, to where the velocity led (usual steps)."""
        led = self.velocities[:-1] * np.diff(self.stamps)[:, None]
        missed = compute_lengths(np.diff(self.positions, axis=0) - led)
        return float(np.quantile(missed, 0.95)) / self.unit

    def drop_repeated(self) -> Frames:
        """Return the frames without the packets that repeat the position before them."""
        moves = (np.diff(self.positions, axis=0) != 0).any(axis=1)
        return self.select_packets(np.append(True, moves))

    def select_packets(self, some: NDArray[np.bool_]) -> Frames:
        """Return the frames with the packets that are marked; the first one must be."""
        return self._replace(
            arrivals=self.arrivals[some], stamps=self.stamps[some],
            positions=self.positions[some], velocities=self.velocities[some],
            newest=np.cumsum(some)[self.newest] - 1, taken=None,
        )  # fmt: skip

    def cut_until(self, time: float) -> Frames:
        """Return the frames up to a time (s), with all packets."""
        part = slice(int(np.searchsorted(self.times, time, side="right")))
        return self._replace(
            times=self.times[part], drawn=self.drawn[part], newest=self.newest[part],
            taken=None if self.taken is None else self.taken.cut_until(time),
        )  # fmt: skip

    @property
    def taking(self) -> NDArray[np.int_]:
        """The index (m) of the frame that took the newest packet of each frame."""
        first = np.append(True, np.diff(self.newest) > 0)
        return np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))

    @property
    def settled(self) -> NDArray[np.bool_]:
        """The mask (m) of the frames after the start, during which clocks and low-passes settle."""
        since = self.times - self.times[0]
        return np.asarray(since >= min(SETTLES, 0.25 * float(since[-1])))


def find_usual_interval(stamps: Floats) -> float:
    """Return the usual time from stamp to stamp (s); 0 if all are the same.

    Where most are those of the packet before, as with whole seconds, it is that of the others.
    """
    apart = np.diff(stamps)
    usual = float(np.median(apart)) if len(apart) else 0.0
    return usual if usual > 0 else compute_positive_median(apart, 0.0)


def find_time_rounding(times: Floats) -> float:
    """Return the unit (s) of times of uneven frames that are rounded to decimals; 0 if none."""
    for unit in ROUNDINGS:
        whole = np.round(times / unit)
        if (np.abs(times / unit - whole) < WHOLE).all() and len(np.unique(np.diff(whole))) > 1:
            return unit
    return 0.0


def make_frames(
    arrivals: Floats, stamps: Floats, positions: Floats, velocities: Floats, times: Floats,
    drawn: Floats,
) -> Frames:  # fmt: skip
    """Make frames without late packets, from the second packet on."""
    newest = np.maximum.accumulate(stamps)
    fresh = np.append(True, stamps[1:] > newest[:-1])
    known = bool(np.isfinite(velocities).any())
    velocities = _fill_velocities(stamps, positions, velocities)
    frames = _make_view(
        arrivals[fresh], stamps[fresh], positions[fresh], velocities[fresh], times, drawn
    )._replace(has_velocities=known)
    if fresh.all():
        return frames
    return frames._replace(taken=_make_view(arrivals, stamps, positions, velocities, times, drawn))


def _make_view(
    arrivals: Floats, stamps: Floats, positions: Floats, velocities: Floats, times: Floats,
    drawn: Floats,
) -> Frames:  # fmt: skip
    """Make frames with all of these packets."""
    newest = np.searchsorted(arrivals, times, side="right") - 1
    there = newest >= 1
    return Frames(
        arrivals, stamps, positions, velocities,
        times[there], drawn[there], newest[there],
    )  # fmt: skip


def _fill_velocities(stamps: Floats, positions: Floats, velocities: Floats) -> Floats:
    """Return velocities (n, 3) with the engine's estimate where none was sent.

    That is the slope from the newest packet before.
    """
    newest = np.maximum.accumulate(
        np.where(stamps >= np.maximum.accumulate(stamps), np.arange(len(stamps)), 0)
    )
    slopes = np.zeros_like(positions)
    elapsed = stamps[1:] - stamps[newest[:-1]]
    elapsed = np.where(np.abs(elapsed) < SAME_TIME, np.inf, elapsed)
    slopes[1:] = (positions[1:] - positions[newest[:-1]]) / elapsed[:, None]
    return np.where(np.isfinite(velocities), velocities, slopes)


def move_to_frames(arrivals: Floats, frames: Floats, apart: float) -> Floats:
    """Return the frames (n, s) that read packets: the first at or after each arrival.

    Frames before the first one, and after the last one, are ``apart`` (s).
    """
    at = np.searchsorted(frames, arrivals)
    inside = frames[np.minimum(at, len(frames) - 1)]
    begin = frames[0] - np.floor((frames[0] - arrivals) / apart) * apart
    end = frames[-1] + np.ceil((arrivals - frames[-1]) / apart) * apart
    return np.where(at == 0, begin, np.where(at == len(frames), end, inside))
