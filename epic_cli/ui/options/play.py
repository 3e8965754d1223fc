"""The options of ``epic play`` alone: techniques, players, output."""

from __future__ import annotations

import math
from dataclasses import dataclass

import click

from epic_cli.play.client.clock import CLOCK_SYNCS
from epic_cli.play.client.correction import SMOOTHING_CURVES
from epic_cli.play.client.prediction import LOCAL_MODES
from epic_cli.play.match.bots import BOTS
from epic_cli.play.match.changes import (
    LONGEST_DURATION,
    LONGEST_HISTORY,
    LONGEST_SMOOTHING,
    SEND_RATES,
)
from epic_cli.play.match.settings import MOST_PLAYERS, MatchSettings
from epic_cli.play.report.headless import COLUMNS, Selection, Show
from epic_cli.play.server.compensation import COMPENSATIONS
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.parameters import TickLength
from epic_cli.ui.io.quantities import Duration, Length, Rate, Seconds
from epic_cli.ui.options.common import format_option, output_option, strategy_options
from epic_cli.ui.options.groups import OptionGroup
from epic_cli.ui.options.match import PlayerOptions, TechniqueOptions
from epic_cli.ui.options.play_parameters import PlayerBot, PlayerClock
from epic_cli.views.play_rows import FORMATS

#: What a match is unless somebody asks for something else.
_DEFAULTS = MatchSettings()

technique_options = OptionGroup(
    "techniques",
    TechniqueOptions,
    click.option(
        "--local",
        type=click.Choice(LOCAL_MODES),
        default=_DEFAULTS.local,
        show_default=True,
        help="How your own player is shown: where the server last put him, predicted at once,"
        " predicted and reconciled by move replay, or predicted and corrected without it.",
    ),
    click.option(
        "--smoothing",
        type=Seconds(0, LONGEST_SMOOTHING),
        default=f"{_DEFAULTS.smoothing:g}",
        show_default=True,
        help="Spread a correction over this time; 0: apply it at once.",
    ),
    click.option(
        "--smoothing-curve",
        type=click.Choice(SMOOTHING_CURVES),
        default=_DEFAULTS.smoothing_curve,
        show_default=True,
        help="Smooth it away evenly, as Source does, or by half in each such time, as lightyear.",
    ),
    click.option(
        "--smooth-above",
        type=Length(),
        default=f"{_DEFAULTS.smooth_above:g}",
        show_default=True,
        help="Apply a smaller correction at once.",
    ),
    click.option(
        "--snap-above",
        type=Length(),
        default=f"{_DEFAULTS.snap_above:g}",
        show_default=True,
        help="Apply a larger correction at once, and forget the ones before.",
    ),
    strategy_options(
        "--remote-strategy",
        _DEFAULTS.remote_strategy,
        "How other players are drawn; 'epic strategies' lists the strategies.",
        "Set one of that strategy's settings; may be repeated.  [default: of snapshot,"
        " interpolation_time covers the latency, the jitter and two packet periods]",
    ),
    click.option(
        "--clock-sync",
        type=click.Choice(list(CLOCK_SYNCS)),
        default=_DEFAULTS.clock_sync,
        show_default=True,
        help="How a client keeps its clock in step with the server's: not at all, or as netfox,"
        " lightyear or GGPO do.",
    ),
    click.option(
        "--rewind/--no-rewind",
        default=_DEFAULTS.rewind,
        show_default=True,
        help="Judge a shot by what the shooter saw, or by where everybody is now.",
    ),
    click.option(
        "--lag-compensation",
        type=click.Choice(list(COMPENSATIONS)),
        default=_DEFAULTS.lag_compensation,
        show_default=True,
        help="How the server knows where to rewind to: the client says what it drew; the server"
        " estimates it, as Mirror does; or it checks what the client says, as Source does.",
    ),
    click.option(
        "--history",
        type=Seconds(0, LONGEST_HISTORY),
        default=f"{_DEFAULTS.history:g}",
        show_default=True,
        help="How far back the server can rewind.",
    ),
    click.option(
        "--send-rate",
        type=Rate(*SEND_RATES),
        default=f"{_DEFAULTS.send_rate:g}",
        show_default=True,
        help="How many times a second the server sends the state.",
    ),
    click.option(
        "--step",
        type=TickLength(),
        default=_DEFAULTS.rules.step,
        help="The simulation's step and the time between frames: 33ms, 1/60 or 60hz; 5 to 100 ms."
        "  [default: 33ms]",
    ),
)

script_option = click.option(
    "--script",
    type=click.Path(),
    metavar="FILE",
    help="Input over time; - is standard input. Lines are: TIME PLAYER left|right|up|down|"
    "stop [shoot|throw] [aim=PLAYER|aim=X,Y], or TIME set NAME=VALUE.",
)

player_options = OptionGroup(
    "players",
    PlayerOptions,
    click.option(
        "--players",
        type=click.IntRange(2, MOST_PLAYERS),
        default=2,
        show_default=True,
        help="How many play: A, B, C and so on.",
    ),
    click.option(
        "--bot",
        "bots",
        type=PlayerBot(),
        multiple=True,
        metavar="NAME=KIND",
        help=f"Who steers a player whom no script steers: {', '.join(BOTS)};"
        " may be repeated.  [default: A=hunter, the others runner]",
    ),
    click.option(
        "--clock",
        "clocks",
        type=PlayerClock(),
        multiple=True,
        metavar="NAME=AHEAD[,RATE]",
        help="A player's clock: how many seconds it is ahead, and how many times as"
        " fast as real time it runs.",
    ),
)

duration_option = click.option(
    "--duration",
    type=Duration(0, LONGEST_DURATION),
    default="10",
    show_default=True,
    help="How long the match lasts, in seconds, or endless.",
)


@dataclass(frozen=True)
class OutputOptions:
    """What of the match goes where; ``headless`` None: whatever fits the other options."""

    headless: bool | None
    show: Show
    row_format: str
    output: str | None
    view: str | None
    player: str | None
    packets: str | None
    truth_out: str | None
    picture: str | None
    client: str
    record: str | None

    def selection(self) -> Selection:
        """What is wanted of the match."""
        return Selection(self.show, self.client, self.view, self.player)

    def check(self, duration: float) -> None:
        """Refuses what does not fit together."""
        if self.row_format == "epic" and (self.show != "rows" or not self.view or not self.player):
            raise WrongUsage(
                "the epic format has no column for who is where: it needs --show rows,"
                " one --view and one --player"
            )
        if self.view and self.show != "rows":
            raise WrongUsage("--view is for --show rows")
        if math.isinf(duration) and self.show == "summary":
            raise WrongUsage("a summary needs an end: give a --duration")
        files = [self.packets, self.truth_out, self.picture, self.record]
        given = [path for path in (self.output, *files) if path]
        if len(set(given)) < len(given):
            raise WrongUsage("two outputs cannot go to the same place")
        if "-" in files:
            raise WrongUsage("only --output can go to standard output")

    def check_names(self, names: list[str]) -> None:
        """Refuses players who do not take part."""
        for option, name, allowed in (
            ("client", self.client, names),
            ("player", self.player, names),
            ("view", self.view, [*names, "server"]),
        ):
            if name and name not in allowed:
                raise WrongUsage(f"--{option} {name!r}: choose from {', '.join(allowed)}")


output_options = OptionGroup(
    "output",
    OutputOptions,
    click.option(
        "--headless/--screen",
        default=None,
        help="Write rows, or play on the terminal.  [default: play if there is a terminal and no"
        " option asks for output]",
    ),
    click.option(
        "--show",
        type=click.Choice(list(COLUMNS)),
        default="rows",
        show_default=True,
        help="What goes to standard output.",
    ),
    format_option(
        "row_format",
        FORMATS,
        "table",
        "The output format; epic needs one --view and one --player.",
    ),
    output_option("Write the output to a file."),
    click.option("--view", metavar="NAME", help="Only this screen: server, A, B ..."),
    click.option("--player", metavar="NAME", help="Only this player's rows or events."),
    click.option(
        "--packets",
        type=click.Path(),
        metavar="FILE",
        help="Write the states of the others that --client received, for 'epic replay'.",
    ),
    click.option(
        "--truth-out",
        type=click.Path(),
        metavar="FILE",
        help="Write where everybody but --client was on the server, as CSV for 'epic compare'.",
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
        help="The client whose frames give the rows their times; on the terminal, who you are.",
    ),
    click.option(
        "--record",
        type=click.Path(),
        metavar="FILE",
        help="Keep what all players do, every option that matters and every change as a script that"
        " reproduces the match. It cannot hold a --trace.",
    ),
)
