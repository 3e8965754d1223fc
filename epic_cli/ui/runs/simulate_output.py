"""Where ``epic simulate`` writes: the packets, and the truth beside them."""

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
from epic_cli.formats.conversion import Changes, Conversion, UnwritablePacket
from epic_cli.formats.recordings import make_writer
from epic_cli.formats.writing import Fault, Unwritable
from epic_cli.network import (
    Movement,
    sample,
)
from epic_cli.network.truth_file import TruthWriter
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.output import open_sink
from epic_cli.ui.io.parameters import OutputFile
from epic_cli.ui.options.common import (
    output_option,
    packet_format_option,
)
from epic_cli.ui.options.declared import option
from epic_cli.ui.options.groups import OptionGroup, shared, value

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
        "Write where the entities really were: CSV with entity,time,x,y,z,vx,vy,vz,teleport.",
        type=OutputFile(),
        metavar="FILE",
    )
    truth_rate: float = shared(option(TRUTH_RATE))


output_options = OptionGroup("output", OutputOptions)


def write_truth(movement: Movement, duration: float, options: OutputOptions) -> None:
    """Writes where the entities really were; raises ``WrongUsage`` where there is no end."""
    path = str(options.truth_out)
    if min(duration, movement.end) == math.inf:
        raise WrongUsage("--truth-out needs an end: set a --duration")
    if path == (options.output or "-"):
        raise WrongUsage("--truth-out and the packets cannot go to the same place")
    writer = TruthWriter()
    with open_sink(path) as sink, _unwritable_packets():
        sink.write(writer.header)
        for snapshot in sample(movement, options.truth_rate, duration):
            sink.write(writer.rows(snapshot))


def write_packets(
    blocks: Iterator[PacketBlock], options: OutputOptions, show_progress: Callable[[], None]
) -> None:
    """Writes the packets as they arrive."""
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
