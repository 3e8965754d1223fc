"""What matters in a comparison: a weight for each cost of a strategy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

#: A tenth of a second: the lag, and the error in seconds of movement, that cost 1.
SCALE = 0.1


class Weights(NamedTuple):
    """How much each cost counts; only their ratios matter."""

    accuracy: float = 1.0
    smoothness: float = 1.0
    latency: float = 1.0
    recovery: float = 1.0
    overshoot: float = 0.0
    backward: float = 0.0


def make_weights(given: Mapping[str, float]) -> Weights:
    """Weights from those that are given, the usual ones for the others.

    Raises ``ValueError`` for an unknown name, a weight below 0, or only zeros.
    """
    for name, value in given.items():
        if name not in Weights._fields:
            raise ValueError(f"there is no weight {name!r}: the weights are {_names()}")
        if not 0 <= value < math.inf:
            raise ValueError(f"the weight {name}={value:g} is not allowed: it must be 0 or more")
    weights = Weights(**given)
    if not any(weights):
        raise ValueError(f"one of the weights {_names()} must be more than 0")
    return weights


def _names() -> str:
    return ", ".join(Weights._fields)
