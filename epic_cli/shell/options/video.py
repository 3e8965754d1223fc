"""``--video`` and ``--clip``: a moving picture of what is drawn, to a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epic_cli.shell.errors import WrongUsage, accessing, say, wrong_usage
from epic_cli.shell.options.groups import value
from epic_cli.shell.parameters import OutputFile, Parsed, completions
from epic_cli.show.video import VIDEO, VideoSpec, kind_of, read_clip

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.evaluation import Participant
    from epic_cli.show.scene import Scene

#: ``worst,speed=0.25``
CLIP = Parsed(
    "name=value,...",
    read_clip,
    dict,
    lambda begun: completions(((f"{one.name}=", one.help) for one in VIDEO), begun),
)

#: Each entity's rows are thinned to about so many.
_ROWS = 60_000


@dataclass(frozen=True)
class VideoOptions:
    """The file, None: no video; and what it shows."""

    video: str | None = value(
        "Write a moving picture to this file, .gif or .mp4: the map with trails, and the errors"
        " below. It loops.",
        type=OutputFile(),
    )
    clip: dict[str, Any] = value(
        "What the video shows, and how: "
        + "; ".join(f"{one.name} ({one.range})" for one in VIDEO)
        + ".  [default: all of a short recording, ten seconds of a longer one]",
        type=CLIP,
        default="",
    )

    def __post_init__(self) -> None:
        """Refuses names that no video has."""
        with wrong_usage("--video: "):
            kind_of(self.video or ".gif")

    def write(self, scenes: Sequence[Scene], labels: Sequence[str] = ()) -> None:
        """Writes it; ``labels`` chooses strategies, none: all.

        Raises ``WrongUsage``, ``CannotAccess``, ``NothingToDraw``.
        """
        from epic_cli.recordings.output_files import open_whole
        from epic_cli.shell.progress import Progress
        from epic_cli.show.video import NoVideo, write_video

        path, spec = str(self.video), VideoSpec(**self.clip)
        with (
            wrong_usage("--video: ", NoVideo),
            accessing("write to", path),
            open_whole(path) as stream,
            Progress("drawing") as progress,
        ):
            start, end = write_video(stream, kind_of(path), scenes, spec, labels, progress)
        say(f"The video shows {start:.2f} to {end:.2f} s; --clip from=...,to=... chooses others.\n")

    def scenes(
        self,
        packets: Mapping[str, PacketBlock],
        participants: Sequence[Participant],
        timing: Timing,
    ) -> tuple[Scene, ...]:
        """What these draw of packets by entity; raises ``WrongUsage``."""
        from epic_cli.jobs.compare.notes import not_enough_words
        from epic_cli.metrics.evaluation import CompareSpec, Run, compare_run
        from epic_cli.metrics.notes import NotEnoughToSay
        from epic_cli.show.scene import Selection

        every = Selection(_ROWS, -math.inf, math.inf)
        spec = CompareSpec(participants, timing, selection=every, intervals=False)
        try:
            return compare_run(Run("", packets), spec).scenes
        except NotEnoughToSay as error:
            raise WrongUsage(f"--video: {not_enough_words(error)}") from error
