"""``epic send``: a recording or a movement to a socket, at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from epic_cli.engine.contract import Packet
from epic_cli.engine.parameters import Number
from epic_cli.live.command_line import ended
from epic_cli.live.send.run import Sending, SendSpec, SentLog
from epic_cli.live.send.spec import (
    Moment,
    moments_of_movement,
    moments_of_recording,
    rounds,
    together,
)
from epic_cli.network import LinkConditions, PathMovement, fates
from epic_cli.network.paths import PATH, TURNING, spread_path
from epic_cli.network.sender import ROTATION_BITS, SEND_RATE, USUAL_RATE, SenderSpec
from epic_cli.recordings.addresses import Address, parse_endpoint, resolve
from epic_cli.recordings.writing import Fault, Unwritable
from epic_cli.shell.console import has_cursor, open_sink
from epic_cli.shell.declared import (
    InputFile,
    OptionGroup,
    OutputFile,
    Parsed,
    command,
    option,
    refuse,
    shared,
    value,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, accessing, say, steer, wrong_usage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    DURATION,
    packet_format_option,
    quiet_option,
    read_option,
    seed_option,
)
from epic_cli.shell.options.link import link_options
from epic_cli.shell.options.networks import check_turning
from epic_cli.shell.options.trace import (
    TraceOptions,
    check_network,
    one_way_trace_options,
    read_one_way,
)
from epic_cli.shell.progress import PATIENCE
from epic_cli.shell.sources import blocks, source_name
from epic_cli.show.link import summary
from epic_cli.work.event_loop import microsecond_loop, run_until_stopped

if TYPE_CHECKING:
    from epic_cli.recordings.read_spec import ReadSpec


#: Without effect beside a recording, and without one.
_PATH_OPTIONS = ("path_speed", "size", "send_rate", "turning", "rotation_bits", "entities")
_RECORDING_OPTIONS = ("read", "times")


_SEND_RATE = Number(
    "send_rate",
    USUAL_RATE,
    "Packets per second of each entity. The n-th is due n/rate after the first, however late one"
    " was; on a busy machine one may be some milliseconds late.",
    "Hz",
    SEND_RATE.low,
    SEND_RATE.high,
)
_ENTITIES = Number(
    "entities",
    1,
    "So many entities on the path, each with a name, a place and a phase of its own.",
    "",
    1,
    10_000,
    whole=True,
)
_TIMES = Number(
    "times",
    1,
    "Send the recording so many times, or endless. Each round goes on a period after the last, the"
    " time that its longest entity is there and one step; its first packets are teleports.",
    "",
    1,
    1e9,
    words={"endless": math.inf},
    whole=True,
)


@dataclass(frozen=True)
class SourceOptions:
    """What is sent: recordings, or entities on a path."""

    path: str | None = shared(
        option(PATH[0], default=None, help="An entity on this path instead of a recording.")
    )
    entities: int = shared(option(_ENTITIES))
    path_speed: float = shared(option(PATH[1], "--path-speed"))
    size: float = shared(option(PATH[2]))
    turning: str = shared(option(TURNING))
    rotation_bits: int | None = shared(option(ROTATION_BITS))
    send_rate: float = shared(option(_SEND_RATE))
    entity: str | None = value("Name the entity on the path, or send only this recorded one.")
    duration: float | None = shared(
        option(
            DURATION,
            help="Stop after so many seconds of the packets' own time.  [default: at the end of the"
            " recording; a path has none]",
        )
    )
    times: float = shared(option(_TIMES))
    read: ReadSpec = shared(read_option)

    @property
    def seconds(self) -> float:
        """For how long, by the times of the packets; infinite: to the end."""
        return math.inf if self.duration is None else self.duration


def check_source(recording: tuple[str, ...], source: SourceOptions) -> None:
    """Refuses options that would have no effect beside the others."""
    if bool(recording) == bool(source.path):
        raise WrongUsage(
            "pass either a RECORDING or a --path, then the address [HOST:]PORT", "path"
        )
    if "-" in recording and source.times > 1:
        raise WrongUsage("--times needs a file: standard input is there once", "times")
    if recording:
        refuse(_PATH_OPTIONS, "needs --path")
    else:
        refuse(_RECORDING_OPTIONS, "needs a RECORDING")


def moving(source: SourceOptions, seed: int) -> Iterator[Moment]:
    """Entities on a path."""
    side = math.isqrt(source.entities - 1) + 1
    name = source.entity or ""
    how = str(source.path), source.path_speed, source.size, seed, source.turning
    paths = [(f"{name}{n + 1}", spread_path(n, side, *how)) for n in range(source.entities)]
    first = f"{name}1" if len(paths) > 1 else name
    movement = PathMovement(paths[0][1], first, *paths[1:])
    spec = SenderSpec(rotation_bits=source.rotation_bits)
    check_turning(movement, spec)
    return moments_of_movement(movement, source.send_rate, source.seconds, spec.sender())


def recorded(
    files: Sequence[str], source: SourceOptions, reporters: Sequence[Reporter]
) -> Iterator[Moment]:
    """The packets of recordings, each with a reporter of its own."""
    left_out = 0

    def leave_out() -> None:
        nonlocal left_out
        left_out += 1

    def renamed(recording: str, old: str, new: str) -> None:
        known = f"entity {old!r}" if old else "the entity without a name"
        reporters[0].say(
            f"epic: {known} of {recording} is sent as {new!r}: another recording has one\n"
        )

    streams = []
    for file, reporter in zip(files, reporters, strict=True):
        quiet = map(Reporter, repeat(reporter.name), repeat(Messages(quiet=True)))
        read = partial(_packets, file, source, chain([reporter], quiet))
        streams.append(("_".join(Path(file).stem.split()), rounds(read, source.times)))
    packets = together(streams, renamed) if len(streams) > 1 else streams[0][1]
    yield from moments_of_recording(packets, source.seconds, leave_out)
    if left_out:
        reporters[0].say(f"epic: {left_out:,} packets without a finite time were not sent\n")


def _packets(file: str, source: SourceOptions, reporters: Iterator[Reporter]) -> Iterator[Packet]:
    """The packets of a recording, each time reported on by the next of ``reporters``."""
    reporter = next(reporters)
    for block in blocks(file, source.read, reporter):
        reporter.refuse(block.refusals)
        if source.entity is not None:
            block.keep_entity(source.entity)
        yield from (block[index] for index in range(len(block)))


#: What packet text cannot hold and the other formats can.
_TEXT_FAULTS = (Fault.BLANK, Fault.NO_VELOCITY)

EXAMPLES = """\b
Examples:
  epic send --speed 4 sample_inputs/turn.txt 9870
  epic send --path circle --send-rate 30 --duration 1 localhost:9870
  epic send --path strafe --duration 1 --latency 80ms --loss 2% 9870
  epic send --path circle --duration 1 --trace network.csv 9870
  epic send walk.csv --format jsonl --speed 2 --truth-out truth.csv 9870
  epic send --times endless sample_inputs/two_tanks.csv 9870
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
_PLACE = Parsed("[tcp://|ws://][HOST:]PORT", parse_endpoint, Address)
_TARGET = click.argument("target", type=_PLACE, metavar=_PLACE.name)

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


@command(EXAMPLES, "path entities send-rate duration times speed f preset latency jitter loss")
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
    """``epic send``.

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
        raise WrongUsage("only one recording, or --trace, can be standard input", "trace")
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
