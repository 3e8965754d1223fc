"""The options of ``epic proxy``: how it runs, and what it reads, records and draws of packets."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import click

from epic_cli.live.options import Page, endless_option, lab_library, page_options
from epic_cli.live.proxy.relay import ProxySpec
from epic_cli.live.recording import PacketRecording, Recording
from epic_cli.network.link_spec import Way
from epic_cli.recordings.addresses import Address, parse_address
from epic_cli.shell.console import has_terminal, is_in_foreground
from epic_cli.shell.declared import OptionGroup, OutputFile, Parsed, flag, seconds, shared, value
from epic_cli.shell.errors import WrongUsage, accessing
from epic_cli.shell.options.common import output_option, row_format_option

#: Where control is taken from the standard input.
STANDARD_INPUT = "-"


def parse_control(text: str) -> Address | Path | str:
    """An address, the path of a socket (with a slash), or ``-``; raises ``ValueError``."""
    if text == STANDARD_INPUT:
        return text
    if "/" in text:
        return Path(text)
    try:
        return parse_address(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a control address: write 9871, 127.0.0.1:9871, a path with"
            " a slash (./proxy.socket), or - for the standard input"
        ) from None


proxy_options = OptionGroup(
    "spec",
    ProxySpec,
    click.option(
        "--idle",
        type=seconds(0.1, 86_400),
        default=f"{ProxySpec.idle:g}s",
        show_default=True,
        help="Forget a client after this long without datagrams from or to it.",
    ),
    click.option(
        "--max-clients",
        type=click.IntRange(1, 100_000),
        default=ProxySpec.max_clients,
        show_default=True,
        help="Reject datagrams of further clients; each takes a socket and 30 kB.",
    ),
    endless_option("How many seconds to run, or endless."),
    click.option(
        "--record",
        type=OutputFile(),
        metavar="FILE",
        help="Log the fate of every datagram in both directions: CSV that --trace reads. Existing"
        " data is not overwritten.",
    ),
    click.option("--payload", is_flag=True, help="Also record the payload of datagrams, as hex."),
    click.option(
        "--control",
        type=Parsed("PORT|PATH|-", parse_control, (Address, Path)),
        help="Take commands from a local socket, or - the standard input: a line each, 'set"
        " loss=5% up.latency=40ms', 'blackout', 'stats', 'help'.",
    ),
)


@dataclass(frozen=True)
class Watched:
    """Which packets are read from what passes, where they are recorded, and how they are drawn."""

    way: Literal["up", "down", "both"] = value(
        "The packets of --sent and --received: those of the server, for the client that came"
        " first (or --from); up, those of all clients; or both, in files named -up and -down. On a"
        " terminal they are shown as by listen, with figures against what was sent.",
        "--watch",
        type=click.Choice(("up", "down", "both")),
        default="down",
        show_default=True,
    )
    sent: str | None = value(
        "Record the packets as they are sent, for compare --truth; formats and --layout are those"
        " of listen.",
        type=OutputFile(),
        metavar="FILE",
    )
    received: str | None = value(
        "Record the packets that the link lets through, with their arrivals: CSV or JSON lines by"
        " the suffix, else packet text.",
        type=OutputFile(),
        metavar="FILE",
    )
    screen: bool | None = value(
        "Fill the terminal with the link, and a map of both directions.  [default: on a terminal,"
        " unless an option is about rows; the map with --watch or --layout]",
        "--screen/--no-screen",
        default=None,
    )
    lab: bool = flag(
        "Show both directions in the browser, as epic lab --listen does, with the network as"
        " sliders."
    )
    page: Page = shared(page_options("--lab-port"))
    row_format: str = shared(row_format_option("Write rows of what is received as it is drawn."))
    output: str | None = shared(
        output_option("Write the rows to a file, which appears at the end.")
    )

    def __post_init__(self) -> None:
        """Says what the lab needs before anything passes."""
        if self.lab:
            with lab_library():
                import_module("aiohttp")

    @property
    def first(self) -> Way:
        """The direction that is shown first, or written."""
        return "up" if self.way == "up" else "down"

    def rows_given(self, given: set[str]) -> bool:
        """Whether rows are written; ``given`` are the names of options on the command line.

        Raises ``WrongUsage`` where that does not fit the others.
        """
        if not {"row_format", "output"} & given:
            return False
        if self.way == "both":
            raise WrongUsage("rows are of one direction: --watch up or down")
        if self.screen:
            raise WrongUsage("choose --screen, or rows (--format, --output)")
        return True

    def wants_screen(self, taken: bool) -> bool:
        """Whether the terminal is filled, unless it is ``taken``; raises ``WrongUsage``."""
        there = has_terminal() and is_in_foreground() and not taken
        if self.screen and not there:
            raise WrongUsage("--screen needs a terminal, without --quiet or --control -")
        return there and self.screen is not False

    def files(self, way: Way, stack: contextlib.ExitStack) -> list[list[Recording]]:
        """What records this direction, before and behind the link."""
        both: list[list[Recording]] = [[], []]
        for found, path in zip(both, (self.sent, self.received), strict=True):
            if path is not None and self.way in (way, "both"):
                file = Path(path)
                named = file.with_stem(f"{file.stem}-{way}") if self.way == "both" else path
                with accessing("record in", str(named), "record in"):
                    found.append(PacketRecording(str(named)))
                stack.callback(found[0].close)
        return both
