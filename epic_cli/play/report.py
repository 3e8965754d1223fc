"""The output of a match: rows, events and summary as text, three screens as a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from epic_cli.engine.text.widths import cut
from epic_cli.metrics.digits import replace_unknown
from epic_cli.play.match import Match
from epic_cli.play.run import PlayScene, Row
from epic_cli.play.statistics import Shot, SummaryLine
from epic_cli.play.world import RADIUS, Event, Point
from epic_cli.recordings.writing import write_csv_field, write_number
from epic_cli.show.documents import escape_markup
from epic_cli.show.styles import HUES

FORMATS = ("table", "epic", "tsv", "csv", "jsonl")

#: Widths of the columns of text; all others are numbers.
_WIDTHS = {"view": 8, "player": 8, "where": 8, "what": 15, "name": 22, "status": 13,
           "behind_cover": 12}  # fmt: skip
_NUMBER_WIDTH = 9

#: Columns in the order in which a narrow screen drops them.
_LEAST_FIRST = (
    "view", "behind_cover", "moved", "stamp", "vx", "vy", "yaw", "present", "on_screen", "where",
    "unit", "status", "error", "rewound", "y", "x",
)  # fmt: skip


class PlayRowWriter:
    """A writer of named tuples of one type: a header, then a line for each tuple.

    ``table`` is aligned and rounded for people; the other formats have all digits. NaN is an empty
    cell, and null in JSON. On a screen of ``width`` columns (None: unlimited) no line of a table is
    longer than that: the least important columns are ``left_out``, long cells are cut.
    """

    def __init__(self, row_format: str, columns: Sequence[str], width: int | None = None) -> None:
        self._format = row_format
        self._width = width if row_format == "table" else None
        self._columns = _choose_columns(columns, self._width)
        self.left_out = [name for name in columns if name not in self._columns]

    def write_header(self) -> bytes:
        """Return the line above the rows, in the formats that have one."""
        if self._format == "table":
            return self._align_cells({name: name for name in self._columns}).encode()
        if self._format in ("tsv", "csv"):
            return (self._separator.join(self._columns) + "\n").encode()
        return b""

    def write_line(self, item: Row | Event | Shot | SummaryLine) -> bytes:
        """Return one row, event, shot or line of the summary as text."""
        values = item._asdict()
        if self._format == "jsonl":
            text = json.dumps({key: replace_unknown(value) for key, value in values.items()}) + "\n"
        elif self._format == "epic":
            numbers = (values["x"], values["y"], 0.0, values["vx"], values["vy"], 0.0)
            text = "pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f\n"
            text %= (*numbers, values["time"])
        elif self._format == "table":
            text = self._align_cells({key: _format_rounded(value) for key, value in values.items()})
        else:
            text = (
                self._separator.join(self._format_cell(values[name]) for name in self._columns)
                + "\n"
            )
        return text.encode()

    @property
    def _separator(self) -> str:
        return "\t" if self._format == "tsv" else ","

    def _format_cell(self, value: Any) -> str:
        if isinstance(value, float):
            return "" if math.isnan(value) else write_number(value)
        if isinstance(value, bool):
            return str(int(value))
        text = _format_details(value, _format_word) if isinstance(value, dict) else str(value)
        return write_csv_field(text) if self._format == "csv" else text

    def _align_cells(self, cells: dict[str, str]) -> str:
        parts = [
            cells[name].ljust(_WIDTHS[name])
            if name in _WIDTHS
            else cells[name].rjust(_NUMBER_WIDTH)
            for name in self._columns
        ]
        if self._columns[-1] in ("details", "unit"):
            parts[-1] = cells[self._columns[-1]]
        line = " ".join(parts).rstrip()
        return (line if self._width is None else cut(line, self._width)) + "\n"


def _choose_columns(columns: Sequence[str], room: int | None) -> list[str]:
    """Return the columns that fit the width; the last of these columns may be cut."""
    kept = list(columns)
    for name in _LEAST_FIRST:
        widths = [_WIDTHS.get(kept_item, _NUMBER_WIDTH) + 1 for kept_item in kept]
        if room is None or sum(widths) - 1 <= room:
            break
        if name in kept:
            kept.remove(name)
    return kept


def _format_details(details: dict[str, Any], word: Callable[[Any], str]) -> str:
    """Return an event's text or, without one, its details."""
    text = details.get("text")
    return str(text or " ".join(f"{key}={word(value)}" for key, value in details.items()))


def _format_word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace(" ", "-")


def _format_rounded(value: Any) -> str:
    if isinstance(value, dict):
        return _format_details(value, lambda detail: _format_rounded(detail).replace(" ", "-"))
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.3f}"
    return _format_word(value) if isinstance(value, bool) else str(value)


def summarize_player(summary: Sequence[SummaryLine], bumps: int) -> str:
    """Return the summary of one player as lines for people, with the numbers of the table."""
    lines = [f"player {summary[0].player} ({bumps} bumps in all)"]
    for line in summary:
        lines.append(f"  {line.name:<22} {_format_rounded(line.value)} {line.unit}".rstrip())
    return "\n".join(lines) + "\n"


_SCALE = 12.0  # pixels a length unit
_GAP, _HEAD, _FOOT = 16.0, 28.0, 24.0
_LINE = 18.0

_STYLE = (
    "text{font:13px sans-serif;fill:#222}.floor{fill:#fafafa;stroke:#888}.wall{fill:#999}"
    ".ghost{fill:none;stroke-dasharray:3 2}.shot{stroke:#999}.hit{stroke:#cc3311;stroke-width:2}"
    ".seen{fill:none;stroke:#cc3311}.throw{fill:#aa3377}"
    ".heading{stroke-width:3}"
)


def write_caption(match: Match) -> list[str]:
    """Return the lines under the picture of a match: time, conditions, and a key."""
    settings = match.settings
    return [
        f"{match.now:g} s, latency {1000 * settings.link.down.latency:g} ms,"
        f" {settings.send_rate:g} states a second, {settings.local},"
        f" {settings.remote_strategy}, rewind {'on' if settings.rewind else 'off'}",
        "dashed: positions on the server; red circle: where the shooter saw his victim",
    ]


def draw_picture(scenes: Sequence[PlayScene], lines: Sequence[str]) -> str:
    """Draw the scenes side by side as SVG, with lines of text under them.

    Players are discs with their names; a dashed circle is the server's position of a player, a red
    circle where the shooter saw the player whom he hit.
    """
    arena = scenes[0].arena
    width, height = arena.width * _SCALE, arena.height * _SCALE
    total = len(scenes) * (width + _GAP) + _GAP
    tall = _HEAD + height + _FOOT + _LINE * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:g}" height="{tall:g}"'
        f' viewBox="0 0 {total:g} {tall:g}" role="img">',
        f"<title>{escape_markup(', '.join(scene.title for scene in scenes))}</title>",
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for place, scene in enumerate(scenes):
        left = _GAP + place * (width + _GAP)
        parts.append(f'<g transform="translate({left:g} {_HEAD:g})">')
        parts += _ScenePanel(scene).draw_parts()
        parts.append("</g>")
    for row, line in enumerate(lines):
        y = _HEAD + height + _FOOT + row * _LINE
        parts.append(f'<text x="{_GAP:g}" y="{y:g}">{escape_markup(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


class _ScenePanel:
    """A scene drawn in its own coordinates; y points down."""

    def __init__(self, scene: PlayScene) -> None:
        self._scene = scene
        self._colors: dict[str, str] = {}
        for name in sorted({marker.name for marker in scene.markers}):
            self._colors[name] = HUES[len(self._colors) % len(HUES)].light

    def draw_parts(self) -> list[str]:
        """Return the SVG elements of the scene."""
        scene, arena = self._scene, self._scene.arena
        parts = [
            f'<text x="0" y="-8">{escape_markup(scene.title)}</text>',
            f'<rect class="floor" {_format_size(arena.width, arena.height)}/>',
        ]
        for block in arena.blocks:
            x, y = self._convert_to_pixels((block.left, block.top))
            size = _format_size(block.right - block.left, block.top - block.bottom)
            parts.append(f'<rect class="wall" x="{x}" y="{y}" {size}/>')
        for beam in scene.beams:
            (x1, y1), (x2, y2) = (
                self._convert_to_pixels(beam.start),
                self._convert_to_pixels(beam.end),
            )
            kind = "hit" if beam.hit else "shot"
            parts.append(f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
            if beam.seen:
                parts.append(self._draw_circle(beam.seen, RADIUS, 'class="seen"'))
        parts += [
            self._draw_circle(position, 0.25, 'class="throw"') for position in scene.projectiles
        ]
        for marker in scene.markers:
            color = self._colors[marker.name]
            if marker.ghost:
                style = f'class="ghost" stroke="{color}"'
                parts.append(self._draw_circle(marker.position, RADIUS, style))
                continue
            parts.append(self._draw_circle(marker.position, RADIUS, f'fill="{color}"'))
            if marker.heading is not None:
                at, way = marker.position, marker.heading
                x1, y1 = self._convert_to_pixels(at)
                x2, y2 = self._convert_to_pixels(
                    (at[0] + 2 * RADIUS * way[0], at[1] + 2 * RADIUS * way[1])
                )
                line = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
                parts.append(f'<line class="heading" stroke="{color}" {line}/>')
            x, y = self._convert_to_pixels(
                (marker.position[0] + RADIUS, marker.position[1] + RADIUS)
            )
            parts.append(f'<text x="{x}" y="{y}">{escape_markup(marker.name)}</text>')
        return parts

    def _draw_circle(self, position: Point, radius: float, style: str) -> str:
        x, y = self._convert_to_pixels(position)
        return f'<circle {style} cx="{x}" cy="{y}" r="{_format_pixels(radius)}"/>'

    def _convert_to_pixels(self, position: Point) -> tuple[str, str]:
        return _format_pixels(position[0]), _format_pixels(self._scene.arena.height - position[1])


def _format_size(width: float, height: float) -> str:
    return f'width="{_format_pixels(width)}" height="{_format_pixels(height)}"'


def _format_pixels(length: float) -> str:
    return f"{length * _SCALE:.1f}".removesuffix(".0")
