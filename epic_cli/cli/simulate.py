"""``epic simulate``: movement over a link, to packets with arrival times."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

import click
from click.core import ParameterSource

from epic_cli.cli.options.simulate import (
    LINK_OPTIONS,
    PATH_OPTIONS,
    TRACE_OPTIONS,
    TRUTH_OPTIONS,
    simulation_options,
)
from epic_cli.engine.contract import Packet
from epic_cli.formats.recordings import make_writer
from epic_cli.formats.writing import Fault, Unwritable
from epic_cli.network import (
    PATHS,
    Channel,
    Link,
    Movement,
    PathMovement,
    Quantization,
    RefusedLine,
    Sender,
    SenderClock,
    Statistics,
    TraceLink,
    read_movement,
    read_trace,
    sample,
)
from epic_cli.network import simulate as simulated
from epic_cli.network.truth_writer import TruthWriter
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import CannotAccess, ExitStatus, StoppedAtLine, WrongUsage
from epic_cli.terminal.output import open_sink
from epic_cli.views.link_summary import summary

EXAMPLES = """\b
Examples:
  epic simulate --path strafe --latency 80ms --loss 2% > packets.txt
  epic simulate --latency 60ms --jitter 15ms --distribution gamma | epic
  epic simulate --truth walk.csv --send-rate 20 --gemodel 1%,30% --format csv
  epic simulate --trace network.csv --truth-out truth.csv > packets.txt
"""

Read = TypeVar("Read")


@click.command(epilog=EXAMPLES)
@simulation_options
@click.pass_context
def simulate(context: click.Context, /, **options: Any) -> int:
    """Send movement over a bad network, and write the packets as they arrive.

    An entity on a computed path, or recorded movement, is looked at so many times a second; each
    look is sent over a link with latency, jitter and loss in the words of Linux netem, or over a
    recorded network. Out come packets with their arrival times, in order of arrival, for
    "epic replay". Times may be written 0.08 or 80ms, shares 0.02 or 2%.

    The stamp of a packet is the sender's clock, its arrival and --truth-out the receiver's.
    Numbers are rounded to 1e-6.

    Exit status: 0 done, 1 a line of --truth or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    given = {n for n in options if context.get_parameter_source(n) != ParameterSource.DEFAULT}
    _check_fit(options, given)
    movement = _movement(options)
    channel = _channel(options)
    duration = options["duration"]
    if duration is None:
        duration = math.inf if options["truth"] else 10.0
    if options["truth_out"]:
        if min(duration, movement.end) == math.inf:
            raise WrongUsage("--truth-out needs an end: give a --duration")
        if options["truth_out"] == (options["output"] or "-"):
            raise WrongUsage("--truth-out and the packets cannot go to the same place")
        _write_truth(movement, duration, options)
    statistics = Statistics()
    packets = simulated(
        movement,
        send_rate=_send_rate(options),
        duration=duration,
        channel=channel,
        sender=_sender(options),
        separate=options["separate"],
        statistics=statistics,
    )
    try:
        _write_packets(packets, options)
    except KeyboardInterrupt:
        _tell(statistics, options)
        raise
    _tell(statistics, options)
    return ExitStatus.DONE


def _tell(statistics: Statistics, options: dict[str, Any]) -> None:
    if not options["quiet"]:
        sys.stderr.write(summary(statistics))


def _check_fit(options: dict[str, Any], given: set[str]) -> None:
    """Refuses options that would have no effect beside the others."""
    excluded = (
        ("truth", PATH_OPTIONS if options["truth"] else ()),
        ("path", () if options["truth"] else TRUTH_OPTIONS),
        ("trace", set(LINK_OPTIONS) - {"in_order"} if options["trace"] else ()),
    )
    for name, others in excluded:
        for other in others:
            if other in given:
                reason = "needs --truth" if name == "path" else f"does not go with --{name}"
                raise WrongUsage(f"{_flag(other)} {reason}")
    for other in TRACE_OPTIONS:
        if other in given and not options["trace"]:
            raise WrongUsage(f"{_flag(other)} needs --trace")
    if "gemodel" in given and "loss" in given:
        raise WrongUsage("--gemodel and --loss exclude each other: the model has its own losses")
    if options["send_rate"] == "recorded" and not options["truth"]:
        raise WrongUsage("--send-rate recorded needs --truth: a path has no rate of its own")
    if "truth_rate" in given and not options["truth_out"]:
        raise WrongUsage("--truth-rate needs --truth-out")
    if options["truth"] == "-" and options["trace"] == "-":
        raise WrongUsage("--truth and --trace cannot both be standard input")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _movement(options: dict[str, Any]) -> Movement:
    if not options["truth"]:
        make_path = PATHS[options["path"]]
        path = make_path(options["speed"], options["size"], options["seed"])
        return PathMovement(path, options["entity"] or "")
    return _read(
        options["truth"],
        lambda stream: read_movement(
            stream,
            velocities=options["velocity"],
            max_gap=options["max_gap"],
            max_speed=options["max_speed"],
            entity=options["entity"],
        ),
    )


def _channel(options: dict[str, Any]) -> Channel:
    if options["trace"]:
        trace = _read(
            options["trace"],
            lambda stream: read_trace(
                stream, flow=options["trace_flow"], direction=options["trace_direction"]
            ),
        )
        return TraceLink(trace, options["trace_by"], options["trace_end"], options["in_order"])
    conditions = {name: options[name] for name in LINK_OPTIONS if name != "gemodel"}
    conditions["loss"] = options["gemodel"] or options["loss"]
    return Link(**conditions, seed=options["seed"])


def _send_rate(options: dict[str, Any]) -> float | None:
    """In hertz; None: as recorded."""
    rate: Any = options["send_rate"] or ("recorded" if options["truth"] else 20.0)
    return None if rate == "recorded" else float(rate)


def _sender(options: dict[str, Any]) -> Sender:
    return Sender(
        SenderClock(options["clock_offset"], options["clock_drift"]),
        Quantization(options["quantize"] or 0.0, options["quantize_velocity"] or 0.0),
        options["repeats"],
    )


def _read(path: str, read: Callable[[BinaryIO], Read]) -> Read:
    """Reads a file; a line of it that is refused is told of, and ends the command."""
    name = "<stdin>" if path == "-" else path
    try:
        with _open(path, name) as stream:
            return read(stream)
    except RefusedLine as refused:
        from epic_cli.terminal.report import report_problem

        report_problem(refused.problem, name, use_color("auto", sys.stderr))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error


@contextlib.contextmanager
def _open(path: str, name: str) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise CannotAccess("read", name, OSError("it is closed"))
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream:  # noqa: PTH123
        yield stream


def _write_truth(movement: Movement, duration: float, options: dict[str, Any]) -> None:
    writer = TruthWriter()
    with open_sink(options["truth_out"]) as sink, _unwritable_packets():
        sink.write(writer.header)
        for snapshot in sample(movement, options["truth_rate"], duration):
            sink.write(writer.rows(snapshot))


def _write_packets(packets: Iterator[Packet], options: dict[str, Any]) -> None:
    writer = make_writer(options["packet_format"])
    with open_sink(options["output"]) as sink, _unwritable_packets():
        live = _is_live(options["output"])
        sink.write(writer.header)
        for packet in packets:
            sink.write(writer.row(packet))
            if live:
                sink.flush()


@contextlib.contextmanager
def _unwritable_packets() -> Iterator[None]:
    try:
        yield
    except Unwritable as error:
        hint = "; choose csv or jsonl" if error.fault is Fault.BLANK else ""
        raise WrongUsage(f"{error}{hint}") from error


def _is_live(output: str | None) -> bool:
    """Whether somebody may wait for each packet: a terminal, a pipe, a socket."""
    try:
        place = sys.stdout.fileno() if output in (None, "-") else str(output)
        mode = os.stat(place).st_mode  # noqa: PTH116 - a descriptor has no path
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
