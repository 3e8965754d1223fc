"""``epic send``: a recording or a movement to a socket, at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterable, Iterator

import click

from epic_cli.engine.parameters import Number
from epic_cli.live.event_loop import microsecond_loop, run_until_stopped
from epic_cli.live.moments import Moment
from epic_cli.live.options import ENDPOINT, ended
from epic_cli.live.send.options import SourceOptions, check_source, moving, recorded
from epic_cli.live.sending import Sending, SendSpec, SentLog
from epic_cli.network import LinkConditions, fates
from epic_cli.recordings.addresses import Address, resolve
from epic_cli.recordings.writing import Fault, Unwritable
from epic_cli.shell.console import has_cursor, open_sink
from epic_cli.shell.declared import InputFile, OptionGroup, OutputFile, command, option, shared
from epic_cli.shell.errors import ExitStatus, WrongUsage, accessing, say, steer, wrong_usage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import packet_format_option, quiet_option, seed_option
from epic_cli.shell.options.link import link_options
from epic_cli.shell.options.trace import (
    TraceOptions,
    check_network,
    one_way_trace_options,
    read_one_way,
)
from epic_cli.shell.progress import PATIENCE
from epic_cli.shell.sources import source_name
from epic_cli.show.link import summary

#: What packet text cannot hold and the other formats can.
_TEXT_FAULTS = (Fault.BLANK, Fault.NO_VELOCITY)

EXAMPLES = """\b
Examples:
  epic send --speed 4 sample_inputs/turn.txt 9870
  epic send --path circle --send-rate 30 --duration 1 localhost:9870
  epic send --path strafe --duration 1 --latency 80ms --loss 2% 9870
  epic send --path circle --duration 1 --trace network.csv 9870
  epic send walk.csv --format jsonl --speed 2 --truth-out truth.csv 9870
  epic send --loop sample_inputs/two_tanks.csv sample_inputs/turn.txt 9870
  epic send --path strafe --entities 50 --turning look --duration 1 9870
"""


_SPEED = Number(
    "speed",
    1.0,
    "Send this many times as fast; times in packets and delays of the link stay as they are.",
    "times",
    0.001,
    10_000,
)

_RECORDINGS = click.argument("recording", nargs=-1, type=InputFile(), metavar="[RECORDING]...")
_TARGET = click.argument("target", type=ENDPOINT, metavar="[tcp://|ws://][HOST:]PORT")

_send_options = OptionGroup(
    "spec",
    SendSpec,
    packet_format_option("The packet format in datagrams."),
    option(_SPEED),
    click.option(
        "--separate",
        is_flag=True,
        help="Send each packet in its own datagram; otherwise those of one moment share"
        " datagrams of up to 1,400 bytes.",
    ),
    click.option(
        "--truth-out",
        type=OutputFile(),
        metavar="FILE",
        help="Write every packet and when it was sent: CSV with"
        " entity,time,x,y,z,vx,vy,vz,teleport,sent, and where the first has a rotation"
        " qx,qy,qz,qw.",
    ),
)


@command(EXAMPLES, "path entities send-rate duration loop speed f preset latency jitter loss")
def send(
    recording: tuple[str, ...] = shared(_RECORDINGS),
    target: Address = shared(_TARGET),
    source: SourceOptions = shared(SourceOptions),
    spec: SendSpec = shared(_send_options),
    link: LinkConditions = shared(link_options("0", "The mean delay.")),
    trace: TraceOptions = shared(one_way_trace_options),
    seed: int = shared(seed_option("The same seed gives the same losses and delays.")),
    quiet: bool = shared(quiet_option),
) -> int:
    """Send recordings or a movement, at their own pace: as UDP datagrams, or over a connection.

    Each packet leaves at its arrival time in the recording or, if unknown, at its own time, and
    then crosses the simulated link. Several recordings begin at once, on the clock of the first;
    an entity named like one of another recording is renamed. Without a HOST packets go to
    127.0.0.1; tcp:// sends lines, ws:// messages of a WebSocket.

    Exit status: 0 done, 1 some lines were refused, 2 wrong usage, 3 a file cannot be read or
    written, or the address is unreachable, 130 interrupted.
    """
    check_source(recording, source)
    check_network(trace)
    if (*recording, trace.trace).count("-") > 1:
        raise WrongUsage("only one recording, or --trace, can be standard input")
    reporters = [Reporter(source_name(file), Messages(quiet)) for file in recording]
    with accessing("send to", target):
        resolve(target)
    channel = trace.channel(read_one_way(trace), link, seed)
    with contextlib.ExitStack() as stack:
        for reporter in reporters:
            stack.enter_context(reporter)
        log = None
        if spec.truth_out:
            log = SentLog(stack.enter_context(open_sink(spec.truth_out)).write)
        stack.enter_context(_unwritable())
        with wrong_usage():
            sending = Sending(spec, target, channel, log)
        moments = recorded(recording, source, reporters) if recording else moving(source, seed)
        with accessing("send to", target):
            stopped = run_until_stopped(_shown(sending, moments, quiet), microsecond_loop)
    if not quiet and sending.statistics.sent:
        nobody = f"nobody listened at {target} for some of them\n" if sending.refused else ""
        say(summary(sending.statistics, fates(channel)) + nobody)
    refused = any(reporter.refused for reporter in reporters)
    done = ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE
    return ended(stopped, done)


async def _shown(sending: Sending, moments: Iterable[Moment], quiet: bool) -> None:
    """Sends, with a count on the terminal, which a bar's own thread would make less punctual."""
    if quiet or not has_cursor(sys.stderr):
        return await sending.run(moments)

    async def show() -> None:
        while True:
            await asyncio.sleep(PATIENCE)
            steer(f"\rsending: {sending.statistics.sent:,} datagrams\x1b[K")

    showing = asyncio.create_task(show())
    try:
        await sending.run(moments)
    finally:
        showing.cancel()
        steer("\r\x1b[K")


@contextlib.contextmanager
def _unwritable() -> Iterator[None]:
    try:
        yield
    except Unwritable as error:
        hint = "; choose --format csv or jsonl" if error.fault in _TEXT_FAULTS else ""
        raise WrongUsage(f"{error}{hint}") from error
