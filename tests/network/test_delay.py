"""Delays against their distributions, with bounds that chance does not reach.

A sample quantile of n draws lies within 5 standard errors of the true one; the seeds are fixed,
so these tests either always pass or always fail.
"""

from __future__ import annotations

import math
from statistics import NormalDist, correlation, fmean, pstdev

import pytest

from epic_cli.network.delay import DISTRIBUTIONS, Delays, Distribution
from epic_cli.network.delay import gamma_quantile as gamma
from epic_cli.network.delay import pareto_quantile as pareto

COUNT = 40_000


def draws(distribution: Distribution, correlated: float = 0.0, seed: int = 1) -> list[float]:
    delays = Delays(10.0, 1.0, distribution, correlated, seed, "delay")
    return [delays.next() - 10 for _ in range(COUNT)]


def below(distribution: Distribution, x: float) -> float:
    """The distribution function, from its textbook form."""
    if distribution == "uniform":
        return min(max((x + 1) / 2, 0), 1)
    if distribution == "normal":
        return NormalDist().cdf(x)
    if distribution == "pareto":
        raw = 1.5 + x * math.sqrt(0.75)
        return 1 - raw**-3 if raw > 1 else 0.0
    raw = 2 + x * math.sqrt(2)
    return 1 - math.exp(-raw) * (1 + raw) if raw > 0 else 0.0


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("correlated", [0.0, 0.6])
def test_distribution(distribution: Distribution, correlated: float) -> None:
    """Also with correlation: it changes the order of the delays and nothing else."""
    found = sorted(draws(distribution, correlated))
    independent = COUNT * (1 - correlated) / (1 + correlated)
    for percent in (1, 10, 25, 50, 75, 90, 99):
        share = percent / 100
        error = 5 * math.sqrt(share * (1 - share) / independent)
        assert below(distribution, found[COUNT * percent // 100]) == pytest.approx(share, abs=error)


@pytest.mark.parametrize("distribution", ["normal", "gamma"])
def test_mean_and_standard_deviation(distribution: Distribution) -> None:
    found = draws(distribution)
    assert fmean(found) == pytest.approx(0, abs=5 / math.sqrt(COUNT))
    assert pstdev(found) == pytest.approx(1, abs=0.03)


def test_quantiles_undo_the_distribution_functions() -> None:
    for u in (0.0001, 0.01, 0.2, 0.5, 0.9, 0.9999, 1 - 1e-9):
        assert below("pareto", pareto(u)) == pytest.approx(u, abs=1e-12)
        assert below("gamma", gamma(u)) == pytest.approx(u, abs=1e-12)
    assert pareto(0) == pytest.approx(-0.5 / math.sqrt(0.75))
    assert gamma(0) == pytest.approx(-math.sqrt(2))


@pytest.mark.parametrize(
    ("distribution", "lowest", "highest"),
    [("normal", 0.8, 0.8), ("uniform", 0.785, 0.785), ("gamma", 0.74, 0.8), ("pareto", 0.5, 0.8)],
)
def test_correlation(distribution: Distribution, lowest: float, highest: float) -> None:
    found = draws(distribution, 0.8)
    neighbours = correlation(found[:-1], found[1:])
    assert lowest - 0.02 < neighbours < highest + 0.02
    second = correlation(found[:-2], found[2:])
    assert second < neighbours
    independent = draws(distribution)
    assert abs(correlation(independent[:-1], independent[1:])) < 5 / math.sqrt(COUNT)


def test_no_delay_is_below_0() -> None:
    delays = Delays(0.01, 0.02, "normal", 0.0, 1, "delay")
    found = [delays.next() for _ in range(1000)]
    assert min(found) == 0
    assert 0.2 < found.count(0) / 1000 < 0.42  # a normal draw is below -0.5 in 31 % of cases
