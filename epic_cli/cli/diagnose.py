"""``epic diagnose``: why it jitters."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.diagnose import ANY, DiagnoseOptions, diagnose_options
from epic_cli.cli.recordings import recordings_of
from epic_cli.engine.text.widths import printable
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage, say
from epic_cli.terminal.remarks import Reporter
from epic_cli.terminal.sources import source_name

if TYPE_CHECKING:
    from epic_cli.cli.archive import Tally
    from epic_cli.views.diagnosis import Report

_EXAMPLES = """\b
Examples:
  epic diagnose sample_inputs/jitter.txt
  epic diagnose -s snapshot,mirror+send_interval=0.05 sample_inputs/jitter.txt
  epic diagnose --format markdown sample_inputs/*.csv > findings.md
  epic diagnose --fail-if bursts --fail-if teleport sample_inputs/jitter.txt
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
    from functools import partial

    from epic_cli.analysis.archive.threads import Threads
    from epic_cli.cli.archive import Tally, Unusable, work_through
    from epic_cli.cli.diagnose_jobs import Request, key_maker, look, look_here, report_on
    from epic_cli.terminal.progress import Progress

    names = recordings_of(options.recordings)
    archive, color = options.archive, use_color(options.color, sys.stderr)
    if archive.options and "-" in names:
        raise WrongUsage(f"{archive.options}: for files, not for standard input")
    request = Request(
        tuple(options.candidates()),
        options.span,
        options.entity,
        options.input_format,
        options.given,
        options.remarks,
        color,
    )
    tally = Tally(archive.allowed_failures)
    found: set[str] = set()
    if len(names) == 1 and not archive.options:
        with Reporter(source_name(names[0]), options.remarks, color) as reporter:
            only = look_here(request, names[0], reporter)
        _write(report_on(reporter.name, only), options, 0)
        tally.refused = reporter.refused
        return _status(options, only.causes, tally)
    part, shown = archive.part(names), 0
    with contextlib.ExitStack() as ending:
        progress = ending.enter_context(Progress("diagnosing"))
        executor = ending.enter_context(
            archive.executor() if archive.elsewhere else Threads(1, len(part))
        )
        looked = work_through(
            partial(look, request),
            part,
            executor,
            archive,
            "diagnose",
            partial(key_maker, request),
            options.remarks,
            tally,
            progress if archive.elsewhere else None,
        )
        ending.callback(looked.close)
        for name, one in looked:
            if isinstance(one, Unusable):
                say(f"epic: {printable(name)}: {printable(str(one))}; it is left out\n")
                continue
            found |= one.causes
            if archive.shard is None:
                _write(report_on(source_name(name), one), options, shown)
                shown += 1
    return _status(options, found, tally)


def _status(options: DiagnoseOptions, found: set[str], tally: Tally) -> ExitStatus:
    failing = sorted(found if ANY in options.fail_if else found & set(options.fail_if))
    if failing:
        say(f"epic: found {', '.join(failing)}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if tally.incomplete else ExitStatus.DONE


def _write(report: Report, options: DiagnoseOptions, number: int) -> None:
    from epic_cli.terminal.console import show
    from epic_cli.terminal.output import open_sink
    from epic_cli.views.diagnosis import DiagnosisText, as_jsonl, as_markdown

    if options.row_format == "table":
        if number:
            with open_sink(None) as sink:
                sink.write(b"\n")
        show(DiagnosisText(report), options.color)
        return
    written = {"jsonl": as_jsonl, "markdown": as_markdown}[options.row_format](report)
    with open_sink(None) as sink:
        sink.write(written.encode())
