"""The options of ``epic convert``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from epic_cli.formats import suffixes, written_formats
from epic_cli.formats.conversion import Changes
from epic_cli.ui.io.console import ColorChoice
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.messages import Messages
from epic_cli.ui.options.common import (
    color_option,
    input_format_option,
    layout_options,
    messages_options,
    output_option,
)
from epic_cli.ui.options.declared import SPAN, seconds
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.live import record_layout_option, sender_option

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout
    from epic_cli.live.addresses import Address
    from epic_cli.live.binary import RecordLayout

#: All of what is changed, as ``changes: Changes``.
_changes_options = OptionGroup(
    "changes",
    Changes,
    click.option(
        "--entity",
        "entities",
        multiple=True,
        help="Keep only the packets of this entity; may be repeated.",
    ),
    click.option(
        "--span",
        type=SPAN,
        default=None,
        help="Keep only packets with times in these seconds, before they are shifted.",
    ),
    click.option(
        "--shift",
        type=seconds(-1e12, 1e12),
        default=0.0,
        metavar="SECONDS",
        help="Add this to all times, arrival times too; -250ms moves them back.",
    ),
    click.option(
        "--fill-velocities",
        is_flag=True,
        help="Give packets without a velocity the slope from the position before theirs.",
    ),
)


class CaptureOptions(NamedTuple):
    """What is taken from a capture of a network."""

    port: int | None
    records: RecordLayout | None
    sender: Address | None

    @property
    def given(self) -> bool:
        """Whether anything is said of it."""
        return self != CaptureOptions(None, None, None)


#: All of it, as ``capture: CaptureOptions``.
_capture_options = OptionGroup(
    "capture",
    CaptureOptions,
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        help="Of a capture (pcap, pcapng), take only UDP datagrams from this port or to it.",
    ),
    record_layout_option,
    sender_option("Of a capture, take datagrams of this sender only."),
)


class ConvertOptions(NamedTuple):
    """What is converted, how, and where it goes; no ``files``: standard input."""

    files: tuple[str, ...]
    to: str | None
    output: str | None
    changes: Changes
    input_format: str
    given: Layout | None
    capture: CaptureOptions
    strict: bool
    messages: Messages
    color: ColorChoice

    @property
    def written_format(self) -> str:
        """The format that was given, or that of the output's ending; raises ``WrongUsage``."""
        if self.to is not None:
            return self.to
        ending = os.path.splitext(self.output or "")[1].lower()  # noqa: PTH122
        if ending not in suffixes():
            formats = ", ".join(written_formats())
            raise WrongUsage(f"the new format is not known: give --to, one of {formats}")
        return suffixes()[ending]


#: All of them, as ``options: ConvertOptions``.
convert_options = OptionGroup(
    "options",
    ConvertOptions,
    click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE]..."),
    click.option(
        "--to",
        type=click.Choice(written_formats()),
        default=None,
        help="The new format.  [default: by the ending of --output]",
    ),
    output_option("Write to a file, which appears when it is complete."),
    _changes_options,
    input_format_option,
    layout_options,
    _capture_options,
    click.option("--strict", is_flag=True, help="Stop at the first line that is refused."),
    messages_options,
    color_option,
)
