"""Tests of losses against their models, with bounds of five standard errors."""

from __future__ import annotations

import itertools
import math
from statistics import correlation, fmean

import pytest

from epic_cli.network.link import GilbertElliott, Link, LinkConditions

COUNT = 60_000


def draws(model: float | GilbertElliott, seed: int = 1) -> list[bool]:
    link = Link(LinkConditions(loss=model), seed=seed)
    return [not link.send(0.0) for _ in range(COUNT)]


def bursts(losses: list[bool]) -> list[int]:
    return [len(list(group)) for lost, group in itertools.groupby(losses) if lost]


def test_gilbert_loses_all_while_bad() -> None:
    """Bursts are geometric with the mean 1/r, gaps with the mean 1/p."""
    model = GilbertElliott(0.02, 0.25)
    found = draws(model)
    lengths = bursts(found)
    gaps = bursts([not lost for lost in found])
    share = 0.02 / 0.27
    # the state is alike for about (2 - p - r) / (p + r) packets
    assert fmean(found) == pytest.approx(
        share, abs=5 * math.sqrt(share * (1 - share) / COUNT * 6.4)
    )
    assert fmean(lengths) == pytest.approx(4, abs=5 * math.sqrt(12 / len(lengths)))
    assert fmean(gaps) == pytest.approx(50, abs=5 * math.sqrt(2450 / len(gaps)))
    single = lengths.count(1) / len(lengths)
    assert single == pytest.approx(0.25, abs=5 * math.sqrt(0.1875 / len(lengths)))


@pytest.mark.parametrize(("share", "correlated"), [(0.05, 0.25), (0.3, 0.6)])
def test_correlated_losses(share: float, correlated: float) -> None:
    """The loss rate stays, and neighboring losses have the given correlation."""
    link = Link(LinkConditions(loss=share, loss_correlation=correlated), seed=3)
    found = [not link.send(0.0) for _ in range(COUNT)]
    spread = math.sqrt(share * (1 - share) / COUNT * (1 + correlated) / (1 - correlated))
    assert fmean(found) == pytest.approx(share, abs=5 * spread)
    assert correlation(found[:-1], found[1:]) == pytest.approx(
        correlated, abs=5 / math.sqrt(COUNT * share)
    )
