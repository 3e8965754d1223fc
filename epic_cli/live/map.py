"""The map on the terminal: a part of the world with received and drawn entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.text.widths import cut, printable, width
from epic_cli.metrics.turns import project_headings
from epic_cli.show.full_screen import ASCII_FRAME, UNICODE_FRAME, Cells, Lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.live.model import Floats, History, Integers, Points, RunningGame


#: Two of the three axes: across, and up.
PLANES = ((0, 1), (0, 2), (2, 1))
_NAMES = {(0, 1): "xy", (0, 2): "xz", (2, 1): "zy"}

#: The height of a cell, relative to its width.
HEIGHT = 2.0

_ZOOM = 1.25

#: Shares of the map: a step of the view, and the margin around fitted positions.
_PAN, _MARGIN = 0.2, 0.1

#: The map is fitted again when positions take less than this share of it.
_TOO_SMALL = 0.4


class Viewport:
    """The part of the world on the map: all entities, until the user moves or zooms the view.

    The plane is the one with the most movement, unless the user chooses one.
    """

    def __init__(self) -> None:
        self.plane = PLANES[0]
        self._chosen_plane = False
        self._fits = True
        self._center: Floats | None = None
        self._cell = 1.0  # the width of a cell in length units
        self._size = (1, 1)

    @property
    def name(self) -> str:
        """The name of the shown plane: ``xy``, ``xz`` or ``zy``."""
        return _NAMES[self.plane]

    @property
    def width(self) -> float:
        """The width of the map in length units."""
        return self._cell * self._size[0]

    def turn(self) -> None:
        """Show the world in the next plane of two axes."""
        self.plane = PLANES[(PLANES.index(self.plane) + 1) % len(PLANES)]
        self._chosen_plane = True
        self.fit()

    def fit(self) -> None:
        """Show all entities again, after moving or zooming."""
        self._fits, self._center = True, None

    def zoom(self, inwards: bool) -> None:
        """Zoom in or out around the center."""
        self._fits = False
        self._cell *= 1 / _ZOOM if inwards else _ZOOM
        self._cell = min(max(self._cell, 1e-9), 1e30)

    def pan_view(self, across: int, up: int) -> None:
        """Move the view by a fraction of its size."""
        self._fits = False
        if self._center is not None:
            columns, lines = self._size
            step = np.array([across * columns, up * lines * HEIGHT])
            self._center = self._center + _PAN * self._cell * step

    def look(
        self, size: tuple[int, int], positions: Floats, followed: Floats | None = None
    ) -> None:
        """Set the map's size in cells, and its view so that the positions (n, 3) fit.

        With ``followed`` (3) the view is centered on that position.
        """
        resized, self._size = size != self._size, size
        positions = positions[np.isfinite(positions).all(axis=1)]
        if len(positions):
            low, high = positions.min(axis=0), positions.max(axis=0)
            if self._fits and not self._chosen_plane:
                self._choose_plane(high - low)
            across = list(self.plane)
            if self._fits and (
                self._center is None or resized or not self._contains_box(low[across], high[across])
            ):
                self._fit_box(low[across], high[across])
        if followed is not None and np.isfinite(followed).all():
            self._center = followed[list(self.plane)]

    def _choose_plane(self, extent: Floats) -> None:
        left_out = 3 - sum(self.plane)
        least = 2 - int(np.argmin(extent[::-1]))  # the last of equal ones
        if extent[left_out] > 1.5 * extent[least]:
            self.plane = next(plane for plane in PLANES if least not in plane)
            self._center = None

    def _contains_box(self, low: Floats, high: Floats) -> bool:
        assert self._center is not None
        half = self._half_size
        inside = (low >= self._center - half).all() and (high <= self._center + half).all()
        return bool(inside) and bool(((high - low) > _TOO_SMALL * 2 * half).any())

    @property
    def _half_size(self) -> Floats:
        """Half of the map's size, across and up, in length units."""
        columns, lines = self._size
        return np.array([columns, lines * HEIGHT]) * self._cell / 2

    def _fit_box(self, low: Floats, high: Floats) -> None:
        self._center = (low + high) / 2
        columns, lines = self._size
        room = np.array([columns, lines * HEIGHT]) * (1 - 2 * _MARGIN)
        self._cell = float(((high - low) / np.maximum(room, 1)).max()) or self._choose_cell_size(
            low
        )

    def _choose_cell_size(self, place: Floats) -> float:
        """Return the cell size (length) for a map of a single position and its surroundings."""
        return max(4.0, 1e-6 * float(np.abs(place).max())) / max(self._size[0], 1)

    def project_positions(self, positions: Floats) -> NDArray[np.float64]:
        """Return columns and lines (n, 2) of positions (n, 3), from the top left, with fractions.

        Positions far outside are NaN.
        """
        if self._center is None or not len(positions):
            return np.full((len(positions), 2), np.nan)
        columns, lines = self._size
        apart = (positions[:, list(self.plane)] - self._center) / self._cell
        cells = np.stack((columns / 2 + apart[:, 0], lines / 2 - apart[:, 1] / HEIGHT), axis=1)
        cells[~(np.abs(cells) < 1e5).all(axis=1)] = np.nan
        return cells


#: Symbols for terminals with UTF-8, and without.
UNICODE = {
    **UNICODE_FRAME,
    "drawn": "●",
    "received": "\N{MULTIPLICATION SIGN}",
    "sent": "○",
    "packet": "·",
    "trail": "",
}
ASCII = {**ASCII_FRAME, "drawn": "O", "received": "x", "sent": "o", "packet": ".", "trail": "-"}

#: Columns beside an entity in which a click selects it.
_REACH = 3.0

#: A heading with a smaller share in the plane has no direction there.
_FLAT = 0.1

#: The number of colors of entities.
COLORS = 6

#: Seconds of trails: of a few entities, and of many.
_LONG, _SHORT, _FEW = 2.0, 0.6, 12

#: The most entities beside which names are written.
_NAMED, _LONGEST_NAME = 24, 12

#: The dots of a braille character, by row and column, as bits of its number from U+2800.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def draw_map(
    game: RunningGame, viewport: Viewport, size: tuple[int, int], symbols: dict[str, str]
) -> Lines:
    """Return the lines of the map in its frame; ``size`` is columns and lines, border included."""
    history, now, truth, followed = game.history, game.now, game.truth, game.followed
    canvas = Cells(*size, symbols)
    begin = now - (_LONG if len(history.newest) <= _FEW else _SHORT)
    received, drawn = history.list_received(begin), history.list_drawn(begin)
    heads, newest = drawn.select_last(), history.select_newest_points()
    everything = np.concatenate((received.positions, newest.positions))
    if len(received.times):  # a strategy may draw silent entities ever further away
        everything = np.concatenate((everything, drawn.positions))
    viewport.look((canvas.columns, canvas.lines), everything, _find_place(history, heads, followed))
    _draw_points(canvas, viewport, received, symbols["packet"], "packet")
    _draw_trails(canvas, viewport, drawn, symbols["trail"])
    _draw_points(canvas, viewport, newest, symbols["received"], "received")
    if truth is not None:
        _draw_points(canvas, viewport, truth.select_newest_points(), symbols["sent"], "received")
    _draw_points(canvas, viewport, heads, symbols["drawn"], "drawn")
    directions = symbols["heading"]
    sectors = _find_sectors(history, heads, viewport.plane, len(directions))
    for sector, direction in enumerate(directions):
        one = heads.select_points(np.flatnonzero(sectors == sector))
        _draw_points(canvas, viewport, one, direction, "drawn")
    for number, place in zip(
        heads.entities, viewport.project_positions(heads.positions), strict=True
    ):
        name = history.entities.name(int(number))
        if (len(heads.entities) <= _NAMED or name == followed) and np.isfinite(place).all():
            column, line = np.floor(place).astype(int).tolist()
            _write_name(canvas, column, line, name, _choose_style(number, "drawn"))
    drawn_as = directions[0] if (sectors >= 0).any() else symbols["drawn"]
    legend = f"{drawn_as} drawn  {symbols['received']} received"
    legend += f"  {symbols['sent']} sent" if truth is not None else ""
    return canvas.frame_lines(_make_title(viewport, legend, followed))


def find_entity_at(game: RunningGame, viewport: Viewport, column: int, line: int) -> str | None:
    """Return the entity drawn nearest to a cell of the map (border included).

    None if no head is within reach.
    """
    history = game.history
    heads = history.list_drawn(game.now - _SHORT).select_last()
    places = viewport.project_positions(heads.positions) + 0.5 - (column, line)
    apart = np.hypot(places[:, 0], HEIGHT * places[:, 1])
    if not (apart <= _REACH).any():
        return None
    return history.entities.name(int(heads.entities[np.nanargmin(apart)]))


def _find_sectors(
    history: History, heads: Points, plane: tuple[int, int], count: int
) -> NDArray[np.intp]:
    """Return the heading of each entity as one of ``count`` directions (n).

    -1: the entity has no heading, or looks straight up or down.
    """
    unknown = np.full(4, np.nan)
    rotations = [history.rotations.get(entity, unknown) for entity in heads.entities.tolist()]
    seen = project_headings(np.array(rotations).reshape(-1, 4), plane)
    turns = np.nan_to_num(np.arctan2(seen[:, 1], seen[:, 0])) / (2 * np.pi)
    nearest = np.rint(turns * count).astype(int) % count
    return np.where(np.hypot(*seen.T) > _FLAT, nearest, -1)


def _make_title(viewport: Viewport, legend: str, followed: str | None) -> str:
    title = f"{viewport.name}, {viewport.width:.3g} wide  {legend}"
    return f"{title}  follows {cut(printable(followed), 20)}" if followed else title


def _find_place(history: History, heads: Points, name: str | None) -> Floats | None:
    """Return the cell of an entity on the map; None if the entity is not on the map."""
    if name is None:
        return None
    found = np.flatnonzero(heads.entities == history.entities.assign_number(name))
    return heads.positions[found[0]] if len(found) else None


def _choose_style(number: int, what: str) -> str:
    if what == "packet":
        return "class:packet"
    return f"class:{what} class:entity-{int(number) % COLORS}"


def _clip_points(canvas: Cells, viewport: Viewport, points: Points) -> tuple[Floats, Integers]:
    """Return the cells (n, 2) of the points that are on the map, and their entities (n)."""
    places = viewport.project_positions(points.positions)
    kept = (places >= 0).all(axis=1) & (places < (canvas.columns, canvas.lines)).all(axis=1)
    return places[kept], points.entities[kept]


def _draw_points(
    canvas: Cells, viewport: Viewport, points: Points, symbol: str, style: str
) -> None:
    """Draw a symbol in each cell with a point."""
    places, numbers = _clip_points(canvas, viewport, points)
    column, line = places.astype(int).T
    cells_there, first = np.unique(line * canvas.columns + column, return_index=True)
    for cell, number in zip(cells_there.tolist(), numbers[first].tolist(), strict=True):
        canvas.put(
            cell % canvas.columns, cell // canvas.columns, symbol, _choose_style(number, style)
        )


def _draw_trails(canvas: Cells, viewport: Viewport, drawn: Points, mark: str) -> None:
    """Draw the paths of entities as dots of braille, or as a ``mark`` in each cell."""
    places, numbers = _clip_points(canvas, viewport, drawn)
    column, line = places.astype(int).T
    across, down = (places % 1 * (2, 4)).astype(int).T
    dots = np.zeros((canvas.lines, canvas.columns), int)
    owner = np.zeros((canvas.lines, canvas.columns), int)
    np.bitwise_or.at(dots, (line, column), _DOTS[down, across])
    owner[line, column] = numbers
    for row, place in np.argwhere(dots).tolist():
        symbol = mark or chr(0x2800 + int(dots[row, place]))
        canvas.put(place, row, symbol, _choose_style(owner[row, place], "trail"))


def _write_name(canvas: Cells, column: int, line: int, name: str, style: str) -> None:
    """Write a name beside an entity's head, or above or below it, where the cells are free."""
    text = cut(printable(name), _LONGEST_NAME) if name else ""
    right, left = column + 2, column - 1 - width(text)
    for begin, row in (
        (right, line),
        (left, line),
        *((at, near) for near in (line - 1, line + 1) for at in (column, left + 1)),
    ):
        if all(canvas.is_free(at, row) for at in range(begin - 1, begin + width(text) + 1)):
            for index, character in enumerate(text):
                canvas.put(begin + width(text[:index]), row, character, style)
            return
