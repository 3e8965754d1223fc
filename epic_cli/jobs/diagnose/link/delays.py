"""Which distribution delays have, in the words of a simulated link."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.traffic.robust import Floats

if TYPE_CHECKING:
    from epic_cli.network.link import Distribution

#: Quantiles that are compared: a few packets that took much longer are beyond them.
COMPARED = np.linspace(0.02, 0.98, 193)

#: Where a distribution has an end, its quantiles vary no less than this.
LEAST_SLOPE = 0.5

#: A distribution of whose tail beyond the longest delay so many packets should have come, and none
#: has, is not the one: some differ only in that they end. Its end is known to a tenth.
MISSED, AS_FAR = 7.0, 1.1
TAIL = np.geomspace(1e-6, 0.5, 200)

#: Seconds: delays that vary less do not vary.
STEADY = 5e-5

#: Neighbouring delays are correlated from here on, and from so many standard errors on.
CORRELATED, ERRORS = 0.05, 3.0


class Delays(NamedTuple):
    """As ``LinkConditions`` describes them; ``misfit`` is the RMS distance of the quantiles (s)."""

    latency: float
    jitter: float
    distribution: Distribution
    misfit: float


def _normal(u: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(one) for one in u])


def _gamma(u: Floats) -> Floats:
    """1 - u = (1 + x) exp(-x), by Newton's method from above."""
    left = -np.log1p(-u)
    x = np.sqrt(2 * left) + left
    for _ in range(8):
        x = x - (x - np.log1p(x) - left) * (1 + x) / x
    return np.asarray((x - 2) / np.sqrt(2))


def _cube_root_tail(u: Floats) -> Floats:
    return np.asarray((1 - u) ** (-1 / 3) - 1.5)


def _pareto(u: Floats) -> Floats:
    return np.minimum(_cube_root_tail(u) * 4 / 3, 4.0)


#: The quantiles of each distribution for a latency of 0 and a jitter of 1 (``LinkConditions``).
QUANTILES: dict[Distribution, Callable[[Floats], Floats]] = {
    "uniform": lambda u: 2 * u - 1,
    "normal": _normal,
    "gamma": _gamma,
    "pareto": _pareto,
    "paretonormal": lambda u: 0.25 * _normal(u) + 0.75 * _pareto(u),
    "pareto-unbounded": lambda u: _cube_root_tail(u) / np.sqrt(0.75),
}


def fit(delays: Floats) -> Delays:
    """The distribution whose quantiles are the most like those of the delays (seconds).

    For each, latency and jitter are the line through the one's quantiles over the other's: a
    probability plot (J. J. Filliben, "The Probability Plot Correlation Coefficient Test for
    Normality", Technometrics 17 (1), 1975, which is the same for any distribution). A quantile
    weighs the less, the more it varies from sample to sample: by u (1 - u) / f^2, where f is the
    density there (F. Mosteller, Annals of Mathematical Statistics 17 (4), 1946).
    """
    quantiles = np.quantile(delays, COMPARED)
    middle = float(np.median(delays))
    if float(quantiles[-1] - quantiles[0]) < STEADY:
        return Delays(max(middle, 0.0), 0.0, "uniform", 0.0)
    best, least = None, np.inf
    for name, quantile in QUANTILES.items():
        standard = quantile(COMPARED)
        slopes = np.gradient(standard, COMPARED)
        varying = np.sqrt(COMPARED * (1 - COMPARED)) * np.maximum(slopes, LEAST_SLOPE)
        jitter, latency = np.polyfit(standard, quantiles, 1, w=1 / varying)
        if not (jitter > 0 and latency >= 0):
            continue
        farthest = AS_FAR * float(delays.max() - latency) / jitter
        if len(delays) * TAIL[quantile(1 - TAIL) > farthest].max(initial=0.0) > MISSED:
            continue
        # no delay is below 0: what would be is clipped
        off = np.maximum(latency + jitter * standard, 0.0) - quantiles
        apart = float(np.square(off / (jitter * varying)).mean())
        if apart < least:
            least = apart
            misfit = float(np.sqrt(np.square(off).mean()))
            best = Delays(float(latency), float(jitter), name, misfit)
    return best or Delays(max(middle, 0.0), 0.0, "uniform", float(np.std(quantiles)))


def correlation(delays: Floats) -> float:
    """That of neighbouring delays' normal scores, which is a Gaussian copula's; 0: none shows.

    Normal scores: each value's rank as a quantile of the normal distribution (B. L. van der
    Waerden, 1952).
    """
    count = len(delays)
    ranks = np.empty(count)
    ranks[np.argsort(delays, kind="stable")] = (np.arange(count) + 0.5) / count
    scores = _normal(ranks)
    found = float((scores[1:] * scores[:-1]).mean() / np.square(scores).mean())
    return found if found > max(CORRELATED, ERRORS / np.sqrt(count)) else 0.0
