"""What happened on the way, for pictures: deliveries, losses, teleports, outages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    SEQUENCE,
    TIME,
    lengths,
    packet_table,
)
from epic_cli.metrics.recovery import LONGEST
from epic_cli.metrics.sampled_truth import JUMP_FACTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Flags, Floats
    from epic_cli.metrics.recovery import Events
    from epic_cli.metrics.sampled_truth import SampledTruth
    from epic_cli.metrics.truth import Truth
    from epic_cli.show.scenes.series import Rows

#: Of more lost packets, only their number is given.
MOST_LOST = 20_000


class Deliveries(NamedTuple):
    """The packets of one entity in order of sending, and what can be told of those that are lost.

    ``sent`` (m) and ``arrivals`` (m, NaN: not known) are in seconds, ``positions`` (m, 3) in the
    recording's unit. ``numbered`` says whether the packets have sequence numbers: without them
    nobody can tell what was lost. ``lost_times`` (k) are when the missing numbers were sent, were
    they sent evenly, ``lost`` (k, 3) where the entity was then; ``lost_count`` is how many there
    are.
    """

    sent: Floats
    arrivals: Floats
    positions: Floats
    numbered: bool
    lost_times: Floats
    lost: Floats
    lost_count: int

    @property
    def interval(self) -> float:
        """The usual time between two packets, in seconds; NaN: there are not two."""
        apart = np.diff(self.sent)
        return float(np.median(apart[apart > 0])) if (apart > 0).any() else math.nan

    @property
    def delays(self) -> Floats:
        """How long packets took, in seconds: as many as have an arrival time."""
        took = self.arrivals - self.sent
        return took[np.isfinite(took)]


def deliveries_of(packets: PacketBlock, offset: float, truth: Truth) -> Deliveries:
    """How the packets of one entity came; ``offset`` (seconds) is added to the times of sending."""
    table = packet_table(packets)
    usable = (np.abs(table[:4]) < LARGEST).all(axis=0)
    order = np.flatnonzero(usable)[np.argsort(table[TIME, usable], kind="stable")]
    sent = table[TIME, order] + offset
    arrivals = table[ARRIVAL, order]
    numbers = np.nan_to_num(table[SEQUENCE, order], nan=-1).astype(np.int64)
    missing = _missing(numbers, sent)
    times = missing[:: max(1, -(-len(missing) // MOST_LOST))]
    return Deliveries(
        sent,
        np.where(np.abs(arrivals) < LARGEST, arrivals, np.nan),
        table[POSITION, order].T,
        bool(len(numbers) and (numbers >= 0).all() and len(np.unique(numbers)) > 1),
        times,
        truth.at(np.ascontiguousarray(times)).positions,
        len(missing),
    )


def _missing(numbers: Rows, sent: Floats) -> Floats:
    """When the packets whose numbers are missing were sent, evenly between their neighbours."""
    if not len(numbers) or (numbers < 0).any():
        return np.empty(0)
    known, first = np.unique(numbers, return_index=True)
    at = np.maximum.accumulate(sent[first])
    gaps = np.diff(known) - 1
    # a counter that starts again far away is no loss
    holes = np.flatnonzero((gaps > 0) & (gaps < 10_000))
    if not len(holes):
        return np.empty(0)
    counts = gaps[holes]
    owner = np.repeat(np.arange(len(holes)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    share = place / (counts[owner] + 1)
    begin, end = at[holes][owner], at[holes + 1][owner]
    return np.asarray(begin + share * (end - begin))


Kind = Literal["teleport", "outage"]


class Interruption(NamedTuple):
    """A teleport, or a time without packets, from ``start`` to ``end`` (receiver's seconds)."""

    start: float
    end: float
    kind: Kind


def interruptions(events: Events) -> tuple[Interruption, ...]:
    """All of them, in their order; each ends when the first packet after it arrives."""
    seen = ~events.corrections
    columns = (events.arrivals[seen], events.silences[seen], events.teleports[seen])
    return tuple(
        Interruption(end - silence, end, "teleport" if teleport else "outage")
        for end, silence, teleport in zip(*(one.tolist() for one in columns), strict=True)
    )


def snaps(sampled: SampledTruth, shown: Floats, span: slice) -> Flags:
    """Which of the n - 1 steps of what is ``shown`` (n, 3) lead across a cut of the truth.

    They are those soon after it that are half as long as the cut is wide, and longer than the
    truth's: no movement, which no line should suggest.
    """
    times = sampled.times[span]
    steps = lengths(np.diff(shown, axis=0))
    across = np.zeros(len(steps), bool)
    usual = JUMP_FACTOR * sampled.top_speed * sampled.tick
    for begin, end, wide in _cuts(sampled):
        first, last = np.searchsorted(times, [begin, end + LONGEST])
        part = slice(max(int(first) - 1, 0), int(last))
        across[part] |= (steps[part] > max(0.5 * wide, usual)) & (wide > 0)
    return across


def _cuts(sampled: SampledTruth) -> Sequence[tuple[float, float, float]]:
    """Where the truth is not continuous at the ticks: from when to when, and how far apart."""
    rows = np.flatnonzero(sampled.begins)[1:]
    known = np.isfinite(sampled.positions[:, 0])
    last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    before = last[rows - 1]
    rows, before = rows[before >= 0], before[before >= 0]
    apart = lengths(sampled.positions[rows] - sampled.positions[before])
    columns = (sampled.times[before], sampled.times[rows], apart)
    return list(zip(*(one.tolist() for one in columns), strict=True))
