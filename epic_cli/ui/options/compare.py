"""The options of ``epic compare`` in groups, each of which reaches the command as one value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from epic_cli.analysis.compare.conditions import (
    Condition,
    ConditionError,
    check_sense,
    condition,
)
from epic_cli.analysis.metrics import METRICS
from epic_cli.analysis.weights import GAMES, Weights, game, make_weights
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.parameters import OutputFile, ParameterType, Parsed, completions
from epic_cli.ui.options.common import figures_format_option
from epic_cli.ui.options.declared import SPAN, seconds
from epic_cli.ui.options.groups import Decorator, OptionGroup
from epic_cli.ui.options.runs import Strategies
from epic_cli.views.pictures import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from epic_cli.analysis.compare.spec import Participant
    from epic_cli.analysis.scenes.scene import Selection

SORTS = (*(one.name for one in METRICS), "name", "given")

#: Each entity's rows in pictures are thinned to about so many.
PICTURE_ROWS = 60_000


class WeightList(ParameterType):
    """``accuracy=2,smoothness=1,latency=0.5``."""

    name = "name=number,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """The weights by name."""
        if isinstance(value, dict):
            return value
        given: dict[str, float] = {}
        for one in filter(None, (part.strip() for part in str(value).split(","))):
            name, _, number = one.partition("=")
            try:
                given[name.strip()] = float(number)
            except ValueError:
                self.fail(f"{one!r} is not of the form name=number", param, ctx)
        return given

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names, after the last comma."""
        del ctx, param
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{name}=")
            for name in Weights._fields
            if name.startswith(begun)
        ]


class ConditionText(Parsed):
    """``error>0.3``, ``score(snapshot)<60``."""

    def __init__(self) -> None:
        super().__init__("condition", condition, Condition)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of the figures."""
        del ctx, param
        return completions(((one.name, one.help) for one in METRICS), incomplete)


@dataclass(frozen=True)
class Scoring:
    """What counts, and how much; the warm-up is in seconds."""

    given_weights: dict[str, float]
    game: str | None
    warm_up: float | None
    fail_if: tuple[Condition, ...]

    def __post_init__(self) -> None:
        """Refuses weights that sum to 0, and conditions that exclude everything."""
        _ = self.weights
        try:
            check_sense(self.fail_if)
        except ConditionError as error:
            raise WrongUsage(f"--fail-if: {error}") from error

    @property
    def weights(self) -> Weights:
        """What the score weighs; raises ``WrongUsage``."""
        return weights_of(self.given_weights, self.game)


def weights_of(given: dict[str, float], kind: str | None) -> Weights:
    """What the score weighs in a kind of game, or in general; raises ``WrongUsage``."""
    try:
        return make_weights(given, game(kind).weights if kind else None)
    except ValueError as error:
        raise WrongUsage(f"--weights: {error}") from error


#: ``--game``, ``--weights``
weighing_options: tuple[Decorator, ...] = (
    click.option(
        "--game",
        type=click.Choice([one.name for one in GAMES]),
        help="Use the weights of this kind of game; see below.",
    ),
    click.option(
        "--weights",
        "given_weights",
        type=WeightList(),
        default="",
        help="Weights of the score: accuracy=2,latency=0.5, also smoothness, recovery, overshoot,"
        " backward, across.  [default: those of the game, or 1 for the first four]",
    ),
)

warm_up_option = click.option(
    "--warm-up",
    type=seconds(0, 3600),
    default=None,
    metavar="SECONDS",
    help="Ignore rows for this long after each start, teleport and gap."
    "  [default: 1, or a tenth of the recording]",
)

scoring_options = OptionGroup(
    "scoring",
    Scoring,
    *weighing_options,
    click.option(
        "--fail-if",
        type=ConditionText(),
        multiple=True,
        help="Exit with status 5 if this holds: error>0.3, score(snapshot)<60, lag>=120ms; may"
        " be repeated.",
    ),
    warm_up_option,
)


@dataclass(frozen=True)
class Layout:
    """How the figures are laid out."""

    by: str
    sort: str
    form: str

    @property
    def by_entity(self) -> bool:
        """Whether each entity has lines of its own."""
        return self.by == "entity"

    @property
    def by_recording(self) -> bool:
        """Whether each recording has lines of its own."""
        return self.by == "recording"


layout_options = OptionGroup(
    "layout",
    Layout,
    click.option(
        "--by",
        type=click.Choice(["strategy", "entity", "recording"]),
        default="strategy",
        show_default=True,
        help="One row per strategy, or per entity or recording and strategy.",
    ),
    click.option(
        "--sort",
        type=click.Choice(SORTS),
        default="score",
        show_default=True,
        metavar="METRIC",
        help="Sort rows by one of the metrics below (best first), by name, or as given.",
    ),
    figures_format_option("The output format."),
)


@dataclass(frozen=True)
class Pictures:
    """Charts in the terminal, a picture and a page in files, and which seconds they show."""

    charts: tuple[View, ...]
    svg: str | None
    html: str | None
    show: tuple[tuple[str, ...], ...]
    span: tuple[float, float] | None

    def __post_init__(self) -> None:
        """Refuses standard output."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the figures")

    @property
    def selection(self) -> Selection | None:
        """How many rows to keep for pictures; None: no pictures."""
        from epic_cli.analysis.scenes.scene import Selection

        if not (self.charts or self.svg is not None or self.html is not None):
            return None
        return Selection(PICTURE_ROWS, *(self.span or (-math.inf, math.inf)))

    def shown(self, candidates: Sequence[Participant]) -> list[str]:
        """The labels to draw; empty: the best. Raises ``WrongUsage``."""
        labels = [one.label for one in candidates]
        shown = [one for several in self.show for one in several]
        for one in shown:
            if one not in labels:
                raise WrongUsage(f"--show {one}: these are compared: {', '.join(labels)}")
        return shown


pictures_options = OptionGroup(
    "pictures",
    Pictures,
    click.option(
        "--chart",
        "charts",
        type=click.Choice(VIEWS),
        multiple=True,
        help="Draw a chart in the terminal; may be repeated.",
    ),
    click.option("--svg", type=OutputFile(), help="Write a picture to this file."),
    click.option("--html", type=OutputFile(), help="Write an interactive page to this file."),
    click.option(
        "--show",
        type=Strategies(),
        multiple=True,
        help="The strategies that charts and picture show.  [default: the best six]",
    ),
    click.option(
        "--span",
        type=SPAN,
        default=None,
        help="The time span that charts, picture and page show.  [default: all]",
    ),
)

threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=None,
    help="How many strategies to run in parallel.  [default: one per core]",
)
