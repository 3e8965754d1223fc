"""A picture of one scene as SVG: the path from above, and errors and angles over time.

The same scene gives the same bytes, whenever and wherever it is drawn.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.comparison import Result
from epic_cli.metrics.digits import format_three_digits
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.show.documents import escape_markup
from epic_cli.show.plot import (
    PACKETS,
    TRUTH,
    Curve,
    Dot,
    Panel,
    Plot,
    choose_ticks,
    draw_dart,
    find_extent,
    find_largest,
    iterate_unbroken,
    plot,
    spread,
    square_panel,
)
from epic_cli.show.scene import Scene, StrategyTrace, describe_scene, select_chosen
from epic_cli.show.styles import LineStyle, choose_line_styles

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


WIDTH, HEIGHT = 960, 640

#: The chart of angles, where the recording has rotation, makes it so much higher.
_ANGLE = 176

#: Pixels from one mark of a heading to the next on a line; the length of such a dart.
_DARTS, _DART = 36.0, 8.0

#: Names beside lines are this many pixels high; entries of the key this far apart have values.
_NAME_HEIGHT, _FIGURES = 13.0, 34

#: Pixels of a letter of the text, at most.
_SIGN = 6.6

_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#444}"
    ".h{font-size:14px;font-weight:600;fill:#222}"
    ".g{stroke:#e3e3e3;stroke-width:1}.t{fill:none;stroke:#9a9a9a;stroke-width:5;"
    "stroke-linecap:round;stroke-linejoin:round;opacity:.55}"
    ".d{fill:none;stroke-width:1.6;stroke-linejoin:round}.n{font-size:11px;paint-order:stroke;"
    "stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
)


def draw_picture(scene: Scene, labels: Sequence[str] = (), of: str = "") -> str:
    """Return a scene as the text of an SVG file.

    ``labels`` chooses strategies, the best one first; none stands for all. Lines are drawn above
    the packets, the first strategy's above the others; each has its name at its end. ``of`` names
    the recording or network of the values, if there are several.

    Raises ``NothingToDraw`` if the scene holds nothing to draw.
    """
    chosen = select_chosen(scene, labels)
    name = f"{scene.entity}: " if scene.entity else ""
    span, path = _find_range(scene.times), plot(scene, "above", labels)
    panel = _make_map_panel(path)
    key = 134 + _measure_key_spacing(len(chosen)) * (len(chosen) - 1)
    down = max(math.ceil(panel.y + panel.height), key) - 424  # from where it is below a high map
    high = HEIGHT + down
    panels = [
        *_draw_map(path, panel, scene.unit),
        *_draw_time_chart(plot(scene, "error", labels), span, down),
    ]
    words = describe_scene(scene, [one.label for _, one in reversed(chosen)])
    described = f"{words['above']} {words['error']}"
    if scene.rotations is not None:
        high += _ANGLE
        panels += _draw_time_chart(plot(scene, "angle", labels), span, down + _ANGLE)
        described += f" {words['angle']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}"'
        f' height="{high}" role="img" aria-labelledby="t d">'
        f'<title id="t">{escape_markup(name)}what each strategy draws</title>'
        f'<desc id="d">{escape_markup(described)}</desc>'
        f"<style>{_STYLE}</style>"
        f'<rect width="{WIDTH}" height="{high}" rx="8" fill="#fff"/>',
        *panels,
        *_draw_legend(scene, [one for _, one in reversed(chosen)], of),
        "</svg>\n",
    ]
    return "\n".join(parts)


#: Left edge of the key, in pixels.
_KEY = 720

#: At most so large is the map, in pixels, and so much longer than the path an axis of it.
_MAP = 640.0, 380.0
_LONGER = 1.7, 1.15


def _make_map_panel(shown: Plot) -> Panel:
    """Return the panel of the path from above, with one scale for both axes, as low as fits."""
    seen = np.concatenate([curve.places for curve in shown.curves])
    left, right = _find_range(seen[:, 0])
    bottom, top = _find_range(seen[:, 1])
    scale = max((right - left) / _MAP[0], (top - bottom) / _MAP[1])
    sides = right - left, top - bottom
    width, height = (
        min(most, max(most / 4, longer * side / scale))
        for most, longer, side in zip(_MAP, _LONGER, sides, strict=True)
    )
    edges = square_panel(left, right, bottom, top, width, height)
    # a little room around
    across, up = 0.02 * (edges[1] - edges[0]), 0.02 * (edges[3] - edges[2])
    edges = edges[0] - across, edges[1] + across, edges[2] - up, edges[3] + up
    return Panel(56, 44, width, height, *edges)


def _draw_map(shown: Plot, panel: Panel, unit: str) -> Iterator[str]:
    yield _draw_text(56, 28, f"{shown.title} ({unit})", "h")
    yield from _draw_grid(panel)
    ends = []
    for curve in shown.curves:
        places = panel.place_points(curve.places)
        if curve.role == PACKETS:
            dots = "".join(
                f"M{_write_number(x)} {_write_number(y)}h0" for x, y in _thin_points(places, 2.0)
            )
            yield f'<path d="{dots}" stroke="#333" stroke-width="3.2" stroke-linecap="round"/>'
        elif curve.role == TRUTH:
            yield f'<path class="t" d="{_write_path(places)}"/>'
            yield from _draw_darts(places, curve.headings, "#666")
        else:
            yield _draw_line(curve, places)
            yield from _draw_darts(places, curve.headings, _choose_line_color(curve.style))
            ends.append(
                _LineName(curve.label, _choose_line_color(curve.style), *_find_line_end(places))
            )
    yield from _draw_names(ends, panel, _KEY - 10)


def _draw_darts(places: Floats, headings: Floats | None, color: str) -> Iterator[str]:
    """Yield SVG of darts for headings along a line, shorter for a look up or down."""
    if headings is None:
        return
    shapes, last, taken = [], (math.inf, math.inf), set()
    rows = np.column_stack((places, headings * (_DART, -_DART)))
    for x, y, across, up in rows[np.isfinite(rows[:, 0] + rows[:, 2])].tolist():
        cell = round(x / _DARTS), round(y / _DARTS)  # where it has been before, there is one
        if math.dist((x, y), last) < _DARTS or cell in taken or not across**2 + up**2 > 0:
            continue
        taken.add(cell)
        last = x, y
        corners = np.add(draw_dart(across, up, 0.4 * _DART, 0.8, 0.35), (x, y))
        shapes.append(
            f"M{'L'.join(f'{_write_number(p)} {_write_number(q)}' for p, q in corners.tolist())}Z"
        )
    if shapes:
        yield f'<path fill="{color}" stroke="#fff" stroke-width=".6" d="{"".join(shapes)}"/>'


def _draw_time_chart(shown: Plot, span: tuple[float, float], down: int = 0) -> Iterator[str]:
    """Yield SVG of curves over a ``span`` of time (s), ``down`` pixels below the first chart."""
    known = [one for curve in shown.curves if np.isfinite(one := curve.places[:, 1]).any()]
    top = max((_find_range(values)[1] for values in known), default=1.0)
    panel = Panel(56, 488 + down, WIDTH - 56 - 130, 112, *span, 0.0, top * 1.05 or 1.0)
    yield _draw_text(56, 472 + down, shown.title, "h")
    yield from _draw_grid(panel)
    ends = []
    for curve in shown.curves:
        places = panel.place_points(
            np.column_stack(find_largest(curve.times, curve.places[:, 1], 880))
        )
        yield _draw_line(curve, places)
        right = panel.x + panel.width
        ends.append(
            _LineName(
                curve.label, _choose_line_color(curve.style), right, _find_line_end(places)[1]
            )
        )
    yield from _draw_names(ends, panel)


#: Width of a picture below which names and numbers get less room.
_NARROW = 600


def draw_curves_picture(
    shown: Plot, dots: Sequence[Dot], note: str, width: int | None = None
) -> str:
    """Return curves and dots over axes as the text of an SVG file, ``width`` pixels wide.

    The upward axis begins at 0, the other one at 0 or near the first value. A dot shows its words
    where the pointer rests on it; ``note`` stands below the title. Raises ``NothingToDraw`` without
    curves.
    """
    wide = width or WIDTH
    left_room, right_room, height = (70, 170, 360) if wide > _NARROW else (40, 110, 260)
    if not shown.curves:
        raise NothingToDraw
    places = np.array([(dot.across, dot.up) for dot in dots])
    seen = np.concatenate([places, *(curve.places for curve in shown.curves)])
    (left, _), (right, top) = seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
    around = 0.05 * (right - left)
    # from 0 where that takes little room
    edges = (left - around if left > right / 3 else 0.0), right + around or 1.0
    lines = textwrap.wrap(note, int((wide - left_room) / _SIGN))
    head = 42 + 16 * len(lines)
    panel = Panel(
        left_room, head, wide - left_room - right_room, height, *edges, 0.0, 1.08 * top or 1.0
    )
    high = head + height + 60
    title = escape_markup(shown.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}"'
        f' height="{high}" role="img"><title>{title}</title><style>{_STYLE}</style>'
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        _draw_text(panel.x, 24, shown.title, "h"),
        *(_draw_text(panel.x, 42 + 16 * row, line) for row, line in enumerate(lines)),
        *_draw_grid(panel),
    ]
    ends = []
    for curve in shown.curves:
        way = panel.place_points(curve.places)
        parts.append(_draw_line(curve, way))
        ends.append(_LineName(curve.label, _choose_line_color(curve.style), *_find_line_end(way)))
    for dot, (x, y) in zip(dots, panel.place_points(places).tolist(), strict=True):
        color = _choose_line_color(dot.style)
        size, fill = (5, color if dot.full else "#fff") if dot.style is None else (3, color)
        parts.append(
            f'<circle cx="{_write_number(x)}" cy="{_write_number(y)}" r="{size}"'
            f' fill="{fill}" stroke="{color}">'
            f"<title>{escape_markup(dot.words)}</title></circle>"
        )
    return "\n".join([*parts, *_draw_names(ends, panel), "</svg>\n"])


def _find_line_end(places: Floats) -> tuple[float, float]:
    """Return the last known place of a line, NaN if there is none."""
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    return tuple(places[known[-1]].tolist()) if len(known) else (math.nan, math.nan)


class _LineName(NamedTuple):
    """A name to be written at the end of its line."""

    words: str
    color: str
    x: float
    y: float


def _draw_names(ends: Sequence[_LineName], panel: Panel, right: float = math.inf) -> Iterator[str]:
    """Yield SVG of names at the ends of their lines, pushed apart, as many as fit.

    The best strategy always has a name, then the lines that end far from the others. A name that
    would go beyond ``right`` stands left of its line's end.
    """
    room = int(panel.height // _NAME_HEIGHT)
    left = [end for end in reversed(ends) if math.isfinite(end.y)]
    known: list[_LineName] = []
    while left and len(known) < room:
        far = [min((math.dist(row[2:], other[2:]) for other in known), default=0) for row in left]
        known.append(left.pop(far.index(max(far))))
    known.sort(key=lambda one: (one.y, ends.index(one)))
    low, high = panel.y + _NAME_HEIGHT / 2, panel.y + panel.height - _NAME_HEIGHT / 2
    heights = spread([name.y for name in known], _NAME_HEIGHT, low, high)
    for (called, color, x, y), height in zip(known, heights, strict=True):
        words = called if len(called) <= 17 else called[:16] + "…"
        before = x + 9 + _SIGN * len(words) > right
        side, anchor = (-1, ' text-anchor="end"') if before else (1, "")
        if abs(height - y) > 3:
            line = (
                f"M{_write_number(x + side)} {_write_number(y)}"
                f"L{_write_number(x + 7 * side)} {_write_number(height)}"
            )
            yield f'<path d="{line}" stroke="{color}"/>'
        yield (
            f'<text class="n" x="{_write_number(x + 9 * side)}" y="{_write_number(height + 4)}"'
            f'{anchor} style="fill:{color}">'
            f"{escape_markup(words)}</text>"
        )


def _measure_key_spacing(entries: int) -> int:
    """Return the distance (pixels) between entries of the key."""
    return min(40, 360 // max(entries, 1))


def _draw_legend(scene: Scene, chosen: Sequence[StrategyTrace], of: str) -> Iterator[str]:
    x, y = _KEY, 56
    if of:
        yield _draw_text(x, 28, f"Of {of}:")
    styles = choose_line_styles(trace.label for trace in scene.drawn)
    yield (
        f'<path d="M{x} {y}h22" stroke="#9a9a9a" stroke-width="5" opacity=".55"'
        ' stroke-linecap="round"/>'
    )
    yield _draw_text(x + 32, y + 4, "truth")
    yield f'<circle cx="{x + 11}" cy="{y + 22}" r="2" fill="#333"/>' + _draw_text(
        x + 32, y + 26, "packets"
    )
    apart = _measure_key_spacing(len(chosen))
    for row, one in enumerate(chosen):
        height = y + 54 + apart * row
        known = one.errors[np.isfinite(one.errors)]
        yield f'<path d="M{x} {height}h22" {_write_stroke(styles[one.label])} stroke-width="3"/>'
        shown = one.label if len(one.label) <= 30 else one.label[:29] + "…"
        yield _draw_text(x + 32, height + 4, shown, "h")
        if len(known) and apart >= _FIGURES:
            error = (
                f"error {format_three_digits(one.rms)} (RMS),"
                f" {format_three_digits(known.max())} at most"
            )
            yield _draw_text(x + 32, height + 20, error)


def _draw_grid(panel: Panel) -> Iterator[str]:
    for value, text in choose_ticks(panel.left, panel.right, max(3, round(panel.width / 90))):
        x = _write_number(panel.place_across(value))
        yield f'<path class="g" d="M{x} {_write_number(panel.y)}v{_write_number(panel.height)}"/>'
        yield _draw_text(x, panel.y + panel.height + 16, text, anchor="middle")
    for value, text in choose_ticks(panel.bottom, panel.top, max(4, round(panel.height / 50))):
        y = panel.place_up(value)
        line = f"M{_write_number(panel.x)} {_write_number(y)}h{_write_number(panel.width)}"
        yield f'<path class="g" d="{line}"/>'
        yield _draw_text(panel.x - 6, y + 4, text, anchor="end")


def _find_range(values: Floats) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not len(known):
        raise NothingToDraw
    return find_extent(known)


def _write_path(places: Floats) -> str:
    """Return SVG path data through the points.

    NaN breaks it, points too close to see are left out.
    """
    runs = (_thin_points(places[run], 0.5) for run in iterate_unbroken(places.sum(axis=1)))
    return "".join(
        "M" + "L".join(f"{_write_number(x)} {_write_number(y)}" for x, y in run) for run in runs
    )


def _thin_points(places: Floats, apart: float) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for x, y in places.tolist():
        if not kept or abs(x - kept[-1][0]) + abs(y - kept[-1][1]) >= apart:
            kept.append((x, y))
    return kept


def _draw_text(x: float | str, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    extra = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    place = x if isinstance(x, str) else _write_number(x)
    return f'<text x="{place}" y="{_write_number(y)}"{extra}>{escape_markup(text)}</text>'


def _write_number(value: float) -> str:
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _draw_line(curve: Curve, places: Floats) -> str:
    return f'<path class="d" {_write_stroke(curve.style)} d="{_write_path(places)}"/>'


def _choose_line_color(style: LineStyle | None) -> str:
    return "#222" if style is None else style.light


def _write_stroke(style: LineStyle | None) -> str:
    dashes = " ".join(map(str, () if style is None else style.dashes))
    return f'stroke="{_choose_line_color(style)}"' + (
        f' stroke-dasharray="{dashes}"' if dashes else ""
    )


#: Pixels: of a row, of all scores, and of a letter.
_ROW, _FULL, _LETTER = 17, 220, 7.6


def draw_scores_picture(results: Sequence[Result], most: int | None = None) -> str:
    """Return an SVG picture of the scores and intervals of at most ``most`` results.

    Empty if no result has a score. Full dots are joined: none of them is clearly worse than the
    best. Without intervals no dot is full.
    """
    scored = [result for result in results if not math.isnan(result.value("score"))][:most]
    if not scored:
        return ""
    ends = [[score if math.isnan(end) else end for end in result.interval("score")]
            for result in scored for score in (result.value("score"),)]  # fmt: skip
    least, largest = min(low for low, _ in ends), max(high for _, high in ends)
    low, high = 10 * math.floor(least / 10), max(10 * math.ceil(largest / 10), 10)
    names = round(_LETTER * max(len(result.label) for result in scored)) + 14
    height, width = _ROW * len(scored) + 18, names + _FULL + 34

    def place_across(value: float) -> float:
        return names + _FULL * (value - low) / (high - low or 1)

    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        ' role="img" font-family="sans-serif" font-size="12" fill="currentColor"'
        ' stroke-width="2"><title>Scores</title><g stroke="#888" stroke-opacity=".35">'
    ]
    marks = choose_ticks(low, high)
    rows += [
        f'<path d="M{place_across(tick):.1f} 2V{height - 16}" stroke-width="1"/>'
        for tick, _ in marks
    ]
    rows.append("</g>")
    rows += [
        f'<text x="{place_across(tick):.1f}" y="{height - 4}" text-anchor="middle" font-size="10">'
        f"{tick:g}</text>"
        for tick, _ in marks
    ]
    # without intervals, that none is clearly better says nothing
    told = any(row.standing.gap and not math.isnan(row.standing.gap.low) for row in scored)
    tied = [row for row, one in enumerate(scored) if told and one.rank == 1]
    if len(tied) > 1:
        way = "L".join(
            f"{place_across(scored[k].value('score')):.1f} {_ROW * k + 10}" for k in tied
        )
        rows.append(f'<path d="M{way}" stroke="currentColor" stroke-opacity=".5" fill="none"/>')
    for row, (one, (left, right)) in enumerate(zip(scored, ends, strict=True)):
        y, score, full = _ROW * row + 10, one.value("score"), int(row in tied)
        label = escape_markup(one.label)
        rows.append(
            f'<text x="{names - 10}" y="{y + 4}" text-anchor="end">{label}</text>'
            f'<path d="M{place_across(left):.1f} {y}H{place_across(right):.1f}" stroke="#8a8a8a"/>'
            f'<circle cx="{place_across(score):.1f}" cy="{y}" r="4" stroke="currentColor"'
            f' fill-opacity="{full}"/>'
            f'<text x="{names + _FULL + 8}" y="{y + 4}">{score:.0f}</text>'
        )
    return "".join([*rows, "</svg>"])
