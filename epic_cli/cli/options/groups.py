"""Groups of options whose values reach a command as one typed argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


# No dataclass here, nor in the groups of "epic replay": it starts faster without.


class OptionGroup:
    """Decorates a command with ``options``; it is called with ``name=make(**their_values)``.

    The options stand in the help where the group stands, in the order given. ``make``, usually a
    frozen class, takes each value under the name of its option. A group may contain others.
    """

    def __init__(
        self, name: str, make: Callable[..., object], options: tuple[Decorator, ...]
    ) -> None:
        self.name = name
        self.make = make
        self.options = options

    def __call__(self, command: Command) -> Command:
        """The command with these options."""
        keys = [key for option in self.options for key in _names(option)]

        @wraps(command)
        def gather(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in keys}
            return command(*args, **{self.name: self.make(**own)}, **values)

        return apply(gather, *self.options)


def group(name: str, make: Callable[..., object], *options: Decorator) -> OptionGroup:
    """A group of these options."""
    return OptionGroup(name, make, options)


def given_options(context: click.Context) -> set[str]:
    """The names of the options that were given: by hand, by the environment, by a file."""
    return {
        name
        for name in context.params
        if context.get_parameter_source(name) != ParameterSource.DEFAULT
    }


def apply(command: Command, *options: Decorator) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _names(option: Decorator) -> list[str]:
    """The names under which a command is given the values of an option, or of a group."""
    if isinstance(option, OptionGroup):
        return [option.name]

    def probe() -> None:
        """Carries the option."""

    parameters: list[click.Parameter] = getattr(option(probe), "__click_params__", [])
    return [one.name for one in parameters if one.name]
