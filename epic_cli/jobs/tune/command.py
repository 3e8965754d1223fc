"""The options of ``epic tune``: strategies, purpose, effort, output."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import CORRECTION, StrategySpec
from epic_cli.jobs.tune.spec import DIVISIONS, GOALS, Division, TuneJob
from epic_cli.metrics import find_metric
from epic_cli.shell.console import ColorChoice
from epic_cli.shell.declared import (
    OutputFile,
    Parsed,
    choose,
    declare_flag,
    declare_shared,
    declare_value,
    list_completions,
    make_command,
    make_seconds_type,
    refuse,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage
from epic_cli.shell.jobs import JobMessages, JobOptions
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    color_option,
    explain_option,
    make_report_format_option,
    messages_options,
    save_profile_option,
    screen_timing_options,
)
from epic_cli.shell.options.networks import NetworkOptions
from epic_cli.shell.options.runs import (
    Inputs,
    Participants,
    TimedFile,
    make_drawn_option,
    make_strategies_option,
    warm_up_option,
    weights_option,
)
from epic_cli.show.metric_list import write_games_help

if TYPE_CHECKING:
    from epic_cli.jobs.tune.bytes_front import BytesFronts, BytesSpec, Limit
    from epic_cli.jobs.tune.design import Design
    from epic_cli.jobs.tune.run import TuneStep, Tunings
    from epic_cli.metrics.evaluation import Run
    from epic_cli.metrics.metric import Metric, Weighing
    from epic_cli.recordings.opening import Logs
    from epic_cli.shell.profiles import Saving
    from epic_cli.shell.progress import Progress


#: Options that have no effect without a search.
OF_SEARCH = (
    "drawn", "figure", "weighing", "warm_up", "division", "trials", "seconds",
    "threads", "workers", "cluster", "journal", "svg", "html", "bytes",
)  # fmt: skip


#: Options of the search of settings alone.
_NOT_OF_BYTES = ("design", "division", "trials", "seconds")


@dataclass(frozen=True)
class Tuned(Participants):
    """Options of the strategies to tune, as typed."""

    strategies: tuple[tuple[str, ...], ...] = declare_shared(
        make_strategies_option(
            "Strategies to tune, separated by commas. NAME+key=value keeps that setting,"
            " correction:ENGINE is a way to hide the corrections of the predicted own player."
        )
    )
    every: bool = declare_flag("Tune every strategy.", "--all")
    design: bool = declare_flag(
        "Compose a new strategy of parts. The parts are those of the named strategies, or of all;"
        " the result is the simplest composition that is as good as the best."
    )
    drawn: TimedFile = declare_shared(
        make_drawn_option("With --design: what the game draws now, judged beside it.")
    )

    def __post_init__(self) -> None:
        """Raise ``WrongUsage`` for ``--all`` beside ``-s``."""
        if self.every and self.strategies:
            raise WrongUsage(
                "--all tunes every strategy: leave out -s, or --all", "all", "strategies"
            )
        if self.every and self.design:
            raise WrongUsage(
                "--all tunes every strategy, --design composes one: leave one out", "all", "design"
            )
        if self.drawn.file is not None and not self.design:
            raise WrongUsage("--drawn needs --design", "drawn")

    def list_specs(self) -> list[StrategySpec]:
        """Return each strategy with the settings to keep fixed.

        A correction keeps all its settings but the time.
        """
        return [
            spec._replace(
                settings={key: spec.settings[key] for key in spec.settings if key != "time"}
            )
            if spec.label.startswith(CORRECTION)
            else spec
            for spec in ([] if self.design and not self.strategies else super().list_specs())
        ]

    @property
    def searches(self) -> bool:
        """True if settings are searched; else only the delays that packets need are computed."""
        return self.every or self.design or bool(self.strategies)


FIGURE = Parsed(
    "figure",
    lambda text: choose(text, GOALS, f"metric {text!r} to tune for"),
    (),
    lambda begun: list_completions(((goal, find_metric(goal).help) for goal in GOALS), begun),
)


@dataclass(frozen=True)
class Purpose:
    """Options of the goal.

    The metric to tune for, the weights of the score, the data to judge on.
    """

    figure: str = declare_value(
        "The metric to optimize: score, error, lag, jerk, ... The names are those of 'epic"
        " compare'.",
        "--for",
        type=FIGURE,
        default="score",
        show_default=True,
    )
    weighing: Weighing = declare_shared(weights_option)
    warm_up: float | None = declare_shared(warm_up_option)
    division: Division | None = declare_value(
        "The part that is evaluated: every other recording, the second half of the time, or the"
        " data tuned on.  [default: recording with four or more, else time]",
        "--validate",
        type=click.Choice(DIVISIONS),
    )


def _parse_limit(text: str) -> Limit:
    from epic_cli.jobs.tune.bytes_front import Limit

    return Limit.parse(text)


@dataclass(frozen=True)
class Wire:
    """Options of a search for senders instead of settings, and its limit on bytes or a metric."""

    bytes: bool = declare_flag(
        "Tune the sender of --movement for few bytes. Rate, threshold, bits and packing are"
        " searched for bytes a second against the metric; keys of --send are kept."
    )
    limit: Limit | None = declare_value(
        "With --bytes, the best that sends no more than this (5kB/s, 40kbit/s), or the fewest"
        " bytes for a metric (error=0.05).",
        type=Parsed("limit", _parse_limit),
        metavar="LIMIT",
    )

    def __post_init__(self) -> None:
        """Raise ``WrongUsage`` for a limit without ``--bytes``."""
        refuse(() if self.bytes else ("limit",), "needs --bytes")


@dataclass(frozen=True)
class Effort:
    """Options of the search's duration, and of its threads."""

    trials: int | None = declare_value(
        "Trials per strategy, or per composition of a --design.  [default: 60 per setting, 400 at"
        " most; 30 per number]",
        type=click.IntRange(2, 1_000_000),
    )
    seconds: float | None = declare_value(
        "Stop the whole search after this long.",
        "--time",
        type=make_seconds_type(0.01, 1e9),
        metavar="SECONDS",
    )
    threads: int | None = declare_value(
        "Number of settings to evaluate in parallel. The result does not depend on it. "
        " [default: one per core]",
        type=click.IntRange(1, 256),
    )


@dataclass(frozen=True)
class Written:
    """Options of the report's format, and of the files of pictures."""

    explain: bool = declare_shared(explain_option)
    form: str = declare_shared(make_report_format_option("The output format."))
    svg: str | None = declare_value(
        "Write a picture of latency against roughness to this file.", type=OutputFile()
    )
    html: str | None = declare_value(
        "Write one HTML page with everything. It shows what is drawn before and after tuning.",
        type=OutputFile(),
    )

    def __post_init__(self) -> None:
        """Raise ``WrongUsage`` for standard output as the file of a picture."""
        if "-" in (self.svg, self.html):
            raise WrongUsage("a picture or page needs a file: standard output is for the table")


_EXAMPLES = """\b
Examples:
  epic tune sample_inputs/jitter.txt
  epic tune -s lerp sample_inputs/jitter.txt
  epic tune -s lerp,geckos --weights shooter sample_inputs/jitter.txt
  epic tune --movement strafe --latency 80ms --jitter 30ms --seeds 6 -s geckos
  epic tune --design --weights shooter sample_inputs/jitter.txt
  epic tune --bytes -s dis --movement strafe --send 20hz --seeds 2
"""


@make_command(
    _EXAMPLES,
    "s all design bytes for explain weights movement link f html",
    write_games_help(),
)
def tune(
    inputs: Inputs = declare_shared(Inputs),
    tuned: Tuned = declare_shared(Tuned),
    purpose: Purpose = declare_shared(Purpose),
    wire: Wire = declare_shared(Wire),
    effort: Effort = declare_shared(Effort),
    jobs: JobOptions = declare_shared(JobOptions),
    network: NetworkOptions = declare_shared(NetworkOptions),
    timing: Timing = declare_shared(screen_timing_options),
    written: Written = declare_shared(Written),
    saving: Saving | None = declare_shared(save_profile_option),
    messages: Messages = declare_shared(messages_options),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic tune``.

    First, without a search, it reports the delay that delay buffers need: how long to wait for 90,
    95, 99 and 99.9 % of the packets of the RECORDING (packet text, CSV or JSON lines, from files,
    folders or standard input; or a recorded network), also with one or two of them lost.

    With -s or --all, it searches one part of the data for the settings with the best score, or the
    best single metric (--for), and evaluates them on the rest. It also reports which settings
    matter, which are at a bound, and what smoothness costs in latency. If interrupted, it reports
    the best so far.

    With --design it says what to draw with, composed of parts and tuned: the simplest that is as
    good as the best, what more and fewer parts would bring, and what the game draws now (--drawn).

    With --bytes it says how to send a --movement: the front of bytes a second against the metric,
    over rate, threshold, bits and packing, and the best under a --limit.

    Exit status: 0 all packets accepted, 1 some lines were refused or more recordings were skipped
    than --allowed-failures, 2 wrong usage, or too little data, 3 a file cannot be read or written,
    or workers cannot be used, 4 a custom strategy failed, 130 interrupted.
    """
    from epic_cli.jobs.tune.bytes_front import BytesSpec
    from epic_cli.jobs.tune.spec import TuneJob, TuneSpec
    from epic_cli.metrics.inputs import SimulatedRuns
    from epic_cli.shell.recordings import compare_spec, list_given_runs, make_reporters

    given = list_given_runs(inputs, network, messages, tuned.drawn, traces=not tuned.searches)
    _check_options(tuned)
    strategies = tuned.list_specs()
    log = make_reporters(messages, color, saving)
    tally = JobMessages(jobs.allowed_failures, messages.quiet)
    if not tuned.searches:
        runs = given.load_runs(log, tally, inputs.truth_offset)
        _write_delays(runs, strategies, written, color)
        return ExitStatus.LINES_REFUSED if tally.incomplete else ExitStatus.DONE
    asked = inputs, network, timing, purpose.weighing, purpose.warm_up
    how = compare_spec((), *asked, threads=effort.threads)
    if wire.bytes:
        refuse(_NOT_OF_BYTES, "does not go with --bytes")
        if not isinstance(given, SimulatedRuns):
            truth = f"truth={inputs.recordings[0]}" if inputs.recordings else "strafe"
            raise WrongUsage(
                f"--bytes needs a movement to send, not a recording: use --movement '{truth}'",
                "bytes",
            )
        parts = given.simulation.open(given.load), given.seeds, how, purpose.figure, wire.limit
        with tally:
            found_senders = _search_senders(BytesSpec(tuple(strategies), *parts), jobs, tally)
            _write_results(found_senders, written, color, (), None)
        return ExitStatus.INTERRUPTED if found_senders.interrupted else ExitStatus.DONE
    sought = purpose.figure, purpose.division, effort.trials, effort.seconds
    job = TuneJob(given, TuneSpec(tuple(strategies), how, *sought), jobs.value)
    with tally:
        found = _run_search(job, log, tally, tuned.design)
        _write_results(found, written, color, getattr(given, "recordings", ()), inputs.truth)
    if found.failed:
        return ExitStatus.STRATEGY_FAILED
    if found.interrupted:
        return ExitStatus.INTERRUPTED
    return ExitStatus.LINES_REFUSED if tally.incomplete else ExitStatus.DONE


def _check_options(tuned: Tuned) -> None:
    """Raise ``WrongUsage`` for options of a search where none is asked for."""
    refuse(() if tuned.searches else OF_SEARCH, "needs -s NAME or --all, or --design: what to tune")


def _run_search(job: TuneJob, log: Logs, tally: JobMessages, design: bool) -> Tunings | Design:
    """Run the search; raise ``WrongUsage``, ``UNUSABLE``."""
    from epic_cli.jobs.tune import run as tuning
    from epic_cli.jobs.tune.design import design as composing
    from epic_cli.shell.progress import Progress

    seek: Callable[..., Tunings | Design] = composing if design else tuning.tune
    with _convert_errors(), Progress("tuning", silent=not job.workers.remote) as shown:
        progress = partial(_show_progress, shown, job.how.goal.metric)
        return tuning.run(seek, job, log, tally, progress=progress)


@contextlib.contextmanager
def _convert_errors() -> Iterator[None]:
    """Raise ``WrongUsage`` for the errors of a search that options cause."""
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.jobs.tune import run as tuning
    from epic_cli.metrics.notes import NotEnoughToSay

    try:
        yield
    except tuning.DividedTooSmall as error:
        raise WrongUsage(
            f"{error}; --validate none tunes and evaluates on the same rows"
        ) from error
    except (NotEnoughToSay, tuning.NothingToTune) as error:
        raise WrongUsage(str(error)) from error
    except TooManyRows as error:
        raise WrongUsage(f"{error} for one entity; choose a longer --tick", "tick") from error
    except tuning.NeedsArrivals as error:
        raise WrongUsage(
            f"{error}: add --latency SECONDS, which makes arrival times from stamps", "latency"
        ) from error


def _search_senders(spec: BytesSpec, jobs: JobOptions, tally: JobMessages) -> BytesFronts:
    """Run the search of ``--bytes`` for senders; raise ``WrongUsage``, ``UNUSABLE``."""
    from epic_cli.jobs.tune.bytes_front import find_bytes
    from epic_cli.jobs.tune.run import open_workers
    from epic_cli.shell.progress import Progress

    shown = Progress("sending")
    with (
        _convert_errors(),
        shown as progress,
        open_workers(jobs.value, tally) as (executor, journal),
    ):
        return find_bytes(spec, progress, executor=executor, journal=journal)


def _show_progress(progress: Progress, metric: Metric, step: TuneStep) -> None:
    """Show the search's progress: the strategy at work, and the best value so far."""
    best = "" if math.isnan(step.best) else f", best {metric.format(step.best)}"
    of = f" ({step.number} of {step.strategies})" if step.strategies > 1 else ""
    progress.describe(f"{step.strategy}{of}{best}")
    progress(round((step.number - 1 + step.trials / step.most) / step.strategies * 1000), 1000)


def _write_delays(
    runs: Sequence[Run], strategies: Sequence[StrategySpec], written: Written, color: ColorChoice
) -> None:
    """Write a report of the delays that packets need, without a search.

    Raise ``WrongUsage`` without arrival times.
    """
    from epic_cli.jobs.tune.report import make_delays_report
    from epic_cli.metrics.delays import find_needed_delays
    from epic_cli.shell.console import write_report

    found = find_needed_delays([run.packets for run in runs], strategies)
    if found is None:
        raise WrongUsage(
            "fewer than 20 packets have arrival times, from which the delay is computed: log"
            " arrival= at the receiver, or tune a strategy that needs none (-s NAME)"
        )
    write_report(make_delays_report(found), written.form, color, explain=written.explain)


def _write_results(
    found: Tunings | Design | BytesFronts,
    written: Written,
    color: ColorChoice,
    names: Sequence[str],
    truth: str | None,
) -> None:
    """Write pictures to their files, and the report and its method to stdout or stderr."""
    from epic_cli.jobs.tune import bytes_report as sent
    from epic_cli.jobs.tune import design_report as designed
    from epic_cli.jobs.tune import report as tuned
    from epic_cli.jobs.tune.bytes_front import BytesFronts
    from epic_cli.jobs.tune.run import Tunings
    from epic_cli.shell.console import write_document, write_report

    of: Any = designed
    if isinstance(found, Tunings):
        of = tuned
    elif isinstance(found, BytesFronts):
        of = sent
    if written.html is not None:
        from epic_cli.jobs.compare.command import describe_origin
        from epic_cli.jobs.compare.report import report as compared
        from epic_cli.show.page import make_content, make_page
        from epic_cli.show.scene import Selection

        drawn = found.compare_before_and_after(Selection())
        about, details = describe_origin(names, truth), of.report(found, details=True)
        content = make_content(drawn, compared(drawn), found.pictured, about, (), details)
        write_document(make_page(drawn.scenes, content), written.html)
    if written.svg is not None:
        write_document(of.draw_picture(found), written.svg)
    write_report(of.report(found), written.form, color, summary=True, explain=written.explain)
