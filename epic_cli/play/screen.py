"""The game on a terminal, full screen: real time and keys in, an arena and lines of text out."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from epic_cli.engine.strategies import list_remote_names
from epic_cli.engine.text.widths import wrap
from epic_cli.play.bots import Controller, aim_at, find_nearest_seen
from epic_cli.play.client import Client
from epic_cli.play.legend import (
    PAUSE,
    describe_conditions,
    describe_event,
    describe_measurements,
    describe_techniques,
    draw_legend,
)
from epic_cli.play.match import Match, MatchParticipant, Recorder, Unrecordable
from epic_cli.play.run import Flashes, PlayScene, make_scene, write_title
from epic_cli.play.script import SCENARIOS, Script
from epic_cli.play.spec import Change, MatchSpec
from epic_cli.play.statistics import DrawnError, MatchStatistics, is_switch
from epic_cli.play.world import (
    SPEED,
    Arena,
    Control,
    Point,
    Weapon,
    measure_distance,
    normalize_vector,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.show.full_screen import (
    ASCII_BARS,
    ASCII_FRAME,
    UNICODE_BARS,
    UNICODE_FRAME,
    Cells,
    Fragment,
    FullScreen,
    Lines,
    Reserve,
    arrange_parts,
    describe_lack_of_room,
    fit_blocks,
)
from epic_cli.show.styles import PALETTE, choose_line_styles

#: Symbols for terminals with UTF-8, and without.
UNICODE = {**UNICODE_FRAME, "wall": "█", "beam": "·", "seen": "\N{BALLOT X}", "bars": UNICODE_BARS}
ASCII = {**ASCII_FRAME, "wall": "#", "beam": ".", "seen": "x", "bars": ASCII_BARS}


class ArenaCanvas:
    """A frame of ``columns`` by ``lines`` cells, border included, onto which a scene is drawn.

    The arena fills it, so a cell is usually higher than wide, as on a real terminal.
    """

    def __init__(self, columns: int, lines: int, symbols: dict[str, str]) -> None:
        self._size = columns, lines
        self._columns, self._lines = columns - 2, lines - 2
        self._symbols = symbols
        self._cells = Cells(columns, lines, symbols)

    def draw(self, scene: PlayScene) -> Lines:
        """Draw a scene; return the lines of the frame as fragments."""
        self._cells = Cells(*self._size, self._symbols)
        self._draw_walls(scene.arena)
        for beam in scene.beams:
            self._draw_line(scene.arena, beam.start, beam.end, beam.hit)
            if beam.seen:
                self._put_symbol(scene.arena, beam.seen, self._symbols["seen"], "class:hit")
        for position in scene.projectiles:
            self._put_symbol(scene.arena, position, "*", "class:throw")
        for marker in scene.markers:
            if marker.heading is not None:
                self._draw_heading(scene.arena, marker.position, marker.heading)
        for marker in scene.markers:
            name = marker.name.lower() if marker.ghost else marker.name
            style = "class:ghost" if marker.ghost else f"class:player-{marker.name.lower()}"
            self._put_symbol(scene.arena, marker.position, name[:1], style)
        return self._cells.frame_lines(scene.title)

    def _draw_walls(self, arena: Arena) -> None:
        for line in range(self._lines):
            for column in range(self._columns):
                x = (column + 0.5) * arena.width / self._columns
                y = (self._lines - line - 0.5) * arena.height / self._lines
                for block in arena.blocks:
                    if block.left <= x <= block.right and block.bottom <= y <= block.top:
                        self._cells.put(column, line, self._symbols["wall"], "class:wall")

    def _draw_line(self, arena: Arena, start: Point, end: Point, hit: bool) -> None:
        steps = 2 * max(self._columns, self._lines)
        for step in range(1, steps):
            share = step / steps
            position = (
                start[0] + (end[0] - start[0]) * share,
                start[1] + (end[1] - start[1]) * share,
            )
            self._put_symbol(
                arena, position, self._symbols["beam"], "class:hit" if hit else "class:shot"
            )

    def _draw_heading(self, arena: Arena, position: Point, heading: Point) -> None:
        """Draw an arrow in the cell beside a player, in the direction of his view."""
        arrows = self._symbols["heading"]
        sector = round(math.atan2(heading[1], heading[0]) / math.tau * len(arrows)) % len(arrows)
        angle = math.tau * sector / len(arrows)
        right, up = round(math.cos(angle)), round(math.sin(angle))
        beside = (
            position[0] + right * arena.width / self._columns,
            position[1] + up * arena.height / self._lines,
        )
        self._put_symbol(arena, beside, arrows[sector], "class:heading")

    def _put_symbol(self, arena: Arena, position: Point, symbol: str, style: str) -> None:
        column = math.floor(position[0] / arena.width * self._columns)
        line = math.floor((1 - position[1] / arena.height) * self._lines)
        self._cells.put(column, line, symbol, style)


class KeyboardInput:
    """Input by keys; a direction holds until the next key, since terminals report no key release.

    The controller ``before`` plays until the first key.

    A shot goes to the nearest player as drawn on your own screen. So you always aim well, and
    whether you hit depends on the techniques alone.
    """

    def __init__(self, before: Controller | None = None) -> None:
        self._before = before
        self._x = self._y = 0
        self._weapon = Weapon.NONE
        self._facing: Point = (1.0, 0.0)

    def steer(self, x: int, y: int) -> None:
        """Run in this direction from now on; (0, 0) stops."""
        self._before = None
        self._x, self._y = x, y
        if x or y:
            self._facing = normalize_vector((x, y))

    def trigger_weapon(self, weapon: Weapon) -> None:
        """Fire the weapon with the next move."""
        self._before = None
        self._weapon = weapon

    def __call__(self, client: Client) -> Control:
        """Return the input of the next move."""
        if self._before is not None:
            return self._before(client)
        control = Control(self._x, self._y, self._weapon)
        self._weapon = Weapon.NONE
        if not control.weapon:
            return control
        target = find_nearest_seen(client)
        return control._replace(
            aim=self._facing if target is None else aim_at(client, control, target)
        )


#: The steps of the keys l, j, o, s and t.
LATENCIES = (0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
JITTERS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LOSSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
SEND_RATES = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0)
SPEEDS = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)

#: The first strategies of the key i: dumb terminal, interpolation, buffer, extrapolation.
CHAPTER = ("dumb-terminal", "local-perception", "snapshot", "dead-reckoning")


class Switches:
    """The keys that change settings; ``chosen`` are the settings at the match's beginning."""

    def __init__(self, chosen: MatchSpec) -> None:
        self._strategy = chosen.remote_strategy
        self._settings = chosen.remote_settings

    def press(self, key: str, now: MatchSpec) -> list[Change]:
        """Return the changes that a key makes; empty for a key that changes nothing."""
        link = now.link.down
        loss = link.loss if isinstance(link.loss, int | float) else 0.0
        ladders = {
            "l": ("latency", LATENCIES, link.latency),
            "j": ("jitter", JITTERS, link.jitter),
            "o": ("loss", LOSSES, float(loss)),
            "s": ("send", SEND_RATES, now.send_rate),
            "t": ("speed", SPEEDS, now.speed),
        }
        if key.lower() in ladders:
            name, steps, value = ladders[key.lower()]
            more = key.islower()
            beyond = [step for step in steps if (step - value if more else value - step) > 1e-9]
            # the link of a recorded network cannot change
            if not beyond or (now.trace is not None and key.lower() in "ljo"):
                return []
            value = beyond[0 if more else -1]
            return [Change(name, replace(now.send, send_rate=value) if name == "send" else value)]
        local = now.local
        switches: dict[str, tuple[str, object]] = {
            "p": ("local", "reconciled" if local == "dumb-terminal" else "dumb-terminal"),
            "r": ("local", "predicted" if local == "reconciled" else "reconciled"),
            "w": ("rewind", not now.rewind),
            "m": ("smoothing", 0.0 if now.smoothing else 0.1),
        }
        if key in "iI":
            drawing = now.remote_strategy
            walk = list(dict.fromkeys((*CHAPTER, self._strategy, *list_remote_names(), drawing)))
            name = walk[(walk.index(drawing) + (1 if key == "i" else -1)) % len(walk)]
            own = self._settings if name == self._strategy else ()
            settings = [Change(f"remote.{setting}", str(value)) for setting, value in own]
            return [Change("remote_strategy", name), *settings]
        return [Change(*switches[key])] if key in switches else []


SMALLEST = (20, 10)

#: The smallest and largest size of an arena, in cells; a tiny terminal may go below.
_SMALLEST_ARENA = (20, 6)
_LARGEST_ARENA = (64, 34)

#: Seconds; after a longer pause (a suspended program) the match does not catch up.
LONGEST_STEP = 0.25

_DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0), ".": (0, 0)}
_WEAPONS = {"space": Weapon.SHOT, "x": Weapon.THROW}

#: The line of keys; the first keys are shown on the narrowest screen.
KEYS = ["?: legend", "q: quit", "arrows: run", ".: stop", "space: shoot", "x: throw",
        "n: scenarios"]  # fmt: skip

WELCOME = (
    "You are {}. Run (arrows), press p, run again: prediction hides the round trip. Small letters:"
    " the players on the server now. Bars: speeds, frame by frame."
)

#: A function that makes a scenario's match and script; it raises ``WrongUsage``.
OpenScenario = Callable[[str], tuple[MatchSpec, Script]]


class Recent:
    """The drawn errors since the last switch, and the movement of both players in the last frames.

    The players are you and the one on the other screen.
    """

    def __init__(self, match: Match, you: MatchParticipant, other: MatchParticipant) -> None:
        self._match, self._you, self._watched = match, you, other
        self._places: deque[tuple[Point | None, ...]] = deque(maxlen=_MOST_FRAMES)
        self.restart()

    @property
    def other(self) -> str:
        """The other player's name."""
        return self._watched.config.name

    def watch(self, other: MatchParticipant) -> None:
        """Measure the player named ``other`` from now on."""
        if other is not self._watched:
            self._watched = other
            self._places.clear()
            self.restart()

    def restart(self) -> None:
        """Forget the errors, after a switch."""
        self.drawn = DrawnError(self._match.settings.rules.step)

    def add(self) -> None:
        """Add the frame that your client has just drawn to the errors."""
        client, number = self._you.client, self._watched.client.identity.player
        truth = self._match.server.list_positions()
        drawn = client.list_drawn_remotes().get(number)
        self.drawn.add(drawn, truth[number])
        own = truth[client.identity.player], client.local.compute_drawn(client.now)
        self._places.append((*own, truth[number], drawn))

    def list_strips(self, columns: int, bars: str) -> list[str]:
        """Return strips of bars for each player, on the server and as drawn, a bar per frame."""
        top = 2 * SPEED * self._match.settings.rules.step
        names = (self._you.config.name, self.other)
        heads = [f"{name} {where} " for name in names for where in ("server", "drawn ")]
        room = columns - max(map(len, heads))
        shown = list(self._places)[-room - 1 :]
        return [
            head + "".join(_choose_bar(a[row], b[row], top, bars) for a, b in pairwise(shown))
            for row, head in enumerate(heads)
        ]


#: The number of columns of the widest screens.
_MOST_FRAMES = 400


def _choose_bar(before: Point | None, after: Point | None, top: float, bars: str) -> str:
    if before is None or after is None:
        return " "
    return bars[min(round(measure_distance(before, after) / top * len(bars)), len(bars) - 1)]


class Game:
    """A match on a terminal with one human player, called ``player``.

    ``name`` is that of its scenario, if any. Raises ``Unrecordable`` if it is to be ``recorded``
    and cannot be.
    """

    def __init__(
        self,
        settings: MatchSpec,
        player: str,
        symbols: dict[str, str],
        recorded: bool = False,
        script: Script | None = None,
        name: str = "",
        open_scenario: OpenScenario = lambda _: (MatchSpec(), Script()),
    ) -> None:
        self._player, self._symbols, self._recorded = player, symbols, recorded
        self._scenario, self._open = name, open_scenario
        self._reserve = Reserve()
        self._real_time: float | None = None
        self._turned = 0  # how often the last screen gave way to another
        self._page = 0  # of the legend; 0: the game is on
        self._start_match(settings, script or Script())

    def _start_match(self, settings: MatchSpec, script: Script) -> None:
        self._settings, self._script = settings, script
        self.match = match = Match(settings, script)
        self.you = match.participants[match.names.index(self._player)]
        self._others = [each for each in match.participants if each is not self.you]
        scripted = self.you.controller if self._player in script.inputs else None
        self.you.controller = self._keyboard = KeyboardInput(scripted)
        self.recorder = Recorder(match) if self._recorded else None
        self.statistics = MatchStatistics(match)
        self._recent = Recent(match, self.you, self._others[0])
        match.on_frame = self._add_frame
        self._switches = Switches(settings)
        self._flashes = Flashes(settings.rules.arena)
        self._caption, self._news = "", "" if script.captions else WELCOME.format(self._player)

    def _add_frame(self, participant: MatchParticipant) -> None:
        self.statistics.add_frame(participant)
        if participant is self.you:
            self._recent.add()

    def advance(self, real_time: float) -> None:
        """Advance the match to this real time (seconds, of any steady clock)."""
        if self._real_time is None:
            self._real_time = real_time
        passed = min(max(real_time - self._real_time, 0.0), LONGEST_STEP)
        self._real_time = real_time
        match = self.match
        if not self._page:
            match.run_until(match.now + passed * match.settings.speed)
        for event in match.take_events():
            self._flashes.add(event)
            if event.what == "say":
                self._caption, self._news = str(event.details["text"]), ""
                continue
            self._news = describe_event(event, match.settings, self._player) or self._news
            if is_switch(event):
                self._recent.restart()

    def press(self, key: str) -> None:
        """Handle a key: a direction, a weapon, a switch or a page; ignore other keys."""
        if key == "?" or self._page:
            self._page = self._page + 1 if key == "?" else 0
        elif key in _DIRECTIONS:
            self._keyboard.steer(*_DIRECTIONS[key])
        elif key in _WEAPONS:
            self._keyboard.trigger_weapon(_WEAPONS[key])
        elif key == "b":
            self._turned += 1
        elif key == "enter":
            self._start_match(self._settings, self._script)
        elif key in "nN":
            self._change_scenario(1 if key == "n" else -1)
        else:
            for change in self._switches.press(key, self.match.settings):
                self.match.change(change)

    def _change_scenario(self, steps: int) -> None:
        """Begin the scenario ``steps`` places further in the list.

        The first one follows the last.
        """
        names = list(SCENARIOS)
        at = names.index(self._scenario) if self._scenario in names else min(-steps, 0)
        name = names[(at + steps) % len(names)]
        try:
            self._start_match(*self._open(name))
            self._scenario = name
        except (WrongUsage, Unrecordable) as error:
            self._news = str(error)

    def render_lines(self, columns: int, lines: int) -> Lines:
        """Return the lines of the whole screen."""
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return [[("", describe_lack_of_room("epic play", SMALLEST, (columns, lines)))]]
        if self._page:
            whole, room = draw_legend(columns, self._symbols), lines - 1
            first = (self._page - 1) * room
            if first < len(whole):
                last = f"?: {'more' if first + room < len(whole) else 'back'}, q: quit"
                return [[line] for line in [*whole[first : first + room], ("class:keys", last)]]
            self._page = 0
        drawn_from = [self.you, None, *self._others]
        count = min(max((columns + 1) // (_SMALLEST_ARENA[0] + 1), 1), 3)
        fixed, rest = drawn_from[: count - 1], drawn_from[count - 1 :]
        shown = [*fixed, rest[self._turned % len(rest)]]
        hidden = rest[(self._turned + 1) % len(rest)] if len(rest) > 1 else None
        self._recent.watch(next((each for each in self._others if each in shown), self._others[0]))
        texts = self._compose_texts(columns, lines - _SMALLEST_ARENA[1], hidden, len(rest) > 1)
        width = min((columns - count + 1) // count, _LARGEST_ARENA[0])
        height = min(
            lines - self._reserve.reserve_lines((columns, lines), len(texts)), _LARGEST_ARENA[1]
        )
        canvas = ArenaCanvas(width, height, self._symbols)
        arenas = []
        for each in shown:
            drawn = make_scene(self.match, each, self._flashes)
            clock = "" if each else f", {self.match.now:.1f} s"
            arenas.append(canvas.draw(drawn._replace(title=drawn.title + clock)))
        gap: list[Fragment] = [("", " ")]
        screen = [
            [part for arena in arenas for part in (*gap, *arena[line])][1:]
            for line in range(height)
        ]
        return screen + [[text] for text in texts]

    def _compose_texts(
        self, columns: int, room: int, hidden: MatchParticipant | None, turns: bool
    ) -> list[Fragment]:
        """Return the lines under the arenas.

        The least important are dropped if there is no room.
        """
        settings, recent = self.match.settings, self._recent
        shots = self.statistics.count_shots(self._player)
        known = describe_measurements(self.you, recent.other, recent.drawn, shots)
        said = self._news or ("" if settings.speed else PAUSE)
        keys = [*KEYS, f"b: {write_title(hidden)}"] if turns else KEYS
        about = f"{self._scenario}: " if self._scenario else ""
        blocks = {
            "caption": ("class:news", wrap(about + self._caption, columns)),
            "strips": ("", recent.list_strips(columns, self._symbols["bars"])),
            "values": ("", arrange_parts(known, columns)),
            "news": ("" if self._caption else "class:news", wrap(said, columns)),
            "conditions": ("", arrange_parts(describe_conditions(settings), columns)),
            "techniques": ("", arrange_parts(describe_techniques(settings), columns)),
            "keys": ("class:keys", arrange_parts(keys, columns)),
        }
        least = ["strips", "values", "conditions", "techniques", "news", "caption"]
        if self._caption:  # which is about those
            least = ["conditions", "techniques", "values", "strips", "news", "caption"]
        name = settings.remote_strategy
        color = PALETTE[choose_line_styles([name])[name].color].screen
        drawn = f"{recent.other} drawn"
        return [
            (f"fg:{color}" if text.startswith(drawn) else style, text)
            for style, text in fit_blocks(blocks, least, room)
        ]


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

PRESSED = (*_DIRECTIONS, *_WEAPONS, *"lLjJoOsStTpriIwmnNb?", "enter")


def play_on_terminal(game: Game, color: bool) -> bool:
    """Play until ``q`` (return False), or Ctrl-C or a signal (return True).

    The terminal is restored.
    """
    return asyncio.run(FullScreen(game, PRESSED, _STYLES, color).run()) is not None
