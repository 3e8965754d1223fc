"""Packets that come with a frame: before it, or behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.remedies.packets import rewrite
from epic_cli.metrics.arrays import ARRIVAL, make_packet_table

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats

#: Seconds by which dates of one time differ once they are numbers, and after a frame at which it no
#: longer shows a packet.
ROUGH, BEHIND = 5e-7, 1e-7

#: The share of packets that come with a frame by chance, at most.
CHANCE = 0.02


def move_to_frame_times(packets: PacketBlock, times: Floats, behind: bool) -> PacketBlock:
    """Return packets of which those that come with a frame arrive at its time, or ``behind`` it."""
    arrivals = make_packet_table(packets)[ARRIVAL]
    near = times[np.minimum(np.searchsorted(times, arrivals - ROUGH), len(times) - 1)]
    close = np.abs(near - arrivals) <= ROUGH
    # of exact arrivals a few are close by chance
    by_frames = close.sum() > CHANCE * len(close)
    moved = np.where(close, near, arrivals) if by_frames else arrivals.copy()
    if behind:  # dates of today have no tenth of a microsecond
        moved += np.maximum(BEHIND, np.spacing(moved))
    known = np.isfinite(arrivals)
    if (moved == arrivals)[known].all():
        return packets
    found = iter(np.where(known, moved, np.nan).tolist())

    def move(packet: Packet) -> Packet:
        arrival = next(found)
        return packet if packet.arrival is None else packet._replace(arrival=arrival)

    return rewrite(packets, move)
