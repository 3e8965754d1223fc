"""The metrics for ``--help``: name, column and meaning of each."""

from __future__ import annotations

import textwrap

from epic_cli.analysis.metric import Section
from epic_cli.analysis.metrics import METRICS

_NAME, _COLUMN = 16, 10


def metric_lines(width: int = 76) -> list[str]:
    """One paragraph a metric, in lines no wider than ``width``; ``-``: it is in no table."""
    lines = []
    for metric in METRICS:
        title = "-" if metric.section is Section.DATA else metric.title
        unit = f" [{metric.unit}]" if metric.unit else ""
        lines += textwrap.wrap(
            metric.help + unit,
            width,
            initial_indent=f"{metric.name:<{_NAME}}{title:<{_COLUMN}}",
            subsequent_indent=" " * (_NAME + _COLUMN),
        )
    return lines
