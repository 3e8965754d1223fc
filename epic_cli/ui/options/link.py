"""A simulated link: the options that several commands have in common, made from its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from epic_cli.network.conditions import LINK
from epic_cli.network.presets import PRESETS
from epic_cli.network.words import LINK_WORDS, PRESET
from epic_cli.ui.io.output import write_text
from epic_cli.ui.io.quantities import Seconds
from epic_cli.ui.options.declared import Assignment, option, options
from epic_cli.ui.options.groups import Decorator, OptionGroup
from epic_cli.ui.options.link_values import one_way, two_ways


def link_options(latency: str, meaning: str) -> Decorator:
    """A simulated link in the words of netem, as ``link: LinkConditions``.

    The default and the meaning of the latency differ from command to command.
    """
    return OptionGroup("link", one_way, *_options(latency, meaning))


def two_way_link_options(latency: str, meaning: str, sized: bool = True) -> Decorator:
    """The same in two directions, as ``link: TwoWayLink``.

    Not ``sized``: packets have lengths of their own.
    """
    return OptionGroup(
        "link",
        two_ways,
        *_options(latency, meaning, sized),
        *(
            click.option(
                f"--{direction}",
                type=Assignment(LINK_WORDS, "a link", "word=value"),
                multiple=True,
                help=f"What is otherwise {where}, such as {example}; may be repeated.",
            )
            for direction, where, example in (
                ("up", "on the way to the server", "rate=1mbit"),
                ("down", "on the way from it", "latency=20ms"),
            )
        ),
    )


def _options(latency: str, meaning: str, sized: bool = True) -> tuple[Decorator, ...]:
    return (
        option(PRESET),
        click.option(
            "--list-presets",
            is_flag=True,
            is_eager=True,
            callback=_list_presets,
            help="Show the presets with their figures and sources, and exit.",
        ),
        *options(
            LINK,
            () if sized else ("packet_size",),
            latency={"default": latency, "help": meaning},
        ),
        click.option(
            "--at",
            cls=At,
            metavar="TIME WORDS",
            help="From this time after the first packet on the link is otherwise: --at 10s loss=20%"
            f' --at 12s "loss=0 latency=90ms"; may be repeated. Words: {_WORDS}.',
        ),
    )


#: The words that follow ``--at``, ``--up`` and ``--down``.
_WORDS = ", ".join(one.name for one in LINK_WORDS)


class _TimeAndWords(click.Tuple):
    """A time and words; in a variable the pairs have semicolons between them."""

    envvar_list_splitter = ";"

    def __init__(self) -> None:
        super().__init__([Seconds(0, 1e9), click.STRING])


class At(click.Option):
    """``--at TIME WORDS``, as often as there are changes; in a configuration one string each."""

    def __init__(self, names: Sequence[str], **more: Any) -> None:
        super().__init__(names, type=_TimeAndWords(), multiple=True, **more)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Takes strings, too, in which the time stands first."""
        parts = [value] if isinstance(value, str) else list(value or ())
        pairs = [
            (*part.split(maxsplit=1), "")[:2] if isinstance(part, str) else part for part in parts
        ]
        return super().type_cast_value(ctx, pairs)


def _list_presets(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    del parameter
    if wanted and not context.resilient_parsing:
        from epic_cli.ui.io.console import draw
        from epic_cli.views.link import presets_report
        from epic_cli.views.text import ReportText

        # nothing is left out, however narrow the screen is: there is no other place to look it up
        write_text(draw(ReportText(presets_report(PRESETS.values())), color=False))
        context.exit()
