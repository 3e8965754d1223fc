"""Keeps what is done in a match, and what is changed, as a script that gives the same again."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import fields, replace

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import Controller
from epic_cli.play.match.changes import Change, changed, describe
from epic_cli.play.match.match import Match
from epic_cli.play.match.script import MOST_LINES, parse_script, write_input
from epic_cli.play.match.spec import MatchSpec, PlayerConfig
from epic_cli.play.world.rules import Control


class Unrecordable(ValueError):
    """A match that no script can hold."""


class Recorder:
    """Listens to all players of a match that has not begun yet, and to every change.

    Bots are recorded like people, so a replay needs none. Raises ``Unrecordable``.
    """

    def __init__(self, match: Match) -> None:
        self._match = match
        self._head = "".join(f"set {change}\n" for change in describe(match.settings))
        _check(self._head, match.settings)
        # in the replay, a player who never moved must not be taken for a bot
        self._lines = [write_input(0.0, name, Control()) for name in match.names]
        for one in match.participants:
            one.controller = _listening(one.config.name, one.controller, self._note)
        match.on_change = self._note

    def script(self) -> str:
        """The match so far; raises ``Unrecordable`` if it is too long."""
        script = f"{self._head}set duration={self._match.now!r}\n{''.join(self._lines)}"
        if len(self._lines) > MOST_LINES or script.count("\n") >= MOST_LINES:
            raise Unrecordable(f"a script has at most {MOST_LINES:,} lines: the match is too long")
        return script

    def _note(self, what: Change | tuple[str, Control]) -> None:
        now = self._match.now
        if len(self._lines) > MOST_LINES:
            return  # it cannot be kept, however it goes on
        if isinstance(what, Change):
            self._lines.append(f"{now!r} set {what}\n")
        else:
            self._lines.append(write_input(now, *what))


def _listening(
    player: str, controller: Controller, note: Callable[[tuple[str, Control]], None]
) -> Controller:
    """The same controller, of which every change of the player's input is noted."""
    held = (0, 0)

    def controlled(client: Client) -> Control:
        nonlocal held
        control = controller(client)
        if (control.x, control.y) != held or control.weapon:
            held = (control.x, control.y)
            note((player, control))
        return control

    return controlled


def _check(head: str, settings: MatchSpec) -> None:
    """Reads it back: whatever the settings come to have, they are kept, or refused."""
    names = [player.name for player in settings.players]
    again = MatchSpec()
    try:
        for change in parse_script(io.BytesIO(head.encode()), names).beginning:
            again = changed(again, change)
    except ValueError as error:
        raise Unrecordable(f"a script cannot hold this match: {error}") from error
    for field in fields(MatchSpec):
        if _comparable(getattr(again, field.name)) != _comparable(getattr(settings, field.name)):
            raise Unrecordable(
                f"a script cannot hold the {field.name.replace('_', ' ')} of a match"
            )


def _comparable(value: object) -> object:
    """A setting as it decides the match: who the bots are does not, once they are recorded."""
    if isinstance(value, tuple):
        return [replace(one, bot="") if isinstance(one, PlayerConfig) else one for one in value]
    return value
