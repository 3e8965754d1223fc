"""The options of ``epic listen`` alone: what is taken in, and where it goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.formats import packet_formats
from epic_cli.live.forwarding import Target, parse_target
from epic_cli.ui.io.console import has_terminal
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.options.common import layout_options, output_option, row_format_option
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.live import endless_option, record_layout_option, sender_option
from epic_cli.ui.options.rotation import ROTATION

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout
    from epic_cli.live.addresses import Address
    from epic_cli.live.binary import RecordLayout
    from epic_cli.live.whole_files import Rotation


@dataclass(frozen=True)
class IntakeOptions:
    """Which datagrams are taken in, and how they are read."""

    input_format: str
    records: RecordLayout | None
    given: Layout | None
    sender: Address | None
    interface: str | None
    entity: str | None
    max_entities: int
    duration: float

    @property
    def packet_format(self) -> str | None:
        """None: by what each datagram looks like."""
        return next((one for one in packet_formats() if one == self.input_format), None)

    @property
    def origin(self) -> float | None:
        """The time in seconds that becomes 0, NaN: that of the first packet; None: not said."""
        origin = None if self.given is None else self.given.time_origin
        return math.nan if origin == "first" else origin


intake_options = OptionGroup(
    "intake",
    IntakeOptions,
    click.option(
        "--input-format",
        type=click.Choice(("auto", *packet_formats())),
        default="auto",
        show_default=True,
        help="How packets are written; auto goes by each datagram.",
    ),
    record_layout_option,
    layout_options,
    sender_option("Take packets from this sender only."),
    click.option(
        "--interface",
        metavar="ADDRESS|NAME",
        help="Join a multicast group on this interface: its address or, for IPv6, its name.",
    ),
    click.option("--entity", help="Take only the packets of this entity."),
    click.option(
        "--max-entities",
        type=click.IntRange(1, 100_000),
        default=256,
        show_default=True,
        help="Refuse packets of more entities than this.",
    ),
    endless_option("For how many seconds to listen, or endless."),
)


@dataclass(frozen=True)
class RowsOptions:
    """Where what is drawn goes, and the packets."""

    screen: bool | None
    row_format: str
    output: str | None
    record: str | None
    raw: str | None
    rotation: Rotation | None
    forward: Target | None

    def wants_screen(self, given: set[str]) -> bool:
        """Whether a screen is shown; ``given`` are the names of options on the command line.

        Raises ``WrongUsage`` where it is asked for and there is no terminal.
        """
        there = has_terminal()
        if self.screen and not there:
            raise WrongUsage("--screen needs a terminal")
        if self.screen is None:
            return there and not {"row_format", "output"} & given
        return self.screen


rows_options = OptionGroup(
    "rows",
    RowsOptions,
    click.option(
        "--screen/--no-screen",
        default=None,
        help="Show a map that fills the terminal, or write rows.  [default: the screen, if there"
        " is a terminal and no option asks for rows]",
    ),
    row_format_option("How rows are written; epic is the demo's own format, for one entity."),
    output_option("Write the rows to a file, which appears when listening ends."),
    click.option(
        "--record",
        type=click.Path(),
        metavar="FILE",
        help="Record each packet with its arrival before it is drawn: CSV or JSON lines by the"
        " name, else packet text. A file with something in it is not written over.",
    ),
    click.option(
        "--raw",
        type=click.Path(),
        metavar="FILE",
        help="Record each datagram as it was received, with its arrival and its sender: a capture"
        " (pcap) for epic convert and Wireshark.",
    ),
    click.option(
        "--rotate",
        "rotation",
        type=ROTATION,
        help="Begin the next file of --record and --raw after so much (100MB) or so long (10min);"
        " their names are numbered.",
    ),
    click.option(
        "--forward",
        type=Parsed("PROGRAM[:HOST:PORT]", parse_target, Target),
        help="Send what is drawn to plotjuggler or teleplot as well, on this machine unless a place"
        " follows: teleplot:192.168.0.7:47269.",
    ),
)
