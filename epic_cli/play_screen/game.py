"""The match behind the screen: real time in, lines to draw out. It knows no terminal."""

from __future__ import annotations

from epic_cli.play.changes import Change
from epic_cli.play.match import Match
from epic_cli.play.recorder import Recorder
from epic_cli.play.report import Tally
from epic_cli.play.scene import Flashes, scenes
from epic_cli.play.settings import MatchSettings
from epic_cli.play.world import Weapon
from epic_cli.play_screen.canvas import Canvas, Fragment
from epic_cli.play_screen.pilot import Pilot
from epic_cli.play_screen.status import KEYS, conditions, figures, news, techniques
from epic_cli.play_screen.switches import Switches

SMALLEST = (80, 24)

#: Lines of text under the arenas, and the most that an arena grows to (in cells).
_STATUS_LINES = 5
_LARGEST_ARENA = (64, 34)

#: After a pause (a suspended program, a slow machine) the match does not catch up.
LONGEST_STEP = 0.25

_DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0), ".": (0, 0)}


class Game:
    """One match with one human player, called ``player``."""

    def __init__(self, settings: MatchSettings, player: str, symbols: dict[str, str]) -> None:
        self._beginning = settings
        self._pilot = Pilot()
        self._recorder = Recorder(player, self._pilot)
        self.match = Match(settings, hands={player: self._recorder})
        self._recorder.match = self.match
        self.match.on_change = self._recorder.changed
        self.tally = Tally(self.match)
        self.match.on_frame = self.tally.add_frame
        self._switches = Switches(settings)
        self._symbols = symbols
        self._flashes = Flashes(settings.rules.arena)
        self.you = next(place for place in self.match.places if place.seat.name == player)
        self._other = next(place for place in self.match.places if place is not self.you)
        self._news = ""
        self._real_time: float | None = None

    @property
    def script(self) -> str:
        """The match so far, as a script that gives it again."""
        return self._recorder.script(self._beginning)

    def advance(self, real_time: float) -> None:
        """Lets the match go on to this time (seconds, of any clock that goes on)."""
        if self._real_time is None:
            self._real_time = real_time
        passed = min(max(real_time - self._real_time, 0.0), LONGEST_STEP)
        self._real_time = real_time
        self.match.run_until(self.match.now / 1_000_000 + passed)
        for event in self.match.take_events():
            self.tally.add_event(event)
            self._flashes.add(event)
            self._news = news(event) or self._news

    def press(self, key: str) -> None:
        """A key: a direction, a trigger, a switch; others do nothing."""
        if key in _DIRECTIONS:
            self._pilot.steer(*_DIRECTIONS[key])
        elif key == "space":
            self._pilot.trigger(Weapon.SHOT)
        elif key == "x":
            self._pilot.trigger(Weapon.THROW)
        else:
            self.change(self._switches.press(key, self.match.settings))

    def change(self, changes: list[Change]) -> None:
        """Changes the match now."""
        for change in changes:
            self.match.change(change)

    def lines(self, columns: int, lines: int) -> list[list[Fragment]]:
        """The whole screen."""
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            needed = f"{SMALLEST[0]}x{SMALLEST[1]}"
            text = f"epic play needs {needed}, not {columns}x{lines}; q quits"
            return [[("", text[:columns])]]
        width = min((columns - 2) // 3, _LARGEST_ARENA[0])
        height = min(lines - _STATUS_LINES, _LARGEST_ARENA[1])
        canvas = Canvas(width, height, self._symbols)
        drawn = [
            canvas.draw(scene) for scene in scenes(self.match, self.you, self._other, self._flashes)
        ]
        gap: list[Fragment] = [("", " ")]
        screen = [left + gap + middle + gap + right for left, middle, right in zip(*drawn)]  # noqa: B905
        texts = (
            ("", figures(self.tally, self.you, self._other)),
            ("class:news", self._news),
            ("", conditions(self.match)),
            ("", techniques(self.match)),
            ("class:keys", KEYS),
        )
        screen += [[(style, text[:columns])] for style, text in texts]
        return screen
