"""Random numbers that are the same for a seed on every machine and every version of Python.

Python promises that of ``random.Random.random()`` for a given seed (the notes on
reproducibility in its documentation of ``random``), and of no other method. So everything else
is made here, from ``random()`` and ``portable_maths``.
"""

from __future__ import annotations

import math
from random import Random

from epic_cli.network.portable_maths import logarithm


def stream(seed: int, purpose: str) -> Random:
    """A generator of its own for one purpose.

    Losses, delays and movement each draw from their own: another share of loss leaves the delays
    of the packets as they were, so that two links can be compared packet by packet.
    """
    return Random(f"{seed}/{purpose}")  # noqa: S311 - a simulation, no secret


def normal(source: Random) -> float:
    """A draw from the standard normal distribution, by Marsaglia's polar method.

    G. Marsaglia, T. A. Bray, "A Convenient Method for Generating Normal Variables", SIAM Review
    6 (3), 1964. The second number that it would give is dropped: a draw keeps no state.
    """
    while True:
        u = 2 * source.random() - 1
        v = 2 * source.random() - 1
        square = u * u + v * v
        if 0 < square < 1:
            return u * math.sqrt(-2 * logarithm(square) / square)
