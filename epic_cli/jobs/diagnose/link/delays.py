"""The distribution of delays, and whether neighbors resemble each other."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from epic_cli.metrics.traffic import Floats
from epic_cli.network.link import Distribution

#: Quantiles that are compared, without the few packets that took much longer.
COMPARED = np.linspace(0.02, 0.98, 193)

#: Least variation of the quantiles of a distribution with an end.
LEAST_SLOPE = 0.5

#: A distribution is wrong if this many packets should lie in its tail beyond the longest delay:
#: some differ only in their end, which is known to a tenth.
MISSED, AS_FAR = 7.0, 1.1

TAIL = np.geomspace(1e-6, 0.5, 200)

#: Seconds; delays that vary less are constant.
STEADY = 5e-5

#: Least correlation of neighboring delays, and in standard errors.
CORRELATED, ERRORS = 0.05, 3.0


class Delays(NamedTuple):
    """A distribution of delays, in the form of ``LinkConditions``.

    ``misfit`` is the RMS distance of the quantiles (s).
    """

    latency: float
    jitter: float
    distribution: Distribution
    misfit: float


def _compute_normal_quantiles(u: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(row) for row in u])


def _invert_gamma(u: Floats) -> Floats:
    """Solve 1 - u = (1 + x) exp(-x) for x, by Newton's method from above."""
    left = -np.log1p(-u)
    x = np.sqrt(2 * left) + left
    for _ in range(8):
        x = x - (x - np.log1p(x) - left) * (1 + x) / x
    return np.asarray((x - 2) / np.sqrt(2))


def _compute_cube_root_quantiles(u: Floats) -> Floats:
    return np.asarray((1 - u) ** (-1 / 3) - 1.5)


def _compute_pareto_quantiles(u: Floats) -> Floats:
    return np.minimum(_compute_cube_root_quantiles(u) * 4 / 3, 4.0)


#: Quantiles of each distribution for a latency of 0 and a jitter of 1 (``LinkConditions``).
QUANTILES: dict[Distribution, Callable[[Floats], Floats]] = {
    "uniform": lambda u: 2 * u - 1,
    "normal": _compute_normal_quantiles,
    "gamma": _invert_gamma,
    "pareto": _compute_pareto_quantiles,
    "paretonormal": lambda u: (
        0.25 * _compute_normal_quantiles(u) + 0.75 * _compute_pareto_quantiles(u)
    ),
    "pareto-unbounded": lambda u: _compute_cube_root_quantiles(u) / np.sqrt(0.75),
}


def fit_delays(delays: Floats) -> Delays:
    """Return the distribution whose quantiles are closest to those of the delays (s).

    For each distribution, latency and jitter are the line through the quantiles of the delays over
    its own: a probability plot (J. J. Filliben, "The Probability Plot Correlation Coefficient Test
    for Normality", Technometrics 17 (1), 1975, which is the same for any distribution). A quantile
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


def measure_correlation(delays: Floats) -> float:
    """Return the correlation of neighboring delays' normal scores (a Gaussian copula).

    0: none shows. Normal scores: each value's rank as a quantile of the normal distribution (B. L.
    van der Waerden, 1952).
    """
    count = len(delays)
    ranks = np.empty(count)
    ranks[np.argsort(delays, kind="stable")] = (np.arange(count) + 0.5) / count
    scores = _compute_normal_quantiles(ranks)
    found = float((scores[1:] * scores[:-1]).mean() / np.square(scores).mean())
    return found if found > max(CORRELATED, ERRORS / np.sqrt(count)) else 0.0
