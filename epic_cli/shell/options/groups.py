"""Options as fields of values, and as defaults of a command's parameters.

Example:
    @dataclass(frozen=True)
    class Output:
        color: bool = flag("Write in colour.")                       # --color
        path: str | None = value("Where to.", "-o", "--output")      # under the name of the field
        seed: int = shared(seed_option)                              # an option of several commands

    @click.command()
    @with_options
    def command(output: Output = shared(Output), quiet: bool = shared(quiet_option)) -> None: ...

"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

import click
from click.core import ParameterSource

from epic_cli.shell.errors import WrongUsage, say

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


class OptionGroup:
    """Decorates a command with ``options``; it is called with ``name=make(**their_values)``.

    The help lists the options where the group stands, in this order. ``make``, usually a class of
    values, takes each value under the name of its option; the fields of a dataclass may declare the
    options (``value``, ``flag``, ``shared``). A group may contain others.
    """

    def __init__(self, name: str, make: Callable[..., object], *options: Decorator) -> None:
        self.name = name
        self._make = make
        fields = dataclasses.fields(make) if isinstance(make, type) and not options else ()
        self._options = options or tuple(one.metadata[_OPTION](one.name) for one in fields)

    def __call__(self, command: Command) -> Command:
        """The command with these options."""
        keys: list[str] = []

        @wraps(command)
        def gather(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in keys if key}
            return command(*args, **{self.name: self._make(**own)}, **values)

        decorated: Command = gather
        for option in reversed(self._options):
            decorated = option(decorated)
            keys.append(_key(option, decorated))
            for one in getattr(decorated, "__click_params__", ()):
                one.group = getattr(one, "group", self.name)
        return decorated

    @property
    def parameters(self) -> list[click.Parameter]:
        """Those that a command with this group has."""

        def command() -> None:
            """Nothing: it only carries them."""

        return list(self(command).__click_params__)  # type: ignore[attr-defined]


#: The key under which a field has what makes its option from its name.
_OPTION = "option"


def value(help_text: str, *flags: str, **attributes: Any) -> Any:
    """A field with an option of its name, or of these ``flags``; ``attributes`` are click's."""

    def make(name: str) -> Decorator:
        names = flags or (f"--{name.replace('_', '-')}",)
        return click.option(*names, name, help=help_text, **attributes)

    return dataclasses.field(metadata={_OPTION: make})


def flag(help_text: str, *flags: str) -> Any:
    """A field with an option that has no value."""
    return value(help_text, *flags, is_flag=True)


def shared(option: Decorator | type) -> Any:
    """A field with an option, an argument or a group that is declared elsewhere.

    A class whose fields are options is a group of the field's name.
    """

    def make(name: str) -> Decorator:
        return OptionGroup(name, option) if isinstance(option, type) else option

    return dataclasses.field(metadata={_OPTION: make})


def with_options(command: Command) -> Command:
    """A command with the options that the defaults of its parameters declare, in their order."""
    for one in reversed([*signature(command).parameters.values()]):
        if isinstance(one.default, dataclasses.Field):
            command = one.default.metadata[_OPTION](one.name)(command)
    return command


def given_options() -> set[str]:
    """The names of the running command's options that stand on the command line.

    Those from variables and the configuration apply to other runs, too, and need not fit.
    """
    context = click.get_current_context()
    return {
        name
        for name in (one.name for one in context.command.params)
        if name and context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }


def is_default(name: str) -> bool:
    """Whether nothing gives the running command's option a value."""
    source = click.get_current_context().get_parameter_source(name)
    return source == ParameterSource.DEFAULT


def refuse(names: Iterable[str], why: str) -> None:
    """Raises ``WrongUsage`` for the first of these options that stands on the command line."""
    context = click.get_current_context()
    flags = {one.name: one.opts[-1] for one in context.command.params}
    for name in names:
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise WrongUsage(f"{flags[name]} {why}")


def renamed_option(old: str, new: str) -> Decorator:
    """Accepts ``--old`` for ``--new`` for one more release, with a warning on stderr."""

    def take(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None:
            say(f"epic: --{old} is now --{new}; the next release drops the old name\n")
            name = new.replace("-", "_")
            context.default_map = {**(context.default_map or {}), name: value}

    return click.option(f"--{old}", hidden=True, expose_value=False, is_eager=True, callback=take)


def _key(option: Decorator, command: Command) -> str:
    """The name under which a command is given the value of its newest option; empty: it is not."""
    if isinstance(option, OptionGroup):
        return option.name
    parameters: list[click.Parameter] = command.__click_params__  # type: ignore[attr-defined]
    return parameters[-1].name or "" if parameters[-1].expose_value else ""
