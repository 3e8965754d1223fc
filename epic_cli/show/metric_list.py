"""The metrics for ``--help``: name, column and meaning of each."""

from __future__ import annotations

import textwrap

from epic_cli.metrics import METRICS
from epic_cli.metrics.metric import GAMES

_NAME, _COLUMN, _WIDTH = 16, 10, 76

#: The width of the titles of columns.
_TITLE = 1 + max(len(metric.title) for metric in METRICS)


def describe_metrics() -> list[str]:
    """Return lines of help on each metric; ``-`` marks a metric that is in no table."""
    lines = []
    for metric in METRICS:
        title = metric.title if metric.weight else "-"
        unit = f" [{metric.unit}]" if metric.unit else ""
        lines += textwrap.wrap(
            metric.help + unit,
            _WIDTH,
            initial_indent=f"{metric.name:<{_NAME}}{title:<{_TITLE}}",
            subsequent_indent=" " * (_NAME + _TITLE),
        )
    return lines


def write_games_help() -> str:
    """Return the help's paragraphs on the kinds of games: name, weights and reason of each."""
    lines = ["\b", "Games, each with what it weighs and why:"]
    for game in GAMES:
        weights = ", ".join(f"{name} {value:g}" for name, value in game.weights._asdict().items())
        lines += textwrap.wrap(
            f"{weights}: {game.why}",
            _WIDTH + 2,
            initial_indent=f"  {game.name:<{_COLUMN}}",
            subsequent_indent=" " * (_COLUMN + 2),
        )
    return "".join(f"{line}\n" for line in lines)
