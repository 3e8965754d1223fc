"""Where a function of one number is least."""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (math.sqrt(5) - 1) / 2


def minimum(
    of: Callable[[float], float], low: float, high: float, steps: int = 14
) -> tuple[float, float]:
    """Where a function with one valley is least, and how much that is: golden section search.

    Each of the ``steps`` leaves 0.618 of where it may be.
    J. Kiefer, "Sequential Minimax Search for a Maximum", Proc. AMS 4 (3), 1953.
    """
    one, other = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    here, there = of(one), of(other)
    for _ in range(steps):
        if here <= there:
            high, other, there = other, one, here
            one = high - _GOLDEN * (high - low)
            here = of(one)
        else:
            low, one, here = one, other, there
            other = low + _GOLDEN * (high - low)
            there = of(other)
    return (one, here) if here <= there else (other, there)
