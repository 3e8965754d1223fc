"""The options that several commands share, each defined once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from epic_cli.cli.color import COLOR_CHOICES

if TYPE_CHECKING:
    ParameterType = click.ParamType[Any]  # generic only for the type checker
else:
    ParameterType = click.ParamType

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class StrategyName(ParameterType):
    """The name of a strategy, checked and completed from the registry."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses an unknown name with the nearest one."""
        from epic_cli.engine.strategies import UnknownStrategy, find

        try:
            find(value)
        except UnknownStrategy as error:
            self.fail(str(error), param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names, each with its summary."""
        del ctx, param
        from epic_cli import strategies

        return [
            CompletionItem(one.name, help=one.summary)
            for one in strategies()
            if one.name.startswith(incomplete)
        ]


class SettingAssignment(ParameterType):
    """``key=value``, completed from the settings of the chosen strategy."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Splits at the first ``=``."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not of the form key=value", param, ctx)
        return key.strip(), text.strip()

    def chosen_strategy(self, ctx: click.Context) -> str | None:
        """The strategy whose settings these are; None: the default one."""
        name: str | None = ctx.params.get("strategy")
        return name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The settings, then the words that a setting takes."""
        del param
        from epic_cli.engine.strategies import DEFAULT, UnknownStrategy, declaration

        try:
            settings = declaration(self.chosen_strategy(ctx) or DEFAULT).settings
        except UnknownStrategy:
            return []
        key, equals, begun = incomplete.partition("=")
        if not equals:
            return [
                CompletionItem(f"{one.name}=", help=one.help)
                for one in settings
                if one.name.startswith(key)
            ]
        return [
            CompletionItem(f"{key}={choice}")
            for one in settings
            if one.name == key
            for choice in one.choices
            if choice.startswith(begun)
        ]


class TickLength(ParameterType):
    """Seconds between two rows, as an exact ratio."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Takes ``0.05``, ``1/60``, ``50ms`` and ``60hz``."""
        from epic_cli.playback import parse_tick

        if isinstance(value, tuple):
            return value
        try:
            return parse_tick(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def strategy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--strategy`` and ``--set``."""
    return _apply(
        command,
        click.option(
            "-s",
            "--strategy",
            type=StrategyName(),
            default="epic",
            show_default=True,
            help="The smoothing strategy; 'epic strategies' lists them.",
        ),
        click.option(
            "--set",
            "assignments",
            type=SettingAssignment(),
            multiple=True,
            help="Set one of the strategy's settings; may be repeated.",
        ),
    )


def _finite(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.", context, parameter)
    return value


def timing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--tick``, ``--clock``, ``--pacing`` and ``--latency``."""
    return _apply(
        command,
        click.option(
            "--tick",
            type=TickLength(),
            default=(1, 20),
            help="Time between rows: 0.05, 1/60, 50ms or 60hz.  [default: 0.05]",
        ),
        click.option(
            "--clock",
            type=click.Choice(["single", "exact"]),
            default=None,
            help="single adds the tick in single precision, as the demo does, and drifts as it"
            " does; exact does not drift.  [default: exact with arrival pacing, else single]",
        ),
        click.option(
            "--pacing",
            type=click.Choice(["demo", "arrival"]),
            default=None,
            help="demo draws rows up to 0.15 s past each packet's stamp at once; arrival applies"
            " each packet when it arrived.  [default: arrival if the first packet has an"
            " arrival time, else demo]",
        ),
        click.option(
            "--latency",
            type=click.FloatRange(-3600, 3600),
            callback=_finite,
            default=None,
            metavar="SECONDS",
            help="Give packets without an arrival time one: their stamp plus this.",
        ),
    )


def color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--color``."""
    return click.option(
        "--color",
        type=click.Choice(COLOR_CHOICES),
        default="auto",
        show_default=True,
        help="When to use colour; auto heeds NO_COLOR, FORCE_COLOR and TERM=dumb.",
    )(command)


def _apply(command: Callable[..., Any], *decorators: Decorator) -> Callable[..., Any]:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
