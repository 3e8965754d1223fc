"""What pictures show of a comparison: the truth, the packets and what was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.truth import LARGEST
from epic_cli.engine.packets import Status
from epic_cli.engine.replay.trace import columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.sampled_truth import SampledTruth
    from epic_cli.analysis.truth import Floats
    from epic_cli.engine.packets import PacketBlock


class Drawn(NamedTuple):
    """What one strategy drew in a scene.

    ``positions`` (n, 3) are NaN where nothing is drawn, ``errors`` (n) also in rows that do not
    count.
    """

    label: str
    positions: Floats
    errors: Floats


class Scene(NamedTuple):
    """One entity: times (n) in seconds, the truth there (n, 3), NaN where it is not known.

    Where a new segment of the truth begins, one row is NaN too, so that no line bridges the cut.

    ``packets`` (m, 3) are the positions received, ``packet_times`` (m) when they were sent. A row
    here stands for ``every`` rows of the comparison.
    """

    entity: str
    times: Floats
    truth: Floats
    packet_times: Floats
    packets: Floats
    drawn: tuple[Drawn, ...]
    every: int


class Selection(NamedTuple):
    """Which rows a scene shows: those from ``start`` to ``end`` (seconds), about ``most``."""

    most: int
    start: float
    end: float

    def rows(self, times: Floats) -> slice:
        """The rows as a slice."""
        first, last = np.searchsorted(times, [self.start, self.end])
        return slice(int(first), int(last), max(1, -(-int(last - first) // max(self.most, 1))))


def drawn(label: str, rows: NDArray[np.void], sampled: SampledTruth, selection: Selection) -> Drawn:
    """What a scene shows of one strategy's rows."""
    chosen = selection.rows(sampled.times)
    positions = np.array(rows["position"][chosen])
    positions[rows["status"][chosen] == int(Status.NONE)] = np.nan
    # a strategy that has gone out of all bounds would leave a picture of nothing else
    positions[~(np.abs(positions) < LARGEST).all(axis=1)] = np.nan
    errors = np.linalg.norm(positions - sampled.positions[chosen], axis=1)
    errors[~sampled.counted[chosen]] = np.nan
    return Drawn(label, positions, errors)


def scene(
    entity: str,
    packets: PacketBlock,
    offset: float,
    sampled: SampledTruth,
    selection: Selection,
    shown: list[Drawn],
) -> Scene:
    """A scene of what was drawn for one entity; ``offset`` (s) is added to the packets' times."""
    chosen = selection.rows(sampled.times)
    truth = sampled.positions[chosen].copy()
    begun = np.cumsum(sampled.begins)[chosen]
    truth[1:][begun[1:] > np.maximum(begun[:-1], 1)] = np.nan
    table = np.frombuffer(columns(packets)).reshape(-1, 9)
    table = table[(np.abs(table[:, :4]) < LARGEST).all(axis=1)]
    sent = table[:, 0] + offset
    order = np.argsort(sent, kind="stable")
    inside = order[(sent[order] >= selection.start) & (sent[order] <= selection.end)]
    inside = inside[:: max(1, -(-len(inside) // max(selection.most, 1)))]
    return Scene(
        entity,
        sampled.times[chosen],
        truth,
        sent[inside],
        table[inside, 1:4],
        tuple(shown),
        chosen.step,
    )
