"""``epic proxy``: a bad network between any two programs that use UDP."""

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
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.description import Described
from epic_cli.engine.parameters import Choice, Number, SettingError, Switch
from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.command_line import (
    Page,
    RowOutput,
    check_lab_library,
    get_exit_status,
    make_endless_option,
)
from epic_cli.live.listener import Endpoint, LaterDrawing, ListenSpec
from epic_cli.live.proxy.control import (
    LONGEST_COMMAND,
    Commands,
    answer_lines,
    serve_control_socket,
)
from epic_cli.live.proxy.report import summarize_proxy
from epic_cli.live.proxy.run import (
    DirectionTap,
    NetworkLoop,
    Relay,
    TrafficLog,
    is_own_address,
)
from epic_cli.live.proxy.spec import (
    STANDARD_INPUT,
    LinkController,
    LogFile,
    ProxyAddress,
    ProxySpec,
    WatchSpec,
    parse_control,
)
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.recording import PacketRecording, Recording, open_log
from epic_cli.network.link import WAYS, Link, Way
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.trace import AddedLink
from epic_cli.recordings.addresses import Address, Resolved, parse_address, resolve
from epic_cli.recordings.datagrams.counts import count_words
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.shell.console import (
    ColorChoice,
    has_terminal,
    is_in_foreground,
    use_color,
    write_text,
)
from epic_cli.shell.declared import (
    Parsed,
    declare_shared,
    declare_value,
    list_given_options,
    make_command,
)
from epic_cli.shell.errors import WrongUsage, raise_wrong_usage, write_message
from epic_cli.shell.options.common import (
    color_option,
    make_output_option,
    make_row_format_option,
    make_seed_option,
    make_strategy_option,
    quiet_option,
    tick_option,
)
from epic_cli.shell.options.datagrams import ingest_options
from epic_cli.shell.options.networks import make_link_options
from epic_cli.work.event_loop import (
    make_microsecond_loop,
    prefetch_items,
    run_beside,
    run_until_stopped,
)

if TYPE_CHECKING:
    from epic_cli.live.model import RunningGame


#: The keys of --show: a view, and the lab's page in the browser.
_PAGE = (
    Choice("view", None, "The display.", ("screen", "lab", "lines"), field="by"),
    Number("port", 0, "Port of the page, on 127.0.0.1 only; 0: a free one.", "", 0, 65535,
           whole=True),
    Switch("open", True, "Open the page in the browser.", field="opens"),
)  # fmt: skip


@dataclass(frozen=True)
class _ProxyDisplay(Described):
    """The display of the proxy: the ``screen``, ``lines``, or the ``lab`` with its page."""

    TABLE, KEY, OWNER = _PAGE, "view", "the lab"

    by: str
    port: int = 0
    opens: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by != "lab" and (self.port or not self.opens):
            raise SettingError(f"port= and open= go with --view lab, not with {self.by}")


@dataclass(frozen=True)
class _ProxyOutputs:
    """Options of the packets read from the traffic: how they are drawn, and their files."""

    watch: WatchSpec = declare_value(
        "Read the packets of the direction down, up, or both. Down are those to the first client,"
        " or to from=HOST. sent=FILE and received=FILE record them before and behind the link. "
        " [default: down]",
        type=Parsed(
            "up|down|both[,key=value]", WatchSpec.parse, WatchSpec, writes=lambda watch: watch.files
        ),
        default=WatchSpec(),
    )
    show: _ProxyDisplay | None = declare_value(
        "Show the link and a map: screen, lab or lines. The lab is in the browser, such as"
        " lab,port=8080,open=off.  [default: the screen, on a terminal without rows]",
        type=Parsed("screen|lab|lines", _ProxyDisplay.parse, _ProxyDisplay),
    )
    row_format: str = declare_shared(
        make_row_format_option("Write the rows that are drawn, in this format.")
    )
    output: str | None = declare_shared(
        make_output_option("Write the rows to a file. It appears at the end.")
    )

    @property
    def by(self) -> str:
        """The name of the wanted display; empty for the default.

        Raise ``WrongUsage`` if the lab lacks a library.
        """
        if self.show is not None and self.show.by == "lab":
            with check_lab_library():
                import_module("aiohttp")
        return "" if self.show is None else self.show.by

    @property
    def page(self) -> Page:
        """The port of the lab's page, and whether to open the browser."""
        return Page() if self.show is None else Page(self.show.port, self.show.opens)

    def are_rows_written(self, given: set[str]) -> bool:
        """Return True if rows are written; ``given`` are the names of options on the command line.

        Raise ``WrongUsage`` if that contradicts other options.
        """
        if not {"row_format", "output"} & given:
            return False
        if self.watch.direction == "both":
            raise WrongUsage("rows are of one direction: choose --watch up or down", "watch")
        if self.by == "screen":
            raise WrongUsage(
                "--show screen does not go with rows: leave out --format and --output", "show"
            )
        return True

    def is_screen_wanted(self, taken: bool) -> bool:
        """Return True if the screen is shown; ``taken``: the terminal is used otherwise.

        Raise ``WrongUsage`` if the user wants the screen and it cannot be shown.
        """
        there = has_terminal() and is_in_foreground() and not taken
        if self.by == "screen" and not there:
            raise WrongUsage(
                "--show screen needs a terminal, without --quiet or --control -", "show"
            )
        return there and self.by in ("", "screen")

    def is_map_wanted(self, given: set[str]) -> bool:
        """Return True if the screen has a map; ``given`` are the names of given options."""
        return self.by == "screen" or self.watch.direction is not None or "records" in given

    def open_files(self, way: Way, stack: contextlib.ExitStack) -> list[list[Recording]]:
        """Open the recordings of a direction, before and behind the link."""
        watch = self.watch
        both: list[list[Recording]] = [[], []]
        for found, path in zip(both, (watch.sent, watch.received), strict=True):
            if path is not None and watch.has(way):
                file = Path(path)
                both_ways = watch.direction == "both"
                named = file.with_stem(f"{file.stem}-{way}") if both_ways else path
                with raise_cannot_access("record in", str(named), "record in"):
                    found.append(PacketRecording(str(named)))
                stack.callback(found[0].close)
        return both


EXAMPLES = """\b
Examples:
  epic proxy --latency 40ms --jitter 10ms --loss 2% 7777 7778
  epic proxy --link lte,up.rate=256kbit 127.0.0.1:7777 localhost:7778
  epic proxy --link 'at="10s up.loss=100%",at="12s up.loss=0"' 7777 7778
  epic proxy --record proxy.csv --control ./proxy.socket 7777 7778
  epic proxy --watch both,sent=a.csv,received=b.csv --latency 60ms 7777 7778
  epic proxy --link trace=sample_inputs/walk.trace,loss=1% 7777 7778
  epic proxy --show lab --latency 60ms --jitter 20ms 7777 7778
  echo set down.loss=5% | epic proxy --control - 7777 7778
"""


_LISTEN = Parsed("[HOST:]PORT", ProxyAddress.parse, ProxyAddress)
_TARGET = Parsed("[HOST:]PORT", parse_address, Address)
_LOG = Parsed("FILE[,payload=on]", LogFile.parse, LogFile, writes=lambda file: [file.path])
_CONTROL = Parsed(
    "PORT|PATH|-",
    parse_control,
    (Address, Path),
    writes=lambda place: [str(place)] if isinstance(place, Path) else [],
)


@make_command(EXAMPLES, "link latency jitter loss duration record watch layout show")
def proxy(
    listen: ProxyAddress = declare_shared(
        click.argument("listen", type=_LISTEN, metavar="[HOST:]PORT")
    ),
    target: Address = declare_shared(click.argument("target", type=_TARGET, metavar="[HOST:]PORT")),
    link: LinkSpec = declare_shared(
        make_link_options(two_ways=True, sized=False, latency="Mean delay in each direction.")
    ),
    duration: float = declare_shared(make_endless_option("Run for this many seconds, or endless.")),
    record: LogFile | None = declare_value(
        "Log the fate of every datagram. The CSV is a recorded network; payload=on adds the bytes"
        " of each datagram. Existing data is not overwritten.",
        type=_LOG,
    ),
    control: Address | Path | str | None = declare_value(
        "Take commands from a local socket, or - for standard input. One a line, such as 'set"
        " loss=5% up.latency=40ms', 'blackout', 'stats', 'help'.",
        type=_CONTROL,
    ),
    outputs: _ProxyOutputs = declare_shared(_ProxyOutputs),
    chosen: StrategySpec = declare_shared(
        make_strategy_option("The smoothing strategy that draws what is received.")
    ),
    tick: Ratio = declare_shared(tick_option),
    ingest: IngestSpec = declare_shared(ingest_options),
    seed: int = declare_shared(
        make_seed_option(
            "The same seed gives the same decisions for the same datagrams of a client."
        )
    ),
    quiet: bool = declare_shared(quiet_option),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic proxy``.

    Clients connect to the first address (7777,idle=10s,max_clients=20: forget silent clients after
    10 s, accept no more than 20); the second is the server. Without a HOST both are on this machine
    (127.0.0.1); port 0 is any free port. The link applies in both directions, keys with up. or
    down. in one; each client has its own links and its own socket. On a terminal, keys change the
    link while it runs. With --watch or --layout, the game's packets are drawn there as the other
    side would draw them: error, lag and the rest are measured against the sent packets.

    Exit status: 0 done, 1 a line of a trace was refused, 2 wrong usage, 3 an address is
    unreachable, or a file cannot be read or written, 130 interrupted.
    """
    spec = ProxySpec(listen.idle, listen.max_clients, duration, record, control)
    given, watch = list_given_options(), outputs.watch
    writes_rows = outputs.are_rows_written(given)
    if writes_rows and control == STANDARD_INPUT:
        raise WrongUsage(
            "rows and the answers to --control - would both go to standard output: add --output",
            "control",
        )
    in_lab = outputs.by == "lab"
    taken = quiet or writes_rows or in_lab or control == STANDARD_INPUT
    on_screen = outputs.is_screen_wanted(taken)
    draws = in_lab or (on_screen and outputs.is_map_wanted(given))
    chosen.make()  # to refuse wrong settings at once
    drawn = ListenSpec(
        Endpoint(sender=watch.sender, max_entities=watch.max_entities),
        replace(ingest, single_entity=writes_rows and outputs.row_format == "epic"),
        chosen,
        SCREEN_TIMING.tick if draws and "tick" not in given else tick,
    )
    links = LinkController(link)
    make_channel = _make_channels(link, links, seed)
    with contextlib.ExitStack() as stack:
        receiving, place = _open_sockets(listen.address, target, stack)
        address, log = listen.address._replace(port=receiving.port), _open_log(spec, stack)
        wanted = WAYS if draws else ((watch.first,) if writes_rows else ())
        watches, recordings = _make_taps(outputs, drawn, wanted, stack)
        relay = Relay(spec, receiving, place, links, make_channel, log, watches)
        what = f"{address} > {target}"
        games = _make_games(watches if draws else {}, drawn, what, relay, receiving, recordings)
        rows = drawing = stopped = None
        if writes_rows:
            sink = stack.enter_context(open_log(outputs.output))
            rows = RowOutput(outputs.row_format, color, sink)
            drawing = LaterDrawing(watches[watch.first], drawn, relay.find_settled, [rows])
        if not quiet:
            write_message(f"epic: {address} relays datagrams to {target}\n")
        try:
            with (
                raise_wrong_usage(kind=NetworkLoop),
                raise_cannot_access("pass on", address, "record in"),
            ):
                if on_screen:
                    from epic_cli.live.proxy.screen import Watching

                    screen = Watching(relay, what, games, watch.first)
                    job = _run_proxy(relay, spec, screen.note)
                    stopped = screen.run(job, use_color(color, sys.stdout))
                else:
                    job = _run_proxy(
                        relay, spec, (lambda _: None) if quiet else _print_message, drawing
                    )
                    if in_lab:
                        shown = _show_directions(relay, job, outputs.page, games, watch.first)
                        stopped = run_until_stopped(shown)
                    else:
                        stopped = run_until_stopped(job, make_microsecond_loop)
        finally:
            if rows is not None:
                rows.close()
            if not quiet:
                write_message(_report_end(relay, log, recordings, watches.values()))
    return get_exit_status(stopped)


def _make_games(
    watches: Mapping[Way, DirectionTap],
    spec: ListenSpec,
    what: str,
    relay: Relay,
    receiving: ReceivingSocket,
    recordings: Sequence[Recording],
) -> dict[Way, tuple[RunningGame, LaterDrawing]]:
    """Return the game of each direction, measured against the sent packets."""
    if not watches:
        return {}
    from epic_cli.live.model import RunningGame  # imported here, since rows need no numpy

    of = receiving, recordings, relay.find_settled, True
    return {
        way: RunningGame.make_with_later_drawing(tap, spec, f"{what}, {way}", *of)
        for way, tap in watches.items()
    }


def _show_directions(
    relay: Relay,
    job: Coroutine[Any, Any, None],
    page: Page,
    games: Mapping[Way, tuple[RunningGame, LaterDrawing]],
    first: Way,
) -> Coroutine[Any, Any, None]:
    """Run the ``job`` on another thread, and show both directions in the browser meanwhile."""
    from epic_cli.live.browser.game import GameView, Live
    from epic_cli.live.proxy.sliders import LinkControls

    ways = sorted(games, key=lambda way: way != first)
    views: dict[str, GameView] = {way: GameView(*games[way]) for way in ways}
    strategy = games[first][0].strategy
    live = Live(views, [strategy], LinkControls(relay.links, Commands(relay).answer))
    return live.show(page, run_beside(job, make_microsecond_loop(), relay.end))


def _open_sockets(
    listen: Address, target: Address, stack: contextlib.ExitStack
) -> tuple[ReceivingSocket, Resolved]:
    """Open the listening socket, and resolve the target."""
    with raise_cannot_access("send to", target):
        place = resolve(target)
    if not target.port:
        raise WrongUsage("the target needs a port other than 0")
    with raise_cannot_access("listen on", listen):
        receiving = ReceivingSocket(resolve(listen))
    stack.callback(receiving.close)
    if is_own_address(receiving.socket, place):
        raise WrongUsage("the target is where the proxy listens: datagrams would loop")
    return receiving, place


def _open_log(spec: ProxySpec, stack: contextlib.ExitStack) -> TrafficLog | None:
    if spec.record is None:
        return None
    with raise_cannot_access("record in", spec.record.path):
        log = TrafficLog(spec.record.path, spec.record.payload)
    stack.callback(log.close)
    return log


def _make_taps(
    outputs: _ProxyOutputs, drawn: ListenSpec, wanted: Sequence[Way], stack: contextlib.ExitStack
) -> tuple[dict[Way, DirectionTap], list[Recording]]:
    """Return the taps of the ``wanted`` or recorded directions, and the recordings."""
    watches: dict[Way, DirectionTap] = {}
    with raise_cannot_access("take packets from", drawn.endpoint.sender):
        ingest = drawn.resolve_ingest()
    recordings: list[Recording] = []
    for way in WAYS:
        files = outputs.open_files(way, stack)
        recordings += chain(*files)
        if any(files) or way in wanted:
            watches[way] = DirectionTap(way, ingest, *files)
    return watches, recordings


def _report_end(
    relay: Relay,
    log: TrafficLog | None,
    recordings: Iterable[Recording],
    watches: Iterable[DirectionTap],
) -> str:
    """Return the report at the end: traffic, recordings and refusals."""
    words = summarize_proxy(relay)
    if log is not None:
        words += f"{log.file.recorded:,} datagrams recorded in {log.file}\n"
    for recording in recordings:
        words += f"{recording.file.recorded:,} packets recorded in {recording.file}\n"
        words += f"{recording.left_out}\n" if recording.left_out else ""
    for watch in watches:
        refused = count_words(watch.counts.refused, watch.counts.example)
        words += f"{refused}\n" if refused else ""
    return words


def _print_message(words: str) -> None:
    write_message(f"epic: {words}\n")


async def _run_proxy(
    relay: Relay,
    spec: ProxySpec,
    note: Callable[[str], None],
    drawing: LaterDrawing | None = None,
) -> None:
    """Run the proxy with its control and its schedule; pass the control's address to ``note``."""
    tasks = [asyncio.create_task(relay.links.follow(relay.begun))]
    if drawing is not None:
        tasks.append(asyncio.create_task(drawing.run()))
    commands = Commands(relay)
    control = spec.control
    async with contextlib.AsyncExitStack() as stack:
        if control == STANDARD_INPUT:
            lines = prefetch_items(_read_lines())
            tasks.append(asyncio.create_task(answer_lines(lines, commands.answer, _write_answer)))
        elif isinstance(control, Address | Path):
            with raise_cannot_access("be controlled at", control):
                port = await stack.enter_async_context(
                    serve_control_socket(control, commands.answer)
                )
            if isinstance(control, Address):
                control = control._replace(port=port or control.port)
            note(f"controlled at {control}")
        for task in tasks:
            task.add_done_callback(partial(_end_if_failed, relay))
        try:
            await relay.run()
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _end_if_failed(relay: Relay, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        relay.end()


def _read_lines() -> Iterator[str]:
    """Yield the lines of the standard input, cutting overlong ones."""
    while sys.stdin is not None and (line := sys.stdin.readline(LONGEST_COMMAND)):
        yield line


def _write_answer(answer: str) -> None:
    write_text(f"{answer}\n")
    sys.stdout.flush()


def _make_channels(
    link: LinkSpec, links: LinkController, seed: int
) -> Callable[[Way, int], Link | AddedLink]:
    """Return a function that makes a client's link under the current conditions."""
    traces = link.read_traces(two_ways=True)

    def make(way: Way, number: int) -> Link | AddedLink:
        now, purpose = links.directions[way].conditions, f"{way}/{number}"
        return link.make_channel(seed, traces, way=way, purpose=purpose, conditions=now)

    return make
