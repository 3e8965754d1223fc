"""Profiles: the layout of one game's recordings, under a name in the configuration file.

    [profile.mygame]
    read = "time=timestamp_ms,x=pos_x,y=pos_y,unit=ms"

``--read mygame`` uses the profile; entries beside its name override it: ``--read mygame,axes=xy``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.recordings.files import CannotAccess, raise_cannot_access
from epic_cli.shell.configuration import PROFILES, check_profiles, find_config_path, read_config
from epic_cli.shell.errors import WrongUsage

if TYPE_CHECKING:
    from epic_cli.recordings.read_spec import ReadSpec

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_spec(text: str) -> ReadSpec:
    """Parse the text of ``--read``, which may name one of the configuration's profiles.

    Raises ``SettingError``.
    """
    from epic_cli.recordings.read_spec import ReadSpec

    return ReadSpec.parse(text, find_profile)


def find_profile(name: str) -> str:
    """Return the description of a profile; raises ``ValueError`` if there is none of this name."""
    from epic_cli.engine.parameters import SettingError, find_nearest
    from epic_cli.recordings import list_input_formats

    path = find_config_path()
    profiles = _read_profiles(path)
    if name not in profiles:
        near = find_nearest(name, [*list_input_formats(), *profiles])
        known = f"; there are {', '.join(profiles)}" if profiles else ", nor any other"
        hint = f"; did you mean {near!r}?" if near else known
        raise SettingError(f"{name!r} is no format, and {path} has no profile of this name{hint}")
    return profiles[name]


def iterate_profile_names() -> Iterator[tuple[str, str]]:
    """Yield the names of the profiles, each with its description."""
    return iter(_read_profiles(find_config_path()).items())


def _read_profiles(path: str) -> dict[str, str]:
    if not os.path.exists(path):  # noqa: PTH110
        return {}
    return check_profiles(read_config(path))


class Saving(NamedTuple):
    """The request to save a recording's layout under the ``name`` of a profile."""

    name: str

    def save(self, read: ReadSpec | None) -> str:
        """Write the layout of a recording as a profile; return the message for the user.

        An older profile of this name is replaced, which the message says; all else in the file
        stays the same, to the byte. Raises ``WrongUsage`` and ``CannotAccess``.
        """
        name, path = self.name, find_config_path()
        text = read.write() if read is not None else ""
        if not text:
            raise WrongUsage(
                f"there is nothing to save as {name!r}: give --read (packet text, and tables with"
                " the names time,x,y,z, need none)",
                "read",
            )
        before = _read_profiles(path).get(name)
        if before == text:
            return f"epic: {path}: has this profile {name!r} already\n"
        _write_profile(path, name, text)
        instead = f", instead of {_quote_toml(before)}" if before is not None else ""
        key = f"[{PROFILES}.{name if _BARE.fullmatch(name) else _quote_toml(name)}]"
        return f"epic: {path}: wrote {key} read = {_quote_toml(text)}{instead}\n"


def _write_profile(path: str, name: str, text: str) -> None:
    import tomlkit

    from epic_cli.shell.console import open_sink

    document = tomlkit.parse(_read_text(path))
    profiles = document.setdefault(PROFILES, tomlkit.table(is_super_table=True))
    profiles.setdefault(name, tomlkit.table())["read"] = text
    with raise_cannot_access("write to", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open_sink(path, replaces=True) as sink:
        sink.write(tomlkit.dumps(document).encode())


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as stream:  # noqa: PTH123
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise CannotAccess("read", path, error) from error


def _quote_toml(text: str) -> str:
    import json  # a JSON string is one of TOML

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
