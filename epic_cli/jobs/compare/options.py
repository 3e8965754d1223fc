"""The options of ``epic compare`` in groups, each of which reaches the command as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.metrics import METRICS
from epic_cli.shell.declared import (
    SPAN,
    OutputFile,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import VideoOptions, figures_format_option
from epic_cli.shell.options.runs import Strategies
from epic_cli.show.styles import VIEWS, View

if TYPE_CHECKING:
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.show.scene import Selection

SORTS = (*(one.name for one in METRICS), "name", "given")


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
        from epic_cli.show.scene import PICTURE_ROWS, Selection

        files = (self.svg, self.html, self.video.video)
        if not (self.charts or any(one is not None for one in files)):
            return None
        return Selection(PICTURE_ROWS, *self.span) if self.span else Selection()

    def shown(self, candidates: Sequence[Participant]) -> list[str]:
        """The labels to draw; empty: the best. Raises ``WrongUsage``."""
        labels = [one.label for one in candidates]
        shown = [one for several in self.show for one in several]
        for one in shown:
            if one not in labels:
                raise WrongUsage(f"--show {one}: these are compared: {', '.join(labels)}")
        return shown
