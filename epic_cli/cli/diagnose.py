"""``epic diagnose``: why it jitters."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.diagnose import ANY, DiagnoseOptions, diagnose_options
from epic_cli.engine.text.widths import printable
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage, say
from epic_cli.terminal.remarks import Reporter
from epic_cli.terminal.sources import load, source_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.candidates import Candidate
    from epic_cli.analysis.diagnosis.link.found import FoundLink
    from epic_cli.analysis.diagnosis.traffic import Traffic
    from epic_cli.views.diagnosis import Report

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
    from epic_cli.analysis.diagnosis.diagnose import diagnose as look
    from epic_cli.views.diagnosis import Report

    options.check()
    candidates = options.candidates()
    refused, found = False, set()
    for number, recording in enumerate(options.recordings or ("-",)):
        name = source_name(recording)
        with Reporter(name, options.remarks, use_color(options.color, sys.stderr)) as reporter:
            traffic = _traffic(recording, options, candidates, reporter)
        if not traffic.streams:
            raise WrongUsage(f"not enough to say: {name} has no entity with 20 packets")
        link = _link(traffic, options, name)
        report = Report(name, traffic, look(traffic))
        _write(report, options, number)
        if link is not None:
            _write_link(link, str(options.link_out))
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
    from epic_cli.cli.drawn_file import matched
    from epic_cli.formats.layout import begun_together

    given = begun_together(options.given) if options.drawing.drawn else options.given
    packets = load(recording, options.input_format, reporter, given)
    if options.entity is not None:
        if options.entity not in packets:
            there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
            raise WrongUsage(
                f"{reporter.name}: there is no entity {options.entity!r}; there are: {there}"
            )
        packets = {options.entity: packets[options.entity]}
    traffic = traffic_of(packets, options.span, candidates)
    if options.drawing.drawn is None:
        return traffic
    match = matched(packets, options.drawing, given, options.remarks)
    return replace(traffic, drawn=match)


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
    from epic_cli.network.trace_writer import write_trace
    from epic_cli.terminal.output import open_sink
    from epic_cli.views.found_link import link_story

    with open_sink(path) as sink:
        sink.write(write_trace(link.trace).encode())
    say(printable(link_story(link, path), kept="\n"))


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
