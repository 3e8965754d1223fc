"""What ``epic send`` sends: recordings, or entities on a path; its options, and its packets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from epic_cli.engine.contract import Packet
from epic_cli.engine.parameters import Number
from epic_cli.live.moments import (
    Moment,
    moments_of_movement,
    moments_of_recording,
    rounds,
    together,
)
from epic_cli.network import PathMovement
from epic_cli.network.paths import PATH, TURNING, spread_path
from epic_cli.network.sender import ROTATION_BITS, SEND_RATE, USUAL_RATE, SenderSpec
from epic_cli.shell.declared import flag, option, refuse, shared, value
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import DURATION, input_format_option, layout_options
from epic_cli.shell.options.networks import check_turning
from epic_cli.shell.sources import blocks

if TYPE_CHECKING:
    from epic_cli.recordings.layout import Layout

#: Without effect beside a recording, and without one.
_PATH_OPTIONS = ("path_speed", "size", "send_rate", "turning", "rotation_bits", "entities")
_RECORDING_OPTIONS = (
    "input_format", "columns", "time_unit", "time_origin", "axes", "scale", "loop", "times",
)  # fmt: skip


_SEND_RATE = Number(
    "send_rate",
    USUAL_RATE,
    "Packets per second of each entity. The n-th is due n/rate after the first, however late one"
    " was; on a busy machine one may be some milliseconds late.",
    "Hz",
    SEND_RATE.low,
    SEND_RATE.high,
)
_ENTITIES = Number(
    "entities",
    1,
    "So many entities on the path, each with a name, a place and a phase of its own.",
    "",
    1,
    10_000,
    whole=True,
)
_TIMES = Number(
    "times", None, "Send the recording so many times.  [default: once]", "", 1, 1e9, whole=True
)


@dataclass(frozen=True)
class SourceOptions:
    """What is sent: recordings, or entities on a path."""

    path: str | None = shared(
        option(PATH[0], default=None, help="An entity on this path instead of a recording.")
    )
    entities: int = shared(option(_ENTITIES))
    path_speed: float = shared(option(PATH[1], "--path-speed"))
    size: float = shared(option(PATH[2]))
    turning: str = shared(option(TURNING))
    rotation_bits: int | None = shared(option(ROTATION_BITS))
    send_rate: float = shared(option(_SEND_RATE))
    entity: str | None = value("Name the entity on the path, or send only this recorded one.")
    duration: float | None = shared(
        option(
            DURATION,
            help="Stop after so many seconds of the packets' own time.  [default: at the end of the"
            " recording; a path has none]",
        )
    )
    loop: bool = flag(
        "Send the recording again and again. Each round goes on a period after the last, the time"
        " that its longest entity is there and one step; its first packets are teleports."
    )
    times: int | None = shared(option(_TIMES))
    input_format: str = shared(input_format_option)
    given: Layout | None = shared(layout_options)

    @property
    def seconds(self) -> float:
        """For how long, by the times of the packets; infinite: to the end."""
        return math.inf if self.duration is None else self.duration

    @property
    def rounds(self) -> float:
        """How many times; infinite: endlessly."""
        return self.times or (math.inf if self.loop else 1)


def check_source(recording: tuple[str, ...], source: SourceOptions) -> None:
    """Refuses options that would have no effect beside the others."""
    if bool(recording) == bool(source.path):
        raise WrongUsage("pass either a RECORDING or a --path, then the address [HOST:]PORT")
    if "-" in recording and source.rounds > 1:
        raise WrongUsage("--loop and --times need a file: standard input is there once")
    if recording:
        refuse(_PATH_OPTIONS, "needs --path")
    else:
        refuse(_RECORDING_OPTIONS, "needs a RECORDING")


def moving(source: SourceOptions, seed: int) -> Iterator[Moment]:
    """Entities on a path."""
    side = math.isqrt(source.entities - 1) + 1
    name = source.entity or ""
    how = str(source.path), source.path_speed, source.size, seed, source.turning
    paths = [(f"{name}{n + 1}", spread_path(n, side, *how)) for n in range(source.entities)]
    first = f"{name}1" if len(paths) > 1 else name
    movement = PathMovement(paths[0][1], first, *paths[1:])
    spec = SenderSpec(rotation_bits=source.rotation_bits)
    check_turning(movement, spec)
    return moments_of_movement(movement, source.send_rate, source.seconds, spec.sender())


def recorded(
    files: Sequence[str], source: SourceOptions, reporters: Sequence[Reporter]
) -> Iterator[Moment]:
    """The packets of recordings, each with a reporter of its own."""
    left_out = 0

    def leave_out() -> None:
        nonlocal left_out
        left_out += 1

    def renamed(recording: str, old: str, new: str) -> None:
        known = f"entity {old!r}" if old else "the entity without a name"
        reporters[0].say(
            f"epic: {known} of {recording} is sent as {new!r}: another recording has one\n"
        )

    streams = []
    for file, reporter in zip(files, reporters, strict=True):
        quiet = map(Reporter, repeat(reporter.name), repeat(Messages(quiet=True)))
        read = partial(_packets, file, source, chain([reporter], quiet))
        streams.append(("_".join(Path(file).stem.split()), rounds(read, source.rounds)))
    packets = together(streams, renamed) if len(streams) > 1 else streams[0][1]
    yield from moments_of_recording(packets, source.seconds, leave_out)
    if left_out:
        reporters[0].say(f"epic: {left_out:,} packets without a finite time were not sent\n")


def _packets(file: str, source: SourceOptions, reporters: Iterator[Reporter]) -> Iterator[Packet]:
    """The packets of a recording, each time reported on by the next of ``reporters``."""
    reporter = next(reporters)
    for block in blocks(file, source.input_format, source.given, reporter):
        reporter.refuse(block.refusals)
        if source.entity is not None:
            block.keep_entity(source.entity)
        yield from (block[index] for index in range(len(block)))
