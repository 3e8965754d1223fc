"""The options of ``epic play``, in groups: techniques, players, link, output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.cli.options.link import LINK, TRACE, latency_option
from epic_cli.terminal.parameters import SettingAssignment, StrategyName, TickLength
from epic_cli.terminal.quantities import Duration, Rate, Seconds

LINK_OPTIONS = (
    "latency",
    "jitter",
    "distribution",
    "correlation",
    "loss",
    "gemodel",
    "duplicate",
    "reorder",
)
TRACE_OPTIONS = ("trace_by", "trace_end", "trace_flow")

#: A row per frame, one line per event, shots alone, or the figures.
SHOWN = ("rows", "events", "shots", "summary")

_TECHNIQUES = (
    click.option(
        "--local",
        type=click.Choice(["dumb-terminal", "predicted", "reconciled"]),
        default="reconciled",
        show_default=True,
        help="How one's own player is shown: where the server last said, predicted at once, or"
        " predicted and reconciled by move replay.",
    ),
    click.option(
        "--smoothing",
        type=Seconds(0, 10),
        default="0",
        show_default=True,
        help="Smooth a correction over so long; 0: at once.",
    ),
    click.option(
        "-s",
        "--remote-strategy",
        "strategy",
        type=StrategyName(),
        default="snapshot",
        show_default=True,
        help="How other players are drawn; 'epic strategies' lists the strategies.",
    ),
    click.option(
        "--set",
        "assignments",
        type=SettingAssignment(),
        multiple=True,
        help="Set one of that strategy's settings; may be repeated.  [default: of snapshot,"
        " interpolation_time covers the latency, the jitter and two packet periods]",
    ),
    click.option(
        "--rewind/--no-rewind",
        default=True,
        show_default=True,
        help="Judge a shot by what the shooter saw, or by where everybody is now.",
    ),
    click.option(
        "--history",
        type=Seconds(0, 60),
        default="1",
        show_default=True,
        help="How far the server can rewind.",
    ),
    click.option(
        "--send-rate",
        type=Rate(0.5, 1000),
        default="20",
        show_default=True,
        help="How often a second the server sends the state.",
    ),
    click.option(
        "--step",
        type=TickLength(),
        default=(33, 1000),
        help="The step of the simulation and the time between two frames: 33ms, 1/60 or 60hz; 5"
        " to 100 ms.  [default: 33ms]",
    ),
)

_PLAYERS = (
    click.option(
        "--script",
        type=click.Path(),
        metavar="FILE",
        help="Inputs over time; - is standard input. Lines are: TIME PLAYER left|right|up|down|"
        "stop [shoot|throw] [aim=PLAYER|aim=X,Y], or TIME set NAME=VALUE.",
    ),
    click.option(
        "--players",
        type=click.IntRange(2, 8),
        default=2,
        show_default=True,
        help="How many, A, B, C and so on.",
    ),
    click.option(
        "--bot",
        "bots",
        multiple=True,
        metavar="NAME=KIND",
        help="Who plays where no script does: still, runner, patrol, hunter or chaser; may be"
        " repeated.  [default: A=hunter, the others runner]",
    ),
    click.option(
        "--clock",
        "clocks",
        multiple=True,
        metavar="NAME=AHEAD[,RATE]",
        help="A player's clock is so many seconds ahead, and goes so many times too fast.",
    ),
    click.option(
        "--duration",
        type=Duration(0, 1e6),
        default="10",
        show_default=True,
        help="Seconds, or endless.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**64 - 1),
        default=0,
        show_default=True,
        help="The same seed and script give the same bytes.",
    ),
)

_LINK = (latency_option("50ms", "One way."), *LINK, *TRACE)

_OUTPUT = (
    click.option(
        "--headless/--screen",
        default=None,
        help="Write rows, or play on the terminal.  [default: play, if there is a terminal and"
        " nothing asks for rows]",
    ),
    click.option(
        "--show",
        type=click.Choice(SHOWN),
        default="rows",
        show_default=True,
        help="What goes to standard output.",
    ),
    click.option(
        "-f",
        "--format",
        "row_format",
        type=click.Choice(["table", "epic", "tsv", "csv", "jsonl"]),
        default="table",
        show_default=True,
        help="How it is written; epic needs one --view and one --player.",
    ),
    click.option("-o", "--output", type=click.Path(), help="Write it to a file."),
    click.option("--view", metavar="NAME", help="Only what is on this screen: server, A, B ..."),
    click.option("--player", metavar="NAME", help="Only this player's rows or events."),
    click.option(
        "--packets",
        type=click.Path(),
        metavar="FILE",
        help="Write the states of others that came in at --client, for 'epic replay'.",
    ),
    click.option(
        "--truth-out",
        type=click.Path(),
        metavar="FILE",
        help="Write where the server had everybody but --client: CSV, for 'epic compare'.",
    ),
    click.option(
        "--picture",
        type=click.Path(),
        metavar="FILE",
        help="Draw the three screens at the end as an SVG picture.",
    ),
    click.option(
        "--client",
        metavar="NAME",
        default="A",
        show_default=True,
        help="Whose client's frames are the rows' times; on the terminal, who you are.",
    ),
    click.option(
        "--record",
        type=click.Path(),
        metavar="FILE",
        help="Keep what --client does, and every change, as a script that gives the same match.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="No summary on stderr."),
)


def play_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All of them."""
    for option in reversed(_TECHNIQUES + _PLAYERS + _LINK + _OUTPUT):
        command = option(command)
    return command
