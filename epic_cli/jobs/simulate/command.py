"""``epic simulate``: movement over a link, to packets with arrival times."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Number
from epic_cli.network import (
    Channel,
    LinkConditions,
    PathMovement,
    RecordedMovement,
    Statistics,
    fates,
    sample,
    simulate_blocks,
)
from epic_cli.network.paths import PATH, TURNING, turning_path
from epic_cli.network.sender import SenderSpec
from epic_cli.network.truth_file import MOVEMENT, TruthWriter, Velocities
from epic_cli.recordings.conversion import Changes, Conversion, UnwritablePacket
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.recordings import make_writer
from epic_cli.recordings.writing import Fault, Unwritable
from epic_cli.shell.console import open_sink
from epic_cli.shell.declared import (
    InputFile,
    OutputFile,
    command,
    given_options,
    option,
    options,
    refuse,
    shared,
    value,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, say
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    DURATION,
    output_option,
    packet_format_option,
    quiet_option,
    read_option,
    seed_option,
)
from epic_cli.shell.options.link import link_options
from epic_cli.shell.options.networks import (
    check_turning,
    path_option,
    sender_options,
    size_option,
    speed_option,
    turning_option,
)
from epic_cli.shell.options.trace import (
    TraceOptions,
    check_network,
    one_way_trace_options,
    read_one_way,
)
from epic_cli.shell.progress import Progress
from epic_cli.shell.sources import load_movement
from epic_cli.show.link import summary

TRUTH_RATE = Number(
    "truth_rate",
    200.0,
    "Samples of --truth-out per second.",
    "Hz",
    0.001,
    100_000,
)


@dataclass(frozen=True)
class OutputOptions:
    """Where the packets and the truth go, and in which format."""

    packet_format: str = shared(packet_format_option("The format of the packets."))
    output: str | None = shared(output_option("Write the packets to a file."))
    truth_out: str | None = value(
        "Write where the entities really were: CSV with entity,time,x,y,z,vx,vy,vz,teleport,"
        " of what turns qx,qy,qz,qw.",
        type=OutputFile(),
        metavar="FILE",
    )
    truth_rate: float = shared(option(TRUTH_RATE))


def write_truth(
    movement: PathMovement | RecordedMovement, duration: float, options: OutputOptions
) -> None:
    """Writes where the entities really were; raises ``WrongUsage`` where there is no end."""
    path = str(options.truth_out)
    if min(duration, movement.end) == math.inf:
        raise WrongUsage("--truth-out needs an end: set a --duration", "truth-out", "duration")
    if path == (options.output or "-"):
        raise WrongUsage("--truth-out and the packets cannot go to the same place", "truth-out")
    writer = TruthWriter(movement.turns)
    with open_sink(path) as sink, _unwritable_packets():
        sink.write(writer.header)
        for snapshot in sample(movement, options.truth_rate, duration):
            sink.write(writer.rows(snapshot))


def write_packets(
    blocks: Iterator[PacketBlock],
    options: OutputOptions,
    show_progress: Callable[[], None],
    turns: bool = False,
) -> None:
    """Writes the packets as they arrive."""
    writer = make_writer(options.packet_format, turns=turns)
    conversion = Conversion(Changes())  # the engine writes many packets at once
    with open_sink(options.output) as sink, _unwritable_packets():
        live = _is_live(options.output)
        shown = sink.isatty()
        sink.write(writer.header)
        for block in blocks:
            for rows in conversion.rows(block, writer):
                sink.write(rows)
            if live:
                sink.flush()
            if not shown:
                show_progress()


@contextlib.contextmanager
def _unwritable_packets() -> Iterator[None]:
    try:
        yield
    except (Unwritable, UnwritablePacket) as error:
        reason = error.error if isinstance(error, UnwritablePacket) else error
        hint = "; choose csv or jsonl" if reason.fault is Fault.BLANK else ""
        raise WrongUsage(f"{reason}{hint}") from error


def _is_live(output: str | None) -> bool:
    """Whether somebody may wait for each packet: a terminal, a pipe, a socket."""
    try:
        place = sys.stdout.fileno() if output in (None, "-") else str(output)
        mode = os.stat(place).st_mode  # noqa: PTH116 - a descriptor has no path
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


EXAMPLES = """\b
Examples:
  epic simulate --path strafe --latency 80ms --loss 2% > packets.txt
  epic simulate --latency 60ms --jitter 15ms --distribution gamma | epic
  epic simulate --truth walk.csv --send-rate 20 --gemodel 1%,30% --format csv
  epic simulate --trace network.csv --loss 1% --truth-out truth.csv
  epic simulate --preset lte --at 10s loss=100% --at 12s loss=4%
  epic simulate --rate 256kbit --packet-size 1200 --queue 200ms --send-rate 30
"""


_velocity_option, _max_gap_option, _max_speed_option = options(MOVEMENT)


@dataclass(frozen=True)
class MovementSpec:
    """What moves: an entity on a path, or what the file ``truth`` has recorded."""

    path: str = shared(path_option)
    speed: float = shared(speed_option)
    size: float = shared(size_option)
    turning: str = shared(turning_option)
    truth: str | None = value(
        "Recorded movement instead: a recording of positions and, where known, velocities,"
        " entities, teleports; - is standard input.",
        type=InputFile(),
        metavar="FILE",
    )
    velocity: Velocities = shared(_velocity_option)
    max_gap: float = shared(_max_gap_option)
    max_speed: float | None = shared(_max_speed_option)
    entity: str | None = value("Name the entity on the path, or send only this recorded one.")
    duration: float | None = shared(option(DURATION))
    read: ReadSpec = shared(read_option)

    @property
    def seconds(self) -> float:
        """For how long; infinite: to the end of the recording."""
        if self.duration is None:
            return math.inf if self.truth else 10.0
        return self.duration


#: Without effect beside --truth, and without it.
_PATH_OPTIONS = (*(one.name for one in PATH), TURNING.name)
_TRUTH_OPTIONS = (
    *(one.name for one in MOVEMENT),
    "read",
)


@command(EXAMPLES, "path truth duration send-rate preset latency jitter loss truth-out f o seed")
def simulate(
    movement: MovementSpec = shared(MovementSpec),
    sender: SenderSpec = shared(sender_options),
    link: LinkConditions = shared(link_options("0", "The mean delay.")),
    trace: TraceOptions = shared(one_way_trace_options),
    output: OutputOptions = shared(OutputOptions),
    seed: int = shared(seed_option("The same seed gives the same bytes.")),
    quiet: bool = shared(quiet_option),
) -> int:
    """``epic simulate``.

    An entity on a computed path, or recorded movement, is sampled at the send rate; each sample is
    sent over a link with latency, jitter and loss in the terms of Linux netem, or over a recorded
    network. The output is packets with their arrival times, in order of arrival, for
    "epic replay". Times may be written 0.08 or 80ms, shares 0.02 or 2%.

    A packet's own time is the sender's clock, its arrival and --truth-out the receiver's.
    Numbers are rounded to 1e-6.

    Exit status: 0 done, 1 a line of --truth or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    _check_movement(movement, sender)
    check_network(trace)
    if "truth_rate" in given_options() and not output.truth_out:
        raise WrongUsage("--truth-rate needs --truth-out", "truth-rate", "truth-out")
    if movement.truth == "-" and trace.trace == "-":
        raise WrongUsage("--truth and --trace cannot both be standard input", "truth", "trace")
    moving = _make_movement(movement, seed, quiet)
    check_turning(moving, sender)
    channel = trace.channel(read_one_way(trace), link, seed)
    if output.truth_out:
        write_truth(moving, movement.seconds, output)
    statistics = Statistics()
    rate = sender.rate(recorded=bool(movement.truth))
    blocks = simulate_blocks(
        moving,
        send_rate=rate,
        duration=movement.seconds,
        channel=channel,
        sender=sender.sender(),
        separate=sender.separate,
        statistics=statistics,
    )
    seconds = min(movement.seconds, moving.end - moving.start)
    try:
        with Progress("simulating") as progress:
            write_packets(
                blocks,
                output,
                lambda: _show(progress, statistics.time - moving.start, seconds),
                moving.turns,
            )
    except KeyboardInterrupt:
        _summarise(statistics, channel, quiet)
        raise
    _summarise(statistics, channel, quiet)
    return ExitStatus.DONE


def _show(progress: Progress, done: float, seconds: float) -> None:
    """In milliseconds of what is simulated; how many there are of an endless one is not known."""
    progress(round(1000 * done), round(1000 * seconds) if math.isfinite(seconds) else 0)


def _summarise(statistics: Statistics, channel: Channel, quiet: bool) -> None:
    if not quiet:
        say(summary(statistics, fates(channel)))


def _check_movement(movement: MovementSpec, sender: SenderSpec) -> None:
    """Refuses options that would have no effect beside the others."""
    if movement.truth:
        refuse(_PATH_OPTIONS, "does not go with --truth")
    else:
        refuse(_TRUTH_OPTIONS, "needs --truth")
    if sender.send_rate == "recorded" and not movement.truth:
        raise WrongUsage(
            "--send-rate recorded needs --truth: a path has no rate of its own",
            "send-rate",
            "truth",
        )


def _make_movement(
    options: MovementSpec, seed: int, quiet: bool
) -> PathMovement | RecordedMovement:
    if not options.truth:
        path = turning_path(options.path, options.speed, options.size, seed, options.turning)
        return PathMovement(path, options.entity or "")
    return load_movement(
        options.truth,
        Messages(quiet),
        options.read,
        entity=options.entity,
        velocities=options.velocity,
        max_gap=options.max_gap,
        max_speed=options.max_speed,
    )
