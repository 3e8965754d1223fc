"""Defaults of options: the configuration file and EPIC_* variables, under the options' names.

    tick = "60hz"

    [replay]
    strategy = "epic+calc_ahead=0.1"

    [session]
    toolbar = false

    [profile.mygame]
    read = "time=timestamp_ms,x=pos_x,y=pos_y,unit=ms"

A value at the top, or in a variable, holds for each command that has the option and takes the
value; a table holds for one command. An option on the command line overrides its variable, and a
variable overrides the file. ``--read mygame`` reads a recording by a profile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from epic_cli.engine import trust
from epic_cli.engine.parameters import find_nearest
from epic_cli.engine.text.widths import printable
from epic_cli.recordings import files
from epic_cli.recordings.files import CannotAccess
from epic_cli.shell.errors import WrongUsage, write_message

if TYPE_CHECKING:
    import click

    #: The commands by name, each with what loads it.
    Commands = Mapping[str, Callable[[], click.Command]]


#: Variables with the prefix of options that are not options.
NO_OPTIONS = (
    "EPIC_ALONE",
    "EPIC_CASE",
    "EPIC_COMPILED",
    "EPIC_ENGINE",
    "EPIC_ENTRY_POINTS",
    "EPIC_SETTINGS",
)

#: The table of the file that has a table for each profile.
PROFILES = "profile"


def read_config(path: str) -> dict[str, object]:
    """Read a TOML file; raises ``CannotAccess``, and ``WrongUsage`` for broken TOML."""
    import tomllib  # only those who have a configuration wait for it

    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return tomllib.load(stream)
    except OSError as error:
        raise CannotAccess("read", path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{path}: {error}") from error


def check_profiles(table: dict[str, object]) -> dict[str, str]:
    """Return the profiles of a configuration by name.

    Raises ``WrongUsage`` for a profile with other keys than ``read``, or without it.
    """
    profiles = table.get(PROFILES, {})
    found: dict[str, str] = {}
    for name, one in profiles.items() if isinstance(profiles, dict) else ():
        read = one.get("read") if isinstance(one, dict) and len(one) == 1 else None
        if not isinstance(read, str):
            place = f"{find_config_path()}: [{PROFILES}.{name}]"
            raise WrongUsage(
                f'{place} must have the key read, and no other: read = "time=t,x=px,y=py"'
            )
        found[name] = read
    return found


def explain_objection(context: click.Context, option: click.Parameter, value: object) -> str:
    """Return the reason why an option does not take a value; empty if the option takes it."""
    import click  # a plain replay asks only where the file is

    try:
        option.type_cast_value(context, value)
    except (click.ClickException, TypeError, ValueError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        return message or "it is not taken"
    return ""


def is_multiple(option: click.Parameter) -> bool:
    """Return True if an option may be given several times."""
    import click  # as above

    return isinstance(option, click.Option) and option.multiple


def find_config_path() -> str:
    """Return ``$XDG_CONFIG_HOME/epic/config.toml``, or the same below ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - pathlib is slow to load; so below
        base = os.path.expanduser("~/.config")  # noqa: PTH111
    return os.path.join(base, "epic", "config.toml")  # noqa: PTH118


_KEY = "epic_cli.origins"


class Origin:
    """An option's long name, its value, and the place that gives the value, for messages.

    ``flags`` are all names of the option on the command line.
    """

    def __init__(self, option: str, value: object, place: str) -> None:
        self.option = option
        self.value = value
        self.place = place
        self.flags: tuple[str, ...] = ()

    def is_overruled(self, args: list[str]) -> bool:
        """Return True if the option stands on the command line, too."""
        short = tuple(flag for flag in self.flags if not flag.startswith("--"))
        return any(
            arg.partition("=")[0] in self.flags or (short and arg.startswith(short)) for arg in args
        )


def keep_origins(context: click.Context, origins: dict[str, Origin]) -> None:
    """Store the origins of options by parameter name in a run's context."""
    context.meta[_KEY] = origins


def find_origins(context: click.Context) -> dict[str, Origin]:
    """Return the origins of the options whose defaults come from variables or the file."""
    kept: dict[str, Origin] = context.meta.get(_KEY, {})
    return kept


#: Least similarity of a mistyped variable's name: other programs have variables, too.
_ALIKE = 0.85


def give_defaults(
    command: click.Command, commands: Commands
) -> tuple[click.Command, dict[str, Origin]]:
    """Return a command whose options have their defaults from variables and the configuration.

    ``commands`` are all commands that may have a table in the file; they are loaded only for a name
    or a value that this command does not know: it may be meant for another command. Returns the
    command, and the origins of its defaults. Raises ``WrongUsage`` or ``CannotAccess``.
    """
    import click  # as above

    context = click.Context(command, info_name=command.name)
    options = {name: param for param in command.params for name in list_names(param)}
    table = _read_file()
    check_profiles(table)
    _check_variables(options, commands)
    from_file = [*_iterate_file_settings(table, command.name or "", commands)]
    if not any(one.option == trust.OPTION and one.value is True for one, _ in from_file):
        for one, _ in from_file:
            if one.option in options:
                _check_runs_nothing(options[one.option], one)
    origins: dict[str, Origin] = {}
    defaults: dict[str, object] = {}
    for one, is_own in [*from_file, *_iterate_variables(options)]:
        if one.option not in options:
            _check_known_option(one, commands)
            continue
        option = options[one.option]
        taken = _take_value(context, option, one, {} if is_own else commands)
        if taken is not None:
            key = option.name or one.option
            one.flags = tuple(option.opts)
            defaults[key], origins[key] = taken, one
    command.context_settings = {**command.context_settings, "default_map": defaults}
    return command, origins


def _check_runs_nothing(option: click.Parameter, one: Origin) -> None:
    """Raise ``WrongUsage`` if a value of the configuration names code or a program."""
    runs = getattr(option.type, "runs", None)
    texts = one.value if isinstance(one.value, list) else [one.value]
    if runs is not None and any(runs(text) for text in texts if isinstance(text, str)):
        raise WrongUsage(f"{one.place}: it runs code: write trust = true beside it to allow that")


def _read_file() -> dict[str, object]:
    """Return the content of the configuration file; empty if there is none."""
    path = find_config_path()
    if not os.path.exists(path):  # noqa: PTH110
        return {}
    files.register_inputs(path)
    return read_config(path)


def _iterate_file_settings(
    table: Mapping[str, object], command: str, commands: Commands
) -> Iterator[tuple[Origin, bool]]:
    """Yield the settings of the file, with True for those of this command's own table."""
    path = find_config_path()
    section = table.get(command, {})
    if not isinstance(section, dict):
        raise WrongUsage(f"{path}: {command} must be a table: write [{command}]")
    for part, is_own in ((table, False), (section, True)):
        for name, value in part.items():
            is_profiles = name == PROFILES and isinstance(value, dict)
            if is_own or not (is_profiles or name in commands):
                yield Origin(name, value, f"{path}: {name} = {value!r}"), is_own


def _make_variable_name(option: str) -> str:
    return "EPIC_" + option.upper().replace("-", "_")


def _check_variables(options: Mapping[str, click.Parameter], commands: Commands) -> None:
    """Report environment variables that look like a mistyped option's."""
    own = {*map(_make_variable_name, options), *NO_OPTIONS}
    others = [name for name in os.environ if name.startswith("EPIC_") and name not in own]
    if not others:
        return
    params = (param for load in commands.values() for param in load().params)
    known = own | {_make_variable_name(name) for param in params for name in list_names(param)}
    for name in others:
        near = None if name in known else find_nearest(name, sorted(known), _ALIKE)
        if near:
            write_message(
                f"epic: {printable(name)} is not known, and ignored; did you mean {near}?\n"
            )


def _iterate_variables(options: Mapping[str, click.Parameter]) -> Iterator[tuple[Origin, bool]]:
    for name, option in options.items():
        variable = _make_variable_name(name)
        text = os.environ.get(variable) if name != trust.OPTION else None
        if text:
            value = option.type.split_envvar_value(text) if is_multiple(option) else text
            yield Origin(name, value, f"{variable}={text}"), False


def _take_value(
    context: click.Context, option: click.Parameter, one: Origin, commands: Commands
) -> object:
    """Return the part of a value that an option takes; None if it takes none of it.

    The rest must be a value for an option of this name of one of ``commands``.
    """
    many = is_multiple(option) and isinstance(one.value, list | tuple | str)
    parts = [one.value] if isinstance(one.value, str) or not many else list(one.value)  # type: ignore[call-overload]
    taken = []
    for part in parts:
        wrong = explain_objection(context, option, [part] if many else part)
        if not wrong:
            taken.append(part)
        elif not any(
            other is not option
            and not explain_objection(context, other, [part] if is_multiple(other) else part)
            for load in commands.values()
            for other in load().params
            if one.option in list_names(other)
        ):
            raise WrongUsage(f"{one.place}: {wrong}")
    if many:
        return taken or None
    return taken[0] if taken else None


def list_names(parameter: click.Parameter) -> list[str]:
    """Return the long names of an option without dashes; negations (--no-...) are left out."""
    import click  # as above

    if not isinstance(parameter, click.Option):
        return []
    return [name[2:] for name in parameter.opts if name.startswith("--")]


def _check_known_option(one: Origin, commands: Commands) -> None:
    """Raise ``WrongUsage`` for a name that is an option of no command."""
    kind, known = (
        "option",
        [
            name
            for load in commands.values()
            for option in load().params
            for name in list_names(option)
        ],
    )
    if isinstance(one.value, dict):
        kind, known = "command", list(commands)
    if one.option not in known:
        near = find_nearest(one.option, known)
        hint = f"; did you mean {near!r}?" if near else ""
        raise WrongUsage(f"{find_config_path()}: there is no {kind} {one.option!r}{hint}")
