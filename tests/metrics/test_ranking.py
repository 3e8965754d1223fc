from __future__ import annotations

import numpy as np

from epic_cli.metrics.certainty import rank_candidates

SOURCE = np.random.default_rng(1)
SHARED = SOURCE.normal(0, 10, 2000)


def drawn(*scores: float, own: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores whose bootstrap draws vary together, and a little each on its own."""
    noise = SOURCE.normal(0, own, (len(scores), 2000))
    values = np.array(scores)
    return values, values[:, None] + SHARED + noise


def test_differences_are_paired() -> None:
    """A difference of 5 is significant between scores that vary by 10 points together."""
    assert rank_candidates(*drawn(80, 75, own=0.5), units=50).ranks == [1, 2]
    apart = np.array([80.0, 75.0])
    unpaired = apart[:, None] + SOURCE.normal(0, 10, (2, 2000))
    assert rank_candidates(apart, unpaired, units=50).ranks == [1, 1]


def test_equals_are_rarely_told_apart() -> None:
    """Among 20 equal scores none is clearly the best, however lucky one is."""
    source = np.random.default_rng(5)
    sole = 0
    for _ in range(40):
        units = source.normal(0, 1, (20, 30))
        weights = source.multinomial(30, [1 / 30] * 30, 300)
        replicates = (units @ weights.T) / 30
        sole += rank_candidates(units.mean(axis=1), replicates, units=30).ranks.count(1) == 1
    assert sole <= 4
