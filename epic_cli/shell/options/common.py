"""The options that several commands share, each declared once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from epic_cli.engine import description
from epic_cli.engine.replay.playback import SCREEN_TIMING, TIMING, Timing
from epic_cli.engine.strategies import DEFAULT
from epic_cli.engine.text import FORMATS
from epic_cli.network.randomness import SEED
from epic_cli.recordings import list_packet_formats
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.recordings.read_spec import FIELD_ORDER, INFERRED, READ
from epic_cli.shell.console import COLOR_CHOICES
from epic_cli.shell.declared import (
    READ_TYPE,
    STRATEGY,
    Decorator,
    FormatChoice,
    OptionGroup,
    OutputFile,
    Parsed,
    list_completions,
    make_option,
    make_options,
)
from epic_cli.shell.errors import WrongUsage, raise_wrong_usage, write_message
from epic_cli.shell.messages import Messages
from epic_cli.show.formats import REPORT_FORMATS
from epic_cli.show.video import VIDEO, VideoSpec, find_kind

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.shell.profiles import Saving
    from epic_cli.show.scene import Scene


def make_strategy_option(
    meaning: str, name: str = "--strategy", default: str = DEFAULT
) -> OptionGroup:
    """Make an option for a strategy with its settings, as ``chosen: StrategySpec``."""
    return OptionGroup(
        "chosen",
        lambda strategy: strategy,
        click.option("-s", name, "strategy", type=STRATEGY, default=default,
                     show_default=True, help=f"{meaning} NAME+key=value has other settings."),
    )  # fmt: skip


#: For each command that reads files in which strategies are named.
trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Let input files load code, start programs and write outside their folder.",
)


#: ``--tick``, ``--clock``, ``--pacing`` and ``--latency``, as ``timing: Timing``: the demo's rows.
timing_options = OptionGroup("timing", Timing, *make_options(TIMING))

#: The same with a row for each frame at 60 Hz: what a player would see, however late.
#: ``--latency`` is that of the link, where there is one.
screen_timing_options = OptionGroup(
    "timing",
    Timing,
    *make_options(
        TIMING,
        leave_out=("latency",),
        tick={"default": SCREEN_TIMING.tick},
        clock={"default": SCREEN_TIMING.clock},
    ),
)

#: ``--tick``, for what has a clock and a pacing of its own.
tick_option = make_option(TIMING[0])

#: ``--read``, as ``read: ReadSpec``.
read_option: Decorator = click.option(
    "--read",
    type=READ_TYPE,
    default=INFERRED,
    metavar="HOW",
    help="How to read the recording, or a profile's name. Such as"
    " 'time=t_ms,x=PosX,y=PosY,unit=ms'; keys that are left out are inferred. --read list explains"
    " the keys: the fields of a packet,"
    f" {', '.join(parameter.name for parameter in READ[len(FIELD_ORDER) :])}.",
)


def _make_saving(name: str | None) -> Saving | None:
    if name is None:
        return None
    from epic_cli.shell.profiles import Saving

    return Saving(name)


#: ``--save-profile``, as ``saving: Saving | None``.
save_profile_option: Decorator = OptionGroup(
    "saving",
    _make_saving,
    click.option("--save-profile", "name", metavar="NAME",
                 help="Save the way of reading as a profile, for --read NAME. It is [profile.NAME]"
                 " of the configuration."),
)  # fmt: skip


#: ``--explain``, for each command that has a method to tell.
explain_option = click.option("--explain", is_flag=True, help="Also say how the answer was found.")

strict_option = click.option("--strict", is_flag=True, help="Stop at the first refused line.")

#: ``--color``
color_option = click.option(
    "--color",
    type=click.Choice(COLOR_CHOICES),
    default="auto",
    show_default=True,
    help="When to use color. auto respects NO_COLOR, FORCE_COLOR and TERM=dumb.",
)


def format_option(name: str, formats: Sequence[str], default: str, meaning: str) -> Decorator:
    """Make the option ``--format``, as ``name``."""
    if "jsonl" in formats and "json" not in formats:
        meaning = f"{meaning} json means jsonl."
    return click.option("-f", "--format", name, type=FormatChoice(formats), default=default,
                        show_default=True, help=meaning)  # fmt: skip


def make_row_format_option(meaning: str) -> Decorator:
    """Make the option ``--format`` of rows, as ``row_format``."""
    return format_option("row_format", FORMATS, "epic", meaning)


def make_packet_format_option(meaning: str) -> Decorator:
    """Make the option ``--format`` of packets, as ``packet_format``."""
    return format_option("packet_format", list_packet_formats(), "text", meaning)


def make_report_format_option(meaning: str) -> Decorator:
    """Make the option ``--format`` of a report, as ``form``."""
    return format_option("form", tuple(REPORT_FORMATS), "table", meaning)


def make_output_option(meaning: str) -> Decorator:
    """Return the option ``--output`` with this help."""
    return click.option("-o", "--output", type=OutputFile(), help=meaning)


def make_seed_option(meaning: str) -> Decorator:
    """Return the option ``--seed`` with this help."""
    return make_option(SEED, help=meaning)


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Write only fatal errors to stderr."
)

#: ``--all-errors`` and ``--quiet``, as ``messages: Messages``.
messages_options = OptionGroup(
    "messages",
    Messages,
    click.option("--all-errors", is_flag=True,
                 help="Show every refused line, not just the first five and a count."),
    quiet_option,
)  # fmt: skip


def _propose_video(begun: str) -> list[CompletionItem]:
    return list_completions(description.complete(begun, VIDEO[1:]), "")


#: ``--video``, as ``video: VideoSpec``.
video_option: Decorator = click.option(
    "--video",
    type=Parsed(
        "file",
        VideoSpec.parse,
        VideoSpec,
        _propose_video,
        writes=lambda video: filter(None, [video.file]),
    ),
    default="",
    metavar="FILE[,KEY=VALUE...]",
    help="Write a video to this file, .gif or .mp4. It loops, and shows the map with trails above"
    " the errors. Keys after the file choose what it shows, such as"
    " 'clip.gif,worst=on,speed=0.25': "
    + "; ".join(f"{number.name} ({number.range})" for number in VIDEO[1:])
    + ".  [default: all of a short recording, ten seconds of a longer one]",
)

#: Each entity's rows are thinned to about this many.
_ROWS = 60_000


def write_film(
    video: VideoSpec, scenes: Sequence[Scene], labels: Sequence[str] = (), of: str = ""
) -> None:
    """Write a video of the scenes; ``labels`` chooses strategies, none stands for all.

    ``of`` names the recording or network, if there are several. Raises ``WrongUsage``,
    ``CannotAccess``, ``NothingToDraw``.
    """
    from epic_cli.recordings.files import open_whole
    from epic_cli.shell.progress import Progress
    from epic_cli.show.video import NoVideo, write_video

    path = str(video.file)
    with (
        raise_wrong_usage("--video: ", NoVideo, about=("video",)),
        raise_cannot_access("write to", path),
        open_whole(path) as stream,
        Progress("drawing") as progress,
    ):
        start, end = write_video(stream, find_kind(path), scenes, video, labels, of, progress)
    write_message(
        f"The video shows {start:.2f} to {end:.2f} s; --video {path},from=...,to=... others.\n"
    )


def make_film_scenes(
    packets: Mapping[str, PacketBlock],
    participants: Sequence[Participant],
    timing: Timing,
    unit: str,
) -> tuple[Scene, ...]:
    """Return the scenes of a video of these packets by entity; raises ``WrongUsage``."""
    from epic_cli.metrics.evaluation import make_drawn_scenes
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.show.scene import Selection

    try:
        every = Selection(_ROWS, -math.inf, math.inf)
        return make_drawn_scenes(packets, participants, timing, every, unit)
    except NotEnoughToSay as error:
        raise WrongUsage(f"--video: {error.why}", "video") from error
