"""A frame of character cells, and pictures as prompt_toolkit takes them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

#: A style and a text, as prompt_toolkit takes them.
Fragment = tuple[str, str]

#: The lines of a picture.
Lines = list[list[Fragment]]

#: A frame where the terminal speaks UTF-8, and where it does not.
UNICODE = {"corner": "┌┐└┘", "side": "│", "top": "─"}
ASCII = {"corner": "++++", "side": "|", "top": "-"}


def speaks_unicode() -> bool:
    """Whether the terminal that stdout goes to does."""
    return "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()


class Cells:
    """``columns`` by ``lines`` cells, border included; those inside count from the top left."""

    def __init__(self, columns: int, lines: int, symbols: dict[str, str]) -> None:
        self.columns, self.lines = columns - 2, lines - 2
        self._symbols = symbols
        self._cells = [[(" ", "")] * self.columns for _ in range(self.lines)]

    def put(self, column: int, line: int, symbol: str, style: str) -> None:
        """Fills a cell; what lies outside is not drawn."""
        if 0 <= column < self.columns and 0 <= line < self.lines:
            self._cells[line][column] = (symbol, style)

    def is_free(self, column: int, line: int) -> bool:
        """Whether a cell is there, and blank."""
        inside = 0 <= column < self.columns and 0 <= line < self.lines
        return inside and self._cells[line][column][0] == " "

    def framed(self, title: str) -> Lines:
        """The lines of the frame, each as fragments."""
        corner, side, top = (self._symbols[name] for name in ("corner", "side", "top"))
        head = f" {title} "[: self.columns].center(self.columns, top)
        border = "class:border"
        lines: Lines = [[(border, corner[0] + head + corner[1])]]
        lines += [[(border, side), *_runs(cells), (border, side)] for cells in self._cells]
        lines.append([(border, corner[2] + top * self.columns + corner[3])])
        return lines


def _runs(cells: Iterable[tuple[str, str]]) -> list[Fragment]:
    """Neighbours of one style in one fragment: a terminal draws those faster."""
    runs: list[Fragment] = []
    for symbol, style in cells:
        if runs and runs[-1][0] == style:
            runs[-1] = (style, runs[-1][1] + symbol)
        else:
            runs.append((style, symbol))
    return runs
