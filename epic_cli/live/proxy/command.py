"""``epic proxy``: a bad network between any two programs that speak UDP."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import click

from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.command_line import (
    ADDRESS,
    Page,
    RowOutput,
    ended,
    endless_option,
    lab_library,
    page_options,
)
from epic_cli.live.listen.run import LaterDrawing, ListenSpec
from epic_cli.live.proxy.control import LONGEST_COMMAND, Commands, answer_lines, control_socket
from epic_cli.live.proxy.report import summary
from epic_cli.live.proxy.run import (
    Circle,
    DirectionTap,
    Relay,
    TrafficLog,
    reaches_itself,
)
from epic_cli.live.proxy.spec import STANDARD_INPUT, LinkController, ProxySpec, parse_control
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.recording import PacketRecording, Recording
from epic_cli.network.link_spec import WAYS, TwoWays, Way
from epic_cli.recordings.addresses import Address, Resolved, resolve
from epic_cli.recordings.datagrams.counts import count_words
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.shell.console import (
    ColorChoice,
    has_terminal,
    is_in_foreground,
    open_sink,
    use_color,
    write_text,
)
from epic_cli.shell.declared import (
    OptionGroup,
    OutputFile,
    Parsed,
    command,
    flag,
    given_options,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage, accessing, say, wrong_usage
from epic_cli.shell.options.common import (
    color_option,
    output_option,
    quiet_option,
    row_format_option,
    seed_option,
    strategy_option,
    tick_option,
)
from epic_cli.shell.options.datagrams import ingest_options
from epic_cli.shell.options.link import TwoWayLink, two_way_link_options
from epic_cli.shell.options.trace import TraceOptions, check_network, two_way_trace_options
from epic_cli.work.event_loop import beside, microsecond_loop, prefetched, run_until_stopped

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
            raise WrongUsage("rows are of one direction: --watch up or down", "watch")
        if self.screen:
            raise WrongUsage(
                "choose --screen, or rows (--format, --output)", "screen", "format", "output"
            )
        return True

    def wants_screen(self, taken: bool) -> bool:
        """Whether the terminal is filled, unless it is ``taken``; raises ``WrongUsage``."""
        there = has_terminal() and is_in_foreground() and not taken
        if self.screen and not there:
            raise WrongUsage(
                "--screen needs a terminal, without --quiet or --control -",
                "screen",
                "quiet",
                "control",
            )
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
        strategy_option("The smoothing strategy that draws what is received.")
    ),
    tick: Ratio = shared(tick_option),
    ingest: IngestSpec = shared(ingest_options),
    seed: int = shared(
        seed_option("The same seed gives the same decisions for the same datagrams of a client.")
    ),
    quiet: bool = shared(quiet_option),
    color: ColorChoice = shared(color_option),
) -> int:
    """``epic proxy``.

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
        raise WrongUsage("--payload needs --record", "payload", "record")
    given = given_options()
    writes_rows = watched.rows_given(given)
    if writes_rows and spec.control == STANDARD_INPUT:
        raise WrongUsage(
            "rows and the answers to --control - would both be standard output", "control"
        )
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
            drawing = LaterDrawing(watches[watched.first], drawn, relay.settled, [rows])
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
    watches: Mapping[Way, DirectionTap],
    spec: ListenSpec,
    receiving: ReceivingSocket,
    recordings: Sequence[Recording],
    first: Way,
) -> Coroutine[Any, Any, None]:
    """The proxy's ``job`` on a thread of its own, and both directions in the browser."""
    from epic_cli.live.browser.game import GameView, LinkControls, Live

    assert spec.strategy is not None
    views: dict[str, GameView] = {}
    for way in sorted(watches, key=lambda way: way != first):
        of = f"{what}, {way}", receiving, recordings, relay.settled, True
        views[way] = GameView(watches[way], spec, *of)
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
) -> tuple[dict[Way, DirectionTap], list[Recording]]:
    """What reads the packets in the directions that are ``wanted`` or recorded."""
    watches: dict[Way, DirectionTap] = {}
    recordings: list[Recording] = []
    for way in WAYS:
        files = watched.files(way, stack)
        recordings += chain(*files)
        if any(files) or way in wanted:
            watches[way] = DirectionTap(way, ingest, *files)
    return watches, recordings


def _end(
    relay: Relay,
    log: TrafficLog | None,
    recordings: Iterable[Recording],
    watches: Iterable[DirectionTap],
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
    drawing: LaterDrawing | None = None,
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
