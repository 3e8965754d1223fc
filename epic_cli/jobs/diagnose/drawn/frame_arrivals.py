"""Packets that come with a frame: before it, or behind it, or unknown as times are rounded."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.jobs.diagnose.frames import find_time_rounding, move_to_frames
from epic_cli.jobs.diagnose.remedies.packets import rewrite
from epic_cli.metrics.arrays import ARRIVAL, make_packet_table

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.traffic import Flags, Floats

#: Seconds by which dates of one time differ once they are numbers, and after a frame at which it no
#: longer shows a packet.
ROUGH, BEHIND = 5e-7, 1e-7

#: The share of packets that come with a frame by chance, at most, where times are exact.
CHANCE = 0.02

#: The same where times are rounded: more come with a frame only where it is the frame's time.
ROUNDED_CHANCE = 0.25

#: The share of arrivals in a rounded unit that are those of frames, where games log them so.
ALWAYS = 0.9


class PacketReading(Enum):
    """The moment when a game reads packets: as they arrive, or before or behind a frame."""

    ARRIVAL = "arrival"
    FRAME = "frame"
    BEHIND = "behind"


def move_to_frame_times(packets: PacketBlock, times: Floats, pacing: PacketReading) -> PacketBlock:
    """Return packets of which those that come with a frame arrive at its time.

    Where a log rounds the arrivals alone, as to whole milliseconds, they come with frames that may
    have those times. Those that a game reads ``BEHIND`` its frames all arrive behind one.
    """
    arrivals = make_packet_table(packets)[ARRIVAL]
    known = np.isfinite(arrivals)
    near, close = _find_frames_at(arrivals, times)
    # of exact arrivals a few are close by chance
    by_frames = close.sum() > CHANCE * len(close)
    unit = _find_log_rounding(arrivals[known])
    if unit and not find_time_rounding(times):
        near_rounded, may_be = _find_frames_at(arrivals, times, unit / 2, unit)
        if may_be.sum() > ALWAYS * len(may_be):
            near, close, by_frames = near_rounded, may_be, True
    moved = np.where(close, near, arrivals) if by_frames else arrivals.copy()
    if pacing is PacketReading.BEHIND:
        if not by_frames and len(times) > 1:
            moved[known] = move_to_frames(arrivals[known], times, float(np.median(np.diff(times))))
        moved += np.maximum(BEHIND, np.spacing(moved))  # dates of today have no tenth of a us
    if (moved == arrivals)[known].all():
        return packets
    found = iter(np.where(known, moved, np.nan).tolist())

    def move(packet: Packet) -> Packet:
        arrival = next(found)
        return packet if packet.arrival is None else packet._replace(arrival=arrival)

    return rewrite(packets, move)


def mark_told_frames(arrivals: Floats, times: Floats) -> Flags:
    """Mark the frames (n) of which the times tell the newest packet that was there.

    Where a few packets come at the time of a frame since times are rounded, as in whole
    milliseconds, either may have been first: frames of this packet and of the next, which goes on
    from what was drawn, are not marked.
    """
    arrivals = np.sort(arrivals[np.isfinite(arrivals)])
    _, tied = _find_frames_at(arrivals, times)
    told = np.ones(len(times), bool)
    if not CHANCE * len(tied) < tied.sum() < ROUNDED_CHANCE * len(tied):
        return told
    unsure = tied | np.append(False, tied[:-1])
    newest = np.searchsorted(arrivals, times + ROUGH, side="right") - 1
    told[newest >= 0] = ~unsure[newest[newest >= 0]]
    return told


def _find_log_rounding(arrivals: Floats) -> float:
    """Return the unit (s) to which a log rounds arrivals; 0 if there is none.

    Those of a game's fixed ticks, as of 20 ms, are whole multiples of more than that.
    """
    unit = find_time_rounding(arrivals)
    counts = np.round(np.diff(arrivals) / unit).astype(int) if unit else np.empty(0, int)
    return unit if len(counts) and np.gcd.reduce(counts) == 1 else 0.0


def _find_frames_at(
    arrivals: Floats, times: Floats, before: float = 0.0, after: float = 0.0
) -> tuple[Floats, Flags]:
    """Return the time of a frame near each arrival, and which may be the same time.

    A frame may be that much ``before`` a rounded arrival, or ``after`` it (s).
    """
    begin, end = arrivals - before - ROUGH, arrivals + after + ROUGH
    near = times[np.minimum(np.searchsorted(times, begin), len(times) - 1)]
    return near, np.asarray((begin <= near) & (near <= end))
