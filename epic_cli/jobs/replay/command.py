"""``epic replay``: packets to rows."""

from __future__ import annotations

import click

from epic_cli.jobs.replay.run import ReplayOptions, run
from epic_cli.shell.declared import Decorator, InputFile, OptionGroup, command, shared
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.options.common import (
    VideoOptions,
    color_option,
    messages_options,
    output_option,
    read_option,
    row_format_option,
    save_profile_option,
    strategy_option,
    timing_options,
)

#: What is drawn, and how its rows are written: a case of ``epic check`` can say this too.
DRAWING_OPTIONS: tuple[Decorator, ...] = (
    strategy_option("The smoothing strategy; 'epic strategies' lists them."),
    timing_options,
    row_format_option("How rows are written; epic is the demo's own format."),
    click.option("--entity", help="Replay only the packets of this entity."),
    read_option,
    click.option("--strict", is_flag=True, help="Stop at the first refused line."),
    click.option(
        "--file-column",
        metavar="NAME|no",
        help="A column that names the file of each row.  [default: file, with several files]",
    ),
)

#: Those that a session opens with, too.
chosen_options, _TIMING, format_option = DRAWING_OPTIONS[:3]

_ENTITY, _READ, _STRICT, _FILE_COLUMN = DRAWING_OPTIONS[3:]

#: All of them, as ``options: ReplayOptions``.
replay_options = OptionGroup(
    "options",
    ReplayOptions,
    click.argument("files", nargs=-1, type=InputFile(), metavar="[FILE]..."),
    chosen_options,
    _TIMING,
    format_option,
    output_option("Write the rows to a file, which appears once complete."),
    _ENTITY,
    _READ,
    save_profile_option,
    _STRICT,
    messages_options,
    color_option,
    _FILE_COLUMN,
)


EXAMPLES = """\b
Examples:
  epic replay sample_inputs/turn.txt
  epic replay -s epic+calc_ahead=0.1 sample_inputs/turn.txt
  epic replay --format csv --output rows.csv sample_inputs/jitter.txt
  epic replay --video tanks.gif sample_inputs/two_tanks.csv -f csv -o rows.csv
  tail -f packets.txt | epic replay --format table
"""


@command(EXAMPLES, "s latency tick f o entity read strict video")
def replay(
    options: ReplayOptions = shared(replay_options), video: VideoOptions = shared(VideoOptions)
) -> int:
    """``epic replay``.

    Packets are lines "x,y,z / vx,vy,vz / t [key=value ...]", a table, JSON or Parquet,
    from the FILEs, or from standard input without any or for "-". Several files are replayed in
    order, each with a fresh strategy, and all formats except epic then name the file of each row.
    A line that begins with q ends packet text.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a custom strategy failed, 130 interrupted.
    """
    if video.video is None:
        return run(options)
    if len(options.files) != 1 or "-" in options.files:
        raise WrongUsage(
            "--video shows one recording, which is read once more: give one file", "video"
        )
    from epic_cli.recordings.opening import MOST_ENTITIES, ReadingLog, load

    status = run(options)
    name = options.files[0]
    silent = ReadingLog(name)
    packets = load(name, options.read, silent, options.entity, MOST_ENTITIES)
    video.write(video.scenes(packets, [options.chosen], options.timing))
    return status
