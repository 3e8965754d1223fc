"""``epic inspect``: the contents of a recording, the layout found for it, and its problems."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.recordings.opening import ReadingLog, list_recordings, name_source, read_blocks
from epic_cli.recordings.watch import RecordingMonitor
from epic_cli.shell.console import ColorChoice, use_color, write_document, write_report
from epic_cli.shell.declared import Parsed, declare_shared, declare_value, make_command
from epic_cli.shell.errors import ExitStatus, WrongUsage, write_message
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    color_option,
    explain_option,
    messages_options,
    read_option,
    save_profile_option,
)
from epic_cli.shell.options.runs import recordings_argument
from epic_cli.shell.progress import Progress, report_each

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.jobs.inspect.run import Inspection
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.shell.profiles import Saving
    from epic_cli.show.report import Report

_EXAMPLES = """\b
Examples:
  epic inspect sample_inputs/two_tanks.csv
  epic inspect --format json sample_inputs/*.csv
  epic inspect --explain sample_inputs/jitter.txt
  epic inspect --read vx=,vy=,vz= sample_inputs/two_tanks.csv
"""

#: The word of ``--fail-if`` for every finding.
ANY = "any"


def _parse_finding_code(text: str) -> str:
    """Parse the code of a finding, or ``any``; raise ``ValueError``."""
    from epic_cli.recordings.findings import KINDS

    known = [ANY, *KINDS]
    found = next((name for name in known if name.lower() == text.lower()), None)
    if found is None:
        raise ValueError(f"no code {text!r}; choose from {', '.join(known)}")
    return found


@dataclass(frozen=True)
class InspectOptions:
    """Recordings and options of an inspection; no ``recordings``: standard input."""

    recordings: tuple[str, ...] = declare_shared(recordings_argument)
    row_format: str = declare_value(
        "The output format. json is an object a line.",
        "-f",
        "--format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
    )
    fail_if: tuple[str, ...] = declare_value(
        "Exit with status 5 if this finding, or any, is there. May be repeated.",
        type=Parsed("code", _parse_finding_code),
        multiple=True,
    )
    explain: bool = declare_shared(explain_option)
    saving: Saving | None = declare_shared(save_profile_option)
    read: ReadSpec = declare_shared(read_option)
    messages: Messages = declare_shared(messages_options)
    color: ColorChoice = declare_shared(color_option)


@make_command(_EXAMPLES, "f fail-if explain save-profile read")
def inspect(options: InspectOptions = declare_shared(InspectOptions)) -> int:
    """Run ``epic inspect``.

    How each RECORDING (or standard input) was read: layout, entities, clock, send rate, speeds,
    arrival times, columns that were not read, the first packets. Then the findings, worst first,
    each with a code and, where there is one, the command line that mends it.

    Exit status: 0 nothing grave, 1 an error is found or lines were refused, 2 wrong usage, 3 a file
    cannot be read, 5 --fail-if found its code, 130 interrupted.
    """
    from epic_cli.jobs.inspect.report import record, report

    names = list_recordings(options.recordings)
    if options.saving is not None and len(names) > 1:
        raise WrongUsage(
            "--save-profile keeps how one recording is read: pass one at a time", "save-profile"
        )
    failing: set[str] = set()
    grave = False
    for number, name in enumerate(names):
        found = _inspect_file(name, options)
        codes = {finding.code for finding in found.findings}
        failing |= codes if ANY in options.fail_if else codes & set(options.fail_if)
        grave |= bool(found.doubts or found.refused)
        if options.row_format == "json":
            write_document(json.dumps(record(found)) + "\n")
        else:
            _write_text(report(found), options, number)
    if failing:
        write_message(f"epic: found {', '.join(sorted(failing))}\n")
        return ExitStatus.NOT_AS_EXPECTED
    return ExitStatus.LINES_REFUSED if grave else ExitStatus.DONE


def _inspect_file(file: str, options: InspectOptions) -> Inspection:
    from epic_cli.jobs.inspect.run import inspect as run

    name, color = name_source(file), use_color(options.color, sys.stderr)
    log = ReadingLog(name, RecordingMonitor(thorough=True, name=name))
    with (
        Reporter(name, options.messages, color) as refused,
        Progress("inspecting", in_bytes=True, silent=True) as progress,
    ):
        (on_read,) = report_each(progress, [file])

        def observe_blocks() -> Iterator[PacketBlock]:
            for block in read_blocks(file, options.read, log, on_read):
                refused.packets += len(block)
                refused.refuse(block.refusals)
                yield block

        found = run(name, observe_blocks(), log.watch)
    if options.saving is not None:
        write_message(options.saving.save(found.layout))
    return found


def _write_text(report: Report, options: InspectOptions, number: int) -> None:
    if number:
        write_document("\n")
    rest = "a wider window or --format json"
    write_report(report, "table", options.color, explain=options.explain, rest=rest)
