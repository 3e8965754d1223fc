"""Optimism: the effect of a trigger is shown at once, and the server's verdict when it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from epic_cli.play.wire import VERDICTS, Verdict
from epic_cli.play.world.arena import Point
from epic_cli.play.world.events import Value
from epic_cli.play.world.moves import Move
from epic_cli.play.world.rules import Weapon
from epic_cli.play.world.times import to_seconds

#: A predicted effect whose verdict has not come after this time is forgotten.
LONGEST_UNCONFIRMED_US = 3_000_000


class PredictedEffects:
    """A client's effects that the server has not judged yet; what happens is reported."""

    def __init__(self, report: Callable[[str, dict[str, Value]], None]) -> None:
        self._report = report
        self._unconfirmed: set[int] = set()  # timestamps of moves

    def predict(self, move: Move, weapon: Weapon, position: Point, hit: int | None) -> None:
        """A muzzle flash or windup; whom a shot hits on this screen is part of it."""
        self._unconfirmed.add(move.timestamp_us)
        details: dict[str, Value] = {
            "stamp": to_seconds(move.timestamp_us),
            "weapon": weapon.name.lower(),
        }
        if weapon == Weapon.SHOT:
            details["hit"] = hit is not None
        details["x"], details["y"] = position
        details["aim_x"], details["aim_y"] = move.control.aim
        self._report("predicted effect", details)

    def confirm(self, verdicts: Iterable[Verdict], now_us: int) -> None:
        """What the server has decided."""
        for verdict in verdicts:
            fired_us = verdict.timestamp_us
            if fired_us not in self._unconfirmed:
                continue
            self._unconfirmed.remove(fired_us)
            outcome = VERDICTS[verdict.code]
            details: dict[str, Value] = {
                "stamp": to_seconds(fired_us),
                "waited": to_seconds(now_us - fired_us),
            }
            if outcome in ("stunned", "reloading"):
                self._report("effect refused", details | {"reason": outcome})
            else:
                self._report("effect confirmed", details | {"outcome": outcome})

    def forget_old(self, now_us: int) -> None:
        """No verdict comes any more for what was shown that long ago."""
        oldest_us = now_us - LONGEST_UNCONFIRMED_US
        self._unconfirmed = {one for one in self._unconfirmed if one >= oldest_us}
