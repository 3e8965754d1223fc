"""What smoothness costs in latency: a chart in the terminal, and an SVG picture.

The same tunings give the same bytes, whenever and wherever they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.tune.report import assignments
from epic_cli.jobs.tune.run import FrontPoint, Tunings, pareto, roughness, worth
from epic_cli.metrics.comparison import Result
from epic_cli.metrics.digits import one_decimal
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.show.chart import MARKS, STYLES, Chart, Line, label, nice_values
from epic_cli.show.documents import in_markup
from epic_cli.show.styles import line_style

#: A front of fewer points is no choice.
FEWEST_POINTS = 3

#: So many strategies are drawn.
DRAWN = 6

#: The lines of the chart, and its width where no screen limits it.
_HEIGHT, _WIDTH = 12, 160

TITLE = "roughness (what the score counts beside latency) over latency (ms)"


def front_of(found: Tunings) -> tuple[FrontPoint, ...]:
    """The front of all strategies together."""
    return worth(pareto(point for one in found.tunings for point in one.front))


def front_chart(found: Tunings) -> Chart | None:
    """The fronts, and where default and tuned settings are; None: there is no choice."""
    whole = front_of(found)
    if len(whole) < FEWEST_POINTS:
        return None
    lines: list[Line] = []
    if len(found.tunings) == 1:
        one = found.tunings[0]
        lines.append(_line("front", one.front, 1))
        for label, result, style, mark in (
            ("default", one.tuned_on.default, 0, "D"),
            ("tuned", one.tuned_on.tuned, 2, "T"),
        ):
            lines.append(_at(label, result, found, style, mark))
    else:
        leading = list(dict.fromkeys(point.strategy for point in whole))[:DRAWN]
        fronts = {one.strategy: one.front for one in found.tunings}
        lines += [_line(name, fronts[name], at) for at, name in enumerate(leading)]
    # what is a second late, or useless, would leave no room for the others
    lines = [one for one in (_within(one, whole) for one in lines) if _visible(one)]
    return Chart(lines, TITLE, named=len(found.tunings) > 1, height=_HEIGHT, width=_WIDTH)


def _line(label: str, points: Sequence[FrontPoint], at: int) -> Line:
    # steps: between two points only the worse of both is known to be reached
    across = [one.latency * 1000 for one in points for _ in (0, 1)][1:]
    up = [one.roughness for one in points for _ in (0, 1)][:-1]
    return Line(label, across, up, STYLES[at % len(STYLES)], MARKS[at % len(MARKS)])


def _at(label: str, result: Result, found: Tunings, style: int, mark: str) -> Line:
    lag, rough = abs(result.value("lag")) * 1000, roughness(result.values, found.weights)
    return Line(label, [lag], [rough], f"bold {STYLES[style]}", mark, joined=False)


def _within(line: Line, whole: Sequence[FrontPoint]) -> Line:
    """The line without what is far beyond the common front."""
    latest = max(one.latency for one in whole) * 1000 * 1.5 + 1
    roughest = min(max(one.roughness for one in whole), 6 * whole[-1].roughness + 1)
    across, up = np.asarray(line.across, float), np.asarray(line.up, float)
    far = (across > latest) | (up > roughest)
    return line._replace(across=np.where(far, np.nan, across), up=np.where(far, np.nan, up))


def _visible(line: Line) -> bool:
    return bool(np.isfinite(np.asarray(line.across, float)).any())


WIDTH, HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 170, 60, 60

#: Marks that are so many times further off than the fronts are not shown.
_FAR = 3.0

_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#444}"
    ".h{font-size:14px;font-weight:600;fill:#222}.g{stroke:#e3e3e3;stroke-width:1}"
    ".f{fill:none;stroke-width:1.8;stroke-linejoin:round}"
)


class _Mark(NamedTuple):
    name: str
    late: float
    rough: float
    tuned: bool | int


class _Axes(NamedTuple):
    """The values at the edges: latency from 0 to ``late`` (ms), roughness from 0 to ``rough``."""

    late: float
    rough: float

    def across(self, late: float) -> float:
        """Where a latency (ms) is, in pixels."""
        return _LEFT + late / self.late * (WIDTH - _LEFT - _RIGHT)

    def up(self, rough: float) -> float:
        """Where a roughness is, in pixels."""
        return HEIGHT - _BOTTOM - rough / self.rough * (HEIGHT - _TOP - _BOTTOM)


def front_picture(found: Tunings) -> str:
    """The picture; empty: there is nothing to draw."""
    try:
        return picture(found)
    except NothingToDraw:
        return ""


def picture(found: Tunings) -> str:
    """The fronts of the leading strategies, as the text of an SVG file.

    Each point says its settings and score where the pointer rests on it. Raises ``NothingToDraw``
    where nothing was tried whose latency can be told.
    """
    whole = front_of(found)
    if not whole:
        raise NothingToDraw
    fronts = {one.strategy: one.front for one in found.tunings}
    leading = list(dict.fromkeys(point.strategy for point in whole))[:DRAWN]
    shown = {name: fronts[name] for name in leading}
    late = [one.latency * 1000 for points in shown.values() for one in points]
    rough = [one.roughness for points in shown.values() for one in points]
    marks = [
        one
        for one in _marks(found, shown)
        # what is far off would leave no room for the others
        if one.late < _FAR * max(late) + 1 and one.rough < _FAR * max(rough) + 1
    ]
    axes = _Axes(
        1.05 * max([*late, *(one.late for one in marks)]) or 1.0,
        1.08 * max([*rough, *(one.rough for one in marks)]) or 1.0,
    )
    title = "What smoothness costs in latency"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img"><title>{title}</title><style>{_STYLE}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="24" class="h">{title}</text>',
        f'<text x="{_LEFT}" y="42">Roughness (what the score counts beside latency) over latency in'
        " ms; further down and to the left is better. Hollow: default, filled: tuned.</text>",
        *_grid(axes),
    ]
    for rank, (name, points) in enumerate(shown.items()):
        parts += _front(axes, rank, name, points)
    for one in marks:
        fill = "#222" if one.tuned else "#fff"
        parts.append(
            f'<circle cx="{axes.across(one.late):.1f}" cy="{axes.up(one.rough):.1f}" r="5"'
            f' fill="{fill}" stroke="#222" stroke-width="1.5">'
            f"<title>{in_markup(one.name)}</title></circle>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _marks(found: Tunings, shown: Mapping[str, object]) -> list[_Mark]:
    """Where the strategies that are shown are, by default and tuned; NaN is nowhere."""
    return [
        _Mark(
            f"{one.strategy}, {'tuned' if tuned else 'default'}",
            abs(result.value("lag")) * 1000,
            roughness(result.values, found.weights) if result.values else math.nan,
            tuned,
        )
        for one in found.tunings
        if one.strategy in shown
        for tuned, result in enumerate(one.tuned_on[:2])
    ]


def _grid(axes: _Axes) -> Iterator[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for value in nice_values(0, axes.rough, 5):
        y, name = f"{axes.up(value):.1f}", label(value, axes.rough)
        yield f'<line class="g" x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y}" dy="4" text-anchor="end">{name}</text>'
    for value in nice_values(0, axes.late, 8):
        x, name = f"{axes.across(value):.1f}", label(value, axes.late)
        yield f'<line class="g" x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{name}</text>'


def _front(axes: _Axes, rank: int, name: str, points: Sequence[FrontPoint]) -> Iterator[str]:
    style = line_style(rank)
    dashes = f' stroke-dasharray="{" ".join(map(str, style.dashes))}"' if style.dashes else ""
    places = [(axes.across(one.latency * 1000), axes.up(one.roughness)) for one in points]
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
    path += "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    yield f'<path class="f" stroke="{style.light}"{dashes} d="{path}"/>'
    for one, (x, y) in zip(points, places, strict=True):
        words = assignments(one.settings) or "the defaults"
        text = (
            f"{name} {words}: {one.latency * 1000:.0f} ms, roughness {one.roughness:.3g}, score"
            f" {one_decimal(one.score)}"
        )
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{style.light}">'
            f"<title>{in_markup(text)}</title></circle>"
        )
    yield (
        f'<text x="{places[-1][0] + 8:.1f}" y="{places[-1][1]:.1f}" dy="4"'
        f' style="fill:{style.light}">{in_markup(name)}</text>'
    )
