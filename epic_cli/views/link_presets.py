"""The presets of a link as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable

from epic_cli.network.conditions import LinkConditions
from epic_cli.network.presets import Preset


def preset_table(presets: Iterable[Preset]) -> str:
    """A line for each, below a line for what its figures are."""
    rows = [("preset", "one way", "loss", "rate down, up", "what it is", "source")]
    for one in presets:
        loss = one.down.loss
        share = f"{100 * loss:g}%" if isinstance(loss, int | float) and loss else ""
        rates = f"{_rate(one.down)}, {_rate(one.up)}" if math.isfinite(one.down.rate) else ""
        rows.append((one.name, _delay(one.down), share, rates, one.meaning, one.source))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines) + "\n"


def _delay(link: LinkConditions) -> str:
    jitter = f" +- {1000 * link.jitter:g}" if link.jitter else ""
    return f"{1000 * link.latency:g}{jitter} ms"


def _rate(link: LinkConditions) -> str:
    return f"{link.rate / 1e6:g}mbit" if link.rate >= 1e6 else f"{link.rate / 1000:g}kbit"
