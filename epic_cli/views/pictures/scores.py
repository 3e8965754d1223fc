"""The scores of a comparison, with how sure they are, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.views.documents import in_markup

if TYPE_CHECKING:
    from epic_cli.analysis.compare.result import Result

#: Pixels: of a row, of the names, and of a score of 100.
_ROW, _NAMES, _FULL = 18, 190, 300


def picture(results: Sequence[Result]) -> str:
    """A row for each result with a score, the best first; empty: none has one."""
    scored = sorted(
        (one for one in results if not math.isnan(one.value("score"))),
        key=lambda one: -one.value("score"),
    )
    if not scored:
        return ""
    height, width = _ROW * len(scored) + 6, _NAMES + _FULL + 40
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        ' role="img" font-family="sans-serif" font-size="12"><title>Scores</title>'
    ]
    for number, one in enumerate(scored):
        y, score = _ROW * number + 12, one.value("score")
        low, high = (score if math.isnan(end) else end for end in one.interval("score"))
        x, left, right = (_NAMES + _FULL * value / 100 for value in (score, low, high))
        rows.append(
            f'<text x="{_NAMES - 8}" y="{y + 4}" text-anchor="end">{in_markup(one.label)}</text>'
            f'<path d="M{left:.1f} {y}H{right:.1f}" stroke="#9a9a9a" stroke-width="5"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="4"/>'
            f'<text x="{_NAMES + _FULL + 8}" y="{y + 4}">{score:.0f}</text>'
        )
    return "".join([*rows, "</svg>"])
