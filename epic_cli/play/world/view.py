"""What a client saw of another player, in the server's own terms: two snapshots and a fraction."""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.play.world.arena import Point


class View(NamedTuple):
    """Between which snapshots a player was drawn, and how far from the older to the newer.

    ``exact``: this gives the drawn position to the last bit. Otherwise the strategy drew something
    other than a point between two snapshots, and this is the nearest such point.
    """

    older: int
    newer: int
    fraction: float
    exact: bool = True


def between(older: Point, newer: Point, fraction: float) -> Point:
    """The point of a view; client and server both compute it here, so to the same bits."""
    return (
        older[0] + (newer[0] - older[0]) * fraction,
        older[1] + (newer[1] - older[1]) * fraction,
    )
