"""``epic diagnose``: why it jitters."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from epic_cli.engine.text.widths import printable
from epic_cli.jobs.diagnose.spec import DiagnoseSpec
from epic_cli.recordings.opening import recordings_of, source_name
from epic_cli.recordings.read_spec import begun_together
from epic_cli.shell.console import ColorChoice, use_color
from epic_cli.shell.declared import (
    SPAN,
    OutputFile,
    Parsed,
    choose,
    command,
    given_options,
    shared,
    value,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, say, wrong_usage
from epic_cli.shell.jobs import JobOptions
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    VideoOptions,
    color_option,
    format_option,
    messages_options,
    read_option,
)
from epic_cli.shell.options.runs import (
    DrawnFile,
    Participants,
    drawn_options,
    recordings_argument,
    strategies_option,
)
from epic_cli.shell.recordings import RecordingSpec

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.run import Diagnosis
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.network.trace import NetworkTrace
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.shell.jobs import Place
    from epic_cli.show.report import Report

_EXAMPLES = """\b
Examples:
  epic diagnose sample_inputs/jitter.txt
  epic diagnose -s snapshot,mirror+send_interval=0.05 sample_inputs/jitter.txt
  epic diagnose --format markdown sample_inputs/*.csv > findings.md
  epic diagnose --fail-if bursts --fail-if teleport sample_inputs/jitter.txt
  epic diagnose --link-out bad_minute.csv sample_inputs/jitter.txt
"""


FORMATS = ("table", "jsonl", "markdown")

#: What ``--fail-if`` calls every cause.
ANY = "any"


def _read_cause(text: str) -> str:
    """A detector's name, or ``any``; raises ``ValueError``."""
    from epic_cli.jobs.diagnose.detectors import registry

    return choose(
        text, [ANY, *(detector.name for detector in registry().detectors)], f"cause {text!r}"
    )


@dataclass(frozen=True)
class DiagnoseOptions:
    """Which recordings are diagnosed, and how; no ``recordings``: standard input."""

    recordings: tuple[str, ...] = shared(recordings_argument)
    strategies: tuple[tuple[str, ...], ...] = shared(
        strategies_option(
            "Also report how often the delay buffers of these run empty: names separated by commas;"
            " NAME+key=value is a variant."
        )
    )
    entity: str | None = value("Diagnose only the packets of this entity.")
    span: tuple[float, float] = value(
        "Diagnose only packets with stamps in this span (seconds).",
        type=SPAN,
        default=(-math.inf, math.inf),
    )
    row_format: str = shared(format_option("row_format", FORMATS, "table", "The output format."))
    fail_if: tuple[str, ...] = value(
        "Exit with status 5 if this cause, or any, is found; may be repeated.",
        type=Parsed("cause", _read_cause),
        multiple=True,
    )
    drawing: DrawnFile = shared(
        drawn_options(
            "What the game really drew: report which strategy and settings that is, and whether it"
            " was smoothed twice."
        )
    )
    link_out: str | None = value(
        "Write the network that it finds, without the movement, for simulate --link trace=FILE;"
        " stderr has the command for a similar link.",
        type=OutputFile(),
        metavar="FILE",
    )
    video: VideoOptions = shared(VideoOptions)
    read: ReadSpec = shared(read_option)
    jobs: JobOptions = shared(JobOptions)
    messages: Messages = shared(messages_options)
    color: ColorChoice = shared(color_option)

    def check(self, names: Sequence[str]) -> None:
        """Refuses what goes with one recording only, and standard output for files.

        ``names`` are the recordings, folders opened.
        """
        self.drawing.check(names, self.jobs.options)
        if self.video.video is not None and self.drawing.drawn is None:
            raise WrongUsage("--video shows what the game drew: it needs --drawn", "video", "drawn")
        if self.link_out is not None and (len(names) > 1 or self.jobs.options):
            raise WrongUsage("--link-out describes one recording: pass one at a time", "link-out")
        if self.link_out == "-":
            raise WrongUsage(
                "--link-out needs a file: standard output is for the findings", "link-out"
            )

    def of_each(self, color: bool) -> DiagnoseEach:
        """What is done with each recording; raises ``WrongUsage``."""
        read = begun_together(self.read) if self.drawing.drawn is not None else self.read
        reading = RecordingSpec(read, self.entity)
        return DiagnoseEach(reading, tuple(self._strategies()), self.span, self.messages, color)

    def _strategies(self) -> list[StrategySpec]:
        return Participants(self.strategies).specs() if self.strategies else []


@dataclass(frozen=True)
class DiagnoseEach:
    """What is done with each recording, in whatever process."""

    kind: ClassVar[str] = "diagnose"

    reading: RecordingSpec = RecordingSpec()  # noqa: RUF009 - a value
    strategies: tuple[StrategySpec, ...] = ()
    span: tuple[float, float] = (-math.inf, math.inf)
    messages: Messages = Messages()  # noqa: RUF009 - a value
    color: bool = False

    def spec(self, recording: str, reporter: Reporter) -> DiagnoseSpec:
        """The packets of a recording, or of a network alone, and what is asked of them.

        Raises ``CannotAccess`` and ``WrongUsage``.
        """
        trace = self.reading.trace(recording, reporter)
        packets = self.reading.packets(recording, reporter) if trace is None else trace
        return DiagnoseSpec(
            packets,
            self.strategies,
            self.span,
            placed=trace is None,
            in_recording=reporter.findings,
        )

    def run(self, recording: str, reporter: Reporter) -> Diagnosis:
        """Reads and diagnoses a recording; raises ``CannotAccess`` and ``WrongUsage``."""
        return diagnosed(self.spec(recording, reporter), reporter.name)

    def placed(self, place: Place | None) -> DiagnoseEach:
        """The same wherever it is done."""
        del place
        return self

    def identity(self) -> dict[str, Any]:
        """What a diagnosis depends on beside the recording."""
        from epic_cli.work.code import strategy_identity

        return {
            "candidates": list(map(strategy_identity, self.strategies)),
            "span": list(self.span),
            **self.reading.identity(),
        }


def diagnosed(spec: DiagnoseSpec, name: str) -> Diagnosis:
    """What is wrong with the recording of this name.

    Raises ``WrongUsage`` where it is too little for that, and ``UnusableDrawing``.
    """
    from epic_cli.jobs.diagnose.run import run
    from epic_cli.metrics.traffic import TooFewPackets

    with wrong_usage(f"{name}: ", TooFewPackets):
        return run(spec)


@command(_EXAMPLES, "s entity span drawn link-out f fail-if columns pattern")
def diagnose(options: DiagnoseOptions = shared(DiagnoseOptions)) -> int:
    """``epic diagnose``.

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
    from epic_cli.shell.jobs import JobTally, UnusableJob, results_of
    from epic_cli.shell.progress import Progress

    names = recordings_of(options.recordings)
    here = options.drawing.drawn is not None or options.link_out is not None or "-" in names
    options = replace(options, jobs=options.jobs.settled(given_options(), fits=not here))
    options.check(names)
    jobs, color = options.jobs, use_color(options.color, sys.stderr)
    if jobs.options and "-" in names:
        raise WrongUsage(f"{jobs.options}: for files, not for standard input")
    each = options.of_each(color)
    tally = JobTally(jobs.allowed_failures)
    found: set[str] = set()
    if len(names) == 1 and not jobs.options:
        return _only(each, names[0], options)
    shown = 0
    with contextlib.ExitStack() as ending:
        progress = ending.enter_context(Progress("diagnosing", silent=True))
        results = results_of(each, names, jobs, tally, progress if jobs.remote else None, 1)
        ending.callback(results.close)
        for done, (name, diagnosis) in enumerate(results, 1):
            tally.end()
            progress.clear()
            if isinstance(diagnosis, UnusableJob):
                say(f"epic: {printable(name)}: {printable(str(diagnosis))}; it is left out\n")
            else:
                found |= diagnosis.causes
            if not isinstance(diagnosis, UnusableJob):
                _write(report(source_name(name), diagnosis), options, shown)
                shown += 1
            progress(done, len(names))
    tally.end()
    return _status(options, found, tally.incomplete)


def _only(each: DiagnoseEach, file: str, options: DiagnoseOptions) -> ExitStatus:
    """One recording, for which there is more: what was drawn of it, and its network."""
    from epic_cli.jobs.diagnose.report import report
    from epic_cli.metrics.drawn_path import UnusableDrawing
    from epic_cli.shell.progress import Progress

    drawing, messages, link = options.drawing, options.messages, None
    with Reporter(source_name(file), messages, each.color) as reporter:
        spec = each.spec(file, reporter)
        if drawing.drawn is not None:
            if not spec.placed:
                raise WrongUsage(
                    f"--drawn: {reporter.name} has no positions to compare with", "drawn"
                )
            spec = replace(spec, drawn=drawing.paths(spec.packets, each.reading.spec, messages))
        try:
            with Progress("diagnosing", silent=True):
                found = diagnosed(spec, reporter.name)
        except UnusableDrawing as error:
            raise drawing.refused(error) from error
        if options.link_out is not None:
            link = _link(spec, reporter.name, options.link_out)
    _write(report(reporter.name, found), options, 0)
    if options.video.video is not None and spec.drawn is not None:
        from epic_cli.engine.replay.playback import SCREEN_TIMING
        from epic_cli.metrics.drawn_path import DrawnCandidate

        nearest = [found.drawn.best.candidate] if found.drawn is not None else []
        kept = {name: block for name, block in spec.packets.items() if name in spec.drawn}
        taking_part: list[Participant] = [DrawnCandidate(spec.drawn), *nearest]
        options.video.write(options.video.scenes(kept, taking_part, SCREEN_TIMING)[:1])
    if link is not None:
        from epic_cli.network.trace import write_trace
        from epic_cli.shell.console import write_document

        trace, story = link
        write_document(write_trace(trace), str(options.link_out))
        say(printable(story, kept="\n"))
    return _status(options, found.causes, reporter.refused)


def _link(spec: DiagnoseSpec, name: str, path: str) -> tuple[NetworkTrace, str]:
    """The recording's network and its description; raises ``WrongUsage`` if it shows none."""
    from epic_cli.jobs.diagnose.link import found_link
    from epic_cli.jobs.diagnose.report import link_story
    from epic_cli.jobs.diagnose.run import traffic

    with wrong_usage(f"--link-out: {name} shows no network: "):
        link = found_link(traffic(spec))
    return link.trace, link_story(link, path)


def _status(options: DiagnoseOptions, found: set[str], incomplete: bool) -> ExitStatus:
    failing = sorted(found if ANY in options.fail_if else found & set(options.fail_if))
    if failing:
        say(f"epic: found {', '.join(failing)}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if incomplete else ExitStatus.DONE


def _write(report: Report, options: DiagnoseOptions, number: int) -> None:
    from epic_cli.shell.console import write_document, write_report

    if number and options.row_format != "jsonl":
        write_document("\n")
    write_report(report, options.row_format, options.color)
