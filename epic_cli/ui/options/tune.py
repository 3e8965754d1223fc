"""The options of ``epic tune``: which strategies, what for, how long, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.analysis.weights import Weights
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.parameters import OutputFile, ParameterType
from epic_cli.ui.options.common import figures_format_option
from epic_cli.ui.options.compare import warm_up_option, weighing_options, weights_of
from epic_cli.ui.options.declared import seconds
from epic_cli.ui.options.groups import OptionGroup, renamed_option
from epic_cli.ui.options.runs import (
    Participants,
    assignments_option,
    corrections_option,
    strategies_option,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.analysis.tuning.spec import Division
    from epic_cli.engine.replay.strategy_spec import StrategySpec

DIVISIONS = ("time", "recording", "none")

#: Without effect where nothing is searched for.
OF_SEARCH = (
    "figure", "game", "given_weights", "warm_up", "division", "trials", "tries", "seconds",
    "threads", "workers", "scheduler", "journal", "shard", "svg", "html",
)  # fmt: skip


@dataclass(frozen=True)
class Tuned(Participants):
    """The strategies that are tuned, as they were written, and settings that stay as they are."""

    every: bool

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


tuned_options = OptionGroup(
    "tuned",
    Tuned,
    strategies_option("Tune these: names separated by commas; NAME+key=value keeps that setting."),
    assignments_option("Keep a setting of a strategy at this value; may be repeated."),
    corrections_option("Tune these ways to hide the corrections of one's own predicted player."),
    click.option("--all", "every", is_flag=True, help="Tune every strategy."),
)


class Figure(ParameterType):
    """A figure to optimize."""

    name = "figure"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses an unknown figure with the nearest name."""
        from epic_cli.analysis.tuning.spec import GOALS
        from epic_cli.engine.parameter_base import nearest

        if value not in GOALS:
            near = nearest(value, list(GOALS))
            hint = f"did you mean {near!r}?" if near else f"choose from {', '.join(GOALS)}"
            self.fail(f"no figure {value!r} to tune for; {hint}", param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names."""
        del ctx, param
        from click.shell_completion import CompletionItem

        from epic_cli.analysis.metrics import named
        from epic_cli.analysis.tuning.spec import GOALS

        return [
            CompletionItem(one, help=named(one).help) for one in GOALS if one.startswith(incomplete)
        ]


@dataclass(frozen=True)
class Purpose:
    """What is tuned for, what the score weighs, and on what it is evaluated."""

    figure: str
    given_weights: dict[str, float]
    game: str | None
    warm_up: float | None
    division: Division | None

    def __post_init__(self) -> None:
        """Refuses weights that come to nothing."""
        _ = self.weights

    @property
    def weights(self) -> Weights:
        """What the score weighs; raises ``WrongUsage``."""
        return weights_of(self.given_weights, self.game)


purpose_options = OptionGroup(
    "purpose",
    Purpose,
    click.option(
        "--for",
        "figure",
        type=Figure(),
        default="score",
        show_default=True,
        help="The figure to optimize: score, error, lag, jerk, ... as 'epic compare' names them.",
    ),
    *weighing_options,
    warm_up_option,
    click.option(
        "--validate",
        "division",
        type=click.Choice(DIVISIONS),
        help="Evaluate on the second half of the time, on every other recording, or on the same"
        " that was tuned on.  [default: recording with four or more, else time]",
    ),
)


@dataclass(frozen=True)
class Effort:
    """How long is searched, and by how many threads."""

    trials: int | None
    seconds: float | None
    threads: int | None


effort_options = OptionGroup(
    "effort",
    Effort,
    renamed_option("tries", "trials"),
    click.option(
        "--trials",
        type=click.IntRange(2, 1_000_000),
        help="Trials per strategy.  [default: 60 per setting, 400 at most]",
    ),
    click.option(
        "--time",
        "seconds",
        type=seconds(0.01, 1e9),
        metavar="SECONDS",
        help="Stop the whole search after this long.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1, 256),
        help="How many settings to evaluate in parallel; the result does not depend on it. "
        " [default: one per core]",
    ),
)


@dataclass(frozen=True)
class Written:
    """The format of the result, and pictures of the trade-off and of what is drawn in files."""

    form: str
    svg: str | None
    html: str | None

    def __post_init__(self) -> None:
        """Refuses standard output."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the figures")


written_options = OptionGroup(
    "written",
    Written,
    figures_format_option("The output format of the result."),
    click.option(
        "--svg",
        type=OutputFile(),
        help="Draw what smoothness costs in latency to this file.",
    ),
    click.option(
        "--html",
        type=OutputFile(),
        help="Write everything to this file as one HTML page, with what is drawn before and after.",
    ),
)
