"""Keeps what a player does, and what is changed, as a script that gives the same match again."""

from __future__ import annotations

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import Controller
from epic_cli.play.match.changes import Change, describe
from epic_cli.play.match.match import Match
from epic_cli.play.match.script import write_input
from epic_cli.play.match.settings import MatchSettings
from epic_cli.play.world.rules import Control, Weapon


class Recorder:
    """Stands between a player and his client, and notes every change of his input."""

    def __init__(self, player: str, controller: Controller) -> None:
        self._player = player
        self._controller = controller
        self._held = (0, 0)
        self._lines: list[str] = []
        self.match: Match | None = None

    def __call__(self, client: Client) -> Control:
        """What the player does."""
        control = self._controller(client)
        if self.match and ((control.x, control.y) != self._held or control.weapon != Weapon.NONE):
            self._held = (control.x, control.y)
            self._lines.append(write_input(self.match.now, self._player, control))
        return control

    def changed(self, change: Change) -> None:
        """Something was changed just now."""
        if self.match:
            self._lines.append(f"{self.match.now!r} set {change}\n")

    def script(self, settings: MatchSettings) -> str:
        """All of it; ``settings`` are those at the beginning."""
        head = "".join(f"set {change}\n" for change in describe(settings))
        # in the replay, a player who never moved must not be taken for a bot
        body = "".join(self._lines) or f"0.0 {self._player} stop\n"
        return head + body
