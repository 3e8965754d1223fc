"""The scores of a comparison, with how sure they are, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from epic_cli.metrics.evaluation.result import Result
from epic_cli.show.documents import in_markup
from epic_cli.show.pictures.chart import nice_values

#: Pixels: of a row, of all scores, and of a letter.
_ROW, _FULL, _LETTER = 17, 220, 6.6


def picture(results: Sequence[Result], most: int | None = None) -> str:
    """A row for each result with a score, the best first, ``most`` at most; empty: none has one.

    A dot is a score, the line through it its interval. Full dots are joined: none of these is
    clearly worse than the best.
    """
    scored = sorted(
        (one for one in results if not math.isnan(one.value("score"))),
        key=lambda one: -one.value("score"),
    )[:most]
    if not scored:
        return ""
    ends = [[score if math.isnan(end) else end for end in one.interval("score")]
            for one in scored for score in (one.value("score"),)]  # fmt: skip
    least, largest = min(low for low, _ in ends), max(high for _, high in ends)
    low, high = 10 * math.floor(least / 10), max(10 * math.ceil(largest / 10), 10)
    names = round(_LETTER * max(len(one.label) for one in scored)) + 14
    height, width = _ROW * len(scored) + 18, names + _FULL + 34

    def across(value: float) -> float:
        return names + _FULL * (value - low) / (high - low or 1)

    rows = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}"'
        ' role="img" font-family="sans-serif" font-size="12" fill="currentColor"'
        ' stroke-width="2"><title>Scores</title><g stroke="#888" stroke-opacity=".35">'
    ]
    ticks = nice_values(low, high, 5)
    rows += [f'<path d="M{across(tick):.1f} 2V{height - 16}" stroke-width="1"/>' for tick in ticks]
    rows.append("</g>")
    rows += [
        f'<text x="{across(tick):.1f}" y="{height - 4}" text-anchor="middle" font-size="10">'
        f"{tick:g}</text>"
        for tick in ticks
    ]
    tied = [row for row, one in enumerate(scored) if one.rank == 1]
    if len(tied) > 1:
        way = "L".join(f"{across(scored[k].value('score')):.1f} {_ROW * k + 10}" for k in tied)
        rows.append(f'<path d="M{way}" stroke="currentColor" stroke-opacity=".5" fill="none"/>')
    for row, (one, (left, right)) in enumerate(zip(scored, ends, strict=True)):
        y, score, full = _ROW * row + 10, one.value("score"), int(row in tied)
        rows.append(
            f'<text x="{names - 10}" y="{y + 4}" text-anchor="end">{in_markup(one.label)}</text>'
            f'<path d="M{across(left):.1f} {y}H{across(right):.1f}" stroke="#8a8a8a"/>'
            f'<circle cx="{across(score):.1f}" cy="{y}" r="4" stroke="currentColor"'
            f' fill-opacity="{full}"/>'
            f'<text x="{names + _FULL + 8}" y="{y + 4}">{score:.0f}</text>'
        )
    return "".join([*rows, "</svg>"])
