"""The map of the terminal: which part of the world, and who is where, received and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.text.widths import cut, printable, width
from epic_cli.metrics.turns import headings
from epic_cli.show.full_screen import ASCII_FRAME, UNICODE_FRAME, Cells, Lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.live.model import Floats, History, Integers, Points, RunningGame


#: Two of the three axes: across, and up.
PLANES = ((0, 1), (0, 2), (2, 1))
_NAMES = {(0, 1): "xy", (0, 2): "xz", (2, 1): "zy"}

#: How many times higher than wide a cell is.
HEIGHT = 2.0

_ZOOM = 1.25

#: The share of the map by which the view moves, and that stays free around what is fitted into it.
_PAN, _MARGIN = 0.2, 0.1

#: The map is fitted again when what is there takes less than this share of it.
_TOO_SMALL = 0.4


class Viewport:
    """Fits the map to what is there until somebody moves it; ``fit`` begins that again.

    The plane is the one in which most happens, unless one was chosen.
    """

    def __init__(self) -> None:
        self.plane = PLANES[0]
        self._chosen_plane = False
        self._fits = True
        self._centre: Floats | None = None
        self._cell = 1.0  # length units that a cell is wide
        self._size = (1, 1)

    @property
    def name(self) -> str:
        """The plane's."""
        return _NAMES[self.plane]

    @property
    def width(self) -> float:
        """How much the map shows across, in length units."""
        return self._cell * self._size[0]

    def turn(self) -> None:
        """Shows the next plane."""
        self.plane = PLANES[(PLANES.index(self.plane) + 1) % len(PLANES)]
        self._chosen_plane = True
        self.fit()

    def fit(self) -> None:
        """Shows everything again."""
        self._fits, self._centre = True, None

    def zoom(self, inwards: bool) -> None:
        """Shows less, or more, around the centre."""
        self._fits = False
        self._cell *= 1 / _ZOOM if inwards else _ZOOM
        self._cell = min(max(self._cell, 1e-9), 1e30)

    def pan(self, across: int, up: int) -> None:
        """Moves the view by a part of it."""
        self._fits = False
        if self._centre is not None:
            columns, lines = self._size
            step = np.array([across * columns, up * lines * HEIGHT])
            self._centre = self._centre + _PAN * self._cell * step

    def look(
        self, size: tuple[int, int], positions: Floats, followed: Floats | None = None
    ) -> None:
        """Shows positions (n, 3) on a number of columns and lines, or what is around one (3)."""
        resized, self._size = size != self._size, size
        positions = positions[np.isfinite(positions).all(axis=1)]
        if len(positions):
            low, high = positions.min(axis=0), positions.max(axis=0)
            if self._fits and not self._chosen_plane:
                self._choose_plane(high - low)
            across = list(self.plane)
            if self._fits and (
                self._centre is None or resized or not self._holds(low[across], high[across])
            ):
                self._fit(low[across], high[across])
        if followed is not None and np.isfinite(followed).all():
            self._centre = followed[list(self.plane)]

    def _choose_plane(self, extent: Floats) -> None:
        left_out = 3 - sum(self.plane)
        least = 2 - int(np.argmin(extent[::-1]))  # of equal ones, the last
        if extent[left_out] > 1.5 * extent[least]:
            self.plane = next(plane for plane in PLANES if least not in plane)
            self._centre = None

    def _holds(self, low: Floats, high: Floats) -> bool:
        assert self._centre is not None
        half = self._half
        inside = (low >= self._centre - half).all() and (high <= self._centre + half).all()
        return bool(inside) and bool(((high - low) > _TOO_SMALL * 2 * half).any())

    @property
    def _half(self) -> Floats:
        """Half of what the map shows, across and up."""
        columns, lines = self._size
        return np.array([columns, lines * HEIGHT]) * self._cell / 2

    def _fit(self, low: Floats, high: Floats) -> None:
        self._centre = (low + high) / 2
        columns, lines = self._size
        room = np.array([columns, lines * HEIGHT]) * (1 - 2 * _MARGIN)
        self._cell = float(((high - low) / np.maximum(room, 1)).max()) or self._around(low)

    def _around(self, place: Floats) -> float:
        """What rests is shown with some of what is around it."""
        return max(4.0, 1e-6 * float(np.abs(place).max())) / max(self._size[0], 1)

    def project(self, positions: Floats) -> NDArray[np.float64]:
        """Columns and lines (n, 2) of positions (n, 3), from the top left, with fractions.

        What lies far outside is NaN.
        """
        if self._centre is None or not len(positions):
            return np.full((len(positions), 2), np.nan)
        columns, lines = self._size
        apart = (positions[:, list(self.plane)] - self._centre) / self._cell
        cells = np.stack((columns / 2 + apart[:, 0], lines / 2 - apart[:, 1] / HEIGHT), axis=1)
        cells[~(np.abs(cells) < 1e5).all(axis=1)] = np.nan
        return cells


#: What is drawn where the terminal speaks UTF-8, and where it does not.
UNICODE = {
    **UNICODE_FRAME,
    "drawn": "●",
    "received": "\N{MULTIPLICATION SIGN}",
    "sent": "○",
    "packet": "·",
    "trail": "",
}
ASCII = {**ASCII_FRAME, "drawn": "O", "received": "x", "sent": "o", "packet": ".", "trail": "-"}

#: Columns beside an entity that are the entity's, for a mouse.
_REACH = 3.0

#: What lies in the plane by a smaller share has no direction there.
_FLAT = 0.1

#: How many colours entities have.
COLOURS = 6

#: Seconds of trails: of a few entities, and of many.
_LONG, _SHORT, _FEW = 2.0, 0.6, 12

#: The most entities beside which names are written.
_NAMED, _LONGEST_NAME = 24, 12

#: The dots of a braille character, by row and column, as bits of its number from U+2800.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def draw_map(
    game: RunningGame, viewport: Viewport, size: tuple[int, int], symbols: dict[str, str]
) -> Lines:
    """The frame with the map; ``size`` in columns and lines, border included."""
    history, now, truth, followed = game.history, game.now, game.truth, game.followed
    canvas = Cells(*size, symbols)
    begin = now - (_LONG if len(history.newest) <= _FEW else _SHORT)
    received, drawn = history.received(begin), history.drawn(begin)
    heads, newest = drawn.last(), history.newest_points()
    everything = np.concatenate((received.positions, newest.positions))
    if len(received.times):  # what is not sent any more may be drawn further and further away
        everything = np.concatenate((everything, drawn.positions))
    viewport.look((canvas.columns, canvas.lines), everything, _place_of(history, heads, followed))
    _draw_points(canvas, viewport, received, symbols["packet"], "packet")
    _draw_trails(canvas, viewport, drawn, symbols["trail"])
    _draw_points(canvas, viewport, newest, symbols["received"], "received")
    if truth is not None:
        _draw_points(canvas, viewport, truth.newest_points(), symbols["sent"], "received")
    _draw_points(canvas, viewport, heads, symbols["drawn"], "drawn")
    directions = symbols["heading"]
    sectors = _sectors(history, heads, viewport.plane, len(directions))
    for sector, direction in enumerate(directions):
        one = heads.at(np.flatnonzero(sectors == sector))
        _draw_points(canvas, viewport, one, direction, "drawn")
    for number, place in zip(heads.entities, viewport.project(heads.positions), strict=True):
        name = history.entities.name(int(number))
        if (len(heads.entities) <= _NAMED or name == followed) and np.isfinite(place).all():
            column, line = np.floor(place).astype(int).tolist()
            _write_name(canvas, column, line, name, _style(number, "drawn"))
    drawn_as = directions[0] if (sectors >= 0).any() else symbols["drawn"]
    legend = f"{drawn_as} drawn  {symbols['received']} received"
    legend += f"  {symbols['sent']} sent" if truth is not None else ""
    return canvas.framed(_title(viewport, legend, followed))


def entity_at(game: RunningGame, viewport: Viewport, column: int, line: int) -> str | None:
    """The entity that is drawn nearest to a place on the map, border included; None: none is."""
    history = game.history
    heads = history.drawn(game.now - _SHORT).last()
    places = viewport.project(heads.positions) + 0.5 - (column, line)
    apart = np.hypot(places[:, 0], HEIGHT * places[:, 1])
    if not (apart <= _REACH).any():
        return None
    return history.entities.name(int(heads.entities[np.nanargmin(apart)]))


def _sectors(
    history: History, heads: Points, plane: tuple[int, int], count: int
) -> NDArray[np.intp]:
    """Into which of ``count`` directions (n) entities head, -1: none, or up or down."""
    unknown = np.full(4, np.nan)
    rotations = [history.rotations.get(entity, unknown) for entity in heads.entities.tolist()]
    seen = headings(np.array(rotations).reshape(-1, 4), plane)
    turns = np.nan_to_num(np.arctan2(seen[:, 1], seen[:, 0])) / (2 * np.pi)
    nearest = np.rint(turns * count).astype(int) % count
    return np.where(np.hypot(*seen.T) > _FLAT, nearest, -1)


def _title(viewport: Viewport, legend: str, followed: str | None) -> str:
    title = f"{viewport.name}, {viewport.width:.3g} wide  {legend}"
    return f"{title}  follows {cut(printable(followed), 20)}" if followed else title


def _place_of(history: History, heads: Points, name: str | None) -> Floats | None:
    """Where an entity is drawn."""
    if name is None:
        return None
    found = np.flatnonzero(heads.entities == history.entities.number_of(name))
    return heads.positions[found[0]] if len(found) else None


def _style(number: int, what: str) -> str:
    if what == "packet":
        return "class:packet"
    return f"class:{what} class:entity-{int(number) % COLOURS}"


def _inside(canvas: Cells, viewport: Viewport, points: Points) -> tuple[Floats, Integers]:
    """Where on the map points are (n, 2), with fractions, and whose they are (n)."""
    places = viewport.project(points.positions)
    kept = (places >= 0).all(axis=1) & (places < (canvas.columns, canvas.lines)).all(axis=1)
    return places[kept], points.entities[kept]


def _draw_points(
    canvas: Cells, viewport: Viewport, points: Points, symbol: str, style: str
) -> None:
    """A symbol in each cell with a point."""
    places, numbers = _inside(canvas, viewport, points)
    column, line = places.astype(int).T
    cells_there, first = np.unique(line * canvas.columns + column, return_index=True)
    for cell, number in zip(cells_there.tolist(), numbers[first].tolist(), strict=True):
        canvas.put(cell % canvas.columns, cell // canvas.columns, symbol, _style(number, style))


def _draw_trails(canvas: Cells, viewport: Viewport, drawn: Points, mark: str) -> None:
    """The ways on which entities were drawn: dots of braille, or a ``mark`` for each cell."""
    places, numbers = _inside(canvas, viewport, drawn)
    column, line = places.astype(int).T
    across, down = (places % 1 * (2, 4)).astype(int).T
    dots = np.zeros((canvas.lines, canvas.columns), int)
    owner = np.zeros((canvas.lines, canvas.columns), int)
    np.bitwise_or.at(dots, (line, column), _DOTS[down, across])
    owner[line, column] = numbers
    for row, place in np.argwhere(dots).tolist():
        symbol = mark or chr(0x2800 + int(dots[row, place]))
        canvas.put(place, row, symbol, _style(owner[row, place], "trail"))


def _write_name(canvas: Cells, column: int, line: int, name: str, style: str) -> None:
    """Beside a head, or above or below it, where there is room."""
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
