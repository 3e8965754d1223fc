"""A simulated link: the options that several commands have in common."""

from __future__ import annotations

import click

from epic_cli.network.conditions import (
    DISTRIBUTIONS,
    HIGHEST_CORRELATION,
    LARGEST_GAP,
    LARGEST_PACKET,
    LONGEST_DELAY,
    LinkConditions,
)
from epic_cli.network.presets import PRESETS
from epic_cli.network.words import UNLIMITED
from epic_cli.ui.io.output import write_text
from epic_cli.ui.io.quantities import Seconds, Share
from epic_cli.ui.options.groups import Decorator, OptionGroup
from epic_cli.ui.options.link_parameters import (
    BIT_RATE,
    GILBERT_ELLIOTT,
    LINK_WORD,
    QUEUE,
    WORDS,
    At,
    PresetName,
)
from epic_cli.ui.options.link_values import one_way, two_ways
from epic_cli.views.link_presets import preset_table

_DEFAULTS = LinkConditions()


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
                type=LINK_WORD,
                multiple=True,
                metavar="WORD=VALUE",
                help=f"What is otherwise {where}, such as {example}; may be repeated.",
            )
            for direction, where, example in (
                ("up", "on the way to the server", "rate=1mbit"),
                ("down", "on the way from it", "latency=20ms"),
            )
        ),
    )


def _options(latency: str, meaning: str, sized: bool = True) -> tuple[Decorator, ...]:
    def share(name: str, text: str, highest: float = 1.0) -> Decorator:
        default = f"{getattr(_DEFAULTS, name.replace('-', '_')):g}"
        return click.option(
            f"--{name}", type=Share(highest), default=default, show_default=True, help=text
        )

    return (
        click.option(
            "--preset",
            type=PresetName(),
            help="A link by name, such as wifi, lte, 3g or satellite; other options of the link"
            " change it.",
        ),
        click.option(
            "--list-presets",
            is_flag=True,
            is_eager=True,
            callback=_list_presets,
            help="Show the presets with their figures and sources, and exit.",
        ),
        click.option(
            "--latency",
            type=Seconds(0, LONGEST_DELAY),
            default=latency,
            show_default=True,
            help=meaning,
        ),
        click.option(
            "--jitter",
            type=Seconds(0, LONGEST_DELAY),
            default=f"{_DEFAULTS.jitter:g}",
            show_default=True,
            help="The standard deviation of the delay; for uniform, its largest deviation.",
        ),
        click.option(
            "--distribution",
            type=click.Choice(DISTRIBUTIONS),
            default=_DEFAULTS.distribution,
            show_default=True,
            help="How delays are distributed; pareto and paretonormal are netem's, whose tails end"
            " at 4 jitters; gamma (shape 2) has a tail, pareto-unbounded (shape 3) a long one.",
        ),
        share("correlation", "How similar the delays of successive packets are.", 0.9999),
        share("loss", "Lose this share at random."),
        share(
            "loss-correlation",
            "How much losses follow each other; as many are lost as before.",
            HIGHEST_CORRELATION,
        ),
        click.option(
            "--gemodel",
            type=GILBERT_ELLIOTT,
            help="Lose packets in bursts (Gilbert-Elliott): P good to bad, R bad to good, 1-H loss"
            " when bad (1), 1-K loss when good (0).",
        ),
        share("duplicate", "Send this share twice."),
        share(
            "corrupt",
            "Break a bit in this share: a game checks a sum, so each is lost, and counted.",
        ),
        share("reorder", "Deliver this share at once, ahead of those in flight."),
        click.option(
            "--reorder-gap",
            type=click.IntRange(1, LARGEST_GAP),
            default=_DEFAULTS.reorder_gap,
            show_default=True,
            help="Of so many packets at most one is delivered ahead.",
        ),
        share(
            "reorder-correlation",
            "How much packets that are delivered ahead follow each other.",
            HIGHEST_CORRELATION,
        ),
        click.option(
            "--rate",
            type=BIT_RATE,
            default=UNLIMITED,
            show_default=True,
            help="Send no more bits a second than this (500kbit, 1mbit); other packets wait.",
        ),
        click.option(
            "--queue",
            type=QUEUE,
            default="1000packets",
            show_default=True,
            help="Where they wait: so much time (50ms) or so many packets (20packets) of room; what"
            " comes when it is full is dropped.",
        ),
        *([_packet_size_option] if sized else []),
        click.option(
            "--in-order", is_flag=True, help="Let no packet overtake another, as in a single queue."
        ),
        click.option(
            "--at",
            cls=At,
            metavar="TIME WORDS",
            help="From this time after the first packet on the link is otherwise: --at 10s loss=20%"
            f' --at 12s "loss=0 latency=90ms"; may be repeated. Words: {WORDS}.',
        ),
    )


_packet_size_option = click.option(
    "--packet-size",
    type=click.IntRange(1, LARGEST_PACKET),
    default=_DEFAULTS.packet_size,
    show_default=True,
    metavar="BYTES",
    help="How long a packet is on the wire, for --rate.",
)


def _list_presets(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    del parameter
    if wanted and not context.resilient_parsing:
        write_text(preset_table(PRESETS.values()))
        context.exit()
