"""Charts in a terminal: anything over time, or a path from above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.style import Style
from rich.text import Text

from epic_cli.show.plot import PACKETS, TRUTH, Curve, choose_ticks, find_extent, plot, square_panel
from epic_cli.show.styles import PALETTE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from epic_cli.metrics.arrays import Flags, Floats
    from epic_cli.show.scene import Scene
    from epic_cli.show.styles import View


#: Letters of strategies on a terminal without color, in their order.
MARKS = "abcdefghijklmnpqrstuvwxyz"
TRUTH_STYLE, TRUTH_MARK = "bright_black", "."
PACKET_STYLE, PACKET_MARK = "bold", "o"
_KNOWN = (TRUTH_MARK, PACKET_MARK)

#: Lines in the key, by their dashes.
_SIGNS: dict[tuple[int, ...], str] = {(): "━━", (8, 4): "╍╍", (2, 4): "┅┅"}

#: Names are written beside lines in charts of this width on, this many characters of them.
_ROOM_FOR_NAMES, _LONGEST_NAME = 60, 16


class ChartLine(NamedTuple):
    """A line of a chart, or points unless ``joined``: ``across`` (n) and ``up`` (n); NaN breaks.

    ``style`` is a rich style, ``plain`` the style for sixteen colors, equal to ``style`` if empty;
    ``mark`` is one character, drawn where there are no colors. ``dashes`` are lengths of dashes and
    gaps in pixels.
    """

    label: str
    across: ArrayLike
    up: ArrayLike
    style: str
    mark: str
    joined: bool = True
    plain: str = ""
    dashes: tuple[int, ...] = ()


class Chart:
    """A chart that rich can print: braille dots on a screen with colors, otherwise letters.

    ``equal`` gives both axes the same scale, for paths from above. ``named`` writes each line's
    name where the line ends, if there is room. ``height`` is in lines, without axis and legend;
    ``width`` in characters, None for the terminal's width. Later lines are drawn above earlier
    ones.
    """

    def __init__(
        self,
        lines: Sequence[ChartLine],
        title: str = "",
        *,
        equal: bool = False,
        named: bool = False,
        height: int = 18,
        width: int | None = None,
    ) -> None:
        self.lines = lines
        self.title = title
        self.equal = equal
        self.named = named
        self.height = max(3, height)
        self.width = width

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the least and the largest width of the chart."""
        del console
        return Measurement(20, min(options.max_width, self.width or options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title, the canvas between its axes, and the legend."""
        braille = console.color_system is not None and not console.no_color
        braille = braille and not options.ascii_only
        lines = self.lines
        if console.color_system in ("standard", "windows"):
            lines = [line._replace(style=line.plain or line.style) for line in lines]
        series = [(np.asarray(line.across, float), np.asarray(line.up, float)) for line in lines]
        both = [np.isfinite(a) & np.isfinite(b) for a, b in series]
        if not any(here.any() for here in both):
            yield Text(f"nothing to draw: {self.title}" if self.title else "nothing to draw")
            return
        finite = [(a[here], b[here]) for (a, b), here in zip(series, both, strict=True)]
        left, right = find_extent(np.concatenate([a for a, _ in finite]))
        bottom, top = find_extent(np.concatenate([b for _, b in finite]))
        margin = max(len(text) for _, text in choose_ticks(bottom, top)) + 2
        room = min(options.max_width, self.width or options.max_width) - margin - 1
        longest = max((len(line.label) for line in lines if line.joined), default=0)
        # with the blank before a name
        ends = min(_LONGEST_NAME, longest) + 1 if self.named and room >= _ROOM_FOR_NAMES else 0
        width = max(10, room - ends)
        if self.equal:
            # a braille dot is about as wide as high, a character half as wide
            left, right, bottom, top = square_panel(
                left, right, bottom, top, width, 2 * self.height
            )
        canvas = Canvas(width, self.height, braille)
        for one, (a, b) in zip(lines, series, strict=True):
            share = (a - left) / (right - left), (b - bottom) / (top - bottom)
            canvas.draw(*share, one)
        if self.title:
            yield Text(self.title, style="bold")
        drawn = canvas.render_lines()
        if ends:
            _write_names(drawn, lines, series, bottom, top)
        edges = "|++-+" if options.ascii_only else "│┤└─┬"
        yield from _add_left_axis(drawn, bottom, top, margin, edges)
        yield from _draw_lower_axis(left, right, width, margin, edges)
        yield _draw_legend(lines, braille, margin)


def _add_left_axis(
    lines: list[Text], bottom: float, top: float, margin: int, edges: str
) -> Iterator[Text]:
    at = {}
    for value, text in choose_ticks(bottom, top, max(2, len(lines) // 4)):
        at[round((top - value) / (top - bottom) * (len(lines) - 1))] = text
    for row, line in enumerate(lines):
        name = at.get(row, "")
        edge = edges[1] if name else edges[0]
        yield Text.assemble((f"{name:>{margin - 1}} {edge}", "bright_black"), line)


def _draw_lower_axis(
    left: float, right: float, width: int, margin: int, edges: str
) -> Iterator[Text]:
    edge, words = [edges[3]] * width, [" "] * (width + margin + 1)
    for value, text in choose_ticks(left, right, max(2, width // 12)):
        column = round((value - left) / (right - left) * (width - 1))
        begin = min(max(0, column + margin + 1 - len(text) // 2), width + margin + 1 - len(text))
        edge[column] = edges[4]
        words[begin : begin + len(text)] = text
    yield Text(" " * margin + edges[2] + "".join(edge), style="bright_black")
    yield Text("".join(words).rstrip(), style="bright_black", no_wrap=True)


def _write_names(
    drawn: list[Text],
    lines: Sequence[ChartLine],
    series: Sequence[tuple[Floats, Floats]],
    bottom: float,
    top: float,
) -> None:
    """Write each line's name right of its last value, or in the nearest free row."""
    taken: dict[int, ChartLine] = {}
    for one, (_, values) in reversed(list(zip(lines, series, strict=True))):
        known = values[np.isfinite(values)]
        if not one.joined or not len(known):
            continue
        height = len(drawn) - 1
        row = min(max(round((top - float(known[-1])) / (top - bottom) * height), 0), height)
        free = [k for k in range(len(drawn)) if k not in taken]
        if free:
            taken[min(free, key=lambda k: (abs(k - row), k))] = one
    for row, one in taken.items():
        drawn[row].append(f" {one.label[:_LONGEST_NAME]}", one.style)


def _draw_legend(lines: Sequence[ChartLine], braille: bool, margin: int) -> Text:
    text = Text(" " * (margin + 1))
    # the truth and the packets, then the best strategy
    for part in [line for line in lines if line.mark in _KNOWN] + [
        line for line in reversed(lines) if line.mark not in _KNOWN
    ]:
        sign = (_SIGNS.get(part.dashes, "━·") if part.joined else "•") if braille else part.mark
        text.append(f"{sign} {part.label}   ", part.style)
    return text


def make_scene_chart(
    scene: Scene,
    view: View = "above",
    labels: Sequence[str] = (),
    *,
    height: int = 18,
    width: int | None = None,
) -> Chart:
    """Draw one view of a scene, from above or over time; see ``plot``."""
    shown = plot(scene, view, labels)
    # the truth above the packets
    lines = [
        make_chart_line(curve)
        for curve in sorted(shown.curves, key=lambda curve: min(curve.role, 0))
    ]
    named = not shown.equal
    return Chart(lines, shown.title, equal=shown.equal, named=named, height=height, width=width)


def make_chart_line(curve: Curve) -> ChartLine:
    """Return a curve as a chart line with the style of its role."""
    across, up = curve.places.T
    if curve.role == PACKETS:
        return ChartLine(curve.label, across, up, PACKET_STYLE, PACKET_MARK, joined=False)
    if curve.role == TRUTH:
        return ChartLine(curve.label, across, up, TRUTH_STYLE, TRUTH_MARK)
    mark = MARKS[curve.role % len(MARKS)]
    if curve.style is None:
        return ChartLine(curve.label, across, up, "bold", mark)
    color, dashes = PALETTE[curve.style.color], curve.style.dashes
    return ChartLine(curve.label, across, up, color.screen, mark, True, color.plain, dashes)


#: The dots of a braille character, by row and column, as bits of its number from U+2800.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Canvas:
    """A canvas of ``width`` x ``height`` characters.

    With ``braille`` each character has 2 x 4 dots and the style of the line drawn there last;
    otherwise it is that line's mark.
    """

    def __init__(self, width: int, height: int, braille: bool) -> None:
        self.width, self.height = width, height
        self.columns, self.rows = (2 * width, 4 * height) if braille else (width, height)
        self._braille = braille
        self._cells = np.zeros((height, width), int)
        self._owner = np.full((height, width), -1)
        self._styles: list[str] = []

    def draw(self, across: Floats, up: Floats, line: ChartLine) -> None:
        """Draw a line's points (n) at 0 to 1 across and up; NaN breaks the line."""
        column = across * (self.columns - 1)
        row = (1 - up) * (self.rows - 1)
        if line.joined and len(across) > 1:
            column, row = _fill_line_gaps(column, row)
            if line.dashes and self._braille:
                drawn = _select_dashes(len(column), line.dashes)
                column, row = column[drawn], row[drawn]
        # far outside, numbers would not fit an integer
        inside = (abs(column) < 1e6) & (abs(row) < 1e6)
        columns, rows = np.rint(column[inside]).astype(int), np.rint(row[inside]).astype(int)
        on = (columns >= 0) & (columns < self.columns) & (rows >= 0) & (rows < self.rows)
        columns, rows = columns[on], rows[on]
        self._styles.append(line.style)
        if self._braille:
            places = rows // 4, columns // 2
            np.bitwise_or.at(self._cells, places, _DOTS[rows % 4, columns % 2])
        else:
            places = rows, columns
            self._cells[places] = ord(line.mark)
        self._owner[places] = len(self._styles) - 1

    def render_lines(self) -> list[Text]:
        """Return the canvas, line by line from the top."""
        result = []
        for cells, owners in zip(self._cells, self._owner, strict=True):
            text = Text()
            for cell, owner in zip(cells, owners, strict=True):
                if not cell:
                    text.append(" ")
                else:
                    character = chr(0x2800 + cell) if self._braille else chr(cell)
                    text.append(character, Style.parse(self._styles[owner]))
            result.append(text)
        return result


def _select_dashes(count: int, dashes: tuple[int, ...]) -> Flags:
    """Return a mask (count) of the drawn dots of a dashed line; a dot is as wide as two pixels."""
    parts = np.maximum(np.array(dashes) // 2, 1)
    return np.resize(np.repeat(np.arange(len(parts)) % 2 == 0, parts), count)


def _fill_line_gaps(column: Floats, row: Floats) -> tuple[Floats, Floats]:
    """Add points between the points of a line, so close that each dot of the line has one."""
    apart = np.maximum(abs(np.diff(column)), abs(np.diff(row)))
    # a line that leaves the canvas by miles is not followed dot by dot
    counts = np.where(np.isfinite(apart), np.clip(np.ceil(apart), 1, 2000), 1).astype(int)
    index = np.repeat(np.arange(len(counts)), counts)
    begin = np.cumsum(counts) - counts
    share = (np.arange(counts.sum()) - begin[index]) / counts[index]

    def interpolate_between(values: Floats) -> Floats:
        broken = ~np.isfinite(apart)
        steps = np.where(broken, 0.0, np.nan_to_num(np.diff(values)))
        return np.append(values[index] + share * steps[index], values[-1])

    return interpolate_between(column), interpolate_between(row)
