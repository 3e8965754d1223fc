"""The entities in a column beside the map: how each comes in, and how well it is drawn."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.analysis.digits import three_digits
from epic_cli.engine.text.widths import pad, printable
from epic_cli.ui.screens.cells import Fragment, Lines
from epic_cli.ui.screens.listen.hindsight import Hindsight
from epic_cli.ui.screens.listen.history import History
from epic_cli.ui.screens.listen.map import COLOURS

#: Columns that it takes.
WIDTH = 40

_NAME = 14


def roster(
    history: History, hindsight: Hindsight, now: float, followed: str | None, lines: int
) -> Lines:
    """A head and a line for each entity; where there is no room for all, the worst ones."""
    numbers = history.received(now - 1).entities
    rates = np.bincount(numbers, minlength=len(history.entities))
    names = history.names
    if len(names) > lines - 1:
        names.sort(key=lambda name: (name != followed, -_known(hindsight.error(name))))
    left_out = max(len(names) - (lines - 1), 0)
    shown = names[: lines - 1 - bool(left_out)]
    head = f" {pad('entity', _NAME)} {'packets/s':>9}  silent {'error':>6}"
    drawn: Lines = [[("class:keys", pad(head, WIDTH))]]
    for name in shown:
        number = history.entities.number_of(name)
        silent = max(now - (history.newest[name].arrival or now), 0.0)
        text = f"{rates[number]:>9} {silent:>5.1f} s {_cell(hindsight.error(name)):>6}"
        style = f"class:drawn class:entity-{number % COLOURS}"
        mark = ">" if name == followed else " "
        line: list[Fragment] = [
            (style, f"{mark}{pad(printable(name) or '(no name)', _NAME)} "),
            ("class:news" if silent > 1 else "", pad(text, WIDTH - _NAME - 2)),
        ]
        drawn.append(line)
    if left_out:
        drawn.append([("class:keys", pad(f" and {left_out + 1:,} more", WIDTH))])
    drawn += [[("", " " * WIDTH)]] * (lines - len(drawn))
    return drawn[:lines]


def _known(error: float) -> float:
    return -1.0 if math.isnan(error) else error


def _cell(error: float) -> str:
    return "-" if math.isnan(error) else three_digits(error)
