"""Draw strategies in the frames of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import PacketBlock, sort_by_arrival
from epic_cli.engine.replay import TooManyRows, Trace, draw_frames
from epic_cli.engine.replay.playback import Timing, parse_tick

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.arrays import Floats

#: Most frames before the drawn ones that have an effect on them.
MOST_BEFORE = 5000


class Redraw:
    """One entity's packets, ready to be drawn in given frames by any strategy.

    Packets reach a strategy when they arrived: before the first frame at or after that;
    ``by_frame``, as if they had arrived at that frame. Without arrival times they are paced as in
    the demo, and frames are those nearest to its ticks.
    """

    def __init__(self, packets: PacketBlock, by_frame: bool = False) -> None:
        self.by_frame = by_frame
        self.arrivals = packets.begins_with_arrival()
        #: Arrivals of the first packet, and of the last one (s).
        self.begins, self.ends = -np.inf, np.inf
        self._packets = packets
        #: The frames that were drawn last, and the same with those before them.
        self._frames: tuple[Floats, Floats] = np.empty(0), np.empty(0)
        if self.arrivals:
            self._packets, known = PacketBlock(), []
            for packet in map(packets.__getitem__, range(len(packets))):
                if packet.arrival is not None:
                    self._packets.append(packet)
                    known.append(packet.arrival)
            self._packets.connection = packets.connection
            sort_by_arrival(self._packets)
            self.begins, self.ends = min(known), max(known)

    def draw(self, spec: StrategySpec, times: Floats, shift: float = 0.0) -> Floats:
        """Return positions (n, 3) at ``times`` minus ``shift`` (s); NaN where nothing is drawn.

        Frames before the first one are drawn too, from one before the first packet: some strategies
        remember them. A strategy that fails draws nothing.
        """
        times = times - shift if shift else times
        try:
            if not self.arrivals:
                return self._draw_by_ticks(spec, times)
            if times is not self._frames[0]:
                self._frames = times, self._add_earlier(times)
            every = self._frames[1]
            drawn = np.empty((len(every), 3))
            draw_frames(spec.make_factory(), self._packets, every, drawn, self.by_frame)
            return drawn[len(every) - len(times) :]
        except (StrategyFailed, TooManyRows, ValueError):  # frames that are no ticks of a clock
            return np.full((len(times), 3), np.nan)

    def _add_earlier(self, times: Floats) -> Floats:
        """Return the frames with those before them, back to the first packet."""
        frame = float(np.median(np.diff(times)))
        earlier = np.floor(min((times[0] - self.begins) / frame, MOST_BEFORE) + 1)
        return np.concatenate((times[0] - frame * np.arange(earlier, 0, -1), times))

    def _draw_by_ticks(self, spec: StrategySpec, times: Floats) -> Floats:
        tick = parse_tick(float(f"{np.median(np.diff(times)):.4g}"))
        rows = np.asarray(Trace(spec.make_factory(), Timing(tick).resolve(False), self._packets))
        rows = rows[rows["status"] != 0]
        if len(rows) < 2:
            return np.full((len(times), 3), np.nan)
        return interpolate_at(rows["time"], rows["position"], times)


def interpolate_at(times: Floats, positions: Floats, wanted: Floats) -> Floats:
    """Interpolate positions (n, 3) linearly at the wanted times; NaN outside of the known times."""
    return np.stack(
        [np.interp(wanted, times, row, left=np.nan, right=np.nan) for row in positions.T], axis=1
    )


def apply_low_pass(times: Floats, positions: Floats, constant: float) -> Floats:
    """Apply a first-order low-pass to positions (n, 3), frame by frame.

    y(n) = y(n-1) + (1 - exp(-dt/T)) (x(n) - y(n-1)), as ``lerp(y, x, rate * dt)`` in each frame:
    exponential smoothing, the step response of a first-order lag (A. V. Oppenheim, R. W. Schafer,
    "Discrete-Time Signal Processing"). It begins at the first position. Frames are combined in
    pairs, pairs of pairs, and so on (W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM
    29 (12), 1986), which takes log n steps.
    """
    if not constant:
        return positions
    keep = np.exp(-np.diff(times, prepend=times[0]) / constant)
    keep[0] = 0.0
    found = (1 - keep)[:, None] * positions
    reach = 1
    while reach < len(times) and keep.max() > 1e-12:
        found[reach:] += keep[reach:, None] * found[:-reach].copy()
        keep[reach:] = keep[reach:] * keep[:-reach].copy()
        reach *= 2
    return found
