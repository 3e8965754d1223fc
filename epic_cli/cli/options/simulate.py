"""The options of ``epic simulate``, in groups: movement, sender, link, recorded network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.cli.options.link import LINK, TRACE, latency_option
from epic_cli.formats.recordings import PACKET_FORMATS
from epic_cli.network.paths import PATHS
from epic_cli.network.trace_file import DIRECTIONS
from epic_cli.network.truth_file import DEFAULT_MAX_GAP, VELOCITIES
from epic_cli.terminal.quantities import Duration, Rate, Seconds, SendRate

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

_LATENCY = (latency_option("0", "The mean delay."),)

_DIRECTION = (
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
    for option in reversed(_MOVEMENT + _SENDER + _LATENCY + LINK + TRACE + _DIRECTION + _OUTPUT):
        command = option(command)
    return command
