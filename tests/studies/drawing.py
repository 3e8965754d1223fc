"""Line charts for the studies, as SVG: panels beside each other that share their axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

#: Colours of lines in their order, from dark to light: readable in print and without hue.
COLOURS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#e8a200")

_WIDE, _HIGH, _LEFT, _TOP, _GAP, _BELOW = 300, 300, 56, 64, 24, 92


class Line(NamedTuple):
    """Points of a line, its name, its color's number; ``dashed`` or not."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    colour: int
    dashed: bool = False


class Level(NamedTuple):
    """A named height, drawn as a thin line."""

    name: str
    up: float


class Panel(NamedTuple):
    """A chart's title, lines and levels."""

    title: str
    lines: Sequence[Line]
    levels: Sequence[Level] = ()


class Axis(NamedTuple):
    """A title and the numbers at its ticks, from the first end to the last."""

    title: str
    ticks: Sequence[float]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Return the place of a value between the ends, clamped to 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return min(max((value - low) / (high - low), 0), 1)


def chart(title: str, panels: Sequence[Panel], across: Axis, up: Axis, note: str = "") -> str:
    """Return the panels from left to right, under a title, with one legend."""
    width = _LEFT + len(panels) * (_WIDE + _GAP)
    height = _TOP + _HIGH + _BELOW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 22, title, "start", size=16),
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, _LEFT + place * (_WIDE + _GAP), across, up, place == 0)
    middle = _TOP + _HIGH / 2
    parts.append(
        f'<g transform="rotate(-90 16 {middle:g})">{_text(16, middle, up.title, "middle")}</g>'
    )
    shown = {line.name: line for panel in panels for line in panel.lines if line.name}
    left = float(_LEFT)
    for line in shown.values():
        y = _TOP + _HIGH + 56
        parts += [
            _stroke([(left, y - 4), (left + 22, y - 4)], line),
            _text(left + 27, y, line.name),
        ]
        left += 44 + 7 * len(line.name)
    parts.append(_text(_LEFT, _TOP + _HIGH + 80, note, size=11))
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, left: float, across: Axis, up: Axis, first: bool) -> list[str]:
    bottom = _TOP + _HIGH

    def place(x: float, y: float) -> tuple[float, float]:
        return left + _WIDE * across.share(x), bottom - _HIGH * up.share(y)

    parts = [_text(left + _WIDE / 2, _TOP - 12, panel.title, "middle", size=13)]
    for tick in up.ticks:
        _, y = place(across.ticks[0], tick)
        parts.append(f'<path d="M{left:g} {y:.1f}h{_WIDE}" stroke="#dddddd"/>')
        if first:
            parts.append(_text(left - 6, y + 4, f"{tick:g}", "end"))
    for tick in across.ticks:
        x, _ = place(tick, up.ticks[0])
        parts.append(_text(x, bottom + 16, f"{tick:g}", "middle"))
    parts.append(_text(left + _WIDE / 2, bottom + 34, across.title, "middle"))
    for level in panel.levels:
        _, y = place(0, level.up)
        parts.append(
            f'<path d="M{left:g} {y:.1f}h{_WIDE}" stroke="#555555" stroke-dasharray="1 3"/>'
        )
    parts += [_stroke([place(*point) for point in _points(line)], line) for line in panel.lines]
    for level in panel.levels:
        _, y = place(0, level.up)
        parts.append(_text(left + _WIDE - 3, y - 3, level.name, "end", size=10, halo=True))
    return parts


def _points(line: Line) -> list[tuple[float, float]]:
    return list(zip(line.across, line.up, strict=True))


def _stroke(points: Sequence[tuple[float, float]], line: Line) -> str:
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    colour = COLOURS[line.colour % len(COLOURS)]
    return f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def _text(
    x: float, y: float, words: str, anchor: str = "start", size: int = 12, halo: bool = False
) -> str:
    """Return a text at a place; a ``halo`` makes it readable on top of lines."""
    place = f'x="{x:g}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    under = ' stroke="#ffffff" stroke-width="3" paint-order="stroke"' if halo else ""
    return f'<text {place} fill="#222222"{under}>{escape(words)}</text>'
