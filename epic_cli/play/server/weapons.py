"""The server's weapons: what a trigger does, and what flies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from epic_cli.play.server.compensation import LagCompensation, Shooter
from epic_cli.play.wire import MOST_PROJECTILES, MOST_VERDICTS, VERDICTS, Projectile, Verdict
from epic_cli.play.world.arena import Arena, Point, distance, first_hit, ray_to_wall, sees
from epic_cli.play.world.moves import Move, Value
from epic_cli.play.world.rules import THROW_SPEED, Body, MoveResult, Rules, Weapon
from epic_cli.play.world.times import to_seconds


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


class Weapons:
    """Judges shots, moves projectiles, and keeps the verdicts for each shooter.

    ``on_hit`` is called with the shooter and his victim, ``report`` with what happened, whose
    doing it was, and the details.
    """

    def __init__(
        self,
        rules: Rules,
        compensation: LagCompensation,
        on_hit: Callable[[int, int], None],
        report: Callable[[str, int, dict[str, Value]], None],
        rewind: bool,
    ) -> None:
        self.compensation = compensation
        self.rewind = rewind
        self.projectiles: list[Projectile] = []
        self._rules = rules
        self._on_hit = on_hit
        self._report = report
        self._verdicts: dict[int, deque[Verdict]] = {}
        self._numbers = 0

    def verdicts(self, player: int) -> list[Verdict]:
        """A player's newest verdicts; each is sent many times, since some packets get lost."""
        return list(self._verdicts.get(player, ()))

    def trigger(
        self,
        player: int,
        move: Move,
        result: MoveResult,
        present: dict[int, Point],
        shooter: Shooter,
    ) -> None:
        """Carries out a move's trigger; ``present`` is where the others are now."""
        if result.refused:
            self._refuse(player, move, result.refused, result.refused)
        elif result.weapon == Weapon.SHOT:
            self._shoot(player, move, result.body, present, shooter)
        elif result.weapon == Weapon.THROW:
            self._throw(player, move, result.body)

    def _shoot(
        self, player: int, move: Move, body: Body, present: dict[int, Point], shooter: Shooter
    ) -> None:
        rewound = self.compensation.rewind(shooter, present)
        judgement = judge(
            self._rules.arena, body.position, move.control.aim, present, rewound.positions
        )
        hit = judgement.rewound if self.rewind else judgement.present
        self._decide(player, move.timestamp_us, "missed" if hit is None else "hit", hit)
        details: dict[str, Value] = {
            "stamp": to_seconds(move.timestamp_us),
            "hit": hit is not None,
            "rewound": judgement.rewound is not None,
            "present": judgement.present is not None,
            "moved": judgement.moved,
            "behind_cover": judgement.behind_cover,
            "view": rewound.view,
            "x": body.x,
            "y": body.y,
            "aim_x": move.control.aim[0],
            "aim_y": move.control.aim[1],
        }
        if judgement.seen is not None:
            details["seen_x"], details["seen_y"] = judgement.seen
        self._report("shot", player, details)
        if hit is not None:
            self._on_hit(player, hit)

    def _throw(self, player: int, move: Move, body: Body) -> None:
        if len(self.projectiles) >= MOST_PROJECTILES:
            self._refuse(player, move, "reloading", "too many in the air")
            return
        self._numbers += 1
        vx, vy = (THROW_SPEED * part for part in move.control.aim)
        self.projectiles.append(Projectile(self._numbers, player, body.x, body.y, vx, vy))
        self._decide(player, move.timestamp_us, "thrown", None)
        self._report(
            "thrown", player, {"stamp": to_seconds(move.timestamp_us), "projectile": self._numbers}
        )

    def fly(self, seconds: float, present: dict[int, Point]) -> None:
        """Moves everything that was thrown, until it meets a player or a wall."""
        flying = []
        for one in self.projectiles:
            reach = THROW_SPEED * seconds
            origin, aim = (one.x, one.y), (one.vx / THROW_SPEED, one.vy / THROW_SPEED)
            others = {
                player: position for player, position in present.items() if player != one.owner
            }
            hit = first_hit(self._rules.arena, origin, aim, others, reach)
            if hit is not None:
                self._report("throw hit", one.owner, {"projectile": one.number, "victim": hit})
                self._on_hit(one.owner, hit)
            elif ray_to_wall(self._rules.arena, origin, aim) <= reach:
                self._report("throw ended", one.owner, {"projectile": one.number})
            else:
                flying.append(one._replace(x=one.x + one.vx * seconds, y=one.y + one.vy * seconds))
        self.projectiles = flying

    def _refuse(self, player: int, move: Move, verdict: str, reason: str) -> None:
        self._decide(player, move.timestamp_us, verdict, None)
        details: dict[str, Value] = {"stamp": to_seconds(move.timestamp_us), "reason": reason}
        self._report("refused", player, details)

    def _decide(self, player: int, timestamp_us: int, verdict: str, target: int | None) -> None:
        kept = self._verdicts.setdefault(player, deque(maxlen=MOST_VERDICTS))
        kept.append(Verdict(timestamp_us, VERDICTS.index(verdict), target))
