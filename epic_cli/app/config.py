"""Defaults of options: the configuration file and EPIC_* variables, under the options' names.

    tick = "60hz"

    [replay]
    strategy = "epic"
    set = ["calc_ahead=0.1"]

    [session]
    toolbar = false

What stands at the top holds for each command that has the option, a table for one command. An
option on the command line comes before its variable, and that before the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import click

from epic_cli.engine.declaration import nearest
from epic_cli.terminal.errors import CannotAccess, WrongUsage

#: The commands by name, each with what loads it.
Commands = Mapping[str, Callable[[], click.Command]]


def config_path() -> str:
    """``$XDG_CONFIG_HOME/epic/config.toml``, or the same below ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - pathlib is slow to load; so below
        base = os.path.expanduser("~/.config")  # noqa: PTH111
    return os.path.join(base, "epic", "config.toml")  # noqa: PTH118


def give_defaults(command: click.Command, commands: Commands) -> click.Command:
    """Lets a command's options take their defaults from variables and the file.

    ``commands`` are all that have a table in the file; they are loaded only if it has a name that
    this command does not know. Raises ``WrongUsage`` or ``CannotAccess`` for a wrong file.
    """
    options = {name: one for one in command.params for name in names(one)}
    for name, option in options.items():
        if option.envvar is None:
            option.envvar = "EPIC_" + name.upper().replace("-", "_")
    path = config_path()
    if not os.path.exists(path):  # noqa: PTH110
        return command
    table = _own_part(_read(path), command.name or "", commands)
    defaults: dict[str, object] = {}
    context = click.Context(command, info_name=command.name, resilient_parsing=False)
    for name, value in table.items():
        if name not in options:
            _check_known(path, name, commands)
            continue
        option = options[name]
        try:
            option.type_cast_value(context, value)
        except (click.ClickException, TypeError, ValueError) as error:
            message = error.message if isinstance(error, click.UsageError) else str(error)
            raise WrongUsage(f"{path}: {name} = {value!r}: {message}") from error
        defaults[option.name or name] = value
    command.context_settings = {**command.context_settings, "default_map": defaults}
    return command


def names(parameter: click.Parameter) -> list[str]:
    """The long names of an option, without the dashes in front; negations (--no-...) left out."""
    if not isinstance(parameter, click.Option):
        return []
    return [name[2:] for name in parameter.opts if name.startswith("--")]


def _read(path: str) -> dict[str, object]:
    import tomllib  # only those who have a configuration wait for it

    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return tomllib.load(stream)
    except OSError as error:
        raise CannotAccess("read", path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{path}: {error}") from error


def _own_part(table: dict[str, object], command: str, commands: Commands) -> dict[str, object]:
    own = {name: value for name, value in table.items() if name not in commands}
    section = table.get(command, {})
    if not isinstance(section, dict):
        raise WrongUsage(f"{config_path()}: {command} is a table: write [{command}]")
    return {**own, **section}


def _check_known(path: str, name: str, commands: Commands) -> None:
    """A name that this command does not have may be another's; if not, it is a mistake."""
    known = [one for load in commands.values() for option in load().params for one in names(option)]
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {near!r}?" if near else ""
        raise WrongUsage(f"{path}: there is no option {name!r}{hint}")
