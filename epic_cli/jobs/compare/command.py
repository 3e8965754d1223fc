"""``epic compare``: which strategy is best, by how much, with what confidence and latency."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import Timing
from epic_cli.jobs.compare.command import Layout, Pictures
from epic_cli.shell.console import ColorChoice, use_color
from epic_cli.shell.declared import command, given_options, shared
from epic_cli.shell.errors import ExitStatus, WrongUsage, wrong_usage
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    color_option,
    messages_options,
    saving_options,
    screen_timing_options,
)
from epic_cli.shell.options.drawn import DrawnFile, drawn_options
from epic_cli.shell.options.jobs import JobOptions
from epic_cli.shell.options.networks import NetworkOptions
from epic_cli.shell.options.runs import Inputs, Participants, Scoring, threads_option
from epic_cli.show.metric_list import games_help, metric_lines

if TYPE_CHECKING:
    from epic_cli.jobs.compare.recordings import Recordings
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.shell.profiles import Saving

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
  epic compare --truth walk.csv --latency 80ms --jitter 30ms --seeds 20
  epic compare --by recording sample_inputs/jitter.txt sample_inputs/turn.txt
  epic compare --fail-if 'score(epic)<20' sample_inputs/jitter.txt
"""

_REFERENCE = _METRICS + "".join(f"  {line}\n" for line in metric_lines()) + "\n" + games_help()


@command(_EXAMPLES, "s truth game fail-if seeds latency jitter loss f chart html video", _REFERENCE)
def compare(
    inputs: Inputs = shared(Inputs),
    participants: Participants = shared(Participants),
    drawing: DrawnFile = shared(
        drawn_options("What the game really drew, evaluated like a strategy, in the row drawn.")
    ),
    network: NetworkOptions = shared(NetworkOptions),
    timing: Timing = shared(screen_timing_options),
    scoring: Scoring = shared(Scoring),
    layout: Layout = shared(Layout),
    pictures: Pictures = shared(Pictures),
    threads: int | None = shared(threads_option),
    jobs: JobOptions = shared(JobOptions),
    saving: Saving | None = shared(saving_options),
    messages: Messages = shared(messages_options),
    color: ColorChoice = shared(color_option),
) -> int:
    """Find which strategy draws recordings best, by how much, and with what confidence.

    RECORDING is packet text, CSV or JSON lines, from files, from the files of a folder or, without
    it, from standard input, with arrival times or a --latency to derive them from. What each
    strategy draws at each tick is compared with the truth at that time. With --seeds, a movement
    (--truth or --path) is sent over simulated networks, which are evaluated together.

    Figures have 95 % intervals: their range over similar networks, recordings or stretches of
    time.

    Exit status: 0 all packets accepted, 1 some lines were refused or a recording was skipped, 2
    wrong usage, or too little data, 3 a file cannot be read or written, 4 a custom strategy failed,
    5 a --fail-if condition holds, 130 interrupted.
    """
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.jobs.compare.command import about_of, write
    from epic_cli.jobs.compare.recordings import Recordings
    from epic_cli.metrics.evaluation import compare as compare_runs
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.shell.progress import Progress
    from epic_cli.shell.recordings import compare_spec, simulated_runs

    given = given_options()
    network.check(inputs.recordings, inputs.truth)
    here = network.simulates or drawing.drawn is not None or saving is not None
    from_stdin = "-" in (*(inputs.recordings or "-"), inputs.truth)
    jobs = jobs.settled(given, fits=not (here or from_stdin))
    _check_drawing(drawing, network, inputs)
    taking_part = _taking_part(participants, drawing)
    shown = pictures.shown(taking_part)
    _check_conditions(scoring, taking_part)
    spec = compare_spec(
        taking_part, inputs, network, timing, scoring, pictures.selection, threads=threads
    )
    recordings = None
    if network.simulates:
        if jobs.options:
            raise WrongUsage(f"{jobs.options}: for recordings, not for simulated networks")
    else:
        recordings = Recordings(
            inputs,
            jobs,
            spec,
            messages,
            use_color(color, sys.stderr),
            drawing=drawing,
            saving=saving,
            diagnoses=pictures.html is not None,
        )
    names = recordings.names if recordings else []
    try:
        with Progress("comparing", silent=not jobs.remote) as progress:
            if recordings is not None:
                comparison = recordings.compared(progress)
            else:
                runs = simulated_runs(network, inputs, messages)
                comparison = compare_runs(runs, spec, progress)
        if comparison is not None:
            write(
                comparison,
                layout,
                pictures,
                shown,
                color,
                about_of(names, inputs.truth),
                recordings.sections() if recordings else [],
                messages.quiet,
            )
    except NotEnoughToSay as error:
        raise WrongUsage(_not_enough(error)) from error
    except TooManyRows as error:
        raise WrongUsage(f"{error} for one entity; choose a longer --tick") from error
    finally:
        if recordings:
            recordings.end()
    return _status(comparison, scoring, recordings)


def _taking_part(participants: Participants, drawing: DrawnFile) -> list[Participant]:
    """The strategies; what the game drew comes last, and is read with the recording."""
    from epic_cli.shell.refused_lines import report_left_out

    if not participants.strategies:
        report_left_out()
    strategies = participants.specs()
    if drawing.drawn is None:
        return [*strategies]
    from epic_cli.metrics.drawn_path import DrawnCandidate

    return [*strategies, DrawnCandidate({})]


def _status(
    comparison: Comparison | None, scoring: Scoring, recordings: Recordings | None
) -> ExitStatus:
    from epic_cli.jobs.compare.command import write_failures

    if comparison is not None:
        failing = write_failures(comparison, scoring.fail_if)
        if any(one.failed for one in comparison.results):
            return ExitStatus.STRATEGY_FAILED
        if failing:
            return ExitStatus.NOT_AS_EXPECTED
    incomplete = recordings is not None and recordings.incomplete
    return ExitStatus.LINES_REFUSED if incomplete else ExitStatus.DONE


def _check_drawing(drawing: DrawnFile, network: NetworkOptions, inputs: Inputs) -> None:
    if drawing.drawn is not None and network.simulates:
        raise WrongUsage("--drawn belongs to one recording, not to simulated networks")
    drawing.check(inputs.recordings)
    if drawing.drawn == "-" and inputs.truth == "-":
        raise WrongUsage("--truth and --drawn cannot both come from standard input")


def _check_conditions(scoring: Scoring, participants: Sequence[Participant]) -> None:
    """Each strategy that a condition names has to take part."""
    from epic_cli.metrics.conditions import ConditionError, check_strategies

    with wrong_usage("--fail-if: ", ConditionError):
        check_strategies(scoring.fail_if, [one.label for one in participants])


def _not_enough(error: NotEnoughToSay) -> str:
    from epic_cli.metrics.notes import NothingJudged, Unjudged

    apart = isinstance(error, NothingJudged) and any(
        note.reason is Unjudged.NO_OVERLAP for note in error.notes
    )
    hint = "; --truth-offset moves the truth" if apart else ""
    return f"{error}{hint}"
