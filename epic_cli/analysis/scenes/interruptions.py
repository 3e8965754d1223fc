"""Teleports and outages as pictures show them, and the steps that no picture draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from epic_cli.analysis.metrics.recovery import LONGEST
from epic_cli.analysis.truth import lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.metrics.recovery import Events
    from epic_cli.analysis.sampled_truth import SampledTruth
    from epic_cli.analysis.truth import Flags, Floats

Kind = Literal["teleport", "outage"]


class Interruption(NamedTuple):
    """A teleport, or a time without packets, from ``start`` to ``end`` (receiver's seconds)."""

    start: float
    end: float
    kind: Kind


def interruptions(events: Events) -> tuple[Interruption, ...]:
    """All of them, in their order; each ends when the first packet after it arrives."""
    columns = (events.arrivals, events.silences, events.teleports)
    return tuple(
        Interruption(end - silence, end, "teleport" if teleport else "outage")
        for end, silence, teleport in zip(*(one.tolist() for one in columns), strict=True)
    )


def snaps(sampled: SampledTruth, shown: Floats, span: slice) -> Flags:
    """Which of the n - 1 steps of what is ``shown`` (n, 3) lead across a cut of the truth.

    They are those soon after it that are half as long as the cut is wide: no movement, which no
    line should suggest.
    """
    times = sampled.times[span]
    steps = lengths(np.diff(shown, axis=0))
    across = np.zeros(len(steps), bool)
    for begin, end, wide in _cuts(sampled):
        first, last = np.searchsorted(times, [begin, end + LONGEST])
        part = slice(max(int(first) - 1, 0), int(last))
        across[part] |= (steps[part] > 0.5 * wide) & (wide > 0)
    return across


def _cuts(sampled: SampledTruth) -> Sequence[tuple[float, float, float]]:
    """Where the truth is not continuous at the ticks: from when to when, and how far apart."""
    rows = np.flatnonzero(sampled.begins)[1:]
    known = np.isfinite(sampled.positions[:, 0])
    last = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
    before = last[rows - 1]
    rows, before = rows[before >= 0], before[before >= 0]
    apart = lengths(sampled.positions[rows] - sampled.positions[before])
    return list(
        zip(
            sampled.times[before].tolist(),
            sampled.times[rows].tolist(),
            apart.tolist(),
            strict=True,
        )
    )
