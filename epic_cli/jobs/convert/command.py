"""The options of ``epic convert``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.jobs.convert.run import NoCapture, run
from epic_cli.jobs.convert.spec import CaptureSpec, ConvertSpec
from epic_cli.recordings import list_formats, list_suffixes, list_written_formats
from epic_cli.recordings.files import is_kept
from epic_cli.recordings.opening import find_source
from epic_cli.recordings.writing import Changes, Fault, UnwritablePacket
from epic_cli.shell.console import ColorChoice, open_sink, use_color
from epic_cli.shell.declared import (
    SPAN,
    FormatChoice,
    InputFile,
    OptionGroup,
    declare_flag,
    declare_shared,
    declare_value,
    make_command,
    make_seconds_type,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    color_option,
    make_output_option,
    messages_options,
    read_option,
    strict_option,
)
from epic_cli.shell.options.datagrams import make_sender_option, record_layout_option
from epic_cli.shell.progress import Progress, report_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.recordings.opening import Logs
    from epic_cli.recordings.read_spec import ReadSpec

#: The options of changes to packets, as ``changes: Changes``.
_changes_options = OptionGroup(
    "changes",
    Changes,
    click.option("--entity", "entities", multiple=True,
                 help="Keep only the packets of this entity. May be repeated."),
    click.option("--span", type=SPAN, default=None,
                 help="Keep only packets stamped in this span (seconds). Before any shift."),
    click.option("--shift", type=make_seconds_type(-1e12, 1e12), default=0.0, metavar="SECONDS",
                 help="Add this to all times, such as -250ms. To arrival times, too."),
    click.option("--fill-velocities", is_flag=True,
                 help="Estimate missing velocities from the previous position."),
)  # fmt: skip


capture_options = OptionGroup(
    "capture",
    CaptureSpec,
    click.option("--port", type=click.IntRange(1, 65535),
                 help="From a capture (pcap, pcapng), take only UDP datagrams from or to this"
                 " port."),
    record_layout_option,
    make_sender_option("From a capture, take only datagrams of this sender."),
)  # fmt: skip


@dataclass(frozen=True)
class ConvertOutput:
    """Options of the output: its format and its file."""

    to: str | None = declare_value(
        "The output format.  [default: from the suffix of --output]",
        type=FormatChoice(list_written_formats()),
    )
    output: str | None = declare_shared(
        make_output_option("Write to this file. It appears once it is complete.")
    )
    in_place: bool = declare_flag(
        "Rewrite each FILE, and keep the old one as FILE.bak. Without --to, in its own format."
    )

    def list_places(self, files: tuple[str, ...]) -> list[tuple[tuple[str, ...], str | None]]:
        """Return pairs of input files and the output file that they are written to.

        Raise ``WrongUsage``.
        """
        if not self.in_place:
            return [(files or ("-",), self.output)]
        if self.output is not None:
            raise WrongUsage(
                "--in-place writes to the FILEs themselves: leave out --output",
                "in-place",
                "output",
            )
        if not files or "-" in files:
            raise WrongUsage(
                "--in-place needs a FILE: standard input cannot be overwritten", "in-place"
            )
        return [((file,), file) for file in files]

    def choose_packet_format(self, output: str | None) -> str:
        """Return the format of ``--to``, or of the output's suffix; raise ``WrongUsage``."""
        if self.to is not None:
            return self.to
        ending = os.path.splitext(output or "")[1].lower()  # noqa: PTH122
        if list_suffixes().get(ending) not in list_written_formats():
            formats = ", ".join(list_written_formats())
            raise WrongUsage(f"unknown output format: add --to, one of {formats}", "to")
        return list_suffixes()[ending]


EXAMPLES = """\b
Examples:
  epic convert sample_inputs/two_tanks.csv -o tanks.jsonl
  epic convert --to text --entity tank7 sample_inputs/two_tanks.csv
  epic convert --fill-velocities --shift -2s sample_inputs/match.csv -o m.txt
"""

#: Advice on a packet that the new format cannot hold.
_REMEDIES = {
    Fault.NO_VELOCITY: "give it one with --fill-velocities, or choose another format",
    Fault.BLANK: "choose another format",
    Fault.NO_COLUMN: "its first packets decide on the columns: choose another format",
}


@make_command(EXAMPLES, "to o entity span shift in-place read")
def convert(
    files: tuple[str, ...] = declare_shared(
        click.argument("files", nargs=-1, type=InputFile(), metavar="[FILE]...")
    ),
    own: ConvertOutput = declare_shared(ConvertOutput),
    changes: Changes = declare_shared(_changes_options),
    read: ReadSpec = declare_shared(read_option),
    capture: CaptureSpec = declare_shared(capture_options),
    strict: bool = declare_shared(strict_option),
    messages: Messages = declare_shared(messages_options),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic convert``.

    Recordings are packet text, tables, JSON lines or Parquet with any column names, or UDP
    datagrams in network captures (pcap, pcapng), from the FILEs, or from standard input without
    any or for "-". Several FILEs are joined in order. The output uses epic's own column names, and
    seconds. A packet that the new format cannot hold ends the run.

    Exit status: 0 all packets converted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """

    def make_log(name: str) -> Reporter:
        return Reporter(name, messages, use_color(color, sys.stderr), strict=strict)

    refused = False
    for inputs, output in own.list_places(files):
        spec = ConvertSpec(own.choose_packet_format(output), changes, read, capture, strict)
        refused |= _write_output(spec, inputs, output, own.in_place, make_log)
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


def _write_output(
    spec: ConvertSpec, files: Sequence[str], output: str | None, in_place: bool, log: Logs
) -> bool:
    """Write one output; return whether some of its input was refused."""
    backup = f"{output}.bak" if in_place else None
    if backup and os.path.lexists(backup) and not is_kept(str(output), backup):
        raise WrongUsage(f"{backup} is there already: move it away, or remove it")
    with (
        Progress("converting", in_bytes=True, silent=True) as progress,
        open_sink(output, backup) as sink,
    ):
        if list_formats()[spec.packet_format].binary and sink.isatty():
            title = spec.packet_format.capitalize()
            raise WrongUsage(f"{title} is not for a terminal: add --output", "output")
        sources = [find_source(file) for file in files]
        try:
            return run(spec, sources, sink, log, report_each(progress, files))
        except NoCapture as error:
            raise WrongUsage(str(error), "port", "layout", "from") from error
        except UnwritablePacket as wrong:
            remedy = _REMEDIES.get(wrong.error.fault)
            hint = f"; {remedy}" if remedy else ""
            raise WrongUsage(f"{wrong.place}: {wrong}{hint}") from wrong
