"""Three screens at one moment, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from epic_cli.play.match.match import Match
from epic_cli.play.report.scene import Scene
from epic_cli.play.world.arena import RADIUS, Point
from epic_cli.show.documents import in_markup
from epic_cli.show.styles import line_style

_SCALE = 12.0  # pixels a length unit
_GAP, _HEAD, _FOOT = 16.0, 28.0, 24.0
_LINE = 18.0

_STYLE = (
    "text{font:13px sans-serif;fill:#222}.floor{fill:#fafafa;stroke:#888}.wall{fill:#999}"
    ".ghost{fill:none;stroke-dasharray:3 2}.shot{stroke:#999}.hit{stroke:#cc3311;stroke-width:2}"
    ".seen{fill:none;stroke:#cc3311}.throw{fill:#aa3377}"
    ".heading{stroke-width:3}"
)


def caption(match: Match) -> list[str]:
    """What stands under the picture of a match: when, under which conditions, and a key."""
    settings = match.settings
    return [
        f"{match.now:g} s, latency {1000 * settings.link.latency:g} ms,"
        f" {settings.send_rate:g} states a second, {settings.local},"
        f" {settings.remote_strategy}, rewind {'on' if settings.rewind else 'off'}",
        "dashed: where the server has them; red circle: where the shooter saw his victim",
    ]


def picture(scenes: Sequence[Scene], lines: Sequence[str]) -> str:
    """An SVG picture of the scenes side by side, with lines of text under them.

    Players are discs with their names; a dashed circle is where the server has a player, a red
    circle where the shooter saw the player whom he hit.
    """
    arena = scenes[0].arena
    width, height = arena.width * _SCALE, arena.height * _SCALE
    total = len(scenes) * (width + _GAP) + _GAP
    tall = _HEAD + height + _FOOT + _LINE * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:g}" height="{tall:g}"'
        f' viewBox="0 0 {total:g} {tall:g}" role="img">',
        f"<title>{in_markup(', '.join(scene.title for scene in scenes))}</title>",
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, scene in enumerate(scenes):
        left = _GAP + number * (width + _GAP)
        parts.append(f'<g transform="translate({left:g} {_HEAD:g})">')
        parts += _Panel(scene).parts()
        parts.append("</g>")
    for number, line in enumerate(lines):
        y = _HEAD + height + _FOOT + number * _LINE
        parts.append(f'<text x="{_GAP:g}" y="{y:g}">{in_markup(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


class _Panel:
    """One scene, in its own coordinates: y points down."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._colors: dict[str, str] = {}
        for name in sorted({marker.name for marker in scene.markers}):
            self._colors[name] = line_style(len(self._colors)).light

    def parts(self) -> list[str]:
        """The elements of the picture."""
        scene, arena = self._scene, self._scene.arena
        parts = [
            f'<text x="0" y="-8">{in_markup(scene.title)}</text>',
            f'<rect class="floor" width="{_n(arena.width)}" height="{_n(arena.height)}"/>',
        ]
        for block in arena.blocks:
            x, y = self._at((block.left, block.top))
            size = f'width="{_n(block.right - block.left)}" height="{_n(block.top - block.bottom)}"'
            parts.append(f'<rect class="wall" x="{x}" y="{y}" {size}/>')
        for beam in scene.beams:
            (x1, y1), (x2, y2) = self._at(beam.start), self._at(beam.end)
            kind = "hit" if beam.hit else "shot"
            parts.append(f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
            if beam.seen:
                parts.append(self._circle(beam.seen, RADIUS, 'class="seen"'))
        parts += [self._circle(position, 0.25, 'class="throw"') for position in scene.projectiles]
        for marker in scene.markers:
            color = self._colors[marker.name]
            if marker.ghost:
                style = f'class="ghost" stroke="{color}"'
                parts.append(self._circle(marker.position, RADIUS, style))
                continue
            parts.append(self._circle(marker.position, RADIUS, f'fill="{color}"'))
            if marker.heading is not None:
                at, way = marker.position, marker.heading
                x1, y1 = self._at(at)
                x2, y2 = self._at((at[0] + 2 * RADIUS * way[0], at[1] + 2 * RADIUS * way[1]))
                line = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
                parts.append(f'<line class="heading" stroke="{color}" {line}/>')
            x, y = self._at((marker.position[0] + RADIUS, marker.position[1] + RADIUS))
            parts.append(f'<text x="{x}" y="{y}">{in_markup(marker.name)}</text>')
        return parts

    def _circle(self, position: Point, radius: float, style: str) -> str:
        x, y = self._at(position)
        return f'<circle {style} cx="{x}" cy="{y}" r="{_n(radius)}"/>'

    def _at(self, position: Point) -> tuple[str, str]:
        return _n(position[0]), _n(self._scene.arena.height - position[1])


def _n(length: float) -> str:
    return f"{length * _SCALE:.1f}".removesuffix(".0")
