"""A recorded network: the options that ``simulate``, ``send`` and ``play`` have in common."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from epic_cli.network.link import LinkConditions
from epic_cli.network.trace import (
    DIRECTIONS,
    TRACE,
    AddedLink,
    Direction,
    Trace,
    TraceBy,
    TraceEnd,
    TraceLink,
)
from epic_cli.shell.declared import (
    Decorator,
    InputFile,
    OptionGroup,
    given_options,
    options,
    refuse,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.sources import read_file

if TYPE_CHECKING:
    from epic_cli.network import Channel, Link
    from epic_cli.network.link_spec import Way

# Links and the reader of recorded networks are imported where they are used: every comparison has
# these options, and hardly any a network.


@dataclass(frozen=True)
class TraceOptions:
    """A recorded network in the link's place; ``trace`` is its file, None: there is none."""

    trace: str | None
    trace_by: TraceBy
    trace_end: TraceEnd
    trace_flow: str | None
    trace_direction: Direction = "down"

    def channel(self, trace: Trace | None, link: LinkConditions, seed: int) -> Channel:
        """A link with these conditions, added to the recorded network if there is one."""
        from epic_cli.network import Link

        return Link(link, seed=seed) if trace is None else self.link(trace, link, seed)

    def link(
        self, trace: Trace, added: LinkConditions, seed: int, purpose: str = "link"
    ) -> TraceLink | AddedLink:
        """A link that carries packets as this network did, with these conditions added to it."""
        from epic_cli.network.link import Link

        in_order = added.in_order
        if added == LinkConditions(in_order=in_order):
            return TraceLink(trace, self.trace_by, self.trace_end, in_order)
        recorded = TraceLink(trace, self.trace_by, self.trace_end)
        return AddedLink(recorded, Link(added, seed=seed, purpose=purpose), in_order)

    def channels(
        self, directions: Mapping[Way, Any], seed: int
    ) -> Callable[[Way, int], Link | AddedLink]:
        """Makes the links of a proxy's clients, by way and number, with the conditions of now."""
        from epic_cli.network.link import Link

        traces: dict[str, Trace] = read_both_ways(self) if self.trace else {}

        def make(way: Way, number: int) -> Link | AddedLink:
            conditions = directions[way].conditions
            link = Link(conditions, seed=seed, purpose=f"{way}/{number}")
            if not traces:
                return link
            recorded = TraceLink(traces[way], self.trace_by, self.trace_end)
            return AddedLink(recorded, link, conditions.in_order)

        return make


_BY, _END, _DIRECTION = options(TRACE)

_TRACE: tuple[Decorator, ...] = (
    click.option("--trace", type=InputFile(), metavar="FILE", help="A recorded network instead:"
                 " CSV with send_time and recv_time, owd_ms, owd_down_ms and owd_up_ms, or"
                 " rtt_ms; lost; flow; or what irtt, ping or RIPE Atlas wrote. Options of the"
                 " link beside it are added to it."),
    _BY,
    _END,
    click.option("--trace-flow", metavar="NAME", help="The flow to use, if the file has several."),
)  # fmt: skip

#: A recorded network, as ``trace: TraceOptions``: of one direction, or of both.
one_way_trace_options = OptionGroup("trace", TraceOptions, *_TRACE, _DIRECTION)
two_way_trace_options = OptionGroup("trace", TraceOptions, *_TRACE)


def read_both_ways(options: TraceOptions) -> dict[str, Trace]:
    """The recorded network in each direction."""
    from epic_cli.network.trace import held, read_trace

    def read(stream: BinaryIO) -> dict[str, Trace]:
        data, flow = held(stream).read(), options.trace_flow
        return {
            direction: read_trace(io.BytesIO(data), flow=flow, direction=direction)
            for direction in DIRECTIONS
        }

    return read_file(str(options.trace), read)


#: Without effect where there is no ``--trace``.
_TRACE_ALONE = [one.name for one in fields(TraceOptions) if one.name != "trace"]


def check_network(trace: TraceOptions) -> None:
    """Refuses options that would have no effect."""
    refuse(() if trace.trace else _TRACE_ALONE, "needs --trace")
    given = given_options()
    if "gemodel" in given and "loss" in given:
        raise WrongUsage(
            "--gemodel and --loss exclude each other: the model has its own losses",
            "gemodel",
            "loss",
        )


def read_one_way(options: TraceOptions) -> Trace | None:
    """The recorded network, if there is one; raises ``CannotAccess``."""
    from epic_cli.network import read_trace

    if not options.trace:
        return None
    flow, direction = options.trace_flow, options.trace_direction
    return read_file(
        options.trace, lambda stream: read_trace(stream, flow=flow, direction=direction)
    )
