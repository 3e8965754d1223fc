"""Recordings of games that are played online: Rocket League's and Melee's, each by its parser.

Parsers are programs of others, for files that anyone may have made: they run in a process of their
own, which may take so much memory and time. What they give is read as a table with this program's
own names. Names of players stay in the file unless the layout wants them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.formats import Format, Unreadable

if TYPE_CHECKING:
    from epic_cli.formats import Source
    from epic_cli.formats.layout import Layout


class GameRecording(Format):
    """What ``title`` writes; ``library`` is the module that parses it, an extra of this name.

    A file of more than ``most`` MiB is refused: no match is that long.
    """

    unpacked = "csv"
    title = ""
    library = ""
    most = 0

    @property
    def installed(self) -> bool:
        """Whether its parser is there."""
        from importlib.util import find_spec

        return find_spec(self.library) is not None

    def unpack(self, source: Source, layout: Layout | None) -> Callable[[], bytes]:
        """The states that it holds, as CSV; raises ``Unreadable``, as what it gives does."""
        from epic_cli.formats.entries.games.apart import parsed

        if not self.installed:
            raise Unreadable(f"{self.title} needs a library: pip install 'epic-cli[{self.name}]'")
        found = parsed(self, source, names=layout is not None and layout.names)
        return lambda: next(found, b"")


class RocketLeague(GameRecording):
    """``.replay``: a length, a checksum, versions, and the name of its class."""

    name = "rocketleague"
    title = "a replay of Rocket League"
    suffixes = (".replay",)
    library = "subtr_actor"
    most = 8

    def begins(self, head: bytes) -> bool:
        """Whether the class is named where the header has it."""
        return b"\0TAGame.Replay_" in head[16:40]


class Slippi(GameRecording):
    """``.slp``: UBJSON whose first member is ``raw``, bytes of the game."""

    name = "slippi"
    title = "a Slippi replay of Melee"
    suffixes = (".slp",)
    magic = (b"{U\x03raw[$U#l",)
    library = "peppi_py"
    most = 64


FORMATS = (RocketLeague(), Slippi())
