"""The options of ``epic simulate``, in groups: movement, sender, link, recorded network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.cli.quantities import Duration, GilbertElliottLoss, Rate, Seconds, SendRate, Share
from epic_cli.network.delay import DISTRIBUTIONS
from epic_cli.network.paths import PATHS
from epic_cli.network.trace import TRACE_BY, TRACE_ENDS
from epic_cli.network.trace_file import DIRECTIONS
from epic_cli.network.truth_file import DEFAULT_MAX_GAP, VELOCITIES
from epic_cli.packet_writer import PACKET_FORMATS

#: Only with --path, only with --truth, only for a simulated link, only with --trace.
PATH_OPTIONS = ("path", "speed", "size")
TRUTH_OPTIONS = ("velocity", "max_gap", "max_speed")
LINK_OPTIONS = (
    "latency",
    "jitter",
    "distribution",
    "correlation",
    "loss",
    "gemodel",
    "duplicate",
    "reorder",
    "in_order",
)
TRACE_OPTIONS = ("trace_by", "trace_end", "trace_flow", "trace_direction")

_MOVEMENT = (
    click.option(
        "--path",
        type=click.Choice(list(PATHS)),
        default="circle",
        show_default=True,
        help="The path of one entity; strafe and teleport depend on the seed.",
    ),
    click.option(
        "--speed",
        type=click.FloatRange(1e-6, 1e6),
        default=5.0,
        show_default=True,
        help="Its speed in units/s, on the figure-eight the greatest.",
    ),
    click.option(
        "--size",
        type=click.FloatRange(1e-3, 1e6),
        default=5.0,
        show_default=True,
        help="Its size in units: a radius, the length of a leg, the height of a jump.",
    ),
    click.option(
        "--truth",
        type=click.Path(),
        metavar="FILE",
        help="Recorded movement instead: CSV with time,x,y,z and, where known, vx,vy,vz, entity,"
        " teleport; - is standard input.",
    ),
    click.option(
        "--velocity",
        type=click.Choice(VELOCITIES),
        default="auto",
        show_default=True,
        help="Take the recorded velocities, or derive them from the positions; auto takes them"
        " where they are there.",
    ),
    click.option(
        "--max-gap",
        type=Seconds(0.001, 1e9),
        default=DEFAULT_MAX_GAP,
        show_default=True,
        help="An entity is gone while nothing was recorded of it for longer than this.",
    ),
    click.option(
        "--max-speed",
        type=click.FloatRange(1e-6, 1e12),
        help="Take a recorded step faster than this (units/s) for a teleport.",
    ),
    click.option("--entity", help="Name the entity on the path, or send only this recorded one."),
    click.option(
        "--duration",
        type=Duration(0, 1e9),
        default=None,
        help="Seconds, or endless.  [default: 10; with --truth all of it]",
    ),
)

_SENDER = (
    click.option(
        "--send-rate",
        type=SendRate(0.001, 100_000),
        help="Packets a second, or recorded: the states as they stand.  [default: 20; with"
        " --truth recorded]",
    ),
    click.option(
        "--quantize",
        type=click.FloatRange(1e-6, 1e6),
        help="Send positions in steps of this many units.",
    ),
    click.option(
        "--quantize-velocity",
        type=click.FloatRange(1e-6, 1e6),
        help="Send velocities in steps of this many units/s.",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(0, 1_000_000),
        help="While nothing moves, repeat the last state so many times, then send nothing."
        "  [default: go on sending]",
    ),
    click.option(
        "--separate",
        is_flag=True,
        help="Send each entity in a datagram of its own; otherwise those of one time share one.",
    ),
    click.option(
        "--clock-offset",
        type=Seconds(-1e9, 1e9),
        default="0",
        show_default=True,
        help="How far the sender's clock is ahead at time 0.",
    ),
    click.option(
        "--clock-drift",
        type=click.FloatRange(-100_000, 100_000),
        default=0.0,
        show_default=True,
        metavar="PPM",
        help="How much too fast it goes, in millionths.",
    ),
)

_LINK = (
    click.option(
        "--latency", type=Seconds(0, 60), default="0", show_default=True, help="The mean delay."
    ),
    click.option(
        "--jitter",
        type=Seconds(0, 60),
        default="0",
        show_default=True,
        help="The delay's standard deviation; for uniform its greatest deviation.",
    ),
    click.option(
        "--distribution",
        type=click.Choice(DISTRIBUTIONS),
        default="uniform",
        show_default=True,
        help="How delays are distributed; pareto (shape 3) and gamma (shape 2) have tails.",
    ),
    click.option(
        "--correlation",
        type=Share(0.9999),
        default="0",
        show_default=True,
        help="How alike the delays of neighbours are.",
    ),
    click.option(
        "--loss", type=Share(), default="0", show_default=True, help="Lose this share at random."
    ),
    click.option(
        "--gemodel",
        type=GilbertElliottLoss(),
        help="Lose packets in bursts (Gilbert-Elliott): P good to bad, R bad to good, 1-H loss"
        " when bad (1), 1-K loss when good (0).",
    ),
    click.option(
        "--duplicate", type=Share(), default="0", show_default=True, help="Send this share twice."
    ),
    click.option(
        "--reorder",
        type=Share(),
        default="0",
        show_default=True,
        help="Let this share arrive at once, ahead of those in flight.",
    ),
    click.option(
        "--in-order", is_flag=True, help="Let no packet overtake another, as in one queue."
    ),
)

_TRACE = (
    click.option(
        "--trace",
        type=click.Path(),
        metavar="FILE",
        help="A recorded network instead: CSV with send_time and recv_time, owd_ms,"
        " owd_down_ms and owd_up_ms, or rtt_ms; lost; flow.",
    ),
    click.option(
        "--trace-by",
        type=click.Choice(TRACE_BY),
        default="time",
        show_default=True,
        help="Match packets by the time they are sent, or one by one.",
    ),
    click.option(
        "--trace-end",
        type=click.Choice(TRACE_ENDS),
        default="loop",
        show_default=True,
        help="After its last packet begin the recorded network again, or stop.",
    ),
    click.option("--trace-flow", metavar="NAME", help="The flow, where the file has several."),
    click.option(
        "--trace-direction",
        type=click.Choice(DIRECTIONS),
        default="down",
        show_default=True,
        help="Which way, where the file has both.",
    ),
)

_OUTPUT = (
    click.option(
        "-f",
        "--format",
        "packet_format",
        type=click.Choice(PACKET_FORMATS),
        default="text",
        show_default=True,
        help="How packets are written.",
    ),
    click.option("-o", "--output", type=click.Path(), help="Write the packets to a file."),
    click.option(
        "--truth-out",
        type=click.Path(),
        metavar="FILE",
        help="Write where the entities truly were: CSV with entity,time,x,y,z,vx,vy,vz,teleport.",
    ),
    click.option(
        "--truth-rate",
        type=Rate(0.001, 100_000),
        default="200",
        show_default=True,
        help="How often a second --truth-out looks.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**64 - 1),
        default=0,
        show_default=True,
        help="The same seed gives the same bytes.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="No summary on stderr."),
)


def simulation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All of them."""
    for option in reversed(_MOVEMENT + _SENDER + _LINK + _TRACE + _OUTPUT):
        command = option(command)
    return command
