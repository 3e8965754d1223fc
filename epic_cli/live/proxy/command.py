"""``epic proxy``: a bad network between any two programs that speak UDP."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click

from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import DEFAULT
from epic_cli.live.event_loop import beside, microsecond_loop, prefetched, run_until_stopped
from epic_cli.live.listen.output import RowOutput
from epic_cli.live.listener import ListenSpec
from epic_cli.live.options import ADDRESS, Page, ended
from epic_cli.live.proxy.circle import Circle, reaches_itself
from epic_cli.live.proxy.control import LONGEST_COMMAND, Commands, answer_lines, control_socket
from epic_cli.live.proxy.link_control import LinkController
from epic_cli.live.proxy.options import STANDARD_INPUT, Watched, proxy_options
from epic_cli.live.proxy.relay import ProxySpec, Relay
from epic_cli.live.proxy.report import summary
from epic_cli.live.proxy.traffic_log import TrafficLog
from epic_cli.live.proxy.watch import Watch, WatchDrawing
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.recording import Recording
from epic_cli.network.link_spec import WAYS, TwoWays, Way
from epic_cli.recordings.addresses import Address, Resolved, resolve
from epic_cli.recordings.datagrams.counts import count_words
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.shell.console import ColorChoice, open_sink, use_color, write_text
from epic_cli.shell.declared import command, given_options, shared
from epic_cli.shell.errors import WrongUsage, accessing, say, wrong_usage
from epic_cli.shell.options.common import (
    color_option,
    quiet_option,
    seed_option,
    strategy_options,
    tick_option,
)
from epic_cli.shell.options.datagrams import ingest_options
from epic_cli.shell.options.link import TwoWayLink, two_way_link_options
from epic_cli.shell.options.trace import TraceOptions, check_network, two_way_trace_options

EXAMPLES = """\b
Examples:
  epic proxy --latency 40ms --jitter 10ms --loss 2% 7777 7778
  epic proxy --preset lte --up rate=256kbit 127.0.0.1:7777 localhost:7778
  epic proxy --at 10s up.loss=100% --at 12s up.loss=0 7777 7778
  epic proxy --record game.csv --control ./proxy.socket 7777 7778
  epic proxy --sent sent.csv --received received.csv --latency 60ms 7777 7778
  epic proxy --trace network.csv --latency 20ms 7777 7778
  epic proxy --lab --latency 60ms --jitter 20ms 7777 7778
  echo set down.loss=5% | epic proxy --control - 7777 7778
"""


@command(EXAMPLES, "preset latency jitter loss rate at up duration record sent received layout lab")
def proxy(
    listen: Address = shared(click.argument("listen", type=ADDRESS, metavar="[HOST:]PORT")),
    target: Address = shared(click.argument("target", type=ADDRESS, metavar="[HOST:]PORT")),
    link: TwoWayLink = shared(
        two_way_link_options("0", "The mean delay in each direction.", sized=False)
    ),
    trace: TraceOptions = shared(two_way_trace_options),
    spec: ProxySpec = shared(proxy_options),
    watched: Watched = shared(Watched),
    chosen: StrategySpec = shared(
        strategy_options(
            "--strategy",
            DEFAULT,
            "The smoothing strategy that draws what is received.",
            "Set one of the strategy's settings; may be repeated.",
        )
    ),
    tick: Ratio = shared(tick_option),
    ingest: IngestSpec = shared(ingest_options),
    seed: int = shared(
        seed_option("The same seed gives the same decisions for the same datagrams of a client.")
    ),
    quiet: bool = shared(quiet_option),
    color: ColorChoice = shared(color_option),
) -> int:
    """Put a bad network between a game and its server: a UDP proxy with a link.

    Clients connect to the first address; the second is the server. Without a HOST both are on this
    machine (127.0.0.1); port 0 is any free port. Options of the link apply in both directions,
    --up and --down in one; each client has its own links, and its own socket to the server. On a
    terminal, keys change the link while it runs. With --watch or --layout, what the game sends is
    drawn there, as the other side would: error, lag and the rest are against what was sent.

    Exit status: 0 done, 1 a line of --trace was refused, 2 wrong usage, 3 an address is
    unreachable, or a file cannot be read or written, 130 interrupted.
    """
    check_network(trace)
    if spec.payload and spec.record is None:
        raise WrongUsage("--payload needs --record")
    given = given_options()
    writes_rows = watched.rows_given(given)
    if writes_rows and spec.control == STANDARD_INPUT:
        raise WrongUsage("rows and the answers to --control - would both be standard output")
    taken = quiet or writes_rows or watched.lab or spec.control == STANDARD_INPUT
    on_screen = watched.wants_screen(taken)
    draws = watched.lab or (on_screen and (watched.screen or bool({"way", "records"} & given)))
    chosen.make()  # a wrong setting shows before anything passes
    drawn = ListenSpec(
        replace(ingest, single_entity=writes_rows and watched.row_format == "epic"),
        chosen,
        SCREEN_TIMING.tick if draws and "tick" not in given else tick,
    )
    links = _links(link)
    make_channel = trace.channels(links.directions, seed)
    with contextlib.ExitStack() as stack:
        receiving, place = _sockets(listen, target, stack)
        listen = listen._replace(port=receiving.port)
        log = _log(spec, stack)
        wanted = WAYS if draws else ((watched.first,) if writes_rows else ())
        watches, recordings = _watches(watched, drawn.ingest, wanted, stack)
        relay = Relay(spec, receiving, place, links, make_channel, log, watches)
        what = f"{listen} > {target}"
        of = watches if draws else {}, drawn, receiving, recordings, watched.first
        rows = drawing = stopped = None
        if writes_rows:
            sink = stack.enter_context(open_sink(watched.output))
            rows = RowOutput(watched.row_format, color, sink)
            drawing = WatchDrawing(watches[watched.first], drawn, relay.settled, [rows])
        if not quiet:
            say(f"epic: {listen} passes datagrams on to {target}\n")
        try:
            with wrong_usage(kind=Circle), accessing("pass on", listen, "record in"):
                if on_screen:
                    from epic_cli.live.proxy.screen import Watching

                    screen = Watching(relay, what, *of)
                    job = _run(relay, spec, screen.note)
                    stopped = screen.run(job, use_color(color, sys.stdout))
                else:
                    job = _run(relay, spec, (lambda _: None) if quiet else _say, drawing)
                    if watched.lab:
                        stopped = run_until_stopped(_in_lab(relay, job, watched.page, what, *of))
                    else:
                        stopped = run_until_stopped(job, microsecond_loop)
        finally:
            if rows is not None:
                rows.close()
            if not quiet:
                say(_end(relay, log, recordings, watches.values()))
    return ended(stopped)


def _in_lab(
    relay: Relay,
    job: Coroutine[Any, Any, None],
    page: Page,
    what: str,
    watches: Mapping[Way, Watch],
    spec: ListenSpec,
    receiving: ReceivingSocket,
    recordings: Sequence[Recording],
    first: Way,
) -> Coroutine[Any, Any, None]:
    """The proxy's ``job`` on a thread of its own, and both directions in the browser."""
    from epic_cli.live.browser.live import Live
    from epic_cli.live.browser.live_room import LinkControls
    from epic_cli.live.browser.live_view import View

    assert spec.strategy is not None
    views: dict[str, View] = {}
    for way in sorted(watches, key=lambda way: way != first):
        of = f"{what}, {way}", receiving, recordings, relay.settled, True
        views[way] = View(watches[way], spec, *of)
    live = Live(views, [spec.strategy], LinkControls(relay.links, Commands(relay).answer))
    return live.show(page, beside(job, microsecond_loop(), relay.end))


def _sockets(
    listen: Address, target: Address, stack: contextlib.ExitStack
) -> tuple[ReceivingSocket, Resolved]:
    """Where it listens, and where the target is."""
    with accessing("send to", target):
        place = resolve(target)
    if not target.port:
        raise WrongUsage("the target needs a port other than 0")
    with accessing("listen on", listen):
        receiving = ReceivingSocket(resolve(listen))
    stack.callback(receiving.close)
    if reaches_itself(receiving.socket, place):
        raise WrongUsage("the target is where the proxy listens: datagrams would loop")
    return receiving, place


def _log(spec: ProxySpec, stack: contextlib.ExitStack) -> TrafficLog | None:
    if spec.record is None:
        return None
    with accessing("record in", spec.record):
        log = TrafficLog(spec.record, spec.payload)
    stack.callback(log.close)
    return log


def _watches(
    watched: Watched, ingest: IngestSpec, wanted: Sequence[Way], stack: contextlib.ExitStack
) -> tuple[dict[Way, Watch], list[Recording]]:
    """What reads the packets in the directions that are ``wanted`` or recorded."""
    watches: dict[Way, Watch] = {}
    recordings: list[Recording] = []
    for way in WAYS:
        files = watched.files(way, stack)
        recordings += chain(*files)
        if any(files) or way in wanted:
            watches[way] = Watch(way, ingest, *files)
    return watches, recordings


def _end(
    relay: Relay, log: TrafficLog | None, recordings: Iterable[Recording], watches: Iterable[Watch]
) -> str:
    """What has passed, what was recorded, and what was refused."""
    words = summary(relay)
    if log is not None:
        words += f"{log.file.recorded:,} datagrams recorded in {log.file}\n"
    for one in recordings:
        words += f"{one.file.recorded:,} packets recorded in {one.file}\n"
        words += f"{one.left_out}\n" if one.left_out else ""
    for watch in watches:
        refused = count_words(watch.counts.refused, watch.counts.example)
        words += f"{refused}\n" if refused else ""
    return words


def _say(words: str) -> None:
    say(f"epic: {words}\n")


async def _run(
    relay: Relay,
    spec: ProxySpec,
    note: Callable[[str], None],
    drawing: WatchDrawing | None = None,
) -> None:
    """The proxy with everything around it; ``note`` takes where it is controlled."""
    tasks = [asyncio.create_task(relay.links.follow(relay.begun))]
    if drawing is not None:
        tasks.append(asyncio.create_task(drawing.run()))
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
            note(f"controlled at {control}")
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


def _links(link: TwoWayLink) -> LinkController:
    with wrong_usage("the link: "):
        both = replace(link.both, later=())
        return LinkController(TwoWays(both, link.up, link.down), link.changes)
