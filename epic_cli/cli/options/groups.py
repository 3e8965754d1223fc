"""Groups of options whose values reach a command as one typed argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def group(name: str, make: Callable[..., object], *options: Decorator) -> Decorator:
    """Decorates a command with ``options``; it is called with ``name=make(**their_values)``.

    The options stand in the help where the group stands, in the order given. ``make``, usually a
    frozen dataclass, takes each value under the name of its option.
    """
    keys = _names(options)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def gather(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in keys}
            return command(*args, **{name: make(**own)}, **values)

        return apply(gather, *options)

    return decorate


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


def _names(options: tuple[Decorator, ...]) -> list[str]:
    """The names under which click hands over the values of these options."""

    def probe() -> None:
        """Carries the options."""

    apply(probe, *options)
    parameters: list[click.Parameter] = getattr(probe, "__click_params__", [])
    return [one.name for one in parameters if one.name]
