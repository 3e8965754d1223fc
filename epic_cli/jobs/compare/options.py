"""The options of ``epic compare`` in groups, each of which reaches the command as one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import Condition, ConditionError, check_sense, condition
from epic_cli.metrics.metric import AIM_RANGE
from epic_cli.metrics.score import GAME, Weights, game, make_weights
from epic_cli.shell.declared import (
    SPAN,
    OutputFile,
    Parsed,
    completions,
    option,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage, wrong_usage
from epic_cli.shell.options.common import VideoOptions, figures_format_option
from epic_cli.shell.options.runs import Strategies
from epic_cli.show.styles import VIEWS, View

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.metrics.evaluation import Participant
    from epic_cli.show.scene import Selection

SORTS = (*(one.name for one in METRICS), "name", "given")

#: Each entity's rows in pictures are thinned to about so many.
PICTURE_ROWS = 100_000


def _read_weights(text: str) -> dict[str, float]:
    """``accuracy=2,smoothness=1,latency=0.5`` by name; raises ``ValueError``."""
    given: dict[str, float] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = one.partition("=")
        try:
            given[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{one!r} is not of the form name=number") from None
    return given


def _propose_weights(begun: str) -> list[CompletionItem]:
    """The names, after the last comma."""
    before, comma, begun = begun.rpartition(",")
    return completions(((f"{name}=", None) for name in Weights._fields), begun, f"{before}{comma}")


WEIGHTS = Parsed("name=number,...", _read_weights, dict, _propose_weights)

#: ``error>0.3``, ``score(snapshot)<60``
CONDITION = Parsed(
    "condition",
    condition,
    Condition,
    lambda begun: completions(((one.name, one.help) for one in METRICS), begun),
)


@dataclass(frozen=True)
class Weighing:
    """What the score weighs."""

    game: str | None = shared(option(GAME))
    given_weights: dict[str, float] = value(
        "Weights of the score: accuracy=2,latency=0.5, also smoothness, recovery, overshoot,"
        " backward, across, turning, aim.  [default: those of the game, or 1 for the first four and"
        " turning]",
        "--weights",
        type=WEIGHTS,
        default="",
    )

    aim_range: float = value(
        "How far away the aim of what turns is judged, in length units.",
        type=click.FloatRange(1e-6, 1e9),
        default=AIM_RANGE,
        show_default=True,
    )

    def __post_init__(self) -> None:
        """Refuses weights that sum to 0."""
        _ = self.weights

    @property
    def weights(self) -> Weights:
        """In the kind of game, or in general; raises ``WrongUsage``."""
        with wrong_usage("--weights: "):
            return make_weights(self.given_weights, game(self.game).weights if self.game else None)


warm_up_option = click.option("--warm-up", type=seconds(0, 3600), default=None, metavar="SECONDS",
                              help="Ignore rows for this long after each start, teleport and gap."
                              "  [default: 1, or a tenth of the recording]")  # fmt: skip


@dataclass(frozen=True)
class Scoring:
    """What counts, and how much; the warm-up is in seconds."""

    weighing: Weighing = shared(Weighing)
    fail_if: tuple[Condition, ...] = value(
        "Exit with status 5 if this holds: error>0.3, score(snapshot)<60, lag>=120ms; may"
        " be repeated.",
        type=CONDITION,
        multiple=True,
    )
    warm_up: float | None = shared(warm_up_option)

    def __post_init__(self) -> None:
        """Refuses conditions that exclude everything."""
        with wrong_usage("--fail-if: ", ConditionError):
            check_sense(self.fail_if)


@dataclass(frozen=True)
class Layout:
    """How the figures are laid out."""

    by: str = value(
        "One row per strategy, or per entity or recording and strategy.",
        type=click.Choice(["strategy", "entity", "recording"]),
        default="strategy",
        show_default=True,
    )
    sort: str = value(
        "Sort rows by one of the metrics below (best first), by name, or as given.",
        type=click.Choice(SORTS),
        default="score",
        show_default=True,
        metavar="METRIC",
    )
    form: str = shared(figures_format_option("The output format."))


@dataclass(frozen=True)
class Pictures:
    """Charts in the terminal, a picture and a page in files, and which seconds they show."""

    charts: tuple[View, ...] = value(
        "Draw a chart in the terminal; may be repeated.",
        "--chart",
        type=click.Choice(VIEWS),
        multiple=True,
    )
    svg: str | None = value("Write a picture to this file.", type=OutputFile())
    html: str | None = value("Write an interactive page to this file.", type=OutputFile())
    video: VideoOptions = shared(VideoOptions)
    show: tuple[tuple[str, ...], ...] = value(
        "The strategies that charts, picture and video show.  [default: the best six]",
        type=Strategies(),
        multiple=True,
    )
    span: tuple[float, float] | None = value(
        "The time span that charts, picture and page show.  [default: all]", type=SPAN
    )

    def __post_init__(self) -> None:
        """Refuses standard output."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the figures")

    @property
    def selection(self) -> Selection | None:
        """How many rows to keep for pictures; None: no pictures."""
        from epic_cli.show.scene import Selection

        files = (self.svg, self.html, self.video.video)
        if not (self.charts or any(one is not None for one in files)):
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


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=None,
    help="How many strategies to run in parallel.  [default: one per core]",
)
