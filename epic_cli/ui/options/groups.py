"""Groups of options whose values reach a command as one typed argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


class OptionGroup:
    """Decorates a command with ``options``; it is called with ``name=make(**their_values)``.

    The options stand in the help where the group stands, in the order given. ``make``, usually a
    class of values, takes each value under the name of its option. A group may contain others.
    """

    def __init__(self, name: str, make: Callable[..., object], *options: Decorator) -> None:
        self.name = name
        self._make = make
        self._options = options

    def __call__(self, command: Command) -> Command:
        """The command with these options."""
        keys: list[str] = []

        @wraps(command)
        def gather(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in keys}
            return command(*args, **{self.name: self._make(**own)}, **values)

        decorated: Command = gather
        for option in reversed(self._options):
            decorated = option(decorated)
            keys.append(_key(option, decorated))
        return decorated


def given_options(context: click.Context) -> set[str]:
    """The names of the options that stand on the command line.

    Those of variables and of the configuration are meant for other runs, too: they need not fit.
    """
    return {
        name
        for name in context.params
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }


def _key(option: Decorator, command: Command) -> str:
    """The name under which a command is given the value of the option that it got last."""
    if isinstance(option, OptionGroup):
        return option.name
    parameters: list[click.Parameter] = command.__click_params__  # type: ignore[attr-defined]
    return parameters[-1].name or ""
