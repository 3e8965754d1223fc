"""Options and arguments made from parameters (``engine/parameters.py``), for click.

``@option(PARAMETER)`` gives a command ``--name`` with its type, range, default, completion and
help; ``options(TABLE)`` makes one for each. ``ParameterType(PARAMETER)`` is the type alone, for an
argument or a command of the session, and ``Assignment(TABLE, OWNER)`` that of ``name=value``.
Values of ``EPIC_`` variables and of the configuration are read in the same way.

Example:
    GAIN = Number("gain", 0.5, "How fast to follow.", "", 0, 1)

    @option(GAIN)                           # --gain SHARE  ...  [default: 0.5; 0 to 1]
    @option(GAIN, "--speed", default=None)  # the same range under another name, not required
    @click.argument("gain", type=ParameterType(GAIN))

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.parameter_base import Parameter, Table, parse_assignment
from epic_cli.engine.parameters import Choice, Custom, Number, Switch
from epic_cli.engine.quantities import parse_span
from epic_cli.shell.options.groups import Decorator
from epic_cli.shell.parameters import Parsed, TextType, completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: What stands for a number in the usage of an option, by its unit.
_METAVARS = {"s": "seconds", "Hz": "hertz", "bit/s": "bits", "": "share", "length units": "units"}


class ParameterType(TextType):
    """The click type of a parameter."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        self.kind = parameter.kind
        self.name = _type_name(parameter)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Takes true and false of the configuration for a switch, too."""
        is_state = isinstance(value, bool) and isinstance(self.parameter, Switch)
        return super().convert(self.parameter.write(value) if is_state else value, param, ctx)

    def read(self, text: str, ctx: click.Context | None) -> Any:
        """As the parameter reads it."""
        del ctx
        return self.parameter.read(text)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The words of a choice, as click shows them."""
        del ctx
        if isinstance(self.parameter, Choice | Switch):
            words = "|".join(self.parameter.choices)
            return f"{{{words}}}" if param.param_type_name == "argument" else f"[{words}]"
        return None

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """The words that the parameter proposes."""
        del ctx
        return completions(self.parameter.complete(), begun)


def seconds(low: float, high: float) -> ParameterType:
    """A time from ``low`` to ``high``, for an option with its own help text."""
    return ParameterType(Number("time", None, "", "s", low, high))


#: ``start:end`` in seconds.
SPAN = Parsed("start:end", parse_span, tuple)


def _type_name(parameter: Parameter) -> str:
    if isinstance(parameter, Custom):
        return parameter.form
    if isinstance(parameter, Number):
        if parameter.whole:
            return "integer"
        return _METAVARS.get(parameter.unit, "number")
    return "word"


class ParameterOption(click.Option):
    """An option that shows the range of its parameter."""

    def __init__(self, flags: list[str], parameter: Parameter, **more: Any) -> None:
        super().__init__(flags, **more)
        self.parameter = parameter

    def get_help_extra(self, ctx: click.Context) -> Any:
        """With the range of a number."""
        extra = super().get_help_extra(ctx)
        if "default" in extra and isinstance(self.default, self.parameter.kind):
            extra["default"] = self.parameter.show(self.default)
        if isinstance(self.parameter, Number) and "-inf" not in self.parameter.range:
            extra["range"] = self.parameter.range
        return extra


def option(parameter: Parameter, *flags: str, **changes: Any) -> Decorator:
    """The option of a parameter.

    ``flags`` and ``changes`` (``help``, ``default``, ``metavar``, ``multiple``) are passed
    to ``click.option`` and override the parameter. A default is written as on the command line,
    or is a value of the parameter's type; it is shown.
    """
    more: dict[str, Any] = {"help": parameter.help, "show_default": True, **changes}
    if isinstance(parameter, Switch) and not more.get("multiple"):
        if not flags:
            name = parameter.name.replace("_", "-")
            flags = (f"--{name}/--no-{name}",) if parameter.default else (f"--{name}",)
        more.setdefault("default", parameter.default)
        more["show_default"] = bool(more["default"]) and "/" in flags[0]
        return _decorator(parameter, flags, is_flag=True, **more)
    if "default" not in more and parameter.default is not None and not more.get("multiple"):
        is_value = isinstance(parameter.default, parameter.kind)  # which need not be read
        more["default"] = parameter.default if is_value else parameter.show(parameter.default)
    more.setdefault("type", ParameterType(parameter))
    return _decorator(parameter, flags, **more)


def _decorator(parameter: Parameter, flags: tuple[str, ...], **more: Any) -> Decorator:
    names = flags or (f"--{parameter.name.replace('_', '-')}",)
    return click.option(*names, cls=ParameterOption, parameter=parameter, **more)


def options(
    table: Table, leave_out: tuple[str, ...] = (), **changes: dict[str, Any]
) -> tuple[Decorator, ...]:
    """The options of a table, in its order; ``changes`` are by the name of the parameter."""
    return tuple(
        option(one, **changes.get(one.name, {})) for one in table if one.name not in leave_out
    )


class Assignment(Parsed):
    """``name=value`` of a table, as the name and the value; ``form`` is how the usage shows it."""

    def __init__(
        self, table: Table, owner: str, form: str = "name=value", what: str = "parameter"
    ) -> None:
        def read(text: str) -> tuple[str, Any]:
            parameter, value = parse_assignment(text, table, owner, what)
            return parameter.name, value

        def propose(begun: str) -> list[CompletionItem]:
            """The names, then what the named parameter proposes."""
            name, equals, rest = begun.partition("=")
            if not equals:
                return completions(((f"{one.name}=", one.help) for one in table), begun)
            for one in table:
                if one.name == name.replace("-", "_"):
                    return completions(one.complete(), rest, f"{name}=")
            return []

        super().__init__(form, read, tuple, propose)
