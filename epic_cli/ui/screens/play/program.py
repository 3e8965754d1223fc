"""A match on the terminal, from the first picture to what is left of it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from epic_cli.play.match.recorder import Recorder
from epic_cli.play.match.script import Script
from epic_cli.play.match.settings import MatchSettings
from epic_cli.play.report.statistics import Figure
from epic_cli.ui.screens.cells import speaks_unicode
from epic_cli.ui.screens.play.canvas import ASCII, UNICODE
from epic_cli.ui.screens.play.game import Game
from epic_cli.ui.screens.program import FullScreen

_STYLES = {
    "wall": "ansibrightblack",
    "ghost": "ansibrightblack",
    "player-a": "ansicyan bold",
    "player-b": "ansiyellow bold",
    "player-c": "ansigreen bold",
    "player-d": "ansimagenta bold",
    "shot": "ansiblue",
    "hit": "ansired bold",
    "throw": "ansimagenta bold",
}

_ARROWS_AND_SWITCHES = ("up", "down", "left", "right", ".", "space", "x", *"lLjJoOsSpriwm")


class Ended(NamedTuple):
    """How a game ended: by Ctrl-C or a signal, or not; who recorded it, if anybody; your figures.

    ``bumps`` are those of all players.
    """

    interrupted: bool
    recorder: Recorder | None
    figures: list[Figure]
    bumps: int


def play_on_terminal(
    settings: MatchSettings, script: Script, player: str, color: bool, recorded: bool
) -> Ended:
    """Plays until ``q`` or Ctrl-C; the terminal is left as it was found, whatever happens.

    Of the script the changes are used.

    Raises ``Unrecordable`` where it is to be ``recorded`` and cannot be.
    """
    game = Game(settings, player, UNICODE if speaks_unicode() else ASCII, recorded, script)
    screen = FullScreen(game, _ARROWS_AND_SWITCHES, _STYLES, color)
    interrupted = asyncio.run(screen.run()) is not None
    figures = game.statistics.figures(game.you)
    return Ended(interrupted, game.recorder, figures, game.statistics.bumps)
