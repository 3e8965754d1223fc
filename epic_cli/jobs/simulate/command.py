"""``epic simulate``: send a movement over a simulated link; write packets with arrival times."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from epic_cli.engine.parameters import Number
from epic_cli.jobs.simulate.run import SimulationRun
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import MovementSpec, load_movement
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import SimulationSpec
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.writing import Fault, Unwritable, UnwritablePacket
from epic_cli.shell.console import open_sink
from epic_cli.shell.declared import (
    OutputFile,
    declare_shared,
    declare_value,
    list_given_options,
    make_command,
    make_option,
    refuse,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, raise_wrong_usage, write_message
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import (
    make_output_option,
    make_packet_format_option,
    make_seed_option,
    quiet_option,
    read_option,
)
from epic_cli.shell.options.networks import make_link_options, make_movement_option, send_option
from epic_cli.shell.progress import Progress
from epic_cli.show.link import describe_traffic, summarize_link

TRUTH_RATE = Number("truth_rate", 200.0, "Samples of --truth-out per second.", "Hz", 0.001,
                    100_000)  # fmt: skip


@dataclass(frozen=True)
class SimulateOutput:
    """The files of the packets and of the truth, and their format."""

    packet_format: str = declare_shared(make_packet_format_option("The format of the packets."))
    output: str | None = declare_shared(make_output_option("Write the packets to a file."))
    truth_out: str | None = declare_value(
        "Write the true states of the entities as CSV. Its columns are"
        " entity,time,x,y,z,vx,vy,vz,teleport and, of entities that turn, qx,qy,qz,qw.",
        type=OutputFile(),
        metavar="FILE",
    )
    truth_rate: float = declare_shared(make_option(TRUTH_RATE))


EXAMPLES = """\b
Examples:
  epic simulate --movement strafe --latency 80ms --loss 2% > packets.txt
  epic simulate --link 'latency=60ms,jitter=15ms,gemodel="1%,30%"' | epic
  epic simulate --movement truth=sample_inputs/turn.txt --link lte,loss=3%
  epic simulate --link trace=sample_inputs/walk.trace --truth-out truth.csv
  epic simulate --link 'lte,at="10s loss=100%",at="12s loss=4%"'
  epic simulate --send '60hz,threshold=0.05,at_least=1s,bits=16,pack=delta'
  epic simulate --send 30hz --link rate=256kbit,packet_size=1200,queue=200ms
"""


@make_command(EXAMPLES, "movement send link latency jitter loss truth-out f o seed")
def simulate(
    movement: MovementSpec = declare_shared(make_movement_option("What moves.", "circle")),
    send: SenderSpec = declare_shared(send_option),
    link: LinkSpec = declare_shared(make_link_options()),
    read: ReadSpec = declare_shared(read_option),
    output: SimulateOutput = declare_shared(SimulateOutput),
    seed: int = declare_shared(make_seed_option("The same seed gives the same bytes.")),
    quiet: bool = declare_shared(quiet_option),
) -> int:
    """Run ``epic simulate``.

    An entity on a computed path, or recorded movement, is sampled at the send rate; each sample is
    sent over a link with latency, jitter and loss in the terms of Linux netem, or over a recorded
    network. The output is packets with their arrival times, in order of arrival, for
    "epic replay". Times may be written 0.08 or 80ms, shares 0.02 or 2%.

    A packet's own time is the sender's clock, its arrival and --truth-out the receiver's.
    Numbers are rounded to 1e-6.

    Exit status: 0 done, 1 a line of a file was refused, 2 wrong usage, 3 a file cannot be read or
    written, 130 interrupted.
    """
    if not movement.truth:
        refuse(("read",), "needs --movement truth=FILE")
    if "truth_rate" in list_given_options() and not output.truth_out:
        raise WrongUsage("--truth-rate needs --truth-out", "truth-rate")
    if output.truth_out and output.truth_out == (output.output or "-"):
        raise WrongUsage("--truth-out and the packets cannot go to the same place", "truth-out")

    load = partial(load_movement, spec=read, log=partial(Reporter, messages=Messages(quiet)))
    simulation = SimulationSpec(movement, send, link).open(load)
    run = SimulationRun(simulation, seed)
    if output.truth_out:
        truth = run.iterate_truth(output.truth_rate)
        with raise_wrong_usage("--truth-out "):
            header = next(truth)
        with open_sink(output.truth_out) as sink, _raise_unwritable_as_wrong_usage():
            sink.write(header)
            for rows in truth:
                sink.write(rows)
    try:
        _write_packets(run, output)
    except KeyboardInterrupt:
        _write_summary(run, quiet)
        raise
    _write_summary(run, quiet)
    return ExitStatus.DONE


def _write_summary(run: SimulationRun, quiet: bool) -> None:
    if not quiet:
        text = summarize_link(run.statistics, run.fates)
        if run.done > 0:
            text += describe_traffic(run.statistics, run.done)
        write_message(text)


def _write_packets(run: SimulationRun, options: SimulateOutput) -> None:
    """Write the packets in order of arrival, each as soon as the simulation has it."""
    # in milliseconds of what is simulated; how many there are of an endless one is not known
    total = round(1000 * run.seconds) if math.isfinite(run.seconds) else 0
    with (
        Progress("simulating") as progress,
        open_sink(options.output) as sink,
        _raise_unwritable_as_wrong_usage(),
    ):
        live, shown = _is_live_output(options.output), sink.isatty()
        for rows in run.iterate_rows(options.packet_format):
            sink.write(rows)
            if live:
                sink.flush()
            if not shown:
                progress(round(1000 * run.done), total)


@contextlib.contextmanager
def _raise_unwritable_as_wrong_usage() -> Iterator[None]:
    try:
        yield
    except (Unwritable, UnwritablePacket) as error:
        reason = error.error if isinstance(error, UnwritablePacket) else error
        hint = "; choose csv or jsonl" if reason.fault in (Fault.BLANK, Fault.NO_VELOCITY) else ""
        raise WrongUsage(f"{reason}{hint}") from error


def _is_live_output(output: str | None) -> bool:
    """Return whether a reader may wait for each packet: a terminal, a pipe or a socket."""
    try:
        place = sys.stdout.fileno() if output in (None, "-") else str(output)
        mode = os.stat(place).st_mode  # noqa: PTH116 - a descriptor has no path
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
