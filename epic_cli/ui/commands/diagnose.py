"""``epic diagnose``: Say why it jitters: causes, evidence and cures."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from epic_cli.engine.text.widths import printable
from epic_cli.ui.commands.recordings import recordings_of
from epic_cli.ui.io.color import use_color
from epic_cli.ui.io.errors import ExitStatus, WrongUsage, say
from epic_cli.ui.io.messages import Reporter
from epic_cli.ui.io.sources import source_name
from epic_cli.ui.options.diagnose import ANY, DiagnoseOptions, diagnose_options
from epic_cli.ui.options.groups import given_options

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.link.found import FoundLink
    from epic_cli.analysis.diagnosis.traffic import Traffic
    from epic_cli.ui.commands.diagnose_jobs import DiagnoseJobs
    from epic_cli.ui.commands.jobs import Tally
    from epic_cli.views.report import Report

_EXAMPLES = """\b
Examples:
  epic diagnose sample_inputs/jitter.txt
  epic diagnose -s snapshot,mirror+send_interval=0.05 sample_inputs/jitter.txt
  epic diagnose --format markdown sample_inputs/*.csv > findings.md
  epic diagnose --fail-if bursts --fail-if teleport sample_inputs/jitter.txt
  epic diagnose --link-out bad_minute.csv sample_inputs/jitter.txt
"""


@click.command(epilog=_EXAMPLES)
@diagnose_options
def diagnose(options: DiagnoseOptions) -> int:
    """Say why it jitters: causes, evidence and cures.

    Each RECORDING (or standard input) is searched for what makes movement jerk, float or leap:
    teleports that are not marked, stamps that are not the time of the state, packets in heaps,
    clocks that run apart, and more. Findings stand worst first; what follows from one of them is
    told under it. What cannot be looked at, without arrival times, sequence numbers or velocities,
    is said. With -s, so is how often the delay buffers of strategies run empty, and which setting
    would help.

    Exit status: 0 done, whatever was found, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 5 --fail-if found its cause, 130 interrupted.
    """
    from epic_cli.analysis.jobs.executors import Threads
    from epic_cli.ui.commands.diagnose_jobs import DiagnoseJobs
    from epic_cli.ui.commands.jobs import Tally, Unusable, run_recordings
    from epic_cli.ui.io.progress import Progress
    from epic_cli.views.diagnosis.report import report

    names = recordings_of(options.recordings)
    here = options.drawing.drawn is not None or options.link_out is not None or "-" in names
    given = given_options(click.get_current_context())
    options = options._replace(jobs=options.jobs.settled(given, fits=not here))
    options.check(names)
    jobs, color = options.jobs, use_color(options.color, sys.stderr)
    if jobs.options and "-" in names:
        raise WrongUsage(f"{jobs.options}: for files, not for standard input")
    spec = DiagnoseJobs(options.spec(), options.remarks, color)
    tally = Tally(jobs.allowed_failures)
    found: set[str] = set()
    if len(names) == 1 and not jobs.options:
        return _only(spec, names[0], options)
    part, shown = jobs.part(names), 0
    with contextlib.ExitStack() as ending:
        progress = ending.enter_context(Progress("diagnosing"))
        executor = ending.enter_context(jobs.executor() if jobs.remote else Threads(1, len(part)))
        results = run_recordings(
            spec, part, executor, jobs, tally, progress if jobs.remote else None
        )
        ending.callback(results.close)
        for name, one in results:
            tally.end()
            if isinstance(one, Unusable):
                say(f"epic: {printable(name)}: {printable(str(one))}; it is left out\n")
                continue
            found |= one.causes
            if jobs.shard is None:
                _write(report(source_name(name), one), options, shown)
                shown += 1
    tally.end()
    return _status(options, found, tally)


def _only(spec: DiagnoseJobs, file: str, options: DiagnoseOptions) -> ExitStatus:
    """One recording, of which more can be asked: what was drawn of it, and its network."""
    from epic_cli.analysis.drawn.path import UnusableDrawing
    from epic_cli.ui.commands.diagnose_jobs import diagnosis_of
    from epic_cli.ui.commands.jobs import Tally
    from epic_cli.views.diagnosis.report import report

    drawing, messages = options.drawing, options.remarks
    with Reporter(source_name(file), messages, spec.color) as reporter:
        traffic, paths = spec.traffic(file, reporter), None
        if drawing.drawn is not None:
            paths = drawing.paths(traffic.blocks, spec.spec.layout, messages)
        try:
            found = diagnosis_of(traffic, reporter.name, paths)
        except UnusableDrawing as error:
            raise drawing.refused(error) from error
        link = _link(traffic, options, reporter.name)
    _write(report(reporter.name, found), options, 0)
    if link is not None:
        _write_link(link, str(options.link_out))
    return _status(options, found.causes, Tally(refused=reporter.refused))


def _status(options: DiagnoseOptions, found: set[str], tally: Tally) -> ExitStatus:
    failing = sorted(found if ANY in options.fail_if else found & set(options.fail_if))
    if failing:
        say(f"epic: found {', '.join(failing)}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if tally.incomplete else ExitStatus.DONE


def _link(traffic: Traffic, options: DiagnoseOptions, name: str) -> FoundLink | None:
    """The recording's network, if it is wanted; raises ``WrongUsage`` where it has none."""
    from epic_cli.analysis.diagnosis.link.found import found_link

    if options.link_out is None:
        return None
    try:
        return found_link(traffic)
    except ValueError as error:
        raise WrongUsage(f"--link-out: {name} shows no network: {error}") from error


def _write_link(link: FoundLink, path: str) -> None:
    from epic_cli.network.trace_file import write_trace
    from epic_cli.ui.io.console import write_document
    from epic_cli.views.diagnosis.link import link_story

    write_document(write_trace(link.trace), path)
    say(printable(link_story(link, path), kept="\n"))


def _write(report: Report, options: DiagnoseOptions, number: int) -> None:
    from epic_cli.ui.io.console import write_document, write_report

    if number and options.row_format != "jsonl":
        write_document("\n")
    write_report(report, options.row_format, options.color)
