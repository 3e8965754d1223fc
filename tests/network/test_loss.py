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


@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_random_loss(share: float) -> None:
    found = draws(share)
    error = 5 * math.sqrt(share * (1 - share) / COUNT)
    assert fmean(found) == pytest.approx(share, abs=error)
    lengths = bursts(found)
    spread = math.sqrt(share) / (1 - share) / math.sqrt(len(lengths))
    assert fmean(lengths) == pytest.approx(1 / (1 - share), abs=5 * spread)


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


def test_elliott_loses_some_in_either_state() -> None:
    model = GilbertElliott(0.05, 0.2, 0.6, 0.01)
    share = 0.2 * 0.6 + 0.8 * 0.01  # bad for p / (p + r) of the packets
    # the state is alike for about (2 - p - r) / (p + r) packets
    error = 5 * math.sqrt(0.128 * 0.872 / COUNT * 7)
    assert fmean(draws(model)) == pytest.approx(share, abs=error)


def test_p_alone_has_no_bursts() -> None:
    found = draws(GilbertElliott(0.1, 0.9))
    after_loss = [after for lost, after in itertools.pairwise(found) if lost]
    assert fmean(after_loss) == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / len(after_loss)))


def test_the_model_begins_good() -> None:
    always = LinkConditions(loss=GilbertElliott(1.0, 0.0))
    assert all(Link(always, seed=seed).send(0.0) for seed in range(50))
    assert all(draws(GilbertElliott(1.0, 0.0))[1:])


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


def test_correlated_losses_need_no_model() -> None:
    with pytest.raises(ValueError, match="needs random loss"):
        LinkConditions(loss=GilbertElliott(0.1, 0.2), loss_correlation=0.3)
