"""Keeps what a player does, and what is changed, as a script that gives the same match again."""

from __future__ import annotations

from epic_cli.play.bots import Decide
from epic_cli.play.changes import Change, describe
from epic_cli.play.client import Client
from epic_cli.play.match import Match
from epic_cli.play.script import write_input
from epic_cli.play.settings import MatchSettings
from epic_cli.play.world import Control, Weapon


class Recorder:
    """Stands between a player and his client, and writes down every change of his input."""

    def __init__(self, player: str, decide: Decide) -> None:
        self._player = player
        self._decide = decide
        self._held = (0, 0)
        self._lines: list[str] = []
        self.match: Match | None = None

    def __call__(self, client: Client) -> Control:
        """What the player does."""
        control = self._decide(client)
        if self.match and ((control.x, control.y) != self._held or control.weapon != Weapon.NONE):
            self._held = (control.x, control.y)
            self._lines.append(write_input(self.match.now, self._player, control))
        return control

    def changed(self, change: Change) -> None:
        """Something was changed just now."""
        if self.match:
            self._lines.append(f"{self.match.now / 1_000_000!r} set {change}\n")

    def script(self, settings: MatchSettings) -> str:
        """All of it; ``settings`` are those at the beginning."""
        head = "".join(f"set {change}\n" for change in describe(settings))
        # a player who never moved is not to be a bot when it is played again
        body = "".join(self._lines) or f"0.0 {self._player} stop\n"
        return head + body
