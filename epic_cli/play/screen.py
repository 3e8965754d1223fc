"""The game on a terminal, full screen: real time and keys in, an arena and lines out."""

from __future__ import annotations

import asyncio
import math
from typing import NamedTuple

from epic_cli.engine.text.widths import wrap
from epic_cli.play.bots import aim_at, nearest_seen
from epic_cli.play.client import Client
from epic_cli.play.match import Match, MatchParticipant, Recorder
from epic_cli.play.run import Flashes, PlayScene, scenes
from epic_cli.play.script import Script
from epic_cli.play.spec import Change, MatchSpec
from epic_cli.play.statistics import MatchStatistics, PlayFigure
from epic_cli.play.world import Arena, Control, Event, Point, Weapon, direction
from epic_cli.shell.console import speaks_unicode
from epic_cli.show.full_screen import (
    ASCII_FRAME,
    UNICODE_FRAME,
    Cells,
    Fragment,
    FullScreen,
    Lines,
    Reserve,
    fitting,
    flow,
    too_small,
)

#: What is drawn where the terminal speaks UTF-8, and where it does not.
UNICODE = {**UNICODE_FRAME, "wall": "█", "beam": "·", "seen": "\N{BALLOT X}"}
ASCII = {**ASCII_FRAME, "wall": "#", "beam": ".", "seen": "x"}


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
        """The lines of the frame, each as fragments."""
        self._cells = Cells(*self._size, self._symbols)
        self._draw_walls(scene.arena)
        for beam in scene.beams:
            self._draw_line(scene.arena, beam.start, beam.end, beam.hit)
            if beam.seen:
                self._put(scene.arena, beam.seen, self._symbols["seen"], "class:hit")
        for position in scene.projectiles:
            self._put(scene.arena, position, "*", "class:throw")
        for marker in scene.markers:
            if marker.heading is not None:
                self._draw_heading(scene.arena, marker.position, marker.heading)
        for marker in scene.markers:
            name = marker.name.lower() if marker.ghost else marker.name
            style = "class:ghost" if marker.ghost else f"class:player-{marker.name.lower()}"
            self._put(scene.arena, marker.position, name[:1], style)
        return self._cells.framed(scene.title)

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
            self._put(arena, position, self._symbols["beam"], "class:hit" if hit else "class:shot")

    def _draw_heading(self, arena: Arena, position: Point, heading: Point) -> None:
        """An arrow in the cell beside a player, on the side to which he looks."""
        arrows = self._symbols["heading"]
        sector = round(math.atan2(heading[1], heading[0]) / math.tau * len(arrows)) % len(arrows)
        angle = math.tau * sector / len(arrows)
        right, up = round(math.cos(angle)), round(math.sin(angle))
        beside = (
            position[0] + right * arena.width / self._columns,
            position[1] + up * arena.height / self._lines,
        )
        self._put(arena, beside, arrows[sector], "class:heading")

    def _put(self, arena: Arena, position: Point, symbol: str, style: str) -> None:
        column = math.floor(position[0] / arena.width * self._columns)
        line = math.floor((1 - position[1] / arena.height) * self._lines)
        self._cells.put(column, line, symbol, style)


KEYS = ["arrows: run", ".: stop", "space: shoot", "x: throw", "Shift: less", "q: quit"]


def figures(
    statistics: MatchStatistics, you: MatchParticipant, other: MatchParticipant
) -> list[str]:
    """Round trip, corrections, the drawn error and lag of the other player, hits.

    Behind those that count: how many it would be with rewind, and without.
    """
    client, local = you.client, you.client.local
    link = you.up.mean_delay + you.down.mean_delay
    drawn = statistics.remote(you.config.name, other.config.name)
    shots = statistics.shots(you.config.name)
    lag = "-" if math.isnan(drawn.lag) else f"{1000 * drawn.lag:.0f} ms"
    mean = 0.0 if math.isnan(drawn.mean) else drawn.mean
    return [
        f"rtt {1000 * client.round_trip.estimate:.0f}/{1000 * link:.0f} ms",
        f"corrected {local.corrections} (most {local.largest:.2f})",
        f"{other.config.name} off {mean:.2f}, late {lag}",
        f"hits {shots.hits} of {shots.judged} (rewound {shots.rewound}, plain {shots.present})",
    ]


def conditions(match: Match) -> list[str]:
    """The link and the send rate, each with its key."""
    settings, link = match.settings, match.settings.link.down
    loss = f"{100 * link.loss:g} %" if isinstance(link.loss, int | float) else "in bursts"
    where = [
        f"[l]atency {1000 * link.latency:g} ms",
        f"[j]itter {1000 * link.jitter:g} ms",
        f"l[o]ss {loss}",
    ]
    if settings.trace is not None:
        where = ["recorded network"]
    return [*where, f"[s]end rate {settings.send_rate:g}/s"]


def techniques(match: Match) -> list[str]:
    """What is switched on, each with its key."""
    settings = match.settings
    shown = (
        ("[p]rediction", settings.local != "dumb-terminal"),
        ("[r]eplay", settings.local == "reconciled"),
        ("s[m]oothing", settings.smoothing > 0),
        ("re[w]ind", settings.rewind),
    )
    switched = [f"{name} {'on' if on else 'OFF'}" for name, on in shown]
    return [*switched, f"[i]: {settings.remote_strategy}"]


def _about_shot(event: Event) -> str:
    details = event.details
    text = f"{event.player}'s shot {'HITS' if details['hit'] else 'MISSES'}"
    if not details["rewound"] and not details["present"]:
        return f"{text}, with rewind and without"
    with_rewind, without = ("hit" if details[world] else "miss" for world in ("rewound", "present"))
    text += f" (with rewind: {with_rewind}, without: {without})"
    if details["rewound"]:
        text += f"; the victim had moved {float(details['moved']):.2f}"
    return text + (", behind cover" if details["behind_cover"] else "")


def news(event: Event) -> str:
    """An event in a sentence; empty: it is not worth one."""
    details, who = event.details, event.player
    if event.what == "shot":
        return _about_shot(event)
    sentences = {
        "bump": f"{who} bumps into {details.get('other')}",
        "throw hit": f"{who}'s throw hits {details.get('victim')}",
        "effect refused": f"the server refuses to fire for {who}: {details.get('reason')}",
        "correction": f"{who} is corrected by {details.get('size', 0.0):.3f}",
        "set": f"set {details.get('change')}",
    }
    return f"{event.time:.1f} s: {sentences[event.what]}" if event.what in sentences else ""


class KeyboardInput:
    """Holds a direction until another key comes: a terminal does not report released keys.

    A shot goes to the nearest player as he is drawn on your own screen. So you always aim well,
    and whether you hit depends on the techniques alone.
    """

    def __init__(self) -> None:
        self._x = self._y = 0
        self._weapon = Weapon.NONE
        self._facing: Point = (1.0, 0.0)

    def steer(self, x: int, y: int) -> None:
        """Runs in this direction from now on; (0, 0): stops."""
        self._x, self._y = x, y
        if x or y:
            self._facing = direction((x, y))

    def trigger(self, weapon: Weapon) -> None:
        """Fires with the next move."""
        self._weapon = weapon

    def __call__(self, client: Client) -> Control:
        """The control of the next move."""
        control = Control(self._x, self._y, self._weapon)
        self._weapon = Weapon.NONE
        if not control.weapon:
            return control
        target = nearest_seen(client)
        return control._replace(
            aim=self._facing if target is None else aim_at(client, control, target)
        )


#: The steps through which a key goes.
LATENCIES = (0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
JITTERS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LOSSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
SEND_RATES = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0)

PLAIN_STRATEGY = "dumb-terminal"


def _next(steps: tuple[float, ...], value: float) -> float:
    return next((step for step in steps if step > value + 1e-9), steps[-1])


def _before(steps: tuple[float, ...], value: float) -> float:
    return next((step for step in reversed(steps) if step < value - 1e-9), steps[0])


class Switches:
    """Makes changes of keys; ``chosen`` are the settings that the match began with."""

    def __init__(self, chosen: MatchSpec) -> None:
        self._strategy = chosen.remote_strategy
        self._settings = chosen.remote_settings
        if self._strategy == PLAIN_STRATEGY:
            self._strategy, self._settings = "snapshot", ()

    def press(self, key: str, now: MatchSpec) -> list[Change]:
        """What a key changes; nothing, if it is not one of these."""
        link = now.link.down
        loss = link.loss if isinstance(link.loss, int | float) else 0.0
        ladders = {
            "l": ("latency", LATENCIES, link.latency),
            "j": ("jitter", JITTERS, link.jitter),
            "o": ("loss", LOSSES, float(loss)),
            "s": ("send_rate", SEND_RATES, now.send_rate),
        }
        if key.lower() in ladders:
            name, steps, value = ladders[key.lower()]
            wanted = (_next if key.islower() else _before)(steps, value)
            # a recorded network has its own delays
            if wanted == value or (now.trace is not None and name != "send_rate"):
                return []
            return [Change(name, wanted)]
        local = now.local
        switches: dict[str, tuple[str, object]] = {
            "p": ("local", "reconciled" if local == "dumb-terminal" else "dumb-terminal"),
            "r": ("local", "predicted" if local == "reconciled" else "reconciled"),
            "w": ("rewind", not now.rewind),
            "m": ("smoothing", 0.0 if now.smoothing else 0.1),
        }
        if key == "i":
            return self._switch_interpolation(now)
        return [Change(*switches[key])] if key in switches else []

    def _switch_interpolation(self, now: MatchSpec) -> list[Change]:
        if now.remote_strategy != PLAIN_STRATEGY:
            return [Change("remote_strategy", PLAIN_STRATEGY)]
        settings = [Change(f"remote.{name}", str(value)) for name, value in self._settings]
        return [Change("remote_strategy", self._strategy), *settings]


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
        self._other = next(
            participant for participant in self.match.participants if participant is not self.you
        )
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
        canvas = ArenaCanvas(width, height, self._symbols)
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
    figures: list[PlayFigure]
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
