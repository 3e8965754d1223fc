"""A frame of character cells, and lines of text beside it: what fits, and what goes first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from epic_cli.engine.text.widths import width, wrap

#: A style and a text, as prompt_toolkit takes them.
Fragment = tuple[str, str]

#: The lines of a picture.
Lines = list[list[Fragment]]

#: A frame where the terminal speaks UTF-8, and where it does not.
#: Headings are from the right on, against the clock.
UNICODE = {"corner": "┌┐└┘", "side": "│", "top": "─", "heading": "→↗↑↖←↙↓↘"}
ASCII = {"corner": "++++", "side": "|", "top": "-", "heading": ">^<v"}


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


#: Between two parts of a line.
_GAP = "  "


def flow(parts: Sequence[str], columns: int) -> list[str]:
    """Parts beside each other in as many lines as it takes."""
    lines: list[str] = []
    for part in parts:
        pieces = wrap(part, columns)
        if lines and len(pieces) == 1 and width(lines[-1] + _GAP + part) <= columns:
            lines[-1] += _GAP + part
        else:
            lines += pieces
    return lines


def fitting(
    blocks: dict[str, tuple[str, list[str]]], dispensable: Sequence[str], room: int
) -> list[Fragment]:
    """The lines of blocks by name, each with its style, in no more than ``room`` lines.

    Where there is no room for all, the ``dispensable`` ones go, the first of them first; the others
    are cut.
    """
    kept = dict(blocks)
    for name in dispensable:
        if sum(len(lines) for _, lines in kept.values()) > room:
            del kept[name]
    return [(style, line) for style, lines in kept.values() for line in lines][: max(room, 0)]


class Reserve:
    """How many lines the text is given: the picture does not grow and shrink with longer lines."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._most = 0

    def lines(self, size: tuple[int, int], wanted: int) -> int:
        """The most that was wanted on a screen of this size."""
        if size != self._size:
            self._size, self._most = size, 0
        self._most = max(self._most, wanted)
        return self._most


def too_small(command: str, smallest: tuple[int, int], size: tuple[int, int]) -> str:
    """What a screen says that has too few columns or lines for anything else."""
    needed = "x".join(map(str, smallest))
    there = "x".join(map(str, size))
    return f"{command} needs {needed}, not {there}; q quits"[: size[0]]
