"""Links and matches for the tests of the game."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from typing import Any

from epic_cli.play import Match, MatchSpec, PlayerConfig
from epic_cli.play.script import Script, parse_script
from epic_cli.play.world import Arena, Event, Rules

OPEN = Rules(Arena(1000.0, 1000.0))


class Dropping:
    """A link with a fixed delay that loses the packets with these numbers."""

    def __init__(self, delay: float, lost: Collection[int] = ()) -> None:
        self._delay = delay
        self._lost = lost
        self.sent = 0

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:  # noqa: ARG002
        self.sent += 1
        return () if self.sent - 1 in self._lost else (time + self._delay,)

    def has_ended(self, time: float) -> bool:
        del time
        return False


def dropping(lost_up: Collection[int] = (), delay: float = 0.05) -> Callable[[str], Dropping]:
    """Return links on which player A's input packets with these numbers are lost."""
    return lambda purpose: Dropping(delay, lost_up if purpose == "up/A" else ())


def script(text: str, players: str = "AB") -> Script:
    """Return a script from its text."""
    return parse_script(io.BytesIO(text.encode()), players)


def match(
    text: str = "", players: tuple[PlayerConfig, ...] | None = None, **settings: Any
) -> Match:
    """Return a match on open ground, with B far away, played by a script."""
    players = players or (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (600.0, 600.0)))
    settings.setdefault("rules", OPEN)
    return Match(MatchSpec(players=players, **settings), script(text))


def shots(played: Match) -> list[tuple[Event, bool]]:
    """Return every judged shot, and whether it hit on its shooter's screen."""
    events = played.take_events()
    seen = {
        (event.player, event.details["stamp"]): bool(event.details["hit"])
        for event in events
        if event.what == "predicted effect" and "hit" in event.details
    }
    return [
        (event, seen[event.player, event.details["stamp"]])
        for event in events
        if event.what == "shot"
    ]
