"""The options of ``epic proxy`` alone: who may come, what is recorded, who may steer it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from epic_cli.live.addresses import Address, parse_address
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.io.quantities import Seconds
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.live import endless_option

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
            f"{text!r} is no place for a control: write 9871, 127.0.0.1:9871, a path with"
            " a slash (./proxy.socket), or - for the standard input"
        ) from None


@dataclass(frozen=True)
class ProxyOptions:
    """Who may come and for how long, what is recorded, and who may steer it."""

    idle: float
    max_clients: int
    duration: float
    record: str | None
    payload: bool
    control: Address | Path | str | None


proxy_options = OptionGroup(
    "options",
    ProxyOptions,
    click.option(
        "--idle",
        type=Seconds(0.1, 86_400),
        default="60s",
        show_default=True,
        help="Forget a client from whom and for whom nothing came for so long.",
    ),
    click.option(
        "--max-clients",
        type=click.IntRange(1, 100_000),
        default=1000,
        show_default=True,
        help="Turn away what comes from more clients than this; each takes a socket, and 30 kB.",
    ),
    endless_option("For how many seconds to run, or endless."),
    click.option(
        "--record",
        type=click.Path(),
        metavar="FILE",
        help="Write what became of every datagram, in both directions: CSV that --trace reads. A"
        " file with something in it is not written over.",
    ),
    click.option("--payload", is_flag=True, help="Record what is in the datagrams, too, as hex."),
    click.option(
        "--control",
        type=Parsed("PORT|PATH|-", parse_control, (Address, Path)),
        help="Take commands from a local socket, or - the standard input: a line each, 'set"
        " loss=5% up.latency=40ms', 'blackout', 'stats', 'help'.",
    ),
)
