"""Lines of text beside or below a picture: what fits, and what goes first where it does not."""

from __future__ import annotations

from collections.abc import Sequence

from epic_cli.engine.text.widths import width, wrap
from epic_cli.ui.screens.cells import Fragment

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
