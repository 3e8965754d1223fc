"""Recordings in a folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from epic_cli.formats.recordings import ENDINGS


def recordings_in(path: str | os.PathLike[str]) -> list[str]:
    """The files of a folder whose names end like those of recordings, by name; a file: itself.

    Hidden ones are not meant. Raises ``OSError``, ``FileNotFoundError`` where there is none.
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
        endings = ", ".join(ENDINGS)
        reason = f"there is no recording in this folder; their names end with {endings}"
        raise FileNotFoundError(errno.ENOENT, reason, str(folder))
    return found
