"""What happens rarely in traffic and rules the tail of every figure: bursts of losses, other ways.

Blocks of time that were drawn again know only what happened. So how often the network did such
things is counted in the packets themselves, and intervals are widened by what may have been missed
(``uncertainty.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.measure import running_medians
from epic_cli.metrics.arrays import ARRIVAL, SEQUENCE, TIME, edges

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

#: A packet that comes so many intervals later than those around it was as good as lost.
LATE = 2.0

#: So many packets on each side of one are around it, and before and after a change of the way.
AROUND = 8

#: The way has changed where delays are longer or shorter by so many of their own deviations, and
#: by this share of the interval.
DEVIATIONS, SHARE = 4.0, 0.25

#: What may have happened though it was not seen: this many times as long a time as is looked at has
#: nothing of what happens once in it, with 97.5 % confidence (-log 0.025; "rule of three") ...
UNSEEN = 3.7

#: ... and where rare events are of any size, by this more over their number: found by trial
#: (``tests/endurance/coverage.py``).
TAIL = 200.0

#: From fewer rare events nobody knows how bad they can be.
FEWEST_EVENTS = 5

#: A link that loses nothing in fewer seconds than this may yet lose in bursts.
PROVEN = 40.0

#: Longer gaps of the numbers are another session.
LONGEST = 1000

#: Losses hang together where chance explains them less often than this.
CHANCE = 0.05

#: Stamps tell what is missing where this share of their intervals is within a quarter of the usual.
STEADY = 0.8


class Rare(NamedTuple):
    """What happened in some packets, in all recordings together.

    ``bursts``: how often two packets and more were lost in a row, or too late; ``pairs``: how many
    were lost right behind another; ``lost`` of ``sent`` packets; ``changes``: how often delays
    changed for longer; ``waver`` (s): by how much the first delay, to which some strategies set
    their clocks, may differ from the usual one; ``watched`` (s): how long losses would have shown.
    """

    bursts: int = 0
    pairs: int = 0
    lost: int = 0
    sent: int = 0
    changes: int = 0
    waver: float = 0.0
    watched: float = 0.0

    @property
    def linked(self) -> bool:
        """Whether losses hang together more than chance explains (Poisson)."""
        expected = self.lost**2 / max(self.sent, 1)
        if self.pairs < 1 or self.pairs > 50 + 3 * expected:
            return self.pairs > 0
        below = math.fsum(
            math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) if expected else k == 0
            for k in range(self.pairs)
        )
        return 1 - below < CHANCE

    @property
    def events(self) -> int:
        """How many rare events there were: there is more to the tail than a few can say."""
        return self.bursts * self.linked + -(-self.changes // 2)

    @property
    def few(self) -> bool:
        """Whether there were too few to say how bad they can be, or how rare."""
        return 0 < self.events < FEWEST_EVENTS or self.unproven

    @property
    def unproven(self) -> bool:
        """Whether nothing was lost, in too short a time to say that nothing will be."""
        return not self.lost and 0 < self.watched < PROVEN

    @property
    def missed(self) -> float:
        """So many seconds as bad as the worst one may be missing."""
        return UNSEEN + (TAIL / self.events if self.events else 0.0)


def together(several: Iterable[Rare]) -> Rare:
    """Those of several recordings as one."""
    found = list(several)
    sums = Rare(*map(sum, zip(*found, Rare(), strict=True)))
    return sums._replace(waver=max((one.waver for one in found), default=0.0))


def rare(table: Floats, begin: float, end: float) -> Rare:
    """What happened to the packets (``packet_table``) that arrived from ``begin`` to ``end`` (s).

    Packets without arrival times came when they were sent.
    """
    stamps, arrivals = table[TIME], table[ARRIVAL]
    arrivals = np.where(np.isfinite(arrivals), arrivals, stamps)
    known = np.isfinite(stamps) & (arrivals >= begin) & (arrivals <= end)
    stamps, arrivals, numbers = stamps[known], arrivals[known], table[SEQUENCE][known]
    if len(stamps) < 2 * AROUND:
        return Rare()
    if np.isnan(numbers).any():
        numbers = stamps
    order = np.argsort(numbers, kind="stable")
    order = order[np.append(True, np.diff(numbers[order]) > 0)]
    numbers, stamps = numbers[order], stamps[order]
    delays = arrivals[order] - stamps
    steps = np.diff(numbers)
    usual, interval = float(np.median(steps)), float(np.median(np.diff(stamps)))
    if len(steps) < 2 * AROUND or not (usual > 0 and interval > 0):
        return Rare()
    level = _running_median(delays)
    noise = delays - level
    spread = 1.4826 * float(np.median(np.abs(noise)))
    waver = max(interval / 2, 2 * spread)
    most = max(DEVIATIONS * spread, SHARE * interval)
    changes = len(edges(np.abs(level[AROUND:] - level[:-AROUND]) > most)[0])
    watched = 0.0
    if numbers is stamps or np.mean(np.abs(steps - usual) <= usual / 4) >= STEADY:
        watched = float(np.ptp(stamps)) if np.isfinite(table[ARRIVAL]).any() else 0.0
        missing = np.round(steps / usual).astype(np.int64) - 1
        missing[missing > LONGEST] = 0
    else:
        missing = np.zeros(len(steps), np.int64)
    # of all packets that were sent, which were lost or late
    places = np.append(0, np.cumsum(missing + 1))
    flags = np.ones(places[-1] + 1, bool)
    flags[places[noise <= LATE * interval]] = False
    begins, ends = edges(flags)
    sizes = ends - begins
    return Rare(
        int((sizes >= 2).sum()),
        int((sizes - 1).sum()),
        int(flags.sum()),
        len(flags),
        changes,
        waver,
        watched,
    )


def _running_median(values: Floats) -> Floats:
    """The median of each value and ``AROUND`` on each side of it."""
    medians = np.empty(len(values))
    running_medians(np.pad(values, AROUND, mode="edge"), 2 * AROUND + 1, 1, medians)
    return medians
