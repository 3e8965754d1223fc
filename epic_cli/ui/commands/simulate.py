"""``epic simulate``: movement over a link, to packets with arrival times."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
from collections.abc import Callable, Iterator

import click

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.conversion import Changes, Conversion, UnwritablePacket
from epic_cli.formats.recordings import make_writer
from epic_cli.formats.writing import Fault, Unwritable
from epic_cli.network import (
    PATHS,
    Channel,
    LinkConditions,
    Movement,
    PathMovement,
    Statistics,
    fates,
    read_movement,
    sample,
    simulate_blocks,
)
from epic_cli.network.truth_file import TruthWriter
from epic_cli.ui.io.errors import ExitStatus, WrongUsage, say
from epic_cli.ui.io.input import read_file
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.output import open_sink, spare
from epic_cli.ui.io.progress import Progress
from epic_cli.ui.io.sources import source_name
from epic_cli.ui.options.common import quiet_option, seed_option
from epic_cli.ui.options.groups import given_options
from epic_cli.ui.options.link import link_options
from epic_cli.ui.options.simulate import (
    PATH_OPTIONS,
    TRUTH_OPTIONS,
    MovementOptions,
    OutputOptions,
    SenderOptions,
    movement_options,
    output_options,
    sender_options,
)
from epic_cli.ui.options.trace import (
    TraceOptions,
    check_network,
    make_channel,
    one_way_trace_options,
)
from epic_cli.views.link import summary

EXAMPLES = """\b
Examples:
  epic simulate --path strafe --latency 80ms --loss 2% > packets.txt
  epic simulate --latency 60ms --jitter 15ms --distribution gamma | epic
  epic simulate --truth walk.csv --send-rate 20 --gemodel 1%,30% --format csv
  epic simulate --trace network.csv --loss 1% --truth-out truth.csv
  epic simulate --preset lte --at 10s loss=100% --at 12s loss=4%
  epic simulate --rate 256kbit --packet-size 1200 --queue 200ms --send-rate 30
"""


@click.command(epilog=EXAMPLES)
@movement_options
@sender_options
@link_options("0", "The mean delay.")
@one_way_trace_options
@output_options
@seed_option("The same seed gives the same bytes.")
@quiet_option
@click.pass_context
def simulate(
    context: click.Context,
    /,
    movement: MovementOptions,
    sender: SenderOptions,
    link: LinkConditions,
    trace: TraceOptions,
    output: OutputOptions,
    seed: int,
    quiet: bool,
) -> int:
    """Send movement over a bad network, and write the packets as they arrive.

    An entity on a computed path, or recorded movement, is sampled at the send rate; each sample is
    sent over a link with latency, jitter and loss in the terms of Linux netem, or over a recorded
    network. The output is packets with their arrival times, in order of arrival, for
    "epic replay". Times may be written 0.08 or 80ms, shares 0.02 or 2%.

    A packet's own time is the sender's clock, its arrival and --truth-out the receiver's.
    Numbers are rounded to 1e-6.

    Exit status: 0 done, 1 a line of --truth or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    given = given_options(context)
    _check_movement(movement, sender, given)
    check_network(trace, given)
    if "truth_rate" in given and not output.truth_out:
        raise WrongUsage("--truth-rate needs --truth-out")
    if movement.truth == "-" and trace.trace == "-":
        raise WrongUsage("--truth and --trace cannot both be standard input")
    spare([movement.truth, trace.trace], {"-o": output.output, "--truth-out": output.truth_out})
    moving = _make_movement(movement, seed, quiet)
    channel = make_channel(link, trace, seed)
    if output.truth_out:
        _write_truth(moving, movement.seconds, output)
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
            _write_packets(
                blocks, output, lambda: _show(progress, statistics.time - moving.start, seconds)
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


def _check_movement(movement: MovementOptions, sender: SenderOptions, given: set[str]) -> None:
    """Refuses options that would have no effect beside the others."""
    reason = "does not go with --truth" if movement.truth else "needs --truth"
    for name in PATH_OPTIONS if movement.truth else TRUTH_OPTIONS:
        if name in given:
            raise WrongUsage(f"--{name.replace('_', '-')} {reason}")
    if sender.send_rate == "recorded" and not movement.truth:
        raise WrongUsage("--send-rate recorded needs --truth: a path has no rate of its own")


def _make_movement(options: MovementOptions, seed: int, quiet: bool) -> Movement:
    if not options.truth:
        path = PATHS[options.path](options.speed, options.size, seed)
        return PathMovement(path, options.entity or "")
    with Reporter(source_name(options.truth), Messages(quiet)) as reporter:
        reporter.given(options.given)
        return read_file(
            options.truth,
            lambda stream: read_movement(
                stream,
                velocities=options.velocity,
                max_gap=options.max_gap,
                max_speed=options.max_speed,
                entity=options.entity,
                layout=options.given,
                on_layout=reporter.layout,
                look=reporter.look,
                rebase_time=True,
            ),
        )


def _write_truth(movement: Movement, duration: float, options: OutputOptions) -> None:
    path = str(options.truth_out)
    if min(duration, movement.end) == math.inf:
        raise WrongUsage("--truth-out needs an end: give a --duration")
    if path == (options.output or "-"):
        raise WrongUsage("--truth-out and the packets cannot go to the same place")
    writer = TruthWriter()
    with open_sink(path) as sink, _unwritable_packets():
        sink.write(writer.header)
        for snapshot in sample(movement, options.truth_rate, duration):
            sink.write(writer.rows(snapshot))


def _write_packets(
    blocks: Iterator[PacketBlock], options: OutputOptions, show_progress: Callable[[], None]
) -> None:
    writer = make_writer(options.packet_format)
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
