"""The trade-off of latency against smoothness as a chart in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.tuning.front import FrontPoint, pareto, roughness, worth
from epic_cli.views.pictures.chart import MARKS, STYLES, Chart, Line

if TYPE_CHECKING:
    from epic_cli.analysis.compare.result import Result
    from epic_cli.analysis.tuning.result import Tunings

#: A front of fewer points is no choice.
FEWEST_POINTS = 3

#: So many strategies are drawn.
DRAWN = 6

#: The lines of the chart, and its width where no screen limits it.
_HEIGHT, _WIDTH = 12, 160

TITLE = "roughness (what the score counts beside latency) over latency (ms)"


def front_of(found: Tunings) -> tuple[FrontPoint, ...]:
    """The front of all strategies together."""
    return worth(pareto(point for one in found.tunings for point in one.front))


def front_chart(found: Tunings) -> Chart | None:
    """The fronts, and where default and tuned settings are; None: there is no choice."""
    whole = front_of(found)
    if len(whole) < FEWEST_POINTS:
        return None
    lines: list[Line] = []
    if len(found.tunings) == 1:
        one = found.tunings[0]
        lines.append(_line("front", one.front, 1))
        for label, result, style, mark in (
            ("default", one.tuned_on.default, 0, "D"),
            ("tuned", one.tuned_on.tuned, 2, "T"),
        ):
            lines.append(_at(label, result, found, style, mark))
    else:
        leading = list(dict.fromkeys(point.strategy for point in whole))[:DRAWN]
        fronts = {one.strategy: one.front for one in found.tunings}
        lines += [_line(name, fronts[name], at) for at, name in enumerate(leading)]
    # what is a second late, or useless, would leave no room for the others
    lines = [one for one in (_within(one, whole) for one in lines) if _visible(one)]
    return Chart(lines, TITLE, named=len(found.tunings) > 1, height=_HEIGHT, width=_WIDTH)


def _line(label: str, points: Sequence[FrontPoint], at: int) -> Line:
    # steps: between two points only the worse of both is known to be reached
    across = [one.latency * 1000 for one in points for _ in (0, 1)][1:]
    up = [one.roughness for one in points for _ in (0, 1)][:-1]
    return Line(label, across, up, STYLES[at % len(STYLES)], MARKS[at % len(MARKS)])


def _at(label: str, result: Result, found: Tunings, style: int, mark: str) -> Line:
    lag, rough = abs(result.value("lag")) * 1000, roughness(result.values, found.weights)
    return Line(label, [lag], [rough], f"bold {STYLES[style]}", mark, joined=False)


def _within(line: Line, whole: Sequence[FrontPoint]) -> Line:
    """The line without what is far beyond the common front."""
    latest = max(one.latency for one in whole) * 1000 * 1.5 + 1
    roughest = min(max(one.roughness for one in whole), 6 * whole[-1].roughness + 1)
    across, up = np.asarray(line.across, float), np.asarray(line.up, float)
    far = (across > latest) | (up > roughest)
    return line._replace(across=np.where(far, np.nan, across), up=np.where(far, np.nan, up))


def _visible(line: Line) -> bool:
    return bool(np.isfinite(np.asarray(line.across, float)).any())
