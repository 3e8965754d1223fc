"""The bootstrap: how much a figure would differ if the units that it rests on were drawn again.

Units are independent of each other: recordings, simulated networks, or blocks of time long enough
to forget each other. As many of them are drawn, with replacement, as there are; all strategies are
judged on the same draws, so that their differences are paired.

- Blocks of time: Carlstein 1986. Their length: Politis and White 2004, corrected by Patton,
  Politis and White 2009 (the circular block bootstrap's).
- Two ways, over blocks and entities, with the product of both weights: Owen and Eckles 2012.
- Percentile intervals, expanded to what Student's t says of so few units: Hesterberg 2015, "What
  Teachers Should Know About the Bootstrap", section 4.3.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: How often an interval is to contain the figure.
CONFIDENCE = 0.95

#: How often is drawn. Always the same draws for one seed, on every machine.
DRAWS = 2000

#: Of fewer units nothing can be said.
FEWEST_UNITS = 6

_NORMAL = NormalDist()


def draws(units: int, seed: int, purpose: int = 0, count: int = DRAWS) -> Floats:
    """How often each unit is drawn: (count, units), each row adding up to ``units``."""
    # raw bits: only these are promised to stay the same in later versions of numpy
    source = np.random.PCG64(np.random.SeedSequence([seed, purpose]))
    chosen = (source.random_raw(count * units) % np.uint64(units)).astype(np.int64)
    rows = np.repeat(np.arange(count) * units, units)
    return np.bincount(rows + chosen, minlength=count * units).reshape(count, units).astype(float)


def block_length(series: Floats) -> float:
    """How many values (of n, one for each cell of time) belong to a block, 1 at least."""
    values = series - series.mean()
    count = len(values)
    variance = float(values @ values) / count
    if count < 4 or not variance > 0:
        return 1.0
    most = min(count - 1, math.ceil(math.sqrt(count)) + 5)
    covariances = np.array([values[lag:] @ values[: count - lag] for lag in range(most + 1)])
    covariances /= count
    small = np.abs(covariances / variance) < 2 * math.sqrt(math.log10(count) / count)
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(count))))
    memory = next(
        (
            lag
            for lag in range(most + 1)
            if small[lag + 1 : lag + 1 + in_a_row].all() and lag + 1 <= most
        ),
        most,
    )
    window = np.clip(2 * (1 - np.arange(most + 1) / max(2 * memory, 1)), 0, 1)
    both = np.where(np.arange(most + 1) > 0, 2, 1) * window * covariances
    slope, level = float(both @ np.arange(most + 1)), float(both.sum())
    if not level > 0:
        return 1.0
    length = (2 * slope**2 / (4 / 3 * level**2)) ** (1 / 3) * count ** (1 / 3)
    most = math.ceil(min(3 * math.sqrt(count), count / 3))
    return float(max(1.0, min(length, most)))


def interval(replicates: Floats, units: int) -> tuple[float, float] | None:
    """The interval of a figure from what it was in each draw; None: unknown."""
    if not np.isfinite(replicates).all():
        return None
    # quantiles at these places of the sorted draws, from those around them: numpy's own take longer
    place = _NORMAL.cdf(-expanded(units)) * (len(replicates) - 1)
    at, part = int(place), place % 1
    ends = at, at + 1, -at - 2, -at - 1
    low, lower, upper, high = np.partition(replicates, [one % len(replicates) for one in ends])[
        list(ends)
    ].tolist()
    return low + part * (lower - low), high + part * (upper - high)


def expanded(units: int) -> float:
    """How many standard deviations of the draws an interval goes to either side.

    Draws of n units vary too little, by sqrt((n - 1) / n), and nobody knows their deviation
    better than Student's t with n - 1 degrees of freedom says.
    """
    return student(units - 1) * math.sqrt(units / (units - 1))


def student(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The two-sided quantile of Student's t, for 5 degrees of freedom or more to 0.001.

    Abramowitz and Stegun 1964, 26.7.5.
    """
    x = _NORMAL.inv_cdf(0.5 + confidence / 2)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def joined(cells: Floats, length: int) -> Floats:
    """Blocks of ``length`` cells each (axis 0), summed; the last takes what is left over."""
    blocks = max(1, len(cells) // length)
    starts: NDArray[np.int64] = np.arange(blocks) * length
    return np.asarray(np.add.reduceat(cells, starts, axis=0))
