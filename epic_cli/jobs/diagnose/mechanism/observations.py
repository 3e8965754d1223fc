"""Measures of frames that nothing draws: what is true of them whatever draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.mechanism.partial import LOOKED, find_sent_times
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.metrics.arrays import choose_places, compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: The most observations that are told.
MOST = 2

#: A shorter step is none, and packets that are as far apart go on (usual steps).
STILL, GOES_ON = 1e-3, 0.1

#: A packet that is older, in send intervals, is followed by a silence.
SILENT = 2.0

#: The cosine of a step that goes on straight, the least share of the steps between packets that do,
#: and of those at packets that do not.
STRAIGHT, ALWAYS, TURNS = 0.9999, 0.98, 0.3

#: The least shares of frames that stand, and that are ahead; how far ahead (usual steps).
STANDS, AHEAD, BEYOND = 0.25, 0.3, 0.05

#: The least ratio of the speeds with a new packet and without one; the largest distance of most
#: frames to the path (usual steps), and the largest spread of their delays (s), as where it stood.
JERKS, NEAR, SPREAD = 3.0, 0.3, 0.5


class Observation(NamedTuple):
    """One thing that is true of nearly all frames, with the ``values`` for its sentence."""

    name: str
    values: Mapping[str, float]


def observe_frames(frames: Frames) -> tuple[Observation, ...]:
    """Return what tells most of frames that nothing draws."""
    found = _Observations(frames)
    return tuple(found.iterate())[:MOST]


class _Observations:
    """Steps of frames while packets go on."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.ways = np.diff(frames.positions, axis=0, prepend=frames.positions[:1])
        goes_on = compute_lengths(self.ways)[frames.newest] > GOES_ON * frames.unit
        # nor does the newest packet come before a silence
        since = frames.times - frames.arrivals[frames.newest]
        goes_on &= since < SILENT * frames.interval
        self.counted = (frames.settled & goes_on)[1:]
        self.steps = np.diff(frames.drawn, axis=0)
        self.lengths = compute_lengths(self.steps)
        self.moves = self.lengths > STILL * frames.unit
        self.fresh = np.diff(frames.newest) > 0

    def iterate(self) -> Iterator[Observation]:
        """Yield what is true of the frames, the most telling first."""
        if self.counted.sum() < FEW:
            return
        if self._turns_at_packets():
            yield Observation("turns-at-packets", {})
        stands = float((~self.moves)[self.counted].mean())
        if stands > STANDS:
            yield Observation("stands", {"share": stands})
        ahead = self._measure_ahead()
        if ahead > AHEAD:
            yield Observation("ahead", {"share": ahead})
        jerks = self._measure_jerks()
        if jerks > JERKS:
            yield Observation("jerks", {"times": jerks})
        yield from self._observe_path()

    def _turns_at_packets(self) -> bool:
        """Return True if steps turn where packets come, and hardly elsewhere."""
        both = self.moves[1:] & self.moves[:-1] & self.counted[1:]
        along = (self.steps[1:] * self.steps[:-1]).sum(axis=1)
        straight = along > STRAIGHT * self.lengths[1:] * self.lengths[:-1]
        new = self.fresh[1:]
        # packets that are read behind a frame turn the next one
        for at in (new, np.append(False, new[:-1])):
            with_packet, without = both & at, both & ~at
            if min(with_packet.sum(), without.sum()) < FEW:
                continue
            if straight[without].mean() > ALWAYS and straight[with_packet].mean() < 1 - TURNS:
                return True
        return False

    def _measure_ahead(self) -> float:
        """Return the share of the frames that are ahead of the newest state on its last way."""
        newest = self.frames.newest[1:][self.counted]
        way = self.ways[newest]
        off = self.frames.drawn[1:][self.counted] - self.frames.positions[newest]
        along = (off * way).sum(axis=1) / compute_lengths(way)
        return float((along > BEYOND * self.frames.unit).mean())

    def _measure_jerks(self) -> float:
        """Return the usual speed in frames with a new packet, in that without; 0 if unknown."""
        speeds = self.lengths / np.diff(self.frames.times)
        usual: list[float] = []
        for at in (self.fresh, ~self.fresh):
            own = speeds[at & self.counted & self.moves]
            usual.append(float(np.median(own)) if len(own) >= FEW else 0.0)
        return usual[0] / usual[1] if usual[1] else 0.0

    def _observe_path(self) -> Iterator[Observation]:
        """Yield how near to the packets' path the frames are, and how late."""
        frames = self.frames
        at = 1 + np.flatnonzero(self.counted & (frames.newest[1:] > 1))
        at = at[choose_places(len(at), LOOKED)]
        sent, apart = find_sent_times(frames, at, "linear")
        off = float(np.quantile(apart, 0.95)) / frames.unit
        if off > NEAR:
            return
        late: Floats = frames.times[at] - sent - float((frames.arrivals - frames.stamps).min())
        low, high = np.quantile(late, (0.05, 0.95)).tolist()
        if high - low > SPREAD:
            return
        yield Observation("near-path", {"off": off, "low": low, "high": high})
