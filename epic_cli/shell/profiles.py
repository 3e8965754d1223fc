"""Profiles: how the recordings of one game are read, under a name in the configuration file.

    [profile.mygame]
    read = "time=timestamp_ms,x=pos_x,y=pos_y,unit=ms"

``--read mygame`` reads so, and what stands beside it comes first: ``--read mygame,axes=xy``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.recordings.files import CannotAccess, accessing
from epic_cli.shell.configuration import PROFILES, checked_profiles, config_path, read_config
from epic_cli.shell.errors import WrongUsage

if TYPE_CHECKING:
    from epic_cli.recordings.read_spec import ReadSpec

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_spec(text: str) -> ReadSpec:
    """Parse a description, with the configuration's profiles; raises ``SettingError``."""
    from epic_cli.recordings.read_spec import ReadSpec

    return ReadSpec.parse(text, profile)


def profile(name: str) -> str:
    """The description of a profile; raises ``ValueError`` where there is none."""
    from epic_cli.engine.parameters import SettingError, nearest
    from epic_cli.recordings import input_formats

    path = config_path()
    profiles = _profiles(path)
    if name not in profiles:
        near = nearest(name, [*input_formats(), *profiles])
        known = f"; there are {', '.join(profiles)}" if profiles else ", nor any other"
        hint = f"; did you mean {near!r}?" if near else known
        raise SettingError(f"{name!r} is no format, and {path} has no profile of this name{hint}")
    return profiles[name]


def profile_names() -> Iterator[tuple[str, str]]:
    """The names of the profiles, each with its description."""
    return iter(_profiles(config_path()).items())


def _profiles(path: str) -> dict[str, str]:
    if not os.path.exists(path):  # noqa: PTH110
        return {}
    return checked_profiles(read_config(path))


class Saving(NamedTuple):
    """The name of a profile to be written."""

    name: str

    def save(self, read: ReadSpec | None) -> str:
        """Writes how a recording is read; returns what is to be said. Raises ``WrongUsage``.

        Another profile of this name gives way, which is said; all else in the file stays as it is,
        to the byte. Raises ``CannotAccess``.
        """
        name, path = self.name, config_path()
        text = read.write() if read is not None else ""
        if not text:
            raise WrongUsage(
                f"there is nothing to save as {name!r}: packet text, and tables with the names"
                " time,x,y,z, need no --read",
                "read",
            )
        before = _profiles(path).get(name)
        if before == text:
            return f"epic: {path}: has this profile {name!r} already\n"
        _write(path, name, text)
        instead = f", instead of {_quoted(before)}" if before is not None else ""
        key = f"[{PROFILES}.{name if _BARE.fullmatch(name) else _quoted(name)}]"
        return f"epic: {path}: wrote {key} read = {_quoted(text)}{instead}\n"


def _write(path: str, name: str, text: str) -> None:
    import tomlkit

    from epic_cli.shell.console import open_sink

    document = tomlkit.parse(_text(path))
    profiles = document.setdefault(PROFILES, tomlkit.table(is_super_table=True))
    profiles.setdefault(name, tomlkit.table())["read"] = text
    with accessing("write to", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open_sink(path, replaces=True) as sink:
        sink.write(tomlkit.dumps(document).encode())


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as stream:  # noqa: PTH123
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise CannotAccess("read", path, error) from error


def _quoted(text: str) -> str:
    import json  # a JSON string is one of TOML

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
