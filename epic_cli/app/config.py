"""Defaults of options: the configuration file and EPIC_* variables, under the options' names.

    tick = "60hz"

    [replay]
    strategy = "epic"
    set = ["calc_ahead=0.1"]

    [session]
    toolbar = false

What stands at the top, or in a variable, holds for each command that has the option and takes the
value, a table for one command. An option on the command line comes before its variable, and that
before the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import click

from epic_cli.engine.declaration import nearest
from epic_cli.terminal.config_path import config_path
from epic_cli.terminal.errors import CannotAccess, WrongUsage
from epic_cli.terminal.origins import Origin

#: The commands by name, each with what loads it.
Commands = Mapping[str, Callable[[], click.Command]]


def give_defaults(
    command: click.Command, commands: Commands
) -> tuple[click.Command, dict[str, Origin]]:
    """Lets a command's options take their defaults from variables and the file.

    ``commands`` are all that have a table in the file; they are loaded only if there is a name or
    a value that this command does not know: it may be meant for another one. Returns the command,
    and where its defaults come from. Raises ``WrongUsage`` or ``CannotAccess``.
    """
    context = click.Context(command, info_name=command.name)
    options = {name: one for one in command.params for name in names(one)}
    given = [*_from_file(command.name or "", commands), *_from_variables(options)]
    origins: dict[str, Origin] = {}
    defaults: dict[str, object] = {}
    for one, is_own in given:
        if one.option not in options:
            _check_known(one, commands)
            continue
        option = options[one.option]
        taken = _taken(context, option, one, {} if is_own else commands)
        if taken is not None:
            key = option.name or one.option
            defaults[key], origins[key] = taken, one._replace(flags=tuple(option.opts))
    if defaults:
        command.context_settings = {**command.context_settings, "default_map": defaults}
    return command, origins


def _from_file(command: str, commands: Commands) -> Iterator[tuple[Origin, bool]]:
    """What the file says, and whether it says so to this command alone."""
    path = config_path()
    if not os.path.exists(path):  # noqa: PTH110
        return
    table = _read(path)
    section = table.get(command, {})
    if not isinstance(section, dict):
        raise WrongUsage(f"{path}: {command} is a table: write [{command}]")
    for part, is_own in ((table, False), (section, True)):
        for name, value in part.items():
            if is_own or name not in commands:
                yield Origin(name, value, f"{path}: {name} = {value!r}"), is_own


def _from_variables(options: Mapping[str, click.Parameter]) -> Iterator[tuple[Origin, bool]]:
    for name, option in options.items():
        variable = "EPIC_" + name.upper().replace("-", "_")
        text = os.environ.get(variable)
        if text:
            value = option.type.split_envvar_value(text) if _is_multiple(option) else text
            yield Origin(name, value, f"{variable}={text}"), False


def _taken(
    context: click.Context, option: click.Parameter, one: Origin, commands: Commands
) -> object:
    """What the option takes of a value: for a list, those that it understands; None: nothing.

    What it does not understand has to be understood by an option of this name of ``commands``.
    """
    many = _is_multiple(option) and isinstance(one.value, list | tuple | str)
    parts = [one.value] if isinstance(one.value, str) or not many else list(one.value)  # type: ignore[call-overload]
    taken = []
    for part in parts:
        wrong = _wrong(context, option, [part] if many else part)
        if not wrong:
            taken.append(part)
        elif not any(
            other is not option
            and not _wrong(context, other, [part] if _is_multiple(other) else part)
            for load in commands.values()
            for other in load().params
            if one.option in names(other)
        ):
            raise WrongUsage(f"{one.place}: {wrong}")
    if many:
        return taken or None
    return taken[0] if taken else None


def _wrong(context: click.Context, option: click.Parameter, value: object) -> str:
    """What an option has against a value; empty: nothing."""
    try:
        option.type_cast_value(context, value)
    except (click.ClickException, TypeError, ValueError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        return message or "it is not taken"
    return ""


def _is_multiple(option: click.Parameter) -> bool:
    return isinstance(option, click.Option) and option.multiple


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


def _check_known(one: Origin, commands: Commands) -> None:
    """A name that this command does not have may be another's; if not, it is a mistake."""
    kind, known = (
        "option",
        [name for load in commands.values() for option in load().params for name in names(option)],
    )
    if isinstance(one.value, dict):
        kind, known = "command", list(commands)
    if one.option not in known:
        near = nearest(one.option, known)
        hint = f"; did you mean {near!r}?" if near else ""
        raise WrongUsage(f"{config_path()}: there is no {kind} {one.option!r}{hint}")
