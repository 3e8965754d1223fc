"""The options of ``epic diagnose``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from epic_cli.formats.layout import begun_together
from epic_cli.ui.io.color import ColorChoice
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.messages import Messages
from epic_cli.ui.io.output import spare
from epic_cli.ui.io.quantities import Span
from epic_cli.ui.options.common import (
    color_option,
    input_format_option,
    layout_options,
    messages_options,
)
from epic_cli.ui.options.compare import (
    Participants,
    strategies_option,
    variants_assignments_option,
)
from epic_cli.ui.options.drawn import DrawnFile, drawn_options
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.jobs import JobOptions, job_options

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.spec import DiagnoseSpec
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.formats.layout import Layout

FORMATS = ("table", "jsonl", "markdown")

#: What ``--fail-if`` calls every cause.
ANY = "any"


class DiagnoseOptions(NamedTuple):
    """Which recordings are looked at, and how; no ``recordings``: standard input."""

    recordings: tuple[str, ...]
    strategies: tuple[tuple[str, ...], ...]
    assignments: tuple[tuple[str, str, str], ...]
    entity: str | None
    span: tuple[float, float]
    row_format: str
    fail_if: tuple[str, ...]
    drawing: DrawnFile
    link_out: str | None
    input_format: str
    given: Layout | None
    jobs: JobOptions
    remarks: Messages
    color: ColorChoice

    def check(self, names: Sequence[str]) -> None:
        """Refuses what goes with one recording only, and standard output for files.

        ``names`` are the recordings, folders opened.
        """
        self.drawing.check(names, self.jobs.options)
        if self.link_out is not None and (len(names) > 1 or self.jobs.options):
            raise WrongUsage("--link-out is of one recording: give one at a time")
        if self.link_out == "-":
            raise WrongUsage("--link-out goes to a file; standard output is for the findings")
        spare([*names, self.drawing.drawn], {"--link-out": self.link_out})

    def spec(self) -> DiagnoseSpec:
        """What is wanted of each recording; raises ``WrongUsage``."""
        from epic_cli.analysis.diagnosis.spec import DiagnoseSpec

        layout = begun_together(self.given) if self.drawing.drawn is not None else self.given
        strategies = tuple(self._strategies())
        return DiagnoseSpec(strategies, self.span, self.entity, self.input_format, layout)

    def _strategies(self) -> list[StrategySpec]:
        if not self.strategies:
            if self.assignments:
                raise WrongUsage("--set changes a strategy that is looked at: name it with -s")
            return []
        return Participants(self.strategies, self.assignments).candidates()


class Cause(click.ParamType[str]):
    """A detector's name, or ``any``."""

    name = "cause"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses what no detector is called, with the nearest name."""
        from epic_cli.analysis.diagnosis.detector import all_detectors
        from epic_cli.engine.parameters import nearest

        known = [ANY, *(one.name for one in all_detectors())]
        if value not in known:
            near = nearest(value, known)
            hint = f"did you mean {near!r}?" if near else f"choose from {', '.join(known)}"
            self.fail(f"no cause {value!r}; {hint}", param, ctx)
        return value


#: All of them, as ``options: DiagnoseOptions``.
diagnose_options = OptionGroup(
    "options",
    DiagnoseOptions,
    click.argument("recordings", nargs=-1, type=click.Path(), metavar="[RECORDING]..."),
    strategies_option(
        "Look at how often the delay buffers of these run empty, too: names separated by commas;"
        " NAME+key=value is a variant."
    ),
    variants_assignments_option,
    click.option("--entity", help="Look only at the packets of this entity."),
    click.option(
        "--span",
        type=Span(),
        default=(-math.inf, math.inf),
        help="Look only at packets stamped in these seconds.",
    ),
    click.option(
        "-f",
        "--format",
        "row_format",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="How the findings are written.",
    ),
    click.option(
        "--fail-if",
        type=Cause(),
        multiple=True,
        help="End with status 5 if this cause is found, or any; may be repeated.",
    ),
    drawn_options(
        "What the game really drew: say which strategy and settings that is, and whether it was"
        " smoothed twice."
    ),
    click.option(
        "--link-out",
        type=click.Path(),
        metavar="FILE",
        help="Write the network that it finds, without the movement: a trace for simulate --trace;"
        " stderr has the words for simulate that do the like.",
    ),
    input_format_option,
    layout_options,
    job_options,
    messages_options,
    color_option,
)
