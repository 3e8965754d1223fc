"""The options of ``epic simulate`` alone: the movement, its sender, the output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.formats.layout import LAYOUT
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import Quantization, Sender, SenderClock
from epic_cli.network.truth_file import DEFAULT_MAX_GAP, VELOCITIES, Velocities
from epic_cli.ui.io.quantities import Duration, FiniteRange, Rate, Seconds, SendRate
from epic_cli.ui.options.common import layout_options, output_option, packet_format_option
from epic_cli.ui.options.groups import Decorator, OptionGroup

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout

#: Without effect beside --truth, and without it.
PATH_OPTIONS = ("path", "speed", "size")
TRUTH_OPTIONS = (
    "velocity",
    "max_gap",
    "max_speed",
    *(one.name for one in LAYOUT),
)


@dataclass(frozen=True)
class MovementOptions:
    """What moves: an entity on a path, or what the file ``truth`` has recorded."""

    path: str
    speed: float
    size: float
    truth: str | None
    velocity: Velocities
    max_gap: float
    max_speed: float | None
    entity: str | None
    duration: float | None
    given: Layout | None

    @property
    def seconds(self) -> float:
        """For how long; infinite: to the end of the recording."""
        if self.duration is None:
            return math.inf if self.truth else 10.0
        return self.duration


def path_extent_options(speed: str = "--speed") -> tuple[Decorator, ...]:
    """The speed of a path, by this option, and its ``--size``."""
    return (
        click.option(
            speed,
            type=FiniteRange(1e-6, 1e6),
            default=5.0,
            show_default=True,
            help="Its speed in units/s; on the figure-eight its top speed.",
        ),
        click.option(
            "--size",
            type=FiniteRange(1e-3, 1e6),
            default=5.0,
            show_default=True,
            help="Its size in units: a radius, the length of a leg, the height of a jump.",
        ),
    )


movement_options = OptionGroup(
    "movement",
    MovementOptions,
    click.option(
        "--path",
        type=click.Choice(list(PATHS)),
        default="circle",
        show_default=True,
        help="The path of one entity; strafe and teleport depend on --seed.",
    ),
    *path_extent_options(),
    click.option(
        "--truth",
        type=click.Path(),
        metavar="FILE",
        help="Recorded movement instead: a recording of positions and, where known, velocities,"
        " entities, teleports; - is standard input.",
    ),
    click.option(
        "--velocity",
        type=click.Choice(VELOCITIES),
        default="auto",
        show_default=True,
        help="Take the recorded velocities, or derive them from the positions; auto takes them"
        " where there are any.",
    ),
    click.option(
        "--max-gap",
        type=Seconds(0.001, 1e9),
        default=DEFAULT_MAX_GAP,
        show_default=True,
        help="An entity is gone while nothing has been recorded of it for longer than this.",
    ),
    click.option(
        "--max-speed",
        type=FiniteRange(1e-6, 1e12),
        help="Treat a recorded step that is faster than this (units/s) as a teleport.",
    ),
    click.option("--entity", help="Name the entity on the path, or send only this recorded one."),
    click.option(
        "--duration",
        type=Duration(0, 1e9),
        default=None,
        help="How long to send, in seconds, or endless.  [default: 10; with --truth all of it]",
    ),
    layout_options,
)


@dataclass(frozen=True)
class SenderOptions:
    """How the movement is put into packets."""

    send_rate: float | str | None
    quantize: float | None
    quantize_velocity: float | None
    repeats: int | None
    separate: bool
    clock_offset: float
    clock_drift: float

    def rate(self, recorded: bool) -> float | None:
        """In hertz; None: as it was recorded, which is the default of recorded movement."""
        rate = self.send_rate or ("recorded" if recorded else 20.0)
        return None if rate == "recorded" else float(rate)

    def sender(self) -> Sender:
        """The sender that these describe."""
        return Sender(
            SenderClock(self.clock_offset, self.clock_drift),
            Quantization(self.quantize or 0.0, self.quantize_velocity or 0.0),
            self.repeats,
        )


sender_options = OptionGroup(
    "sender",
    SenderOptions,
    click.option(
        "--send-rate",
        type=SendRate(0.001, 100_000),
        help="Packets per second, or recorded: every recorded state.  [default: 20; with --truth"
        " recorded]",
    ),
    click.option(
        "--quantize",
        type=FiniteRange(1e-6, 1e6),
        help="Round positions to multiples of this many units.",
    ),
    click.option(
        "--quantize-velocity",
        type=FiniteRange(1e-6, 1e6),
        help="Round velocities to multiples of this many units/s.",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(0, 1_000_000),
        help="While nothing moves, repeat the last state this many times, then send nothing."
        "  [default: keep sending]",
    ),
    click.option(
        "--separate",
        is_flag=True,
        help="Send each entity in a datagram of its own; otherwise those of one moment share one.",
    ),
    click.option(
        "--clock-offset",
        type=Seconds(-1e9, 1e9),
        default="0",
        show_default=True,
        help="How far ahead the sender's clock is at time 0.",
    ),
    click.option(
        "--clock-drift",
        type=FiniteRange(-100_000, 100_000),
        default=0.0,
        show_default=True,
        metavar="PPM",
        help="How much too fast the sender's clock runs, in parts per million.",
    ),
)


@dataclass(frozen=True)
class OutputOptions:
    """Where the packets and the truth go, and in which format."""

    packet_format: str
    output: str | None
    truth_out: str | None
    truth_rate: float


output_options = OptionGroup(
    "output",
    OutputOptions,
    packet_format_option("The format of the packets."),
    output_option("Write the packets to a file."),
    click.option(
        "--truth-out",
        type=click.Path(),
        metavar="FILE",
        help="Write where the entities really were: CSV with entity,time,x,y,z,vx,vy,vz,teleport.",
    ),
    click.option(
        "--truth-rate",
        type=Rate(0.001, 100_000),
        default="200",
        show_default=True,
        help="How many times a second --truth-out is sampled.",
    ),
)
