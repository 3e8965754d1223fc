"""``epic replay``: turn packets into drawn rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.replay.output import write_rows
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.shell.console import ColorChoice
from epic_cli.shell.declared import InputFile, OptionGroup, declare_shared, make_command
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import (
    color_option,
    make_film_scenes,
    make_output_option,
    make_row_format_option,
    make_strategy_option,
    messages_options,
    read_option,
    save_profile_option,
    strict_option,
    timing_options,
    video_option,
    write_film,
)
from epic_cli.show.video import VideoSpec

if TYPE_CHECKING:
    from epic_cli.shell.profiles import Saving

strategy_and_settings = make_strategy_option(
    "The smoothing strategy; 'epic strategies' lists them."
)
format_option = make_row_format_option("Format of the rows. epic is the demo's own.")


def _make_spec(chosen: StrategySpec, **more: Any) -> ReplaySpec:
    return ReplaySpec(chosen, **more)


def add_spec_options(name: str) -> OptionGroup:
    """Return the group of options that describe a replay, as ``name: ReplaySpec``."""
    return OptionGroup(
        name,
        _make_spec,
        strategy_and_settings,
        timing_options,
        format_option,
        click.option("--entity", metavar="NAME", help="Replay only the packets of this entity."),
        read_option,
        strict_option,
        click.option(
            "--file-column",
            metavar="NAME|no",
            help="A column that names the file of each row.  [default: file, with several files]",
        ),
    )


_spec_options = add_spec_options("spec")

EXAMPLES = """\b
Examples:
  epic replay sample_inputs/turn.txt
  epic replay -s epic+calc_ahead=0.1 sample_inputs/turn.txt
  epic replay --format csv --output rows.csv sample_inputs/jitter.txt
  epic replay --video tanks.gif sample_inputs/two_tanks.csv -f csv -o rows.csv
  tail -f sample_inputs/turn.txt | epic replay --format table
"""


@make_command(EXAMPLES, "s latency tick f o entity read strict video")
def replay(
    files: tuple[str, ...] = declare_shared(
        click.argument("files", nargs=-1, type=InputFile(), metavar="[FILE]...")
    ),
    spec: ReplaySpec = declare_shared(_spec_options),
    output: str | None = declare_shared(
        make_output_option("Write the rows to a file. It appears once it is complete.")
    ),
    saving: Saving | None = declare_shared(save_profile_option),
    messages: Messages = declare_shared(messages_options),
    color: ColorChoice = declare_shared(color_option),
    video: VideoSpec = declare_shared(video_option),
) -> int:
    """Run ``epic replay``.

    Packets are lines "x,y,z / vx,vy,vz / t [key=value ...]", a table, JSON or Parquet,
    from the FILEs, or from standard input without any or for "-". Several files are replayed in
    order, each with a fresh strategy, and all formats except epic then name the file of each row.
    A line that begins with q ends packet text.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a custom strategy failed, 130 interrupted.
    """
    if video.file is not None and (len(files) != 1 or "-" in files):
        raise WrongUsage(
            "--video shows one recording, which is read once more: give one file", "video"
        )
    status = write_rows(spec, files, output, messages, color, saving)
    if video.file is not None:
        from epic_cli.recordings.opening import MOST_ENTITIES, ReadingLog, load

        log = ReadingLog(files[0])
        packets = load(files[0], spec.read, log, spec.entity, MOST_ENTITIES)
        write_film(video, make_film_scenes(packets, [spec.strategy], spec.timing, log.watch.unit))
    return status
