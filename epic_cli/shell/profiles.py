"""Profiles: options under a name in the configuration file, for the recordings of one game.

    [profile.mygame]
    columns = "time=timestamp_ms,x=pos_x,y=pos_y"
    time-unit = "ms"

An option on the command line comes before the profile, and that before the rest of the file.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.shell.configuration import (
    PROFILES,
    Origin,
    config_path,
    is_multiple,
    keep_origins,
    objection,
    origins,
    read_config,
)
from epic_cli.shell.errors import CannotAccess, WrongUsage, accessing

if TYPE_CHECKING:
    from epic_cli.recordings.layout import Layout

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def use_profile(context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """Lets the other options of a command take their defaults from a profile.

    What the command has no option for, or not with this value, is meant for others: that somebody
    takes it has been seen to with the rest of the file. Raises ``WrongUsage``.
    """
    if name is None or context.resilient_parsing:
        return name
    path = config_path()
    profile = _find(path, name)
    defaults, found = dict(context.default_map or {}), dict(origins(context))
    for option in context.command.params:
        for key in [flag[2:] for flag in option.opts if flag.startswith("--")]:
            value = _taken(context, option, profile.get(key))
            if value is not None:
                place = f"{path}: [{PROFILES}.{name}] {key} = {value!r}"
                defaults[option.name or key] = value
                found[option.name or key] = Origin(key, value, place, tuple(option.opts))
    context.default_map = defaults
    keep_origins(context, found)
    return name


def _taken(context: click.Context, option: click.Parameter, value: object) -> object:
    """What an option takes of a value; None: nothing."""
    if is_multiple(option) and value is not None:
        parts = value if isinstance(value, list) else [value]
        return [part for part in parts if not objection(context, option, [part])] or None
    return None if value is None or objection(context, option, value) else value


def _find(path: str, name: str) -> dict[str, Any]:
    profiles = _profiles(path)
    if name not in profiles:
        from epic_cli.engine.parameter_base import nearest

        near = nearest(name, list(profiles))
        hint = f"; did you mean {near!r}?" if near else "; there are " + ", ".join(profiles)
        raise WrongUsage(
            f"{path}: there is no profile {name!r}{hint if profiles else ', nor any other'}"
        )
    profile: dict[str, Any] = profiles[name]
    return profile


def _profiles(path: str) -> dict[str, Any]:
    if not os.path.exists(path):  # noqa: PTH110
        return {}
    profiles = read_config(path).get(PROFILES, {})
    return profiles if isinstance(profiles, dict) else {}


class Saving(NamedTuple):
    """A profile to be written, and whether another one of its name gives way."""

    save_profile: str | None = None
    replace_profile: bool = False

    def save(self, layout: Layout | None) -> str:
        """Writes how a recording is read; returns what is to be said. Raises ``WrongUsage``.

        All else in the file stays as it is, to the byte. Raises ``CannotAccess``.
        """
        name, path = str(self.save_profile), config_path()
        options = dict(layout.items()) if layout is not None else {}
        if not options:
            raise WrongUsage(
                f"there is nothing to save as {name!r}: packet text, and tables with the names"
                " time,x,y,z, need no options"
            )
        there = _profiles(path).get(name)
        if there == options:
            return f"epic: {path}: has this profile {name!r} already\n"
        if there is not None and not self.replace_profile:
            raise WrongUsage(
                f"{path}: there is another profile {name!r}; --replace-profile replaces it"
            )
        _write(path, name, options, there is not None)
        said = " ".join(f"{key} = {_quoted(value)}" for key, value in options.items())
        return f"epic: {path}: wrote [{PROFILES}.{_key(name)}] {said}\n"


def _write(path: str, name: str, options: dict[str, str], replace: bool) -> None:
    import tomllib

    from epic_cli.shell.console import open_sink

    before = _text(path)
    wanted = tomllib.loads(before)
    wanted.setdefault(PROFILES, {})[name] = options
    table = f"[{PROFILES}.{_key(name)}]\n" + "".join(
        f"{key} = {_quoted(value)}\n" for key, value in options.items()
    )
    if replace:
        after = _table(name).sub(lambda _: table, before, count=1)
    else:
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        after = f"{before}{gap}{table}"
    try:
        fits = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        fits = False
    if not fits:
        raise WrongUsage(f"{path}: the profile {name!r} is not a table of its own: edit it there")
    with accessing("write to", path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open_sink(path, replaces=True) as sink:
        sink.write(after.encode())


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as stream:  # noqa: PTH123
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise CannotAccess("read", path, error) from error


def _table(name: str) -> re.Pattern[str]:
    """The lines of a profile: its header, and all with a key or nothing up to the next."""
    names = "|".join(re.escape(one) for one in {_key(name), _quoted(name)})
    header = rf"^[ \t]*\[[ \t]*{PROFILES}[ \t]*\.[ \t]*(?:{names})[ \t]*\][^\n]*(?:\n|\Z)"
    return re.compile(rf"{header}(?:[ \t]*[^\s\[#][^\n]*(?:\n|\Z))*", re.MULTILINE)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    import json  # a JSON string is one of TOML

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
