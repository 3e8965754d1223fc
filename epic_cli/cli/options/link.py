"""The options of a link, simulated or recorded, which several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.network.delay import DISTRIBUTIONS
from epic_cli.network.trace import TRACE_BY, TRACE_ENDS
from epic_cli.terminal.quantities import GilbertElliottLoss, Seconds, Share

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def latency_option(default: str, meaning: str) -> Option:
    """``--latency``, whose default and meaning differ from command to command."""
    return click.option(
        "--latency", type=Seconds(0, 60), default=default, show_default=True, help=meaning
    )


#: A simulated link, in the words of netem.
LINK: tuple[Option, ...] = (
    click.option(
        "--jitter",
        type=Seconds(0, 60),
        default="0",
        show_default=True,
        help="The delay's standard deviation; for uniform its greatest deviation.",
    ),
    click.option(
        "--distribution",
        type=click.Choice(DISTRIBUTIONS),
        default="uniform",
        show_default=True,
        help="How delays are distributed; pareto (shape 3) and gamma (shape 2) have tails.",
    ),
    click.option(
        "--correlation",
        type=Share(0.9999),
        default="0",
        show_default=True,
        help="How alike the delays of neighbours are.",
    ),
    click.option(
        "--loss", type=Share(), default="0", show_default=True, help="Lose this share at random."
    ),
    click.option(
        "--gemodel",
        type=GilbertElliottLoss(),
        help="Lose packets in bursts (Gilbert-Elliott): P good to bad, R bad to good, 1-H loss"
        " when bad (1), 1-K loss when good (0).",
    ),
    click.option(
        "--duplicate", type=Share(), default="0", show_default=True, help="Send this share twice."
    ),
    click.option(
        "--reorder",
        type=Share(),
        default="0",
        show_default=True,
        help="Let this share arrive at once, ahead of those in flight.",
    ),
    click.option(
        "--in-order", is_flag=True, help="Let no packet overtake another, as in one queue."
    ),
)

#: A recorded network in its place.
TRACE: tuple[Option, ...] = (
    click.option(
        "--trace",
        type=click.Path(),
        metavar="FILE",
        help="A recorded network instead: CSV with send_time and recv_time, owd_ms,"
        " owd_down_ms and owd_up_ms, or rtt_ms; lost; flow.",
    ),
    click.option(
        "--trace-by",
        type=click.Choice(TRACE_BY),
        default="time",
        show_default=True,
        help="Match packets by the time they are sent, or one by one.",
    ),
    click.option(
        "--trace-end",
        type=click.Choice(TRACE_ENDS),
        default="loop",
        show_default=True,
        help="After its last packet begin the recorded network again, or stop.",
    ),
    click.option("--trace-flow", metavar="NAME", help="The flow, where the file has several."),
)
