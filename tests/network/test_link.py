"""Tests of the link, one packet at a time."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epic_cli.network.link import Fates, GilbertElliott, LinkConditions


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"latency": -0.1}, "latency=-0.1 is not allowed: it must be 0 to 60"),
        ({"latency": math.nan}, "latency=nan"),
        ({"jitter": 80}, "jitter=80 is not allowed: it must be 0 to 60"),
        (
            {"distribution": "cauchy"},
            "distribution=cauchy is not allowed: it must be uniform, normal",
        ),
        ({"correlation": 1.0}, "correlation=1.0 is not allowed: it must be 0 to 0.9999"),
        ({"loss": 1.5}, "loss=1.5 is not allowed: it must be 0 to 1"),
        ({"loss": GilbertElliott(2, 0.1)}, "must be 0 to 1, or 0% to 100%"),
        ({"duplicate": 2}, "duplicate=2"),
        ({"reorder": -1}, "reorder=-1"),
    ],
)
def test_nonsense_is_refused(conditions: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinkConditions(**conditions)


def test_what_was_not_counted_changes_no_count() -> None:
    assert Fates() + Fates(1, 2, 3) == Fates(1, 2, 3)
