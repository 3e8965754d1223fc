"""What a strategy draws of the same packets, in the very frames of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.replay import TooManyRows, Trace
from epic_cli.engine.replay.playback import Timing, parse_tick

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.arrays import Floats


#: So many frames before those that are drawn have a part in them, at most.
MOST_BEFORE = 5000


class Redraw:
    """One entity's packets, to be drawn in given frames by one strategy after the other.

    Packets reach a strategy when they arrived: before the first frame at or after that. Without
    arrival times they do as the demo has it, and frames are those nearest to its ticks.
    """

    def __init__(self, packets: PacketBlock) -> None:
        self._block = packets
        self.arrivals = packets.begins_with_arrival()
        self._packets: list[tuple[float, Packet]] = []
        if self.arrivals:
            every = map(packets.__getitem__, range(len(packets)))
            known = ((one.arrival, one) for one in every if one.arrival is not None)
            self._packets = sorted(known, key=lambda one: one[0])

    @property
    def begins(self) -> float:
        """When the first packet is there (s); minus infinity: from the first frame on."""
        return self._packets[0][0] if self._packets else -np.inf

    @property
    def ends(self) -> float:
        """When the last packet is there (s); infinity: unknown."""
        return self._packets[-1][0] if self._packets else np.inf

    def forget(self, until: float) -> None:
        """Leaves out packets that arrived before this time (s)."""
        self._packets = [one for one in self._packets if one[0] >= until]

    def draw(self, candidate: StrategySpec, times: Floats, shift: float = 0.0) -> Floats:
        """Positions (n, 3) at these times less ``shift`` (seconds); NaN: nothing is drawn.

        Frames before the first one are drawn too, as many as there have been since the first
        packet: some strategies remember them. A strategy that fails draws nothing.
        """
        try:
            if not self.arrivals:
                return self._by_ticks(candidate, times - shift)
            return self._by_frames(candidate, times - shift)
        except (StrategyFailed, TooManyRows, ValueError):  # frames that are no ticks of a clock
            return np.full((len(times), 3), np.nan)

    def _by_frames(self, candidate: StrategySpec, times: Floats) -> Floats:
        frame = float(np.median(np.diff(times)))
        earlier = min(max((times[0] - self.begins) / frame, 0.0), MOST_BEFORE)
        before = times[0] - frame * np.arange(int(earlier), 0, -1)
        strategy, place, found = candidate.make(), 0, []
        packets = self._packets
        update, read, count = strategy.update, strategy.read, len(self._packets)
        for at in (*before.tolist(), *times.tolist()):
            while place < count and packets[place][0] <= at:
                arrival, packet = packets[place]
                update(packet, arrival)
                place += 1
            sample = read(at)
            found.append(sample.position if sample.status != "none" else _NOTHING)
        return np.array(found[len(before) :], float)

    def _by_ticks(self, candidate: StrategySpec, times: Floats) -> Floats:
        tick = parse_tick(float(f"{np.median(np.diff(times)):.4g}"))
        rows = np.asarray(Trace(candidate.make, Timing(tick).resolve(False), self._block))
        rows = rows[rows["status"] != 0]
        if len(rows) < 2:
            return np.full((len(times), 3), np.nan)
        return at_times(rows["time"], rows["position"], times)


_NOTHING = (np.nan, np.nan, np.nan)


def at_times(times: Floats, positions: Floats, wanted: Floats) -> Floats:
    """Positions (n, 3) at the wanted times, on straight lines; NaN outside."""
    return np.stack(
        [np.interp(wanted, times, one, left=np.nan, right=np.nan) for one in positions.T], axis=1
    )
