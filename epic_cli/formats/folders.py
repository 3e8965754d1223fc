"""Recordings in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from epic_cli.formats.recordings import ENDINGS


class NoRecordings(ValueError):
    """There is no recording in a folder."""

    def __init__(self, folder: str) -> None:
        endings = ", ".join(ENDINGS)
        super().__init__(
            f"{folder}: there is no recording in this folder; their names end with {endings}"
        )


def recordings_in(path: str | os.PathLike[str]) -> list[str]:
    """The files of a folder whose names end like those of recordings, by name; a file: itself.

    Hidden ones are not meant. Raises ``NoRecordings``, ``OSError``.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [os.fspath(path)]
    found = sorted(
        str(one)
        for one in folder.iterdir()
        if one.suffix in ENDINGS and one.is_file() and not one.name.startswith(".")
    )
    if not found:
        raise NoRecordings(str(folder))
    return found
