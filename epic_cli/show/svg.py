"""A picture of one scene as SVG: the path from above, and errors and angles over time.

The same scene gives the same bytes, whenever and wherever it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from epic_cli.metrics.comparison import Result
from epic_cli.metrics.digits import three_digits
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.metrics.turns import headings
from epic_cli.show.chart import extent, label, nice_values
from epic_cli.show.documents import in_markup
from epic_cli.show.scene import Scene, StrategyTrace, chosen_of, ground_axes, scene_words
from epic_cli.show.styles import line_style

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


WIDTH, HEIGHT = 960, 640

#: The chart of angles, where the recording has rotation, makes it so much higher.
_ANGLE = 176

#: Pixels from one mark of a heading to the next on a line; the length of such a dart.
_DARTS, _DART = 36.0, 8.0

#: Names beside lines are this many pixels high; entries of the key this far apart have figures.
_NAME_HEIGHT, _FIGURES = 13.0, 34

_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#444}"
    ".h{font-size:14px;font-weight:600;fill:#222}"
    ".g{stroke:#e3e3e3;stroke-width:1}.t{fill:none;stroke:#9a9a9a;stroke-width:5;"
    "stroke-linecap:round;stroke-linejoin:round;opacity:.55}"
    ".d{fill:none;stroke-width:1.6;stroke-linejoin:round}.n{font-size:11px;paint-order:stroke;"
    "stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
)


_Value = TypeVar("_Value", float, "Floats")


class Panel(NamedTuple):
    """A rectangle of the picture and the values that its edges stand for."""

    x: float
    y: float
    width: float
    height: float
    left: float
    right: float
    bottom: float
    top: float

    def across(self, value: _Value) -> _Value:
        """Where a value is, in pixels from the left."""
        return self.x + (value - self.left) / (self.right - self.left) * self.width

    def up(self, value: _Value) -> _Value:
        """Where a value is, in pixels from the top."""
        return self.y + (self.top - value) / (self.top - self.bottom) * self.height

    def place(self, across: Floats, up: Floats) -> tuple[Floats, Floats]:
        """Points in pixels."""
        return self.across(across), self.up(up)


def picture(scene: Scene, labels: Sequence[str] = ()) -> str:
    """The picture as the text of an SVG file; ``labels`` chooses strategies, the best one first.

    Without labels, all are drawn. Lines are drawn above the packets, the first strategy's above
    the others; each has its name at its end. Figures are those of all rows.

    Raises ``NothingToDraw`` where the scene holds nothing to draw.
    """
    chosen = chosen_of(scene, labels)
    name = f"{scene.entity}: " if scene.entity else ""
    high = HEIGHT
    errors = [(index, one, one.errors) for index, one in chosen]
    panels = [*_above(scene, chosen, name), *_over_time(scene, errors, f"{name}error (lengths)")]
    words = scene_words(scene, [one.label for _, one in reversed(chosen)])
    described = f"{words['above']} {words['error']}"
    if scene.rotations is not None:
        high += _ANGLE
        angles = [(index, one, one.angles) for index, one in chosen if one.angles is not None]
        title = f"{name}angle (degrees from the true rotation)"
        panels += _over_time(scene, angles, title, _ANGLE)
        described += f" {words['angle']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}"'
        f' height="{high}" role="img" aria-labelledby="t d">'
        f'<title id="t">{in_markup(name)}what each strategy draws</title>'
        f'<desc id="d">{in_markup(described)}</desc>'
        f"<style>{_STYLE}</style>"
        f'<rect width="{WIDTH}" height="{high}" rx="8" fill="#fff"/>',
        *panels,
        *_legend(chosen[::-1]),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _above(scene: Scene, chosen: Sequence[tuple[int, StrategyTrace]], name: str) -> Iterator[str]:
    a, b = ground_axes(scene)
    seen = np.concatenate([scene.truth, scene.packets, *(one.positions for _, one in chosen)])
    left, right = _range(seen[:, a])
    bottom, top = _range(seen[:, b])
    width, height = 640.0, 380.0
    # the same scale on both axes
    scale = max((right - left) / width, (top - bottom) / height) * 1.04
    across, up = (left + right) / 2, (bottom + top) / 2
    beside, above = scale * width / 2, scale * height / 2
    edges = across - beside, across + beside, up - above, up + above
    panel = Panel(56, 44, width, height, *edges)
    yield _text(56, 28, f"{name}from above, {'xyz'[b]} over {'xyz'[a]} (lengths)", "h")
    yield from _grid(panel)
    yield f'<path class="t" d="{_path(*panel.place(scene.truth[:, a], scene.truth[:, b]))}"/>'
    yield from _darts(panel, scene.truth, scene.rotations, (a, b), "#666")
    x, y = panel.place(scene.packets[:, a], scene.packets[:, b])
    dots = "".join(f"M{_n(p)} {_n(q)}h0" for p, q in _thin(x, y, 2.0))
    yield f'<path d="{dots}" stroke="#333" stroke-width="3.2" stroke-linecap="round"/>'
    ends = []
    for index, one in chosen:
        place = panel.place(one.positions[:, a], one.positions[:, b])
        yield f'<path class="d" {_stroke(index)} d="{_path(*place)}"/>'
        yield from _darts(panel, one.positions, one.rotations, (a, b), line_style(index).light)
        ends.append((index, one.label, *_end(*place)))
    yield from _names(ends, panel)


def _darts(
    panel: Panel, positions: Floats, rotations: Floats | None, plane: tuple[int, int], color: str
) -> Iterator[str]:
    """Where it heads along a line: darts, foreshortened where it looks up or down."""
    if rotations is None:
        return
    x, y = panel.place(*positions[:, plane].T)
    seen = headings(rotations, plane)
    shapes, last, taken = [], (math.inf, math.inf), set()
    seen *= (_DART, -_DART)
    for p, q, u, v in np.column_stack((x, y, seen))[np.isfinite(x + seen[:, 0])].tolist():
        cell = round(p / _DARTS), round(q / _DARTS)  # where it has been before, there is one
        if math.dist((p, q), last) < _DARTS or cell in taken or not u * u + v * v > 0:
            continue
        taken.add(cell)
        last, wide = (p, q), 0.4 * _DART / math.hypot(u, v)
        corners = ((u, v), (-0.8 * u - wide * v, -0.8 * v + wide * u),
                   (-0.35 * u, -0.35 * v), (-0.8 * u + wide * v, -0.8 * v - wide * u))  # fmt: skip
        shapes.append(f"M{'L'.join(f'{_n(p + a)} {_n(q + b)}' for a, b in corners)}Z")
    if shapes:
        yield f'<path fill="{color}" stroke="#fff" stroke-width=".6" d="{"".join(shapes)}"/>'


def _over_time(
    scene: Scene, chosen: Sequence[tuple[int, StrategyTrace, Floats]], title: str, down: int = 0
) -> Iterator[str]:
    """The series of each that was chosen; ``down`` pixels below the first chart."""
    known = [one for _, _, one in chosen if np.isfinite(one).any()]
    top = max((_range(one)[1] for one in known), default=1.0)
    start, end = _range(scene.times)
    panel = Panel(56, 488 + down, WIDTH - 56 - 130, 112, start, end, 0.0, top * 1.05 or 1.0)
    yield _text(56, 472 + down, f"{title} over time (s)", "h")
    yield from _grid(panel)
    ends = []
    for index, one, series in chosen:
        place = panel.place(*largest_of_each(one.times, series, 880))
        yield f'<path class="d" {_stroke(index)} d="{_path(*place)}"/>'
        ends.append((index, one.label, panel.x + panel.width, _end(*place)[1]))
    yield from _names(ends, panel)


def _end(x: Floats, y: Floats) -> tuple[float, float]:
    """The last place that is known, NaN: none is."""
    known = np.flatnonzero(np.isfinite(x + y))
    return (float(x[known[-1]]), float(y[known[-1]])) if len(known) else (math.nan, math.nan)


def _names(ends: Sequence[tuple[int, str, float, float]], panel: Panel) -> Iterator[str]:
    """Names at the ends of their lines, pushed apart: the best has one, and what stands alone."""
    room = int(panel.height // _NAME_HEIGHT)
    left = [one for one in reversed(ends) if math.isfinite(one[3])]
    known: list[tuple[int, str, float, float]] = []
    while left and len(known) < room:
        far = [min((math.dist(one[2:], other[2:]) for other in known), default=0) for one in left]
        known.append(left.pop(far.index(max(far))))
    known.sort(key=lambda one: (one[3], one[0]))
    floor, ceiling = panel.y + _NAME_HEIGHT / 2, panel.y + panel.height - _NAME_HEIGHT / 2
    heights: list[float] = []
    for _, _, _, y in known:
        heights.append(max(floor, min(y, ceiling)))
        floor = heights[-1] + _NAME_HEIGHT
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], ceiling)
        ceiling = heights[number] - _NAME_HEIGHT
    for (index, called, x, y), height in zip(known, heights, strict=True):
        color = line_style(index).light
        if abs(height - y) > 3:
            yield f'<path d="M{_n(x + 1)} {_n(y)}L{_n(x + 7)} {_n(height)}" stroke="{color}"/>'
        words = called if len(called) <= 17 else called[:16] + "…"
        yield (
            f'<text class="n" x="{_n(x + 9)}" y="{_n(height + 4)}" style="fill:{color}">'
            f"{in_markup(words)}</text>"
        )


def largest_of_each(times: Floats, values: Floats, most: int) -> tuple[Floats, Floats]:
    """A series of at most ``most`` values, each the largest of as many neighbours as it takes."""
    size = max(1, -(-len(values) // most))
    ends = np.arange(0, len(values), size)
    filled = np.where(np.isnan(values), -np.inf, values)
    largest = np.maximum.reduceat(filled, ends) if len(values) else filled
    return times[ends], np.where(np.isinf(largest), np.nan, largest)


def _legend(chosen: Sequence[tuple[int, StrategyTrace]]) -> Iterator[str]:
    x, y = 720, 56
    yield (
        f'<path d="M{x} {y}h22" stroke="#9a9a9a" stroke-width="5" opacity=".55"'
        ' stroke-linecap="round"/>'
    )
    yield _text(x + 32, y + 4, "truth")
    yield f'<circle cx="{x + 11}" cy="{y + 22}" r="2" fill="#333"/>' + _text(
        x + 32, y + 26, "packets"
    )
    apart = min(40, 360 // max(len(chosen), 1))
    for row, (index, one) in enumerate(chosen):
        height = y + 54 + apart * row
        known = one.errors[np.isfinite(one.errors)]
        yield f'<path d="M{x} {height}h22" {_stroke(index)} stroke-width="3"/>'
        shown = one.label if len(one.label) <= 30 else one.label[:29] + "…"
        yield _text(x + 32, height + 4, shown, "h")
        if len(known) and apart >= _FIGURES:
            error = f"error {three_digits(one.rms)} (RMS), {three_digits(known.max())} at most"
            yield _text(x + 32, height + 20, error)


def _grid(panel: Panel) -> Iterator[str]:
    for value in nice_values(panel.left, panel.right, max(2, round(panel.width / 90))):
        x = _n(panel.across(value))
        yield f'<path class="g" d="M{x} {_n(panel.y)}v{_n(panel.height)}"/>'
        text = label(value, panel.right - panel.left)
        yield _text(x, panel.y + panel.height + 16, text, anchor="middle")
    for value in nice_values(panel.bottom, panel.top, max(2, round(panel.height / 50))):
        y = panel.up(value)
        yield f'<path class="g" d="M{_n(panel.x)} {_n(y)}h{_n(panel.width)}"/>'
        text = label(value, panel.top - panel.bottom)
        yield _text(panel.x - 6, y + 4, text, anchor="end")


def _range(values: Floats) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not len(known):
        raise NothingToDraw
    return extent(known)


def _path(x: Floats, y: Floats) -> str:
    """Moves and lines through the points; NaN breaks them, points too near to see are left out."""
    parts: list[str] = []
    known = np.isfinite(x + y)
    for rows in np.split(np.arange(len(x)), np.flatnonzero(~known)):
        run = rows[known[rows]]
        if len(run):
            near = _thin(x[run], y[run], 0.5)
            parts.append("M" + "L".join(f"{_n(p)} {_n(q)}" for p, q in near))
    return "".join(parts)


def _thin(x: Floats, y: Floats, apart: float) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for p, q in zip(x.tolist(), y.tolist(), strict=True):
        if not kept or abs(p - kept[-1][0]) + abs(q - kept[-1][1]) >= apart:
            kept.append((p, q))
    return kept


def _text(x: float | str, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    extra = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    place = x if isinstance(x, str) else _n(x)
    return f'<text x="{place}" y="{_n(y)}"{extra}>{in_markup(text)}</text>'


def _n(value: float) -> str:
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _stroke(rank: int) -> str:
    style = line_style(rank)
    dashes = " ".join(map(str, style.dashes))
    return f'stroke="{style.light}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


#: Pixels: of a row, of all scores, and of a letter.
_ROW, _FULL, _LETTER = 17, 220, 6.6


def scores_picture(results: Sequence[Result], most: int | None = None) -> str:
    """A row for each result with a score, the best first, ``most`` at most; empty: none has one.

    A dot is a score, the line through it its interval. Full dots are joined: none of these is
    clearly worse than the best.
    """
    scored = sorted(
        (one for one in results if not math.isnan(one.value("score"))),
        key=lambda one: -one.value("score"),
    )[:most]
    if not scored:
        return ""
    ends = [[score if math.isnan(end) else end for end in one.interval("score")]
            for one in scored for score in (one.value("score"),)]  # fmt: skip
    least, largest = min(low for low, _ in ends), max(high for _, high in ends)
    low, high = 10 * math.floor(least / 10), max(10 * math.ceil(largest / 10), 10)
    names = round(_LETTER * max(len(one.label) for one in scored)) + 14
    height, width = _ROW * len(scored) + 18, names + _FULL + 34

    def across(value: float) -> float:
        return names + _FULL * (value - low) / (high - low or 1)

    rows = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}"'
        ' role="img" font-family="sans-serif" font-size="12" fill="currentColor"'
        ' stroke-width="2"><title>Scores</title><g stroke="#888" stroke-opacity=".35">'
    ]
    ticks = nice_values(low, high, 5)
    rows += [f'<path d="M{across(tick):.1f} 2V{height - 16}" stroke-width="1"/>' for tick in ticks]
    rows.append("</g>")
    rows += [
        f'<text x="{across(tick):.1f}" y="{height - 4}" text-anchor="middle" font-size="10">'
        f"{tick:g}</text>"
        for tick in ticks
    ]
    tied = [row for row, one in enumerate(scored) if one.rank == 1]
    if len(tied) > 1:
        way = "L".join(f"{across(scored[k].value('score')):.1f} {_ROW * k + 10}" for k in tied)
        rows.append(f'<path d="M{way}" stroke="currentColor" stroke-opacity=".5" fill="none"/>')
    for row, (one, (left, right)) in enumerate(zip(scored, ends, strict=True)):
        y, score, full = _ROW * row + 10, one.value("score"), int(row in tied)
        rows.append(
            f'<text x="{names - 10}" y="{y + 4}" text-anchor="end">{in_markup(one.label)}</text>'
            f'<path d="M{across(left):.1f} {y}H{across(right):.1f}" stroke="#8a8a8a"/>'
            f'<circle cx="{across(score):.1f}" cy="{y}" r="4" stroke="currentColor"'
            f' fill-opacity="{full}"/>'
            f'<text x="{names + _FULL + 8}" y="{y + 4}">{score:.0f}</text>'
        )
    return "".join([*rows, "</svg>"])
