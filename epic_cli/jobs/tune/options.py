"""The options of ``epic tune``: which strategies, what for, how long, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.jobs.tune.spec import DIVISIONS, GOALS, Division
from epic_cli.metrics import named
from epic_cli.shell.declared import (
    OutputFile,
    Parsed,
    choose,
    completions,
    flag,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import figures_format_option
from epic_cli.shell.options.runs import (
    Participants,
    Weighing,
    assignments_option,
    corrections_option,
    strategies_option,
    warm_up_option,
)

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: Without effect where nothing is searched for.
OF_SEARCH = (
    "figure", "game", "given_weights", "warm_up", "division", "trials", "tries", "seconds",
    "threads", "workers", "scheduler", "journal", "shard", "svg", "html",
)  # fmt: skip


@dataclass(frozen=True)
class Tuned(Participants):
    """The strategies that are tuned, as they were written, and settings that stay as they are."""

    strategies: tuple[tuple[str, ...], ...] = shared(
        strategies_option(
            "Tune these: names separated by commas; NAME+key=value keeps that setting."
        )
    )
    assignments: tuple[tuple[str, str, str], ...] = shared(
        assignments_option("Keep a setting of a strategy at this value; may be repeated.")
    )
    corrections: tuple[StrategySpec, ...] = shared(
        corrections_option("Tune these ways to hide the corrections of one's own predicted player.")
    )
    every: bool = flag("Tune every strategy.", "--all")

    def __post_init__(self) -> None:
        """Refuses all and some."""
        if self.every and self.strategies:
            raise WrongUsage("--all tunes every strategy: leave out -s, or --all")

    def specs(self) -> list[StrategySpec]:
        """Each with the settings that stay: of a way to hide corrections, all but its time."""
        return [
            one._replace(settings={key: one.settings[key] for key in one.settings if key != "time"})
            if one in self.corrections
            else one
            for one in super().specs()
        ]

    @property
    def searches(self) -> bool:
        """Whether to search; otherwise only delays are computed."""
        return self.every or bool(self.strategies or self.corrections)


FIGURE = Parsed(
    "figure",
    lambda text: choose(text, GOALS, f"figure {text!r} to tune for"),
    (),
    lambda begun: completions(((one, named(one).help) for one in GOALS), begun),
)


@dataclass(frozen=True)
class Purpose:
    """What is tuned for, what the score weighs, and on what it is evaluated."""

    figure: str = value(
        "The figure to optimize: score, error, lag, jerk, ... as 'epic compare' names them.",
        "--for",
        type=FIGURE,
        default="score",
        show_default=True,
    )
    weighing: Weighing = shared(Weighing)
    warm_up: float | None = shared(warm_up_option)
    division: Division | None = value(
        "Evaluate on the second half of the time, on every other recording, or on the same"
        " that was tuned on.  [default: recording with four or more, else time]",
        "--validate",
        type=click.Choice(DIVISIONS),
    )


@dataclass(frozen=True)
class Effort:
    """How long is searched, and by how many threads."""

    trials: int | None = value(
        "Trials per strategy.  [default: 60 per setting, 400 at most]",
        type=click.IntRange(2, 1_000_000),
    )
    seconds: float | None = value(
        "Stop the whole search after this long.",
        "--time",
        type=seconds(0.01, 1e9),
        metavar="SECONDS",
    )
    threads: int | None = value(
        "How many settings to evaluate in parallel; the result does not depend on it. "
        " [default: one per core]",
        type=click.IntRange(1, 256),
    )


@dataclass(frozen=True)
class Written:
    """The format of the result, and pictures of the trade-off and of what is drawn in files."""

    form: str = shared(figures_format_option("The output format of the result."))
    svg: str | None = value(
        "Draw what smoothness costs in latency to this file.", type=OutputFile()
    )
    html: str | None = value(
        "Write everything to this file as one HTML page, with what is drawn before and after.",
        type=OutputFile(),
    )

    def __post_init__(self) -> None:
        """Refuses standard output."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the figures")
