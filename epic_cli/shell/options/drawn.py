"""What a game really drew: the file that ``diagnose`` and ``compare`` take beside a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from epic_cli.engine.text.widths import printable, some
from epic_cli.shell.declared import OptionGroup
from epic_cli.shell.errors import WrongUsage, say
from epic_cli.shell.options.runs import TIMED_FILE

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.drawn_path import DrawnCandidate, DrawnPath, UnusableDrawing
    from epic_cli.metrics.evaluation import Run
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.shell.messages import Messages


class DrawnFile(NamedTuple):
    """The file ``drawn`` (or None), and the offset of its times (s).

    It is a recording, or rows as ``epic replay`` and the demo write them.
    """

    drawn: str | None = None
    drawn_offset: float = 0.0

    def check(self, recordings: Sequence[str], jobs: str = "") -> None:
        """Refuses ``--drawn`` with several recordings or with ``jobs``; raises ``WrongUsage``."""
        if self.drawn is None:
            return
        if len(recordings) > 1:
            raise WrongUsage("--drawn belongs to one recording: pass one at a time", "drawn")
        if jobs:
            raise WrongUsage(
                f"--drawn belongs to one recording, which is read by this process: no {jobs}",
                "drawn",
            )
        if self.drawn == "-" and tuple(recordings) in ((), ("-",)):
            raise WrongUsage("recording and --drawn cannot both come from standard input", "drawn")

    def paths(
        self, packets: Mapping[str, PacketBlock], read: ReadSpec, messages: Messages
    ) -> dict[str, DrawnPath]:
        """The drawn rows of these entities; ``read`` is how the recording is.

        Raises ``WrongUsage`` and ``CannotAccess``.
        """
        from epic_cli.metrics.drawn_path import ROWS, UnusableDrawing, drawn_paths
        from epic_cli.recordings.read_spec import FRAME
        from epic_cli.shell.messages import Reporter
        from epic_cli.shell.sources import load, source_name

        file = str(self.drawn)
        beside = read.beside(FRAME)
        with Reporter(source_name(file), messages) as reporter:
            rows = load(file, beside._replace(pattern=read.pattern or ROWS), reporter)
        try:
            return drawn_paths(rows, packets, self.drawn_offset)
        except UnusableDrawing as error:
            raise self.refused(error) from error

    def refused(self, error: UnusableDrawing) -> WrongUsage:
        """The error for a file that cannot be used."""
        from epic_cli.shell.sources import source_name

        return WrongUsage(
            f"--drawn: {source_name(str(self.drawn))}: {printable(str(error))}", "drawn"
        )

    def beside(self, run: Run, read: ReadSpec, messages: Messages) -> tuple[Run, DrawnCandidate]:
        """The drawn entities of a recording, and their drawn rows.

        Raises ``WrongUsage`` and ``CannotAccess``.
        """
        from epic_cli.metrics.drawn_path import DrawnCandidate

        paths = self.paths(run.packets, read, messages)
        left_out = [name for name in run.packets if name not in paths]
        if left_out and not messages.quiet:
            say(f"epic: --drawn has no rows of {printable(some(left_out))}: skipped\n")
        kept = {name: block for name, block in run.packets.items() if name in paths}
        return run._replace(packets=kept), DrawnCandidate(paths)


def drawn_options(meaning: str) -> OptionGroup:
    """``--drawn``, as ``drawing: DrawnFile``; the help says what for."""
    return OptionGroup(
        "drawing",
        lambda drawn: DrawnFile(*drawn),
        click.option(
            "--drawn",
            type=TIMED_FILE,
            default="",
            metavar="FILE[,offset=SECONDS]",
            help=f"{meaning} Rows with a time on the receiver's clock and a position, and an entity"
            " where there are several: a recording, or rows of epic replay. offset= is added to"
            " their times, if their clock is not that of the arrivals.",
        ),
    )
