"""Which part of the world a map shows, and in which plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.live.model.history import Floats

#: Two of the three axes: across, and up.
PLANES = ((0, 1), (0, 2), (2, 1))
_NAMES = {(0, 1): "xy", (0, 2): "xz", (2, 1): "zy"}

#: A cell is about so many times higher than wide.
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
        """Shows positions (n, 3) on so many columns and lines, or what is around one (3)."""
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
            self.plane = next(one for one in PLANES if least not in one)
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
