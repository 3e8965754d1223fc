"""Tests of delays against their distributions, with bounds that chance does not reach.

A sample quantile of n draws lies within 5 standard errors of the true one; the seeds are fixed, so
these tests either always pass or always fail.
"""

from __future__ import annotations

import math
from statistics import NormalDist, correlation

import pytest
from support.plain_link import pareto_quantile as pareto

from epic_cli.network.link import DISTRIBUTIONS, Distribution, Link, LinkConditions

COUNT = 40_000


def draws(distribution: Distribution, correlated: float = 0.0, seed: int = 1) -> list[float]:
    link = Link(LinkConditions(10.0, 1.0, distribution, correlated), seed=seed)
    return [link.send(0.0)[0] - 10 for _ in range(COUNT)]


def paretonormal(u: float) -> float:
    return 0.25 * max(-4, min(4, NormalDist().inv_cdf(u))) + 0.75 * min(pareto(u), 4)


def below(distribution: Distribution, x: float) -> float:
    """Return the distribution function by its textbook form."""
    if distribution == "uniform":
        return min(max((x + 1) / 2, 0), 1)
    if distribution == "normal":
        return NormalDist().cdf(x)
    if distribution.startswith("pareto") and distribution != "paretonormal":
        if distribution == "pareto" and x >= 4:
            return 1.0
        raw = 1.5 + x * (0.75 if distribution == "pareto" else math.sqrt(0.75))
        return 1 - raw**-3 if raw > 1 else 0.0
    if distribution == "paretonormal":  # its quantile is one sum of two: bisect it
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if paretonormal(middle) < x else (low, middle)
        return low
    raw = 2 + x * math.sqrt(2)
    return 1 - math.exp(-raw) * (1 + raw) if raw > 0 else 0.0


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("correlated", [0.0, 0.6])
def test_distribution(distribution: Distribution, correlated: float) -> None:
    """Correlation changes the order of the delays and nothing else."""
    found = sorted(draws(distribution, correlated))
    independent = COUNT * (1 - correlated) / (1 + correlated)
    for percent in (1, 10, 25, 50, 75, 90, 98):
        share = percent / 100
        error = 5 * math.sqrt(share * (1 - share) / independent)
        assert below(distribution, found[COUNT * percent // 100]) == pytest.approx(share, abs=error)


@pytest.mark.parametrize(
    ("distribution", "lowest", "highest"),
    [
        ("normal", 0.8, 0.8),
        ("uniform", 0.785, 0.785),
        ("gamma", 0.74, 0.8),
        ("pareto", 0.68, 0.8),
        ("paretonormal", 0.72, 0.8),
        ("pareto-unbounded", 0.5, 0.8),
    ],
)
def test_correlation(distribution: Distribution, lowest: float, highest: float) -> None:
    found = draws(distribution, 0.8)
    neighbors = correlation(found[:-1], found[1:])
    assert lowest - 0.02 < neighbors < highest + 0.02
    second = correlation(found[:-2], found[2:])
    assert second < neighbors
    independent = draws(distribution)
    assert abs(correlation(independent[:-1], independent[1:])) < 5 / math.sqrt(COUNT)


#: Entries of iproute2's tables of 4,096, in units of 1/8192 jitter: pareto.dist, paretonormal.dist.
NETEM = {
    "pareto": {1: -5460, 1000: -4393, 2048: -2622, 4000: 21783, 4052: 32767},
    "paretonormal": {40: -8849, 409: -6430, 1024: -4652, 2048: -1966, 3072: 2097, 4000: 20408},
}  # fmt: skip


@pytest.mark.parametrize("name", NETEM)
def test_netem_s_own_tables(name: str) -> None:
    quantile = {"pareto": pareto, "paretonormal": paretonormal}[name]
    for place, entry in NETEM[name].items():
        assert abs(8192 * quantile(place / 4096) - entry) < (3 if name == "paretonormal" else 1.01)


def test_no_delay_is_below_0_and_those_that_would_be_are_counted() -> None:
    link = Link(LinkConditions(0.01, 0.02, "normal"), seed=1)
    found = [link.send(0.0)[0] for _ in range(1000)]
    assert min(found) == 0
    assert 0.2 < found.count(0) / 1000 < 0.42  # a normal draw is below -0.5 in 31 % of cases
    assert link.clipped == found.count(0)
