"""What is drawn of a match: an arena in character cells, and the lines under the arenas."""

from __future__ import annotations

import math

from epic_cli.play.match.match import Match, Participant
from epic_cli.play.report.scene import Scene
from epic_cli.play.report.statistics import MatchStatistics
from epic_cli.play.world.arena import Arena, Point
from epic_cli.play.world.moves import Event
from epic_cli.show.full_screen import ASCII_FRAME, UNICODE_FRAME, Cells, Lines

#: What is drawn where the terminal speaks UTF-8, and where it does not.
UNICODE = {**UNICODE_FRAME, "wall": "█", "beam": "·", "seen": "\N{BALLOT X}"}
ASCII = {**ASCII_FRAME, "wall": "#", "beam": ".", "seen": "x"}


class Canvas:
    """A frame of ``columns`` by ``lines`` cells, border included, onto which a scene is drawn.

    The arena fills it, so a cell is usually higher than wide, as on a real terminal.
    """

    def __init__(self, columns: int, lines: int, symbols: dict[str, str]) -> None:
        self._size = columns, lines
        self._columns, self._lines = columns - 2, lines - 2
        self._symbols = symbols
        self._cells = Cells(columns, lines, symbols)

    def draw(self, scene: Scene) -> Lines:
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


def figures(statistics: MatchStatistics, you: Participant, other: Participant) -> list[str]:
    """Round trip, corrections, the drawn error and lag of the other player, hits."""
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
        f"hits {shots.rewound}, plain {shots.present}, of {shots.judged}",
    ]


def conditions(match: Match) -> list[str]:
    """The link and the send rate, each with its key."""
    settings, link = match.settings, match.settings.link
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
    with_rewind, without = ("hit" if details[one] else "miss" for one in ("rewound", "present"))
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
