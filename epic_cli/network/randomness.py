"""Random numbers that are the same for a seed on every machine and every version of Python.

Python promises that of ``random.Random.random()`` for a given seed (the notes on
reproducibility in its documentation of ``random``), and of no other method. So everything else
is made of it: here, and in ``engine.link``, which continues from such a generator's state.
"""

from __future__ import annotations

from random import Random

from epic_cli.engine.parameters import Number

SEED = Number(
    "seed", 0, "The same seed gives the same random numbers.", "", 0, 2**64 - 1, whole=True
)


def make_generator(seed: int, purpose: str) -> Random:
    """Return an independent random generator for one purpose.

    Losses, delays and movement have their own: changing the loss leaves the packets' delays
    unchanged, so that two links can be compared packet by packet.
    """
    return Random(f"{seed}/{purpose}")  # noqa: S311 - a simulation, no secret
