"""``epic diagnose``: causes of jitter, and their remedies."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import printable
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.recordings.opening import list_recordings, name_source
from epic_cli.shell.console import ColorChoice
from epic_cli.shell.declared import (
    SPAN,
    OutputFile,
    Parsed,
    choose,
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
    format_option,
    make_film_scenes,
    messages_options,
    read_option,
    video_option,
    write_film,
)
from epic_cli.shell.options.runs import (
    Participants,
    TimedFile,
    make_drawn_option,
    make_strategies_option,
    recordings_argument,
)
from epic_cli.show.formats import FINDING_FORMATS
from epic_cli.show.video import VideoSpec

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.per_recording import DiagnoseEach
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.metrics.inputs import RecordedRuns
    from epic_cli.network.trace import NetworkTrace
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.show.report import Report

_EXAMPLES = """\b
Examples:
  epic diagnose sample_inputs/jitter.txt
  epic diagnose -s snapshot,mirror+send_interval=0.05 sample_inputs/jitter.txt
  epic diagnose --format markdown sample_inputs/*.csv > findings.md
  epic diagnose --fail-if bursts --fail-if teleport sample_inputs/jitter.txt
  epic diagnose --link-out bad_minute.csv sample_inputs/jitter.txt
"""


#: The word of ``--fail-if`` for every cause.
ANY = "any"


def _read_cause(text: str) -> str:
    """Parse the name of a detector, or ``any``; raise ``ValueError``."""
    from epic_cli.jobs.diagnose.detectors import load_registry

    return choose(
        text, [ANY, *(detector.name for detector in load_registry().detectors)], f"cause {text!r}"
    )


@dataclass(frozen=True)
class DiagnoseOptions:
    """Recordings and options of a diagnosis; no ``recordings``: standard input."""

    recordings: tuple[str, ...] = declare_shared(recordings_argument)
    strategies: tuple[tuple[str, ...], ...] = declare_shared(
        make_strategies_option(
            "Also check the delay buffers of these strategies. Reports how often they run empty."
            " Names are separated by commas; NAME+key=value is a variant."
        )
    )
    entity: str | None = declare_value("Diagnose only the packets of this entity.", metavar="NAME")
    span: tuple[float, float] = declare_value(
        "Diagnose only packets stamped in this span (seconds).",
        type=SPAN,
        default=(-math.inf, math.inf),
    )
    explain: bool = declare_shared(explain_option)
    row_format: str = declare_shared(
        format_option("row_format", FINDING_FORMATS, "table", "The output format.")
    )
    fail_if: tuple[str, ...] = declare_value(
        "Exit with status 5 if this cause, or any, is found. May be repeated.",
        type=Parsed("cause", _read_cause),
        multiple=True,
    )
    drawn: TimedFile = declare_shared(
        make_drawn_option(
            "What the game really drew. Reports which strategy and settings that is, and whether it"
            " was smoothed twice."
        )
    )
    link_out: str | None = declare_value(
        "Write the network found, for --link trace=FILE. The movement is left out; stderr has the"
        " command for a similar link.",
        type=OutputFile(),
        metavar="FILE",
    )
    video: VideoSpec = declare_shared(video_option)
    read: ReadSpec = declare_shared(read_option)
    jobs: JobOptions = declare_shared(JobOptions)
    messages: Messages = declare_shared(messages_options)
    color: ColorChoice = declare_shared(color_option)

    def read_inputs(self) -> RecordedRuns:
        """Return the recordings to diagnose, with folders replaced by their files.

        Raises ``WrongUsage`` for options that go with one recording only, and for standard output
        as a file.
        """
        from epic_cli.metrics.inputs import RecordedRuns, RecordingSpec

        names, workers = list_recordings(self.recordings), self.jobs.value
        reading = RecordingSpec(self.read, self.entity)
        found = RecordedRuns(tuple(names), reading, None, self.drawn.file, self.drawn.offset)
        found.check(workers)
        if self.video.file is not None and self.drawn.file is None:
            raise WrongUsage("--video shows what the game drew: it needs --drawn", "video", "drawn")
        if self.link_out is not None and (len(names) > 1 or str(workers)):
            raise WrongUsage("--link-out describes one recording: pass one at a time", "link-out")
        if self.link_out == "-":
            raise WrongUsage(
                "--link-out needs a file: standard output is for the findings", "link-out"
            )
        return found

    def make_job(self, given: RecordedRuns) -> DiagnoseEach:
        """Return the diagnosis to make of each recording; raise ``WrongUsage``."""
        from epic_cli.jobs.diagnose.per_recording import DiagnoseEach
        from epic_cli.shell.recordings import make_reporters

        log = make_reporters(self.messages, self.color)
        return DiagnoseEach(given.reading, log, tuple(self._list_strategies()), self.span)

    def _list_strategies(self) -> list[StrategySpec]:
        return Participants(self.strategies).list_specs() if self.strategies else []


@make_command(_EXAMPLES, "s read entity span drawn link-out f fail-if")
def diagnose(options: DiagnoseOptions = declare_shared(DiagnoseOptions)) -> int:
    """Run ``epic diagnose``.

    Each RECORDING (or standard input) is searched for what makes movement jerk, float or leap:
    teleports that are not marked, stamps that are not the time of the state, packets in bursts,
    drifting clocks, and more. Findings come worst first, each with its consequences. Causes
    that cannot be checked, for lack of arrival times, sequence numbers or velocities, are listed;
    those of movement, where a RECORDING is a network alone (what simulate --link trace=FILE takes).
    With -s, it reports how often the delay buffers of strategies run empty, and which setting would
    help.

    Exit status: 0 done, whatever was found, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 5 --fail-if found its cause, 130 interrupted.
    """
    from epic_cli.jobs.diagnose.report import report
    from epic_cli.shell.jobs import JobMessages
    from epic_cli.shell.progress import Progress
    from epic_cli.work.jobs import HERE, UnusableJob, run_recordings

    from_stdin = "-" in (options.recordings or "-")
    here = options.drawn.file is not None or options.link_out is not None or from_stdin
    options = replace(
        options, jobs=options.jobs.settle_options(list_given_options(), fits=not here)
    )
    given, workers = options.read_inputs(), options.jobs.value
    names, each = given.recordings, options.make_job(given)
    tally = JobMessages(options.jobs.allowed_failures, options.messages.quiet)
    found: set[str] = set()
    if len(names) == 1 and workers == HERE:
        return _diagnose_recording(each, given, options)
    shown = 0
    with tally, contextlib.ExitStack() as ending:
        progress = ending.enter_context(Progress("diagnosing", silent=True))
        results = run_recordings(
            each, names, workers, tally, progress if workers.remote else None, 1
        )
        ending.callback(results.close)
        for done, (name, diagnosis) in enumerate(results, 1):
            tally.end()
            progress.clear()
            if isinstance(diagnosis, UnusableJob):
                write_message(
                    f"epic: {printable(name)}: {printable(str(diagnosis))}; it is left out\n"
                )
            else:
                found |= diagnosis.causes
                _write_findings(report(name_source(name), diagnosis), options, shown)
                shown += 1
            progress(done, len(names))
    return _choose_exit_status(options, found, tally.incomplete)


def _diagnose_recording(
    each: DiagnoseEach, given: RecordedRuns, options: DiagnoseOptions
) -> ExitStatus:
    """Diagnose a single recording, with its drawn frames and its network if these are asked for."""
    from epic_cli.jobs.diagnose.per_recording import run_named
    from epic_cli.jobs.diagnose.report import report
    from epic_cli.metrics.drawn_path import UnusableDrawing
    from epic_cli.shell.progress import Progress

    (file,), link = given.recordings, None
    with each.log(name_source(file)) as reporter:
        spec = each.make_spec(file, reporter)
        if given.drawn is not None:
            if not spec.placed:
                raise WrongUsage(
                    f"--drawn: {reporter.name} has no positions to compare with", "drawn"
                )
            read, layout = given.reading.spec, reporter.watch.current_layout
            paths, doubtful = given.read_drawn_paths(spec.packets, read, layout, each.log)
            in_recording = (*spec.in_recording, *doubtful)
            apart = given.misses_clock_or_unit(doubtful)
            spec = replace(spec, drawn=None if apart else paths, in_recording=in_recording)
        try:
            with Progress("diagnosing", silent=True):
                found = run_named(spec, reporter)
        except UnusableDrawing as error:
            place = name_source(str(given.drawn))
            raise UnusableDrawing(f"--drawn: {place}: {error}") from error
        if options.link_out is not None:
            link = _find_link(spec, reporter.name, options.link_out)
    _write_findings(report(reporter.name, found), options, 0)
    if options.video.file is not None and spec.drawn is not None:
        from epic_cli.engine.replay.playback import SCREEN_TIMING
        from epic_cli.metrics.drawn_path import DrawnCandidate

        nearest = [found.drawn.best.candidate] if found.drawn is not None else []
        kept = {name: block for name, block in spec.packets.items() if name in spec.drawn}
        taking_part: list[Participant] = [DrawnCandidate(spec.drawn), *nearest]
        scenes = make_film_scenes(kept, taking_part, SCREEN_TIMING, reporter.watch.unit)
        write_film(options.video, scenes[:1])
    if link is not None:
        from epic_cli.network.trace import write_trace
        from epic_cli.shell.console import write_document

        trace, story = link
        write_document(write_trace(trace), str(options.link_out))
        write_message(printable(story, kept="\n"))
    return _choose_exit_status(options, found.causes, reporter.refused)


def _find_link(spec: DiagnoseSpec, name: str, path: str) -> tuple[NetworkTrace, str]:
    """Return the recording's network and its description; raise ``WrongUsage`` if unknown."""
    from epic_cli.jobs.diagnose.link import find_link
    from epic_cli.jobs.diagnose.report.networks import describe_link
    from epic_cli.jobs.diagnose.run import make_spec_traffic

    with raise_wrong_usage(f"--link-out: {name} shows no network: "):
        link = find_link(make_spec_traffic(spec))
    return link.trace, describe_link(link, path)


def _choose_exit_status(options: DiagnoseOptions, found: set[str], incomplete: bool) -> ExitStatus:
    failing = sorted(found if ANY in options.fail_if else found & set(options.fail_if))
    if failing:
        write_message(f"epic: found {', '.join(failing)}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if incomplete else ExitStatus.DONE


def _write_findings(report: Report, options: DiagnoseOptions, number: int) -> None:
    from epic_cli.shell.console import write_document, write_report

    if number and options.row_format != "jsonl":
        write_document("\n")
    write_report(report, options.row_format, options.color, explain=options.explain)
