"""What a game really drew: the options that ``diagnose`` and ``compare`` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.quantities import Seconds
from epic_cli.ui.options.groups import OptionGroup


class Drawing(NamedTuple):
    """The file ``drawn`` (None: there is none), and what is added to its times (s)."""

    drawn: str | None
    drawn_offset: float

    def check(self, recordings: Sequence[str], archive: str = "") -> None:
        """Refuses what fits no recording, or several, or an ``archive``; raises ``WrongUsage``."""
        if self.drawn is None:
            if self.drawn_offset:
                raise WrongUsage("--drawn-offset needs --drawn")
            return
        if len(recordings) > 1:
            raise WrongUsage("--drawn is of one recording: give one at a time")
        if archive:
            raise WrongUsage(f"--drawn is of one recording, which is looked at here: no {archive}")
        if self.drawn == "-" and tuple(recordings) in ((), ("-",)):
            raise WrongUsage("recording and --drawn cannot both come from standard input")


def drawn_options(meaning: str) -> OptionGroup:
    """``--drawn`` and ``--drawn-offset``, as ``drawing: Drawing``; the help says what for."""
    return OptionGroup(
        "drawing",
        Drawing,
        click.option(
            "--drawn",
            type=click.Path(),
            metavar="FILE",
            help=f"{meaning} Rows with a time on the receiver's clock and a position, and an entity"
            " where there are several: a recording, or rows of epic replay.",
        ),
        click.option(
            "--drawn-offset",
            type=Seconds(-1e9, 1e9),
            default=0.0,
            metavar="SECONDS",
            help="Add this to the times of --drawn, if its clock is not that of the arrivals.",
        ),
    )
