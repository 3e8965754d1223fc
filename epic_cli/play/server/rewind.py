"""Server-side rewind: the poses of the last snapshots, and shots judged by what the shooter saw."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from epic_cli.play.world.arena import Arena, Point, distance, first_hit, sees
from epic_cli.play.world.moves import View, between
from epic_cli.play.world.times import to_seconds, to_us

#: Valve's sv_maxunlag: nobody shoots further into the past; in seconds.
DEFAULT_HISTORY = 1.0


class PoseHistory:
    """Where every player was in the snapshots of the last ``length`` seconds.

    A snapshot is found by its number. Older ones are forgotten, so a view of them cannot be
    rewound to.
    """

    def __init__(self, length: float = DEFAULT_HISTORY) -> None:
        self.length = length
        self._length_us = to_us(length)
        self._snapshots: dict[int, dict[int, Point]] = {}
        self._times: deque[tuple[int, int]] = deque()
        self._time_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._snapshots)

    def add(self, snapshot: int, time_us: int, positions: dict[int, Point]) -> None:
        """Keeps a snapshot sent at this time, and forgets those that are too old."""
        self._snapshots[snapshot] = positions
        self._times.append((time_us, snapshot))
        self._time_of[snapshot] = time_us
        while self._times[0][0] < time_us - self._length_us:
            forgotten = self._times.popleft()[1]
            del self._snapshots[forgotten], self._time_of[forgotten]

    def position(self, player: int, view: View) -> Point | None:
        """Where a player was drawn, given how he was seen; None: it is no longer known."""
        older = self._snapshots.get(view.older, {}).get(player)
        newer = self._snapshots.get(view.newer, {}).get(player)
        if older is None or newer is None:
            return None
        return between(older, newer, view.fraction)

    def sent_us(self, snapshot: int) -> int | None:
        """When a snapshot was sent; None: it is no longer known."""
        return self._time_of.get(snapshot)

    def time_of(self, view: View) -> float | None:
        """When a view was true, in seconds; None: it is no longer known."""
        older, newer = self._time_of.get(view.older), self._time_of.get(view.newer)
        if older is None or newer is None:
            return None
        return to_seconds(older) + to_seconds(newer - older) * view.fraction

    def records(self, player: int) -> list[tuple[float, Point]]:
        """When (seconds) a player was where, the newest first."""
        return [
            (to_seconds(time_us), self._snapshots[snapshot][player])
            for time_us, snapshot in reversed(self._times)
            if player in self._snapshots[snapshot]
        ]


class Judgement(NamedTuple):
    """A shot, judged both ways.

    ``rewound`` and ``present`` are whom it hits with and without rewind. ``seen`` is where the
    victim with rewind was on the shooter's screen, ``moved`` how far he has moved on since, and
    ``behind_cover`` whether a wall now stands between them.
    """

    rewound: int | None
    present: int | None
    seen: Point | None
    moved: float
    behind_cover: bool


def judge(
    arena: Arena,
    origin: Point,
    aim: Point,
    present: Mapping[int, Point],
    rewound: Mapping[int, Point],
) -> Judgement:
    """Casts a ray at the players where they were rewound to, and at where they are now.

    A player who is missing from ``rewound`` was not on the shooter's screen: he cannot be hit with
    rewind, unless nobody was.
    """
    with_rewind = first_hit(arena, origin, aim, rewound or present)
    without = first_hit(arena, origin, aim, present)
    seen, moved, behind_cover = None, 0.0, False
    if with_rewind is not None and with_rewind in rewound:
        seen = rewound[with_rewind]
        moved = distance(seen, present[with_rewind])
        behind_cover = not sees(arena, origin, present[with_rewind])
    return Judgement(with_rewind, without, seen, moved, behind_cover)
