"""The options that several commands share, each defined once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from epic_cli.cli.options.groups import Decorator, apply, group
from epic_cli.playback import CLOCKS, DEFAULT_TICK, PACINGS, Timing
from epic_cli.terminal.color import COLOR_CHOICES
from epic_cli.terminal.parameters import SettingAssignment, StrategyName, TickLength


def strategy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--strategy`` and ``--set``."""
    return apply(
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


#: ``--tick``, ``--clock``, ``--pacing`` and ``--latency``, as ``timing: Timing``.
timing_options = group(
    "timing",
    Timing,
    click.option(
        "--tick",
        type=TickLength(),
        default=DEFAULT_TICK,
        help="Time between rows: 0.05, 1/60, 50ms or 60hz.  [default: 0.05]",
    ),
    click.option(
        "--clock",
        type=click.Choice(CLOCKS),
        default=None,
        help="single adds the tick in single precision, as the demo does, and drifts as it"
        " does; exact does not drift.  [default: exact with arrival pacing, else single]",
    ),
    click.option(
        "--pacing",
        type=click.Choice(PACINGS),
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


def seed_option(meaning: str) -> Decorator:
    """``--seed``."""
    return click.option(
        "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help=meaning
    )


quiet_option = click.option("-q", "--quiet", is_flag=True, help="No summary on stderr.")
