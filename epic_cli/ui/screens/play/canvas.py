"""One arena in character cells."""

from __future__ import annotations

import math

from epic_cli.play.report.scene import Scene
from epic_cli.play.world.arena import Arena, Point
from epic_cli.ui.screens import cells
from epic_cli.ui.screens.cells import Cells, Lines

#: What is drawn where the terminal speaks UTF-8, and where it does not.
UNICODE = {**cells.UNICODE, "wall": "█", "beam": "·", "seen": "\N{BALLOT X}"}
ASCII = {**cells.ASCII, "wall": "#", "beam": ".", "seen": "x"}


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

    def _put(self, arena: Arena, position: Point, symbol: str, style: str) -> None:
        column = math.floor(position[0] / arena.width * self._columns)
        line = math.floor((1 - position[1] / arena.height) * self._lines)
        self._cells.put(column, line, symbol, style)
