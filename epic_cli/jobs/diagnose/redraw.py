"""A strategy drawn again in the frames of a game, from the first packet on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import PacketBlock, sort_by_arrival
from epic_cli.engine.replay import TooManyRows, Trace, draw_frames
from epic_cli.engine.replay.playback import Timing, parse_tick
from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

#: This many frames before those that are drawn have a part in them, at most.
MOST_BEFORE = 5000


class Redraw:
    """One entity's packets, to be drawn in given frames by one strategy after the other.

    Packets reach a strategy when they arrived: before the first frame at or after that. Without
    arrival times they do as the demo has it, and frames are those nearest to its ticks.
    """

    def __init__(self, packets: PacketBlock) -> None:
        self.arrivals = packets.begins_with_arrival()
        #: When the first packet is there, and the last one (s).
        self.begins, self.ends = -np.inf, np.inf
        self._packets = packets
        if self.arrivals:
            self._packets, known = PacketBlock(), []
            for packet in map(packets.__getitem__, range(len(packets))):
                if packet.arrival is not None:
                    self._packets.append(packet)
                    known.append(packet.arrival)
            sort_by_arrival(self._packets)
            self.begins, self.ends = min(known), max(known)

    def draw(self, spec: StrategySpec, times: Floats, shift: float = 0.0) -> Floats:
        """Positions (n, 3) at these times less ``shift`` (seconds); NaN: nothing is drawn.

        Frames before the first one are drawn too, from one before the first packet: some
        strategies remember them. A strategy that fails draws nothing.
        """
        times = times - shift if shift else times
        try:
            if not self.arrivals:
                return self._by_ticks(spec, times)
            frame = float(np.median(np.diff(times)))
            earlier = np.ceil(min(max((times[0] - self.begins) / frame, 0.0), MOST_BEFORE))
            every = np.concatenate((times[0] - frame * np.arange(earlier, 0, -1), times))
            drawn = np.empty((len(every), 3))
            draw_frames(spec.maker(), self._packets, every, drawn)
            return drawn[int(earlier) :]
        except (StrategyFailed, TooManyRows, ValueError):  # frames that are no ticks of a clock
            return np.full((len(times), 3), np.nan)

    def _by_ticks(self, spec: StrategySpec, times: Floats) -> Floats:
        tick = parse_tick(float(f"{np.median(np.diff(times)):.4g}"))
        rows = np.asarray(Trace(spec.maker(), Timing(tick).resolve(False), self._packets))
        rows = rows[rows["status"] != 0]
        if len(rows) < 2:
            return np.full((len(times), 3), np.nan)
        return at_times(rows["time"], rows["position"], times)


def at_times(times: Floats, positions: Floats, wanted: Floats) -> Floats:
    """Positions (n, 3) at the wanted times, on straight lines; NaN outside."""
    return np.stack(
        [np.interp(wanted, times, row, left=np.nan, right=np.nan) for row in positions.T], axis=1
    )


def low_pass(times: Floats, positions: Floats, constant: float) -> Floats:
    """What a first-order low-pass makes of positions (n, 3), from frame to frame.

    y(n) = y(n-1) + (1 - exp(-dt/T)) (x(n) - y(n-1)), which is what ``lerp(y, x, rate * dt)`` in
    each frame comes to: exponential smoothing, the step response of a first-order lag (A. V.
    Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing"). It begins at the first position.
    Frames are combined in pairs, pairs of pairs, and so on
    (W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", CACM 29 (12), 1986), which gives all
    of them in log n steps.
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
