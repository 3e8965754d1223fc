"""A link, simulated or recorded: the options that ``simulate`` and ``play`` have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from epic_cli.cli.options.groups import Decorator, OptionGroup, given_options
from epic_cli.network.conditions import DISTRIBUTIONS
from epic_cli.network.conditions import LONGEST_DELAY, LinkConditions
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.trace import TRACE_BY, TRACE_ENDS, Trace, TraceBy, TraceEnd, TraceLink
from epic_cli.network.trace_file import DIRECTIONS, Direction
from epic_cli.terminal.errors import WrongUsage
from epic_cli.terminal.quantities import GilbertElliottLoss, Seconds, Share

_DEFAULTS = LinkConditions()


def link_options(latency: str, meaning: str) -> Decorator:
    """A simulated link in the words of netem, as ``link: LinkConditions``.

    The default and the meaning of the latency differ from command to command.
    """
    return OptionGroup(
        "link",
        _conditions,
        click.option(
            "--latency",
            type=Seconds(0, LONGEST_DELAY),
            default=latency,
            show_default=True,
            help=meaning,
        ),
        click.option(
            "--jitter",
            type=Seconds(0, LONGEST_DELAY),
            default=f"{_DEFAULTS.jitter:g}",
            show_default=True,
            help="The standard deviation of the delay; for uniform, its largest deviation.",
        ),
        click.option(
            "--distribution",
            type=click.Choice(DISTRIBUTIONS),
            default=_DEFAULTS.distribution,
            show_default=True,
            help="How delays are distributed; pareto (shape 3) and gamma (shape 2) have tails.",
        ),
        click.option(
            "--correlation",
            type=Share(0.9999),
            default=f"{_DEFAULTS.correlation:g}",
            show_default=True,
            help="How similar the delays of successive packets are.",
        ),
        click.option(
            "--loss",
            type=Share(),
            default=f"{_DEFAULTS.loss:g}",
            show_default=True,
            help="Lose this share at random.",
        ),
        click.option(
            "--gemodel",
            type=GilbertElliottLoss(),
            help="Lose packets in bursts (Gilbert-Elliott): P good to bad, R bad to good, 1-H loss"
            " when bad (1), 1-K loss when good (0).",
        ),
        click.option(
            "--duplicate",
            type=Share(),
            default=f"{_DEFAULTS.duplicate:g}",
            show_default=True,
            help="Send this share twice.",
        ),
        click.option(
            "--reorder",
            type=Share(),
            default=f"{_DEFAULTS.reorder:g}",
            show_default=True,
            help="Deliver this share at once, ahead of those in flight.",
        ),
        click.option(
            "--in-order", is_flag=True, help="Let no packet overtake another, as in a single queue."
        ),
    )


def _conditions(
    *, loss: float, gemodel: GilbertElliott | None, **conditions: Any
) -> LinkConditions:
    given = given_options(click.get_current_context())
    if "loss" in given and "gemodel" not in given:
        gemodel = None  # the configuration's
    return LinkConditions(loss=gemodel or loss, **conditions)


@dataclass(frozen=True)
class TraceOptions:
    """A recorded network in the link's place; ``trace`` is its file, None: there is none."""

    trace: str | None
    trace_by: TraceBy
    trace_end: TraceEnd
    trace_flow: str | None
    trace_direction: Direction = "down"

    def link(self, trace: Trace, in_order: bool) -> TraceLink:
        """A link that carries packets as this network did."""
        return TraceLink(trace, self.trace_by, self.trace_end, in_order)


_TRACE: tuple[Decorator, ...] = (
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
        help="After its last packet, start the recorded network again, or stop.",
    ),
    click.option("--trace-flow", metavar="NAME", help="Which flow, if the file has several."),
)

_TRACE_DIRECTION = click.option(
    "--trace-direction",
    type=click.Choice(DIRECTIONS),
    default="down",
    show_default=True,
    help="Which direction, if the file has both.",
)

#: A recorded network, as ``trace: TraceOptions``: of one direction, or of both.
one_way_trace_options = OptionGroup("trace", TraceOptions, *_TRACE, _TRACE_DIRECTION)
two_way_trace_options = OptionGroup("trace", TraceOptions, *_TRACE)

#: Without effect beside ``--trace``, and without it.
_LINK_ALONE = [*(one.name for one in fields(LinkConditions) if one.name != "in_order"), "gemodel"]
_TRACE_ALONE = [one.name for one in fields(TraceOptions) if one.name != "trace"]


def check_network(trace: TraceOptions, given: set[str]) -> None:
    """Refuses options that would have no effect; ``given`` are the names of those given."""
    reason = "does not go with --trace" if trace.trace else "needs --trace"
    for name in _LINK_ALONE if trace.trace else _TRACE_ALONE:
        if name in given:
            raise WrongUsage(f"--{name.replace('_', '-')} {reason}")
    if "gemodel" in given and "loss" in given:
        raise WrongUsage("--gemodel and --loss exclude each other: the model has its own losses")
