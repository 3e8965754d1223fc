"""A match on the terminal: real time and keys in, lines to draw out."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from epic_cli.engine.text.widths import wrap
from epic_cli.play.match.changes import Change
from epic_cli.play.match.match import Match
from epic_cli.play.match.recorder import Recorder
from epic_cli.play.match.script import Script
from epic_cli.play.match.spec import MatchSpec
from epic_cli.play.report.scene import Flashes, scenes
from epic_cli.play.report.statistics import Figure, MatchStatistics
from epic_cli.play.screen.drawing import (
    ASCII,
    KEYS,
    UNICODE,
    Canvas,
    conditions,
    figures,
    news,
    techniques,
)
from epic_cli.play.screen.keyboard import KeyboardInput, Switches
from epic_cli.play.world.rules import Weapon
from epic_cli.shell.console import speaks_unicode
from epic_cli.show.full_screen import (
    Fragment,
    FullScreen,
    Lines,
    Reserve,
    fitting,
    flow,
    too_small,
)

SMALLEST = (20, 10)

#: Cells: an arena is at least as wide and high as this where it can be, and at most as the other.
_SMALLEST_ARENA = (20, 6)
_LARGEST_ARENA = (64, 34)

#: Seconds. After a longer pause (a suspended program, a slow machine) the match does not catch up.
LONGEST_STEP = 0.25

_DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0), ".": (0, 0)}


class Game:
    """One match with one human player, called ``player``.

    Raises ``Unrecordable`` where it is to be ``recorded`` and cannot be.
    """

    def __init__(
        self,
        settings: MatchSpec,
        player: str,
        symbols: dict[str, str],
        recorded: bool = False,
        script: Script | None = None,
    ) -> None:
        self._keyboard = KeyboardInput()
        self.match = Match(settings, script, controllers={player: self._keyboard})
        self.recorder = Recorder(self.match) if recorded else None
        self.statistics = MatchStatistics(self.match)
        self.match.on_frame = self.statistics.add_frame
        self._switches = Switches(settings)
        self._symbols = symbols
        self._flashes = Flashes(settings.rules.arena)
        self.you = self.match.participants[self.match.names.index(player)]
        self._other = next(one for one in self.match.participants if one is not self.you)
        self._news = ""
        self._reserve = Reserve()
        self._real_time: float | None = None

    def advance(self, real_time: float) -> None:
        """Lets every machine catch up with this time (seconds, of any steady clock)."""
        if self._real_time is None:
            self._real_time = real_time
        passed = min(max(real_time - self._real_time, 0.0), LONGEST_STEP)
        self._real_time = real_time
        self.match.run_until(self.match.now + passed)
        for event in self.match.take_events():
            self.statistics.add_event(event)
            self._flashes.add(event)
            self._news = news(event) or self._news

    def press(self, key: str) -> None:
        """A key: a direction, a trigger, a switch; others do nothing."""
        if key in _DIRECTIONS:
            self._keyboard.steer(*_DIRECTIONS[key])
        elif key == "space":
            self._keyboard.trigger(Weapon.SHOT)
        elif key == "x":
            self._keyboard.trigger(Weapon.THROW)
        else:
            self.change(self._switches.press(key, self.match.settings))

    def change(self, changes: list[Change]) -> None:
        """Changes the match now."""
        for change in changes:
            self.match.change(change)

    def lines(self, columns: int, lines: int) -> Lines:
        """The whole screen."""
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return [[("", too_small("epic play", SMALLEST, (columns, lines)))]]
        texts = self._texts(columns, lines - _SMALLEST_ARENA[1])
        drawn_from = scenes(self.match, self.you, self._other, self._flashes)
        count = min(max((columns + 1) // (_SMALLEST_ARENA[0] + 1), 1), len(drawn_from))
        width = min((columns - count + 1) // count, _LARGEST_ARENA[0])
        height = min(lines - self._reserve.lines((columns, lines), len(texts)), _LARGEST_ARENA[1])
        canvas = Canvas(width, height, self._symbols)
        arenas = [canvas.draw(scene) for scene in drawn_from[:count]]
        gap: list[Fragment] = [("", " ")]
        screen = [
            [part for arena in arenas for part in (*gap, *arena[line])][1:]
            for line in range(height)
        ]
        return screen + [[text] for text in texts]

    def _texts(self, columns: int, room: int) -> list[Fragment]:
        """The lines under the arenas; what matters least goes where there is no room for all."""
        blocks = {
            "figures": ("", flow(figures(self.statistics, self.you, self._other), columns)),
            "news": ("class:news", wrap(self._news, columns)),
            "conditions": ("", flow(conditions(self.match), columns)),
            "techniques": ("", flow(techniques(self.match), columns)),
            "keys": ("class:keys", flow(KEYS, columns)),
        }
        return fitting(blocks, ("figures", "conditions", "techniques", "news", "keys"), room)


_STYLES = {
    "wall": "ansibrightblack",
    "ghost": "ansibrightblack",
    "player-a": "ansicyan bold",
    "player-b": "ansiyellow bold",
    "player-c": "ansigreen bold",
    "player-d": "ansimagenta bold",
    "heading": "ansigray",
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
    settings: MatchSpec, script: Script, player: str, color: bool, recorded: bool
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
