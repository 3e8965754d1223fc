"""The server's weapons: what a trigger does, and what flies."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from epic_cli.play.arena import Point, first_hit, ray_to_wall
from epic_cli.play.events import Value
from epic_cli.play.moves import Move
from epic_cli.play.rewind import Judgement, PoseHistory, judge
from epic_cli.play.view import View
from epic_cli.play.wire import MOST_PROJECTILES, MOST_VERDICTS, VERDICTS, Projectile, Verdict
from epic_cli.play.world import THROW_SPEED, Body, Rules, Stepped, Weapon


class Armoury:
    """Judges shots, moves projectiles, and keeps the verdicts that each shooter is told.

    ``on_hit`` is called with the shooter and the one who was hit, ``tell`` with what happened,
    to whom, and its details.
    """

    def __init__(
        self,
        rules: Rules,
        history: PoseHistory,
        on_hit: Callable[[int, int], None],
        tell: Callable[[str, int, dict[str, Value]], None],
        rewind: bool,
    ) -> None:
        self.rewind = rewind
        self.projectiles: list[Projectile] = []
        self.counts: Counter[str] = Counter()
        self._rules = rules
        self._history = history
        self._on_hit = on_hit
        self._tell = tell
        self._verdicts: dict[int, deque[Verdict]] = {}
        self._numbers = 0

    def verdicts(self, player: int) -> list[Verdict]:
        """The newest verdicts on a player's triggers; each is sent many times: some get lost."""
        return list(self._verdicts.get(player, ()))

    def trigger(self, player: int, move: Move, stepped: Stepped, present: dict[int, Point]) -> None:
        """Does what a move's trigger does; ``present`` is where the others are now."""
        if stepped.refused:
            self._decide(player, move.stamp, stepped.refused, None)
            self._tell("refused", player, {"stamp": move.stamp, "reason": stepped.refused})
        elif stepped.weapon == Weapon.SHOT:
            self._shoot(player, move, stepped.body, present)
        elif stepped.weapon == Weapon.THROW:
            self._throw(player, move, stepped.body)

    def _shoot(self, player: int, move: Move, body: Body, present: dict[int, Point]) -> None:
        views = dict(move.views)
        judgement = judge(
            self._rules.arena, self._history, body.place, move.control.aim, present, views
        )
        hit = judgement.rewound if self.rewind else judgement.present
        self._decide(player, move.stamp, "missed" if hit is None else "hit", hit)
        details: dict[str, Value] = {
            "stamp": move.stamp,
            "hit": hit is not None,
            "rewound": judgement.rewound is not None,
            "present": judgement.present is not None,
            "moved": judgement.moved,
            "behind_cover": judgement.behind_cover,
            "view": _kind_of_view(judgement, views),
            "x": body.x,
            "y": body.y,
            "aim_x": move.control.aim[0],
            "aim_y": move.control.aim[1],
        }
        if judgement.seen is not None:
            details["seen_x"], details["seen_y"] = judgement.seen
        self._tell("shot", player, details)
        if hit is not None:
            self._on_hit(player, hit)

    def _throw(self, player: int, move: Move, body: Body) -> None:
        if len(self.projectiles) >= MOST_PROJECTILES:
            self._decide(player, move.stamp, "reloading", None)
            self._tell("refused", player, {"stamp": move.stamp, "reason": "too many in the air"})
            return
        self._numbers += 1
        vx, vy = (THROW_SPEED * part for part in move.control.aim)
        self.projectiles.append(Projectile(self._numbers, player, body.x, body.y, vx, vy))
        self._decide(player, move.stamp, "thrown", None)
        self._tell("thrown", player, {"stamp": move.stamp, "projectile": self._numbers})

    def fly(self, seconds: float, present: dict[int, Point]) -> None:
        """Moves everything that was thrown, until it meets a player or a wall."""
        flying = []
        for one in self.projectiles:
            reach = THROW_SPEED * seconds
            origin, aim = (one.x, one.y), (one.vx / THROW_SPEED, one.vy / THROW_SPEED)
            others = {player: place for player, place in present.items() if player != one.owner}
            hit = first_hit(self._rules.arena, origin, aim, others, reach)
            if hit is not None:
                self._tell("throw hit", one.owner, {"projectile": one.number, "victim": hit})
                self._on_hit(one.owner, hit)
            elif ray_to_wall(self._rules.arena, origin, aim) <= reach:
                self._tell("throw ended", one.owner, {"projectile": one.number})
            else:
                place = (one.x + one.vx * seconds, one.y + one.vy * seconds)
                flying.append(one._replace(x=place[0], y=place[1]))
        self.projectiles = flying

    def _decide(self, player: int, stamp: int, verdict: str, target: int | None) -> None:
        self.counts[verdict] += 1
        kept = self._verdicts.setdefault(player, deque(maxlen=MOST_VERDICTS))
        kept.append(Verdict(stamp, VERDICTS.index(verdict), target))


def _kind_of_view(judgement: Judgement, views: dict[int, View]) -> str:
    if not views:
        return "none"
    if not judgement.known:
        return "beyond the history"
    return "exact" if judgement.exact else "nearest"
