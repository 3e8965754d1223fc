"""The options of ``epic convert``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from epic_cli.recordings import suffixes, written_formats
from epic_cli.recordings.writing import Changes
from epic_cli.shell.console import ColorChoice
from epic_cli.shell.declared import (
    SPAN,
    FormatChoice,
    InputFile,
    OptionGroup,
    flag,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    color_option,
    messages_options,
    output_option,
    read_option,
)
from epic_cli.shell.options.datagrams import record_layout_option, sender_option

if TYPE_CHECKING:
    from epic_cli.recordings.addresses import Address
    from epic_cli.recordings.datagrams.record_layout import RecordLayout
    from epic_cli.recordings.read_spec import ReadSpec

#: All of what is changed, as ``changes: Changes``.
_changes_options = OptionGroup(
    "changes",
    Changes,
    click.option("--entity", "entities", multiple=True,
                 help="Keep only the packets of this entity; may be repeated."),
    click.option("--span", type=SPAN, default=None,
                 help="Keep only packets with times in this span (seconds), before any shift."),
    click.option("--shift", type=seconds(-1e12, 1e12), default=0.0, metavar="SECONDS",
                 help="Add this to all times, arrival times too; -250ms moves them back."),
    click.option("--fill-velocities", is_flag=True,
                 help="Estimate missing velocities from the previous position."),
)  # fmt: skip


@dataclass(frozen=True)
class CaptureOptions:
    """Which datagrams of a network capture to take."""

    port: int | None = value(
        "From a capture (pcap, pcapng), take only UDP datagrams from or to this port.",
        type=click.IntRange(1, 65535),
    )
    records: RecordLayout | None = shared(record_layout_option)
    sender: Address | None = shared(
        sender_option("From a capture, take only datagrams of this sender.")
    )

    @property
    def given(self) -> bool:
        """Whether any option of a capture was used."""
        return self != CaptureOptions(None, None, None)


@dataclass(frozen=True)
class ConvertOptions:
    """What to convert, how, and where to; no ``files``: standard input."""

    files: tuple[str, ...] = shared(
        click.argument("files", nargs=-1, type=InputFile(), metavar="[FILE]...")
    )
    to: str | None = value(
        "The output format.  [default: from the suffix of --output]",
        type=FormatChoice(written_formats()),
    )
    output: str | None = shared(output_option("Write to a file, which appears once complete."))
    in_place: bool = flag(
        "Convert each FILE to its own format, or --to another one under the same name; the"
        " old file is kept as FILE.bak."
    )
    changes: Changes = shared(_changes_options)
    read: ReadSpec = shared(read_option)
    capture: CaptureOptions = shared(CaptureOptions)
    strict: bool = flag("Stop at the first refused line.")
    messages: Messages = shared(messages_options)
    color: ColorChoice = shared(color_option)

    @property
    def outputs(self) -> list[tuple[tuple[str, ...], ConvertOptions]]:
        """What is written: the inputs of each output; raises ``WrongUsage``."""
        if not self.in_place:
            return [(self.files or ("-",), self)]
        if self.output is not None:
            raise WrongUsage(
                "--in-place writes to the FILEs themselves: leave out --output",
                "in-place",
                "output",
            )
        if not self.files or "-" in self.files:
            raise WrongUsage("--in-place needs a FILE: standard input has no place", "in-place")
        return [((one,), replace(self, output=one)) for one in self.files]

    @property
    def written_format(self) -> str:
        """The format of ``--to``, or of the output's suffix; raises ``WrongUsage``."""
        if self.to is not None:
            return self.to
        ending = os.path.splitext(self.output or "")[1].lower()  # noqa: PTH122
        if suffixes().get(ending) not in written_formats():
            formats = ", ".join(written_formats())
            raise WrongUsage(f"unknown output format: add --to, one of {formats}", "to")
        return suffixes()[ending]
