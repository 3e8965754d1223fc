"""``epic compare``: which strategy, how much better, at what latency."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.common import color_option, timing_options
from epic_cli.cli.options.compare import Assignment, Span, Strategies, WeightList
from epic_cli.formats.recordings import INPUT_FORMATS, InputFormat
from epic_cli.playback import Timing
from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage
from epic_cli.terminal.quantities import Seconds
from epic_cli.terminal.sources import load, source_name

if TYPE_CHECKING:
    from epic_cli.analysis.contenders import Contender
    from epic_cli.analysis.truth import Truth
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.views.scenes import View

EPILOG = """\b
Columns (lengths in the recording's unit; * marks the best of each):
  score     overall, 0 to 100, higher is better; formula under the table
  error     RMS distance from the truth at the time it is drawn; 95 %; max
  lag ms    the shift in time that brings what is drawn nearest to the truth
  residual  RMS distance that is left after that shift
  jump      how far the largest step goes beyond the truth's longest in 0.5 s
  jumps     steps more than 1.5 times as long as the truth's longest in 0.5 s
  jerk      RMS jerk as a multiple of the truth's, as it is if that has none
  back      steps against the truth's direction
  held, extrap., none
            shares of the rows: frozen for lack of data, drawn beyond what was
            known, before anything is drawn

\b
Examples:
  epic compare sample_inputs/jitter.txt
  epic compare --chart above --chart error sample_inputs/turn.txt
  epic compare -s epic,epic+calc_ahead=0.3 sample_inputs/turn.txt
  epic compare --format markdown < sample_inputs/hop.jsonl
  epic compare --tick 1/60 --html tanks.html sample_inputs/two_tanks.csv
"""

FORMATS = ("table", "csv", "jsonl", "markdown")
VIEWS = ("above", "x", "y", "z", "error")
#: Each entity's rows in pictures are thinned to about so many.
PICTURE_ROWS = 4000
SORTS = ("score", "error", "error95", "error_max", "lag", "residual", "largest_jump", "jumps",
         "jerk", "backward", "held", "name", "given")  # fmt: skip


@click.command(epilog=EPILOG)
@click.argument("recording", default="-", type=click.Path(), metavar="[RECORDING]")
@click.option(
    "--truth",
    "truth_file",
    type=click.Path(),
    help="The real movement, as a recording; without it, it is rebuilt from the packets.",
)
@click.option(
    "--truth-offset",
    type=Seconds(-1e9, 1e9),
    default=0.0,
    metavar="SECONDS",
    help="Add this to the truth's times, if the clocks differ: the receiver's less the sender's.",
)
@click.option(
    "-s",
    "--strategies",
    type=Strategies(),
    multiple=True,
    help="Names with commas between; NAME+key=value is a variant.  [default: all]",
)
@click.option(
    "--set",
    "assignments",
    type=Assignment(),
    multiple=True,
    help="Set a strategy's setting in all its variants; may be repeated.",
)
@timing_options
@click.option("--entity", help="Compare only on the packets of this entity.")
@click.option(
    "--by",
    type=click.Choice(["strategy", "entity"]),
    default="strategy",
    show_default=True,
    help="A line for each strategy, or for each entity and strategy.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="score",
    show_default=True,
    metavar="FIGURE",
    help="The order of the lines: by a figure (score, error, lag, residual, jumps, ..., as csv"
    " names them), best first, by name, or as given.",
)
@click.option(
    "--weights",
    type=WeightList(),
    default="",
    help="What the score weighs: accuracy=2,smoothness=1,latency=0.5.  [default: 1 each]",
)
@click.option(
    "--warm-up",
    type=Seconds(0, 3600),
    default=None,
    metavar="SECONDS",
    help="How long after each beginning, teleport and gap rows do not count."
    "  [default: 1, or a tenth of the recording]",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the figures are written.",
)
@click.option(
    "--chart",
    "charts",
    type=click.Choice(VIEWS),
    multiple=True,
    help="Draw a chart in the terminal; may be repeated.",
)
@click.option("--svg", type=click.Path(), help="Write a picture to this file.")
@click.option("--html", type=click.Path(), help="Write an interactive page to this file.")
@click.option(
    "--show",
    type=Strategies(),
    multiple=True,
    help="The strategies in charts and picture.  [default: the best six]",
)
@click.option(
    "--span",
    type=Span(),
    default=None,
    help="The seconds that charts, picture and page show.  [default: all]",
)
@click.option(
    "--input-format",
    type=click.Choice(INPUT_FORMATS),
    default="auto",
    show_default=True,
    help="How packets are written; auto looks at the first line.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=None,
    help="How many strategies run at a time.  [default: one on each core]",
)
@color_option
def compare(
    recording: str,
    truth_file: str | None,
    truth_offset: float,
    strategies: tuple[tuple[str, ...], ...],
    assignments: tuple[tuple[str, str, str], ...],
    timing: Timing,
    entity: str | None,
    by: str,
    sort: str,
    weights: dict[str, float],
    warm_up: float | None,
    form: str,
    charts: tuple[View, ...],
    svg: str | None,
    html: str | None,
    show: tuple[tuple[str, ...], ...],
    span: tuple[float, float] | None,
    input_format: InputFormat,
    threads: int | None,
    color: ColorChoice,
) -> int:
    """Say which strategy draws a recording best, and by how much.

    RECORDING is packet text, CSV or JSON lines, from a file or, without it, from standard input,
    with arrival times or a --latency to make them from. What each strategy draws at each tick is
    compared with the truth at that time.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, or not enough
    in the data to say anything, 3 a file cannot be read or written, 130 interrupted.
    """
    from epic_cli.analysis.compare import compare as run
    from epic_cli.analysis.scene import Selection
    from epic_cli.analysis.score import make_weights
    from epic_cli.analysis.truth import NotEnoughToSay
    from epic_cli.cli.compare_output import Output, Progress
    from epic_cli.engine.replay.trace import TooManyRows
    from epic_cli.terminal.report import report

    if recording == truth_file == "-":
        raise WrongUsage("recording and truth cannot both come from standard input")
    if "-" in (svg, html):
        raise WrongUsage("a picture or page goes to a file; standard output is for the figures")
    taking_part = _contenders(strategies, assignments)
    shown = _shown(show, [one.label for one in taking_part])
    selection = None
    if charts or svg is not None or html is not None:
        selection = Selection(PICTURE_ROWS, *(span or (-math.inf, math.inf)))
    error_color = use_color(color, sys.stderr)
    packets, refused = load(recording, input_format, error_color)
    packets = _of_entity(packets, entity, source_name(recording))
    truths = None
    try:
        if truth_file is not None:
            truths, truth_refused = _truths(truth_file, truth_offset, error_color)
            refused |= truth_refused
        with Progress() as progress:
            result = run(
                packets,
                taking_part,
                timing,
                truths,
                weights=make_weights(weights),
                offset=truth_offset,
                warm_up=warm_up,
                selection=selection,
                threads=threads,
                progress=progress,
            )
        report(result.refused, source_name(recording), error_color)
        output = Output(result, sort, by == "entity", color)
        output.write_files(svg, html, shown)
        output.write_figures(form)
        output.write_charts(charts, shown)
    except NotEnoughToSay as error:
        hint = "; --truth-offset moves the truth" if "do not overlap" in str(error) else ""
        raise WrongUsage(f"not enough to say: {error}{hint}") from error
    except TooManyRows as error:
        raise WrongUsage(f"{error} for one entity; choose a longer --tick") from error
    return ExitStatus.LINES_REFUSED if refused or result.refused else ExitStatus.DONE


def _contenders(
    strategies: tuple[tuple[str, ...], ...], assignments: tuple[tuple[str, str, str], ...]
) -> list[Contender]:
    from epic_cli.analysis.contenders import contenders

    settings = {(name, key): value for name, key, value in assignments}
    try:
        return contenders([one for group in strategies for one in group], settings)
    except ValueError as error:  # an unknown strategy or setting is one too
        raise WrongUsage(str(error)) from error


def _shown(show: tuple[tuple[str, ...], ...], labels: list[str]) -> list[str]:
    shown = [one for group in show for one in group]
    for one in shown:
        if one not in labels:
            raise WrongUsage(f"--show {one}: these are compared: {', '.join(labels)}")
    return shown


def _of_entity(
    packets: dict[str, PacketBlock], entity: str | None, name: str
) -> dict[str, PacketBlock]:
    if entity is None:
        return packets
    if entity not in packets:
        there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
        raise WrongUsage(f"{name}: there is no entity {entity!r}; there are: {there}")
    return {entity: packets[entity]}


def _truths(file: str, offset: float, color: bool) -> tuple[dict[str, Truth], bool]:
    """The truth by entity; what says too little is left out, and told of where it is missed."""
    from epic_cli.analysis.truth import NotEnoughToSay, truth_of

    states, refused = load(file, "auto", color)
    truths: dict[str, Truth] = {}
    for name, block in states.items():
        try:
            truths[name] = truth_of(block, "given", offset)
        except NotEnoughToSay as error:
            place = f"{source_name(file)}: {name}" if name else source_name(file)
            sys.stderr.write(f"epic: {place}: {error}\n")
    if not truths:
        raise NotEnoughToSay(f"{source_name(file)} has no movement to compare with")
    return truths, refused
