"""``epic listen``: packets of a running game to rows, in real time, and to a recording."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace

import click

from epic_cli.engine.replay.playback import SCREEN_TIMING, Ratio
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.command_line import (
    ENDPOINT,
    ListenProgress,
    RecordingFile,
    RowOutput,
    get_exit_status,
    make_endless_option,
    open_listener,
    open_recordings,
    record_option,
)
from epic_cli.live.forwarders import Forwarder, Target, forward_formats, parse_target
from epic_cli.live.listener import Endpoint, ListenSpec
from epic_cli.live.receiving import Reception
from epic_cli.live.recording import open_log
from epic_cli.recordings.addresses import Address, resolve
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.shell.console import ColorChoice, has_terminal, use_color
from epic_cli.shell.declared import (
    Parsed,
    declare_shared,
    declare_value,
    list_given_options,
    make_command,
)
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import (
    color_option,
    make_output_option,
    make_row_format_option,
    make_strategy_option,
    quiet_option,
    tick_option,
)
from epic_cli.shell.options.datagrams import ingest_options
from epic_cli.work.event_loop import run_until_stopped

_ENDPOINT = click.argument(
    "endpoint", type=ENDPOINT, metavar="[[tcp://|ws://][HOST:]PORT]", default=str(Address())
)

EXAMPLES = """\b
Examples:
  epic listen --format table --strategy snapshot
  epic listen --record game.csv --format csv 0.0.0.0:9870 > rows.csv
  epic listen --layout 'time:u32*0.001 x:f32 y:f32 z:f32 id:u16' -f csv
  epic listen ws://127.0.0.1:9870 --record game.jsonl
  epic listen --read time=ts,x=pos.0,y=pos.2,unit=ms,axes=xy
"""


@dataclass(frozen=True)
class _ListenOutputs:
    """Options of the outputs: the screen, rows and recordings."""

    show: str | None = declare_value(
        "Show a map on the whole terminal, or write rows.  [default: the screen, on a"
        " terminal and unless an option is about rows]",
        type=click.Choice(("screen", "rows")),
    )
    row_format: str = declare_shared(
        make_row_format_option("Format of the rows. epic is the demo's own, for one entity.")
    )
    output: str | None = declare_shared(
        make_output_option("Write the rows to a file. It appears when listening ends.")
    )
    record: tuple[RecordingFile, ...] = declare_shared(record_option)
    forward: tuple[Target, ...] = declare_value(
        f"Send the rows to {' or '.join(forward_formats())}, too. A program on another machine"
        " has its address, such as teleplot:192.168.0.7:47269; may be repeated.",
        type=Parsed("PROGRAM[:HOST:PORT]", parse_target, Target),
        multiple=True,
    )

    def is_screen_wanted(self, given: set[str]) -> bool:
        """Return True if a screen is shown; ``given`` are the names of options on the command line.

        Raise ``WrongUsage`` if it is wanted and there is no terminal.
        """
        there = has_terminal()
        if self.show == "screen" and not there:
            raise WrongUsage("--show screen needs a terminal", "show")
        if self.show is None:
            return there and not {"row_format", "output"} & given
        return self.show == "screen"


@make_command(EXAMPLES, "s layout read entity duration f o record forward")
def listen(
    endpoint: Endpoint = declare_shared(_ENDPOINT),
    chosen: StrategySpec = declare_shared(
        make_strategy_option("The smoothing strategy; 'epic strategies' lists them.")
    ),
    tick: Ratio = declare_shared(tick_option),
    ingest: IngestSpec = declare_shared(ingest_options),
    duration: float = declare_shared(
        make_endless_option("Listen for this many seconds, or endless.")
    ),
    outputs: _ListenOutputs = declare_shared(_ListenOutputs),
    quiet: bool = declare_shared(quiet_option),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic listen``.

    Packets arrive as UDP datagrams, as messages of WebSockets (ws://), or over TCP (tcp://) as
    lines or, with --layout, as messages after their lengths. A datagram or message is one or more
    lines of packet text, CSV under a header, JSON objects or an array of them, or binary records.
    What a player would see is drawn in real time, whether or not a packet arrives: on a terminal as
    a map with measurements of the link and the strategy, and keys to change them (? lists them);
    otherwise, or with an option for rows, as rows. Without a HOST it receives only from this
    machine (127.0.0.1:9870).

    Keys may follow the address: 9870,from=192.168.0.9,max_entities=1000; 9870,echo=on;
    239.255.1.1:9870,interface=eth0; tcp://9870,prefix=u16; ws://9870,origin=https://game.example.

    Exit status: 0 done, 2 wrong usage, 3 cannot listen on the address or write a file, 4 a custom
    strategy failed, 130 interrupted.
    """
    given = list_given_options()
    on_screen = outputs.is_screen_wanted(given)
    chosen.make()  # to refuse wrong settings at once
    writes_rows = outputs.output is not None or not on_screen
    spec = ListenSpec(
        endpoint,
        replace(ingest, single_entity=outputs.row_format == "epic" and writes_rows),
        chosen,
        SCREEN_TIMING.tick if on_screen and "tick" not in given else tick,
        duration,
    )
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(open_listener(spec))
        receiving, where = listener.receiving, str(listener.address)
        recordings = open_recordings(outputs.record, listener, stack)
        screen = rows = None
        if on_screen:
            # imported here, since rows need neither numpy nor prompt_toolkit
            from epic_cli.live.model import RunningGame
            from epic_cli.live.screen import ListenScreen

            game = RunningGame(spec, where, receiving, recordings)
            game.attach(listener)
            screen = ListenScreen(game)
            listener.consumers.append(game)
        if writes_rows:
            sink = stack.enter_context(open_log(outputs.output))
            rows = RowOutput(outputs.row_format, color, sink)
            listener.consumers.append(rows)
        own = 0 if endpoint.address.scheme else receiving.port  # of UDP, as forwarders use
        targets = [target.choose_port_beside(own) for target in outputs.forward]
        for target in targets:
            forwarder = _open_forwarder(target, receiving, own)
            stack.callback(forwarder.close)
            listener.consumers.append(forwarder)
        progress = ListenProgress(quiet, use_color(color, sys.stderr), receiving, rows, recordings)
        if screen is None:
            listener.consumers.append(progress)
        try:
            with raise_cannot_access("listen on", where, "record in"):
                if screen is not None:
                    stopped = screen.run(listener, use_color(color, sys.stdout))
                else:
                    progress.say(f"epic: listening on {where}\n")
                    for target in targets:
                        progress.say(f"epic: sending to {target.format.name} at {target.address}\n")
                    stopped = run_until_stopped(listener.run())
        finally:
            progress.end(listener)
    return get_exit_status(stopped)


def _open_forwarder(target: Target, receiving: Reception, own: int) -> Forwarder:
    with raise_cannot_access("send to", target.address):
        place = resolve(target.address)
        if own and place.place[:2] == receiving.socket.getsockname()[:2]:
            raise WrongUsage(
                f"--forward {target.format.name} would send to {target.address}, where epic"
                " listens: give one of them another port",
                "forward",
            )
        return Forwarder(target.format, place)
