"""The rows, events and figures of a match as text, in each of the row formats."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from epic_cli.engine.text.widths import cut
from epic_cli.metrics.digits import known
from epic_cli.play.report.headless import Row
from epic_cli.play.report.statistics import Figure, Shot
from epic_cli.play.world.moves import Event
from epic_cli.recordings.writing import csv_field, number

FORMATS = ("table", "epic", "tsv", "csv", "jsonl")

_WIDTHS = {
    "time": 9,
    "view": 8,
    "player": 8,
    "where": 8,
    "what": 15,
    "name": 22,
    "status": 13,
    "behind_cover": 12,
}
_NUMBER_WIDTH = 9

#: What a narrow screen does without, first things first.
_LEAST_FIRST = (
    "view", "behind_cover", "moved", "stamp", "vx", "vy", "yaw", "present", "on_screen", "where",
    "unit", "status", "error", "rewound", "y", "x",
)  # fmt: skip


class Writer:
    """Writes named tuples of one kind: a header, then a line for each.

    ``table`` is aligned and rounded for people; the others have all digits. NaN is an empty
    cell, and null in JSON. On a screen of ``width`` columns (None: there is no limit) no line of
    a table is longer than that: the least important columns are ``left_out``, long cells are cut.
    """

    def __init__(self, row_format: str, columns: Sequence[str], width: int | None = None) -> None:
        self._format = row_format
        self._width = width if row_format == "table" else None
        self._columns = _fitting(columns, self._width)
        self.left_out = [name for name in columns if name not in self._columns]

    def header(self) -> bytes:
        """The line above the rows, in the formats that have one."""
        if self._format == "table":
            return self._aligned({name: name for name in self._columns}).encode()
        if self._format in ("tsv", "csv"):
            return (self._separator.join(self._columns) + "\n").encode()
        return b""

    def line(self, item: Row | Event | Shot | Figure) -> bytes:
        """One of them."""
        values = item._asdict()
        if self._format == "jsonl":
            return (
                json.dumps({key: known(value) for key, value in values.items()}) + "\n"
            ).encode()
        if self._format == "epic":
            numbers = (values["x"], values["y"], 0.0, values["vx"], values["vy"], 0.0)
            text = "pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f\n"
            return (text % (*numbers, values["time"])).encode()
        if self._format == "table":
            shown = {key: _rounded(value) for key, value in values.items()}
            return self._aligned(shown).encode()
        cells = [self._cell(values[name]) for name in self._columns]
        return (self._separator.join(cells) + "\n").encode()

    @property
    def _separator(self) -> str:
        return "\t" if self._format == "tsv" else ","

    def _cell(self, value: Any) -> str:
        if isinstance(value, float):
            return "" if math.isnan(value) else number(value)
        if isinstance(value, bool):
            return str(int(value))
        text = _joined(value) if isinstance(value, dict) else str(value)
        return csv_field(text) if self._format == "csv" else text

    def _aligned(self, cells: dict[str, str]) -> str:
        parts = []
        for name in self._columns:
            width = _WIDTHS.get(name)
            cell = cells[name]
            is_text = width is not None and name != "time"
            parts.append(cell.ljust(width or 0) if is_text else cell.rjust(width or _NUMBER_WIDTH))
        if self._columns[-1] in ("details", "unit"):
            parts[-1] = cells[self._columns[-1]]
        line = " ".join(parts).rstrip()
        return (line if self._width is None else cut(line, self._width)) + "\n"


def _fitting(columns: Sequence[str], room: int | None) -> list[str]:
    """The columns that there is room for; the last of them may be cut."""
    kept = list(columns)
    for name in _LEAST_FIRST:
        widths = [_WIDTHS.get(one, _NUMBER_WIDTH) + 1 for one in kept]
        if room is None or sum(widths) - 1 <= room:
            break
        if name in kept:
            kept.remove(name)
    return kept


def _rounded(value: Any) -> str:
    if isinstance(value, dict):
        return _joined({key: _rounded(one) for key, one in value.items()})
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:.3f}"
    return str(value)


def _joined(details: dict[str, Any]) -> str:
    return " ".join(f"{key}={_word(value)}" for key, value in details.items())


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace(" ", "-")


def summary(figures: Sequence[Figure], bumps: int) -> str:
    """The figures of one player in lines for people."""
    lines = [f"player {figures[0].player} ({bumps} bumps in all)"]
    for figure in figures:
        value, unit = figure.value, figure.unit
        if math.isnan(value):
            text = "-"
        elif unit == "s":
            text = f"{1000 * value:.1f} ms"
        elif unit == "share":
            text = f"{100 * value:.1f} %"
        else:
            text = f"{value:.4f} {unit}" if unit else f"{value:g}"
        lines.append(f"  {figure.name:<22} {text}")
    return "\n".join(lines) + "\n"
