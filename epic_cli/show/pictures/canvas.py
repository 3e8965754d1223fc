"""A canvas of characters to draw lines and points on, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The dots of a braille character, by row and column, as bits of its number from U+2800.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Canvas:
    """``width`` x ``height`` characters.

    With ``braille`` each has 2 x 4 dots and takes the style of what was drawn there last;
    otherwise the mark of it, a character, stands there.
    """

    def __init__(self, width: int, height: int, braille: bool) -> None:
        self.width, self.height = width, height
        self.columns, self.rows = (2 * width, 4 * height) if braille else (width, height)
        self._braille = braille
        self._cells = np.zeros((height, width), int)
        self._owner = np.full((height, width), -1)
        self._styles: list[str] = []

    def draw(self, across: Floats, up: Floats, style: str, mark: str, joined: bool) -> None:
        """Draws points (n) at 0 to 1 across and up, ``joined`` by lines or not; NaN breaks them."""
        column = across * (self.columns - 1)
        row = (1 - up) * (self.rows - 1)
        if joined and len(across) > 1:
            column, row = _fill(column, row)
        # far outside, numbers would not fit an integer
        inside = (abs(column) < 1e6) & (abs(row) < 1e6)
        columns, rows = np.rint(column[inside]).astype(int), np.rint(row[inside]).astype(int)
        on = (columns >= 0) & (columns < self.columns) & (rows >= 0) & (rows < self.rows)
        columns, rows = columns[on], rows[on]
        self._styles.append(style)
        if self._braille:
            places = rows // 4, columns // 2
            np.bitwise_or.at(self._cells, places, _DOTS[rows % 4, columns % 2])
        else:
            places = rows, columns
            self._cells[places] = ord(mark)
        self._owner[places] = len(self._styles) - 1

    def lines(self) -> list[Text]:
        """The canvas, line by line from the top."""
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


def _fill(column: Floats, row: Floats) -> tuple[Floats, Floats]:
    """Points between the points, so near that no dot of the line is left out."""
    apart = np.maximum(abs(np.diff(column)), abs(np.diff(row)))
    # a line that leaves the canvas by miles is not followed dot by dot
    counts = np.where(np.isfinite(apart), np.clip(np.ceil(apart), 1, 2000), 1).astype(int)
    index = np.repeat(np.arange(len(counts)), counts)
    begin = np.cumsum(counts) - counts
    share = (np.arange(counts.sum()) - begin[index]) / counts[index]

    def between(values: Floats) -> Floats:
        broken = ~np.isfinite(apart)
        steps = np.where(broken, 0.0, np.nan_to_num(np.diff(values)))
        return np.append(values[index] + share * steps[index], values[-1])

    return between(column), between(row)
