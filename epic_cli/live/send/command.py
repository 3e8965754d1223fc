"""``epic send``: sends a recording or a movement to a socket, at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from epic_cli.engine.contract import Packet
from epic_cli.engine.parameters import Number
from epic_cli.engine.text.widths import Count
from epic_cli.live.command_line import get_exit_status
from epic_cli.live.recording import open_log
from epic_cli.live.send.run import Sending, SendSpec, SentLog
from epic_cli.live.send.spec import (
    Moment,
    iterate_movement_moments,
    iterate_recording_moments,
    merge_recordings,
    repeat_packets,
)
from epic_cli.network.link import fates
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import DURATION, MovementSpec, load_movement
from epic_cli.network.sender import Sender, SenderSpec
from epic_cli.network.simulation import Simulation, SimulationSpec
from epic_cli.recordings.addresses import Address, parse_endpoint, resolve
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.recordings.opening import name_source, read_blocks
from epic_cli.recordings.writing import Fault, Unwritable
from epic_cli.shell.console import has_cursor
from epic_cli.shell.declared import (
    InputFile,
    OptionGroup,
    OutputFile,
    Parsed,
    declare_shared,
    declare_value,
    make_command,
    make_option,
    refuse,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, raise_wrong_usage, steer, write_message
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    make_packet_format_option,
    make_seed_option,
    quiet_option,
    read_option,
)
from epic_cli.shell.options.networks import make_link_options, make_movement_option, send_option
from epic_cli.shell.progress import PATIENCE
from epic_cli.show.link import summarize_link, write_quantiles
from epic_cli.work.event_loop import make_microsecond_loop, run_until_stopped

if TYPE_CHECKING:
    from epic_cli.recordings.read_spec import ReadSpec


_TIMES = Number(
    "times",
    1,
    "Send the recording this many times, or endless. Each round follows a period after the last:"
    " the longest time of an entity plus one step. Its first packets are teleports.",
    "",
    1,
    1e9,
    words={"endless": math.inf},
    whole=True,
)


#: Options that need a recording.
_RECORDING_OPTIONS = ("read", "times", "entity", "duration")


@dataclass(frozen=True)
class SourceOptions:
    """Options of the packets' source: recordings, or a movement and its sender."""

    movement: MovementSpec | None = declare_shared(
        make_movement_option("Send this movement instead of a recording.")
    )
    send: SenderSpec = declare_shared(send_option)
    entity: str | None = declare_value("Send only this recorded entity.", metavar="NAME")
    duration: float | None = declare_shared(
        make_option(
            DURATION,
            help="Stop after this many seconds of a recording's own time.  [default: at its end]",
        )
    )
    times: float = declare_shared(make_option(_TIMES))
    read: ReadSpec = declare_shared(read_option)

    @property
    def seconds(self) -> float:
        """The length (s) of a recording to send, by its packets' times; infinite: all of it."""
        return math.inf if self.duration is None else self.duration


def check_source(recording: tuple[str, ...], source: SourceOptions) -> None:
    """Raise ``WrongUsage`` for options that would have no effect beside the others."""
    if bool(recording) == bool(source.movement):
        raise WrongUsage(
            "pass either a RECORDING or a --movement, then the address [HOST:]PORT", "movement"
        )
    if "-" in recording and source.times > 1:
        raise WrongUsage("--times needs a file: standard input can be read only once", "times")
    if not recording:
        refuse(_RECORDING_OPTIONS, "needs a RECORDING")
    elif replace(source.send, separate=False) != SenderSpec():
        raise WrongUsage(
            "--send: only separate goes with a RECORDING, whose packets are sent unchanged"
        )
    if any(key in ("pack", "mtu") for key, _ in source.send.list_entries()):
        raise WrongUsage("--send: pack and mtu are for encoded bits, but epic send sends text")


def sample_movement(movement: MovementSpec, simulation: Simulation, seed: int) -> Iterator[Moment]:
    """Yield the packets of a movement by time; endless for a path without a ``duration``."""
    send = simulation.spec.send.drop_strategies()
    moves = simulation.make_movement(seed)
    is_recorded = simulation.recorded is not None
    endless = movement.duration is None and not is_recorded
    seconds = math.inf if endless else movement.seconds
    sender = Sender(send, send.reach(lambda: send.get_farthest(moves, seconds)))
    return iterate_movement_moments(moves, send.get_rate(is_recorded), seconds, sender)


def read_recordings(
    files: Sequence[str], source: SourceOptions, reporters: Sequence[Reporter]
) -> Iterator[Moment]:
    """Yield the packets of recordings, each recording with a reporter of its refused lines."""
    left_out = 0

    def leave_out() -> None:
        nonlocal left_out
        left_out += 1

    def rename_packets(recording: str, old: str, new: str) -> None:
        known = f"entity {old!r}" if old else "the entity without a name"
        reporters[0].say(
            f"epic: {known} of {recording} is sent as {new!r}: another recording has that name\n"
        )

    streams = []
    for file, reporter in zip(files, reporters, strict=True):
        quiet = map(Reporter, repeat(reporter.name), repeat(Messages(quiet=True)))
        read = partial(_read_packets, file, source, chain([reporter], quiet))
        streams.append(("_".join(Path(file).stem.split()), repeat_packets(read, source.times)))
    packets = merge_recordings(streams, rename_packets) if len(streams) > 1 else streams[0][1]
    yield from iterate_recording_moments(packets, source.seconds, leave_out)
    if left_out:
        reporters[0].say(f"epic: {left_out:,} packets without a finite time were not sent\n")


def _read_packets(
    file: str, source: SourceOptions, reporters: Iterator[Reporter]
) -> Iterator[Packet]:
    """Yield the packets of a recording; the next of ``reporters`` reports its refused lines."""
    reporter = next(reporters)
    for block in read_blocks(file, source.read, reporter):
        reporter.refuse(block.refusals)
        if source.entity is not None:
            block.keep_entity(source.entity)
        yield from (block[index] for index in range(len(block)))


#: Faults of packet text that other formats do not have.
_TEXT_FAULTS = (Fault.BLANK, Fault.NO_VELOCITY)

EXAMPLES = """\b
Examples:
  epic send --speed 4 sample_inputs/turn.txt 9870
  epic send --movement circle,duration=1 --send 30hz localhost:9870
  epic send --movement strafe,duration=1 --latency 80ms --loss 2% 9870
  epic send sample_inputs/turn.txt --link trace=sample_inputs/walk.trace 9870
  epic send sample_inputs/turn.txt --format jsonl --truth-out truth.csv 9870
  epic send --times endless sample_inputs/two_tanks.csv 9870
  epic send --movement strafe,entities=50,turning=look,duration=1 9870
"""


_SPEED = Number(
    "speed",
    1.0,
    "Send this many times as fast. Times in packets and delays of the link stay as they are.",
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
    make_packet_format_option("The packet format in datagrams."),
    make_option(_SPEED),
    click.option(
        "--truth-out",
        type=OutputFile(),
        metavar="FILE",
        help="Write every packet and when it was sent, as CSV. Its columns are"
        " entity,time,x,y,z,vx,vy,vz,teleport,sent and, if the first packet has a rotation,"
        " qx,qy,qz,qw.",
    ),
)


@make_command(EXAMPLES, "movement send duration times speed f link latency jitter loss")
def send(
    recording: tuple[str, ...] = declare_shared(_RECORDINGS),
    target: Address = declare_shared(_TARGET),
    source: SourceOptions = declare_shared(SourceOptions),
    spec: SendSpec = declare_shared(_send_options),
    link: LinkSpec = declare_shared(make_link_options()),
    seed: int = declare_shared(make_seed_option("The same seed gives the same losses and delays.")),
    quiet: bool = declare_shared(quiet_option),
) -> int:
    """Run ``epic send``.

    Without a RECORDING or a --movement, standard input is sent. Each packet leaves at its arrival
    time in the recording or, if unknown, at its own time, and then crosses the simulated link.
    Several recordings begin at once, on the clock of the first; an entity named like one of another
    recording is renamed. Without a HOST packets go to 127.0.0.1; tcp:// sends lines, ws:// messages
    of a WebSocket.

    Exit status: 0 done, 1 some lines were refused, 2 wrong usage, 3 a file cannot be read or
    written, or the address is unreachable, 130 interrupted.
    """
    if not (recording or source.movement or sys.stdin is None or sys.stdin.isatty()):
        recording = ("-",)
    check_source(recording, source)
    if (*recording, link.trace and link.trace.file).count("-") > 1:
        raise WrongUsage(
            "only one recording or the trace can be standard input: name a file for the other",
            "link",
        )
    reporters = [Reporter(name_source(file), Messages(quiet)) for file in recording]
    with raise_cannot_access("send to", target):
        resolve(target)
    movement = source.movement or MovementSpec()

    reporter_of = partial(Reporter, messages=Messages(quiet))
    load = partial(load_movement, spec=source.read, log=reporter_of)
    simulation = SimulationSpec(movement, source.send, link).open(load)
    channel = simulation.make_channel(seed)
    with contextlib.ExitStack() as stack:
        for reporter in reporters:
            stack.enter_context(reporter)
        log = None
        if spec.truth_out:
            log = SentLog(stack.enter_context(open_log(spec.truth_out)).write)
        stack.enter_context(_report_unwritable_output())
        with raise_wrong_usage():
            spec = replace(spec, separate=source.send.separate)
            sending = Sending(spec, target, channel, log)
        moments = (
            read_recordings(recording, source, reporters)
            if recording
            else sample_movement(movement, simulation, seed)
        )
        with raise_cannot_access("send to", target):
            stopped = run_until_stopped(
                _send_and_show(sending, moments, quiet), make_microsecond_loop
            )
    if not quiet and sending.statistics.sent:
        closed = f"nothing listened at {target} for some datagrams\n" if sending.refused else ""
        echoes = describe_round_trips(sorted(sending.round_trips))
        write_message(summarize_link(sending.statistics, fates(channel)) + echoes + closed)
    refused = any(reporter.refused for reporter in reporters)
    done = ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE
    return get_exit_status(stopped, done)


def describe_round_trips(trips: Sequence[float]) -> str:
    """Return a line about sorted round trips (s); empty if there are none."""
    if not trips:
        return ""
    found = write_quantiles(lambda share: trips[round(share * (len(trips) - 1))])
    rtt = trips[len(trips) // 2]
    return (
        f"round trip by echo in ms: {found} ({Count(len(trips)):datagram}); half of it is the"
        f" age of a packet: -s dead-reckoning+age=rtt+rtt={rtt:.3f}\n"
    )


async def _send_and_show(sending: Sending, moments: Iterable[Moment], quiet: bool) -> None:
    """Send, and show a count on the terminal: a progress bar's thread would disturb the timing."""
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
def _report_unwritable_output() -> Iterator[None]:
    try:
        yield
    except Unwritable as error:
        hint = "; choose --format csv or jsonl" if error.fault in _TEXT_FAULTS else ""
        raise WrongUsage(f"{error}{hint}") from error
