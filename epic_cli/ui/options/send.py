"""The options of ``epic send`` alone: what is sent, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.network.paths import PATHS
from epic_cli.ui.io.quantities import Duration, FiniteRange, Rate
from epic_cli.ui.options.common import input_format_option, layout_options, packet_format_option
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.simulate import path_extent_options

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout

#: Without effect beside a recording, and without one.
PATH_OPTIONS = ("path_speed", "size", "send_rate")
RECORDING_OPTIONS = ("input_format", "columns", "time_unit", "time_origin", "axes", "scale")


@dataclass(frozen=True)
class SourceOptions:
    """What is sent: a recording, or an entity on a path."""

    path: str | None
    path_speed: float
    size: float
    send_rate: float
    entity: str | None
    duration: float | None
    input_format: str
    given: Layout | None

    @property
    def seconds(self) -> float:
        """For how long, by the times of the packets; infinite: to the end."""
        return math.inf if self.duration is None else self.duration


source_options = OptionGroup(
    "source",
    SourceOptions,
    click.option(
        "--path",
        type=click.Choice(list(PATHS)),
        help="An entity on this path instead of a recording.",
    ),
    *path_extent_options("--path-speed"),
    click.option(
        "--send-rate",
        type=Rate(0.001, 100_000),
        default="20",
        show_default=True,
        help="How many of its packets are sent a second.",
    ),
    click.option("--entity", help="Name the entity on the path, or send only this recorded one."),
    click.option(
        "--duration",
        type=Duration(0, 1e9),
        default=None,
        help="Stop after so many seconds of the packets' own time.  [default: at the end of the"
        " recording; a path has none]",
    ),
    input_format_option,
    layout_options,
)


@dataclass(frozen=True)
class PaceOptions:
    """How it is sent."""

    packet_format: str
    speed: float
    separate: bool
    truth_out: str | None


pace_options = OptionGroup(
    "pace",
    PaceOptions,
    packet_format_option("How packets are written in a datagram."),
    click.option(
        "--speed",
        type=FiniteRange(0.001, 10_000),
        default=1.0,
        show_default=True,
        help="Send so many times as fast; the times in the packets and the delays of the link stay"
        " as they are.",
    ),
    click.option(
        "--separate",
        is_flag=True,
        help="Send each packet in a datagram of its own; otherwise those of one moment share"
        " datagrams of up to 1,400 bytes.",
    ),
    click.option(
        "--truth-out",
        type=click.Path(),
        metavar="FILE",
        help="Write every packet and when it really left: CSV with"
        " entity,time,x,y,z,vx,vy,vz,teleport,sent.",
    ),
)
