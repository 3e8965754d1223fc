"""Server-side rewind: the poses of the last snapshots, and shots judged by what the shooter saw."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from epic_cli.play.world.arena import Arena, Point, distance, first_hit, sees
from epic_cli.play.world.times import to_us
from epic_cli.play.world.view import View, between

#: Valve's sv_maxunlag: nobody shoots further into the past; in seconds.
DEFAULT_HISTORY = 1.0


class PoseHistory:
    """Where every player was in the snapshots of the last ``length`` seconds.

    A snapshot is found by its number. Older ones are forgotten, so a view of them cannot be
    rewound to.
    """

    def __init__(self, length: float = DEFAULT_HISTORY) -> None:
        self._length_us = to_us(length)
        self._snapshots: dict[int, dict[int, Point]] = {}
        self._times: deque[tuple[int, int]] = deque()

    def __len__(self) -> int:
        return len(self._snapshots)

    def add(self, snapshot: int, time_us: int, positions: dict[int, Point]) -> None:
        """Keeps a snapshot sent at this time, and forgets those that are too old."""
        self._snapshots[snapshot] = positions
        self._times.append((time_us, snapshot))
        while self._times[0][0] < time_us - self._length_us:
            del self._snapshots[self._times.popleft()[1]]

    def position(self, player: int, view: View) -> Point | None:
        """Where a player was drawn, given how he was seen; None: it is no longer known."""
        older = self._snapshots.get(view.older, {}).get(player)
        newer = self._snapshots.get(view.newer, {}).get(player)
        if older is None or newer is None:
            return None
        return between(older, newer, view.fraction)


class Judgement(NamedTuple):
    """A shot, judged both ways.

    ``rewound`` and ``present`` are whom it hits with and without rewind. ``seen`` is where the
    victim with rewind was on the shooter's screen, ``moved`` how far he has moved on since, and
    ``behind_cover`` whether a wall now stands between them. ``known`` is False where the shooter
    saw something that the history does not hold; the present was used there.
    """

    rewound: int | None
    present: int | None
    seen: Point | None
    moved: float
    behind_cover: bool
    known: bool
    exact: bool


def judge(
    arena: Arena,
    history: PoseHistory,
    origin: Point,
    aim: Point,
    present: dict[int, Point],
    views: dict[int, View],
) -> Judgement:
    """Casts a ray at the players where the shooter saw them, and at where they are now.

    A player of whom there is no view was not on the shooter's screen: he cannot be hit with
    rewind, unless the shooter has sent no view at all.
    """
    rewound: dict[int, Point] = {}
    known, exact = bool(views), bool(views)
    for player, view in views.items():
        if player not in present:
            continue
        position = history.position(player, view)
        known &= position is not None
        exact &= view.exact
        rewound[player] = present[player] if position is None else position
    with_rewind = first_hit(arena, origin, aim, rewound if views else present)
    without = first_hit(arena, origin, aim, present)
    seen, moved, behind_cover = None, 0.0, False
    if with_rewind is not None and with_rewind in rewound:
        seen = rewound[with_rewind]
        moved = distance(seen, present[with_rewind])
        behind_cover = not sees(arena, origin, present[with_rewind])
    return Judgement(with_rewind, without, seen, moved, behind_cover, known, exact)
