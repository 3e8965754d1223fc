"""Recordings of commercial games, Rocket League and Melee, each read by its parser.

Parsers are other people's programs, for files that anybody may have made: they run in a process of
their own, with bounded memory and time. Their output is read as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.recordings import METERS, Format, Unreadable

if TYPE_CHECKING:
    from epic_cli.recordings import ByteSource
    from epic_cli.recordings.read_spec import ReadSpec


class GameRecording(Format):
    """Recordings of the game ``title``.

    Files with a ``mark`` near the beginning, up to ``most`` MiB. ``library`` is the module that
    parses the files, ``package`` the package that has it.
    """

    unpacked, unit = "csv", METERS

    def __init__(
        self, name: str, suffix: str, title: str, mark: bytes, library: str, package: str, most: int
    ) -> None:
        self.name, self.suffixes, self.title = name, (suffix,), title
        self.library, self.package, self.most, self._mark = library, package, most, mark

    def is_beginning(self, head: bytes) -> bool:
        """Return True if the beginning has the game's mark."""
        return self._mark in head[:40]

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Return a function that yields the recorded states as CSV; both raise ``Unreadable``."""
        from importlib.util import find_spec

        from epic_cli.recordings.entries.games.apart import parse_apart

        if find_spec(self.library) is None:
            raise Unreadable(f"{self.title} needs a library: pip install {self.package}")
        found = parse_apart(self, source, names=layout is not None and layout.names)
        return lambda: next(found, b"")


FORMATS = (
    GameRecording("rocketleague", ".replay", "a replay of Rocket League", b"\0TAGame.Replay_",
                  "subtr_actor", "subtr-actor-py", 8),
    GameRecording("slippi", ".slp", "a Slippi replay of Melee", b"{U\x03raw[$U#l",
                  "peppi_py", "peppi-py", 64),
)  # fmt: skip
