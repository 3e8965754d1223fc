"""The options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.cli.options.groups import Decorator, OptionGroup
from epic_cli.engine.strategies import create
from epic_cli.formats.recordings import INPUT_FORMATS
from epic_cli.playback import Timing
from epic_cli.terminal.color import COLOR_CHOICES
from epic_cli.terminal.layout import LAYOUT_OPTIONS, make_layout
from epic_cli.terminal.parameters import SettingAssignment, StrategyName
from epic_cli.terminal.timing import TIMING, TimingSetting

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

# Tuples with names, not dataclasses, here and wherever a replay needs them: they start faster.


class StrategyChoice(NamedTuple):
    """A strategy and the settings given for it, as they were typed."""

    strategy: str
    assignments: tuple[tuple[str, str], ...]

    @property
    def settings(self) -> dict[str, str]:
        """The settings by name; the last of a name counts."""
        return dict(self.assignments)

    def create(self) -> SmoothingStrategy:
        """A new strategy; raises ``UnknownStrategy`` or ``SettingError``."""
        return create(self.strategy, self.settings)


def strategy_options(name: str, default: str, meaning: str, settings: str) -> OptionGroup:
    """An option for a strategy, and ``--set``, as ``chosen: StrategyChoice``.

    ``meaning`` and ``settings`` are what the help says of the two.
    """
    return OptionGroup(
        "chosen",
        StrategyChoice,
        click.option(
            "-s",
            name,
            "strategy",
            type=StrategyName(),
            default=default,
            show_default=True,
            help=meaning,
        ),
        click.option(
            "--set", "assignments", type=SettingAssignment(), multiple=True, help=settings
        ),
    )


def _timing_option(setting: TimingSetting) -> Decorator:
    return click.option(
        f"--{setting.name}",
        type=setting.type,
        default=setting.default,
        metavar="SECONDS" if setting.name == "latency" else None,
        help=setting.option_help,
    )


#: ``--tick``, ``--clock``, ``--pacing`` and ``--latency``, as ``timing: Timing``.
timing_options = OptionGroup("timing", Timing, *map(_timing_option, TIMING))

#: ``--input-format``
input_format_option: Decorator = click.option(
    "--input-format",
    type=click.Choice(INPUT_FORMATS),
    default="auto",
    show_default=True,
    help="How packets are written; auto goes by the first line.",
)

#: ``--columns``, ``--time-unit``, ``--time-origin``, ``--axes`` and ``--scale``, as ``given:
#: Layout | None``.
layout_options = OptionGroup("given", make_layout, *(one.decorate for one in LAYOUT_OPTIONS))


def color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--color``."""
    return click.option(
        "--color",
        type=click.Choice(COLOR_CHOICES),
        default="auto",
        show_default=True,
        help="When to use colour; auto respects NO_COLOR, FORCE_COLOR and TERM=dumb.",
    )(command)


def seed_option(meaning: str) -> Decorator:
    """``--seed``."""
    return click.option(
        "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help=meaning
    )


quiet_option = click.option("-q", "--quiet", is_flag=True, help="No summary on stderr.")
