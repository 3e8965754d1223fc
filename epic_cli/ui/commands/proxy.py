"""``epic proxy``: a bad network between any two programs that speak UDP."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import click

from epic_cli.live.addresses import Address, parse_address, resolve
from epic_cli.live.consumer import count_words
from epic_cli.live.event_loop import microsecond_loop, prefetched, run_until_stopped
from epic_cli.live.ingest import IngestSpec
from epic_cli.live.proxy.circle import Circle, reaches_itself
from epic_cli.live.proxy.control import LONGEST_COMMAND, Commands, answer_lines, control_socket
from epic_cli.live.proxy.flow import ChangingChannel
from epic_cli.live.proxy.link_control import LinkController
from epic_cli.live.proxy.relay import ProxySpec, Relay
from epic_cli.live.proxy.traffic_log import TrafficLog
from epic_cli.live.proxy.watch import Watch
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.recording import PacketRecording, Recording
from epic_cli.network import AddedLink, Link, Trace, TraceLink
from epic_cli.network.words import TwoWays, Way
from epic_cli.ui.io.errors import WrongUsage, accessing, say
from epic_cli.ui.io.output import write_text
from epic_cli.ui.io.parameters import OutputFile, Parsed
from epic_cli.ui.options.common import quiet_option, seed_option
from epic_cli.ui.options.declared import seconds
from epic_cli.ui.options.groups import OptionGroup, value
from epic_cli.ui.options.link import TwoWayLink, two_way_link_options
from epic_cli.ui.options.live import ADDRESS, ended, endless_option, ingest_options
from epic_cli.ui.options.trace import (
    TraceOptions,
    check_network,
    read_both_ways,
    two_way_trace_options,
)
from epic_cli.ui.screens.proxy import has_panel, show_and_obey
from epic_cli.views.proxy import summary

EXAMPLES = """\b
Examples:
  epic proxy --latency 40ms --jitter 10ms --loss 2% 7777 7778
  epic proxy --preset lte --up rate=256kbit 127.0.0.1:7777 localhost:7778
  epic proxy --at 10s up.loss=100% --at 12s up.loss=0 7777 7778
  epic proxy --record game.csv --control ./proxy.socket 7777 7778
  epic proxy --sent sent.csv --received received.csv --latency 60ms 7777 7778
  epic proxy --trace network.csv --latency 20ms 7777 7778
  echo set down.loss=5% | epic proxy --control - 7777 7778
"""


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


_proxy_options = OptionGroup(
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
class _Watched:
    """Which packets are read from what passes, and where they are recorded."""

    way: Literal["up", "down"] = value(
        "The packets of --sent and --received: those of the server, for the client that came"
        " first (or --from), or up, those of all clients.",
        "--watch",
        type=click.Choice(("up", "down")),
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


_watch_options = OptionGroup("watched", _Watched)


@click.command(epilog=EXAMPLES)
@click.argument("listen", type=ADDRESS, metavar="[HOST:]PORT")
@click.argument("target", type=ADDRESS, metavar="[HOST:]PORT")
@two_way_link_options("0", "The mean delay in each direction.", sized=False)
@two_way_trace_options
@_proxy_options
@_watch_options
@ingest_options
@seed_option("The same seed gives the same decisions for the same datagrams of a client.")
@quiet_option
def proxy(
    listen: Address,
    target: Address,
    link: TwoWayLink,
    trace: TraceOptions,
    spec: ProxySpec,
    watched: _Watched,
    ingest: IngestSpec,
    seed: int,
    quiet: bool,
) -> int:
    """Put a bad network between a game and its server: a UDP proxy with a link.

    Clients connect to the first address; the second is the server. Without a HOST both are on this
    machine (127.0.0.1); port 0 is any free port. Options of the link apply in both directions,
    --up and --down in one; each client has its own links, and its own socket to the server. On a
    terminal, keys change the link while it runs.

    Exit status: 0 done, 1 a line of --trace was refused, 2 wrong usage, 3 an address is
    unreachable, or a file cannot be read or written, 130 interrupted.
    """
    check_network(trace)
    if spec.payload and spec.record is None:
        raise WrongUsage("--payload needs --record")
    links = _links(link)
    make_channel = _channels(links, trace, seed)
    with contextlib.ExitStack() as stack:
        with accessing("send to", target):
            place = resolve(target)
        if not target.port:
            raise WrongUsage("the target needs a port other than 0")
        with accessing("listen on", listen):
            receiving = ReceivingSocket(resolve(listen))
        stack.callback(receiving.close)
        listen = listen._replace(port=receiving.port)
        if reaches_itself(receiving.socket, place):
            raise WrongUsage("the target is where the proxy listens: datagrams would loop")
        log = None
        if spec.record is not None:
            with accessing("record in", spec.record):
                log = TrafficLog(spec.record, spec.payload)
            stack.callback(log.close)
        watch, recordings = _watch(watched, ingest, stack)
        relay = Relay(spec, receiving, place, links, make_channel, log, watch)
        if not quiet:
            say(f"epic: {listen} passes datagrams on to {target}\n")
        stopped = None
        try:
            with accessing("pass on", listen, "record in"):
                job = _run(relay, spec, f"{listen} > {target}", quiet)
                stopped = run_until_stopped(job, microsecond_loop)
        except Circle as error:
            raise WrongUsage(str(error)) from error
        finally:
            if not quiet:
                say(summary(relay))
                if log is not None:
                    say(f"{log.file.recorded:,} datagrams recorded in {log.file}\n")
                for one in recordings:
                    say(f"{one.file.recorded:,} packets recorded in {one.file}\n")
                    say(f"{one.left_out}\n" if one.left_out else "")
                if watch is not None and watch.counts.refused:
                    say(f"{count_words(watch.counts.refused, watch.counts.example)}\n")
    return ended(stopped)


async def _run(relay: Relay, spec: ProxySpec, what: str, quiet: bool) -> None:
    """The proxy with everything around it."""
    tasks = [asyncio.create_task(relay.links.follow(relay.begun))]
    commands = Commands(relay)
    control = spec.control
    async with contextlib.AsyncExitStack() as stack:
        if control == STANDARD_INPUT:
            lines = prefetched(_lines())
            tasks.append(asyncio.create_task(answer_lines(lines, commands.answer, _write)))
        elif isinstance(control, Address | Path):
            with accessing("be controlled at", control):
                port = await stack.enter_async_context(control_socket(control, commands.answer))
            if isinstance(control, Address):
                control = control._replace(port=port or control.port)
            if not quiet:
                say(f"epic: controlled at {control}\n")
        if has_panel() and not quiet and control != STANDARD_INPUT:  # answers need the terminal
            tasks.append(asyncio.create_task(show_and_obey(relay, what)))
        for one in tasks:
            one.add_done_callback(partial(_end_if_failed, relay))
        try:
            await relay.run()
        finally:
            for one in tasks:
                one.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _end_if_failed(relay: Relay, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        relay.end()


def _lines() -> Iterator[str]:
    """The lines of the standard input, none of them without an end."""
    while sys.stdin is not None and (line := sys.stdin.readline(LONGEST_COMMAND)):
        yield line


def _write(answer: str) -> None:
    write_text(f"{answer}\n")
    sys.stdout.flush()


def _watch(
    watched: _Watched, ingest: IngestSpec, stack: contextlib.ExitStack
) -> tuple[Watch | None, list[Recording]]:
    both: list[list[Recording]] = [[], []]
    for found, path in zip(both, (watched.sent, watched.received), strict=True):
        if path is not None:
            with accessing("record in", path, "record in"):
                found.append(PacketRecording(path))
            stack.callback(found[0].close)
    recordings = both[0] + both[1]
    return (Watch(watched.way, ingest, *both) if recordings else None), recordings


def _links(link: TwoWayLink) -> LinkController:
    both = replace(link.both, later=())
    try:
        return LinkController(TwoWays(both, link.up, link.down), link.changes)
    except ValueError as error:
        raise WrongUsage(f"the link: {error}") from error


def _channels(
    links: LinkController, options: TraceOptions, seed: int
) -> Callable[[Way, int], ChangingChannel]:
    """Makes the links of clients, by direction and number."""
    traces: dict[str, Trace] = read_both_ways(options) if options.trace else {}

    def make(way: Way, number: int) -> ChangingChannel:
        conditions = links.directions[way].conditions
        link = Link(conditions, seed=seed, purpose=f"{way}/{number}")
        if not traces:
            return link
        recorded = TraceLink(traces[way], options.trace_by, options.trace_end)
        return AddedLink(recorded, link, conditions.in_order)

    return make
