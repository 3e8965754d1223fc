"""Options of ``epic compare`` in groups, and the command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.text.widths import printable
from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import Condition
from epic_cli.recordings.opening import name_source
from epic_cli.shell.console import (
    ColorChoice,
    measure_screen_lines,
    show,
    write_document,
    write_report,
)
from epic_cli.shell.declared import (
    SPAN,
    STRATEGIES,
    OutputFile,
    declare_flag,
    declare_shared,
    declare_value,
    list_given_options,
    make_command,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, raise_wrong_usage, write_message
from epic_cli.shell.jobs import JobOptions
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    color_option,
    explain_option,
    make_report_format_option,
    messages_options,
    save_profile_option,
    screen_timing_options,
    video_option,
    write_film,
)
from epic_cli.shell.options.networks import NetworkOptions
from epic_cli.shell.options.runs import (
    Inputs,
    Participants,
    Scoring,
    TimedFile,
    make_drawn_option,
    threads_option,
)
from epic_cli.show.metric_list import describe_metrics, write_games_help
from epic_cli.show.styles import VIEWS, View
from epic_cli.show.video import VideoSpec

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.shell.profiles import Saving
    from epic_cli.show.page import About, Section
    from epic_cli.show.scene import Selection


SORTS = (*(metric.name for metric in METRICS), "name", "given")


@dataclass(frozen=True)
class TableLayout:
    """Options of the comparison's table: its rows, their order, its columns and its format."""

    by: str = declare_value(
        "Rows: one per strategy, or per entity or recording and strategy.",
        type=click.Choice(["strategy", "entity", "recording"]),
        default="strategy",
        show_default=True,
    )
    sort: str = declare_value(
        "Sort rows by one of the metrics below (best first), by name, or as given.",
        type=click.Choice(SORTS),
        default="score",
        show_default=True,
        metavar="METRIC",
    )
    full: bool = declare_flag("Show all rows and columns in the terminal.")
    explain: bool = declare_shared(explain_option)
    form: str = declare_shared(make_report_format_option("The output format."))

    @property
    def brief(self) -> bool:
        """True for the short table of a terminal: the best rows and the main columns."""
        return self.form == "table" and not self.full


@dataclass(frozen=True)
class Pictures:
    """Options of charts (terminal), picture, page and video (files), and their time span."""

    charts: tuple[View, ...] = declare_value(
        "Draw a chart in the terminal. May be repeated.",
        "--chart",
        type=click.Choice(VIEWS),
        multiple=True,
    )
    svg: str | None = declare_value("Write a picture to this file.", type=OutputFile())
    html: str | None = declare_value("Write an interactive page to this file.", type=OutputFile())
    video: VideoSpec = declare_shared(video_option)
    show: tuple[tuple[str, ...], ...] = declare_value(
        "The strategies that charts, picture and video show.  [default: the best six]",
        type=STRATEGIES,
        multiple=True,
    )
    span: tuple[float, float] | None = declare_value(
        "The time span that charts, picture and page show.  [default: all]", type=SPAN
    )

    def __post_init__(self) -> None:
        """Refuse standard output for a picture or page; raise ``WrongUsage``."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the table")

    @property
    def selection(self) -> Selection | None:
        """The drawn rows to keep for pictures; None if no picture is wanted."""
        from epic_cli.show.scene import PICTURE_ROWS, Selection

        files = (self.svg, self.html, self.video.file)
        if not (self.charts or any(file is not None for file in files)):
            return None
        return Selection(PICTURE_ROWS, *self.span) if self.span else Selection()

    def choose_labels(self, candidates: Sequence[Participant]) -> list[str]:
        """Return the participants' labels of ``--show``.

        No label means that the best ones are drawn. Raise ``WrongUsage`` for an unknown label.
        """
        labels = [candidate.label for candidate in candidates]
        shown = [name for several in self.show for name in several]
        for name in shown:
            if name not in labels:
                raise WrongUsage(
                    f"--show {name} is not compared: choose from {', '.join(labels)}", "show"
                )
        return shown


#: Most strategies in charts and pictures.
MOST_SHOWN = 6

#: Width of a chart that no screen limits.
WIDEST_CHART = 160

#: Height of a chart that no screen limits.
PAPER_CHART = 18


def describe_origin(names: Iterable[str], truth: str | None) -> About:
    """Return the recordings, the truth and the command line of a comparison, for its page."""
    from epic_cli.show.page import About

    recordings = ", ".join(name_source(name) for name in names)
    command = f"epic {shlex.join(sys.argv[1:])}"
    return About(recordings, name_source(truth) if truth else "", command)


def write(
    comparison: Comparison,
    layout: TableLayout,
    pictures: Pictures,
    chosen: Sequence[str],
    color: ColorChoice,
    about: Callable[[], About],
    diagnoses: Sequence[Section],
    quiet: bool,
) -> None:
    """Write pictures and the page to their files, the table and charts to stdout.

    Pictures and charts show the ``chosen`` labels or, without any, the best ones. The page says
    what the comparison is ``about``, and has the ``diagnoses`` of its recordings. With ``quiet``,
    no verdict goes to stderr where programs read the table.
    """
    from epic_cli.jobs.compare.report import report, sort_results
    from epic_cli.metrics.notes import NothingToDraw

    best = [result.label for result in sort_results(comparison.results, "score")]
    labels = chosen or best[:MOST_SHOWN]
    found = report(comparison, layout.sort, layout.by, layout.brief)
    if pictures.selection is not None and not comparison.scenes:
        raise NothingToDraw  # they show the first recording, which cannot be evaluated
    if pictures.svg is not None:
        from epic_cli.show.svg import draw_picture

        write_document(
            draw_picture(comparison.scenes[0], labels, describe_pictured(comparison)), pictures.svg
        )
    if pictures.video.file is not None:
        write_film(pictures.video, comparison.scenes[:1], labels, describe_pictured(comparison))
    if pictures.html is not None:
        from epic_cli.show.page import make_content, make_page

        told = report(comparison, layout.sort)
        content = make_content(comparison, told, labels, about(), diagnoses)
        write_document(make_page(comparison.scenes, content), pictures.html)
    charts = partial(_write_charts, comparison, pictures, labels, color)
    rest = "--full" if layout.brief else "a wider window or --format csv"
    drawing = charts if pictures.charts else None
    write_report(found, layout.form, color, not quiet, drawing, layout.explain, rest)


def _write_charts(
    comparison: Comparison, pictures: Pictures, labels: Sequence[str], color: ColorChoice
) -> None:
    """Write charts of the first entity to stdout."""
    from epic_cli.show.chart import make_scene_chart

    scene, *others = comparison.scenes
    lines = measure_screen_lines(sys.stdout)
    # title, axis, legend and the prompt want room too
    height = PAPER_CHART if lines is None else max(8, lines - 7)
    for view in pictures.charts:
        write_document("\n")
        show(make_scene_chart(scene, view, labels, height=height, width=WIDEST_CHART), color)
    if of := describe_pictured(comparison):
        cure = "; --entity selects another" if others else ""
        write_message(f"Charts show {printable(of)}{cure}.\n")


def describe_pictured(comparison: Comparison) -> str:
    """Return which entity and run the pictures show; empty text if there is only one."""
    entities, name = len(comparison.scenes), comparison.scenes[0].entity
    one = f"{name}, one of {entities} entities" if entities > 1 else ""
    return "; ".join(filter(None, (one, comparison.pictured)))


def write_failures(comparison: Comparison, conditions: Sequence[Condition]) -> bool:
    """Write to stderr the metrics for which a condition holds or may hold; return True if any."""
    from epic_cli.jobs.compare.report import describe_failure

    found = False
    for each in conditions:
        for result in comparison.results:
            values = result.list_values()
            if not each.is_about(result.label) or (
                each.is_known(values) and not each.is_met(values)
            ):
                continue
            found = True
            write_message(f"epic: {printable(describe_failure(each, result))}\n")
    return found


_METRICS = """\b
Metrics, each with its name in --sort, --fail-if, csv and jsonl, its column
in tables (* marks the clear best) and its unit; "length" is the
recording's unit of length:
"""

_EXAMPLES = """\b
Examples:
  epic compare sample_inputs/jitter.txt
  epic compare --chart above --chart error sample_inputs/turn.txt
  epic compare -s epic,epic+calc_ahead=0.3 sample_inputs/turn.txt
  epic compare --format markdown < sample_inputs/hop.jsonl
  epic compare --html tanks.html sample_inputs/two_tanks.csv
  epic compare --movement strafe --latency 80ms --jitter 30ms --seeds 20
  epic compare --by recording sample_inputs/jitter.txt sample_inputs/turn.txt
  epic compare --fail-if 'score(epic)<20' sample_inputs/jitter.txt
"""

_REFERENCE = (
    _METRICS + "".join(f"  {line}\n" for line in describe_metrics()) + "\n" + write_games_help()
)


_drawn_option = make_drawn_option(
    "What the game really drew, evaluated like a strategy, in the row drawn."
)


@make_command(
    _EXAMPLES,
    "s truth full explain weights fail-if movement link latency f html",
    _REFERENCE,
)
def compare(
    inputs: Inputs = declare_shared(Inputs),
    participants: Participants = declare_shared(Participants),
    drawn: TimedFile = declare_shared(_drawn_option),
    network: NetworkOptions = declare_shared(NetworkOptions),
    timing: Timing = declare_shared(screen_timing_options),
    scoring: Scoring = declare_shared(Scoring),
    layout: TableLayout = declare_shared(TableLayout),
    pictures: Pictures = declare_shared(Pictures),
    threads: int | None = declare_shared(threads_option),
    jobs: JobOptions = declare_shared(JobOptions),
    saving: Saving | None = declare_shared(save_profile_option),
    messages: Messages = declare_shared(messages_options),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic compare``.

    RECORDING is packet text, CSV or JSON lines, from files, from the files of a folder or, without
    it, from standard input, with arrival times or a --latency to derive them from. What each
    strategy draws at each tick is compared with the truth at that time. A --movement is sent over
    simulated networks instead, --seeds of them, which are evaluated together.

    Metrics have 95 % intervals: their range over similar networks, recordings or stretches of
    time.

    Exit status: 0 all packets accepted, 1 some lines were refused or a recording was skipped, 2
    wrong usage, or too little data, 3 a file cannot be read or written, 4 a custom strategy failed,
    5 a --fail-if condition holds, 130 interrupted.
    """
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.jobs.compare import run as comparing
    from epic_cli.jobs.compare.report import Diagnoses
    from epic_cli.jobs.compare.spec import CompareJob
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.shell.jobs import JobMessages
    from epic_cli.shell.progress import Progress
    from epic_cli.shell.recordings import compare_spec, list_given_runs, make_reporters
    from epic_cli.work.jobs import HERE

    here = network.simulates or drawn.file is not None or saving is not None
    from_stdin = "-" in (*(inputs.recordings or "-"), inputs.truth)
    workers = jobs.settle_options(list_given_options(), fits=not (here or from_stdin)).value
    given, log = (
        list_given_runs(inputs, network, messages, drawn),
        make_reporters(messages, color, saving),
    )
    taking_part = _list_participants(participants, drawn)
    shown = pictures.choose_labels(taking_part)
    _check_conditions(scoring, taking_part)
    asked = inputs, network, timing, scoring.weighing, scoring.warm_up, pictures.selection
    how = compare_spec(taking_part, *asked, threads)
    how = replace(how, each=layout.by == "recording")
    job = CompareJob(given, how, workers)
    if saving is not None and workers != HERE:
        raise WrongUsage(
            f"--save-profile needs the recording on this machine: leave out {workers}",
            "save-profile",
        )
    tally = JobMessages(jobs.allowed_failures, messages.quiet)
    diagnoses = Diagnoses(given) if pictures.html else None

    with tally:
        try:
            with Progress("comparing", silent=not workers.remote) as progress:
                look = diagnoses.look if diagnoses is not None else None
                comparison = comparing.run(job, log, tally, look=look, progress=progress)
            about = partial(describe_origin, getattr(given, "recordings", ()), inputs.truth)
            sections = diagnoses.list_sections() if diagnoses is not None else []
            write(comparison, layout, pictures, shown, color, about, sections, messages.quiet)
        except NotEnoughToSay as error:
            raise WrongUsage(_explain_lack_of_data(error)) from error
        except TooManyRows as error:
            raise WrongUsage(f"{error} for one entity; choose a longer --tick", "tick") from error
    failing = write_failures(comparison, scoring.fail_if)
    if any(result.failed for result in comparison.results):
        return ExitStatus.STRATEGY_FAILED
    if failing:
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if tally.incomplete else ExitStatus.DONE


def _list_participants(participants: Participants, drawn: TimedFile) -> list[Participant]:
    """Return the participants of the comparison.

    The strategies, then what the game drew (``--drawn``).
    """
    from epic_cli.shell.refused_lines import report_left_out

    if not participants.strategies:
        report_left_out()
    strategies = participants.list_specs()
    if drawn.file is None:
        return [*strategies]
    from epic_cli.metrics.drawn_path import DrawnCandidate

    return [*strategies, DrawnCandidate({})]


def _check_conditions(scoring: Scoring, participants: Sequence[Participant]) -> None:
    """Check that each strategy of a condition takes part; raise ``WrongUsage``."""
    from epic_cli.metrics.conditions import ConditionError, check_strategies

    with raise_wrong_usage("--fail-if: ", ConditionError, about=("fail-if",)):
        check_strategies(scoring.fail_if, [participant.label for participant in participants])


def _explain_lack_of_data(error: NotEnoughToSay) -> str:
    from epic_cli.metrics.notes import ExclusionReason, NothingJudged

    apart = isinstance(error, NothingJudged) and any(
        note.reason is ExclusionReason.NO_OVERLAP for note in error.notes
    )
    hint = "; --truth FILE,offset=SECONDS moves the truth" if apart else ""
    return f"{error}{hint}"
