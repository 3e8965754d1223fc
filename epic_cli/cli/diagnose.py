"""``epic diagnose``: why it jitters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.diagnose import ANY, DiagnoseOptions, diagnose_options
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage, say
from epic_cli.terminal.remarks import Reporter
from epic_cli.terminal.sources import load, source_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.candidates import Candidate
    from epic_cli.analysis.diagnosis.traffic import Traffic
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
    from epic_cli.analysis.diagnosis.diagnose import diagnose as look
    from epic_cli.views.diagnosis import Report, how_few

    candidates = options.candidates()
    refused, found = False, set()
    for number, recording in enumerate(options.recordings or ("-",)):
        name = source_name(recording)
        with Reporter(name, options.remarks, use_color(options.color, sys.stderr)) as reporter:
            traffic = _traffic(recording, options, candidates, reporter)
        if not traffic.streams:
            raise WrongUsage(
                f"not enough to say: {name} has no entity with 20 packets: {how_few(traffic)}"
            )
        report = Report(name, traffic, look(traffic))
        _write(report, options, number)
        refused |= reporter.refused
        found |= {one.cause for one in report.diagnosis.findings}
        for one in report.diagnosis.findings:
            found |= {below.cause for below in one.consequences}
    failing = sorted(found if ANY in options.fail_if else found & set(options.fail_if))
    if failing:
        say(f"epic: found {', '.join(failing)}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


def _traffic(
    recording: str,
    options: DiagnoseOptions,
    candidates: Sequence[Candidate],
    reporter: Reporter,
) -> Traffic:
    from epic_cli.analysis.diagnosis.traffic import traffic_of

    packets = load(recording, options.input_format, reporter, options.given)
    if options.entity is not None:
        if options.entity not in packets:
            there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
            raise WrongUsage(
                f"{reporter.name}: there is no entity {options.entity!r}; there are: {there}"
            )
        packets = {options.entity: packets[options.entity]}
    return traffic_of(packets, options.span, candidates)


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
