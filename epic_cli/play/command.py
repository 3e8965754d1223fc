"""``epic play``: a networked game over a bad network, headless or on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import click

from epic_cli.engine.parameters import Choice, Custom
from epic_cli.play.given import (
    begin_with,
    make_players,
    make_spec,
    over_network,
    read_script,
    with_changes,
)
from epic_cli.play.match.bots import BOTS
from epic_cli.play.match.spec import (
    CLOCK,
    DURATION,
    MOST_PLAYERS,
    PLAYERS,
    TECHNIQUES,
    MatchSpec,
    PlayerConfig,
    default_players,
)
from epic_cli.play.output import (
    OutputOptions,
    keep_record,
    open_optional,
    unrecordable,
    write_match,
)
from epic_cli.play.report.headless import HeadlessRun
from epic_cli.play.report.rows import summary
from epic_cli.shell.console import has_terminal, use_color
from epic_cli.shell.declared import (
    Assignment,
    InputFile,
    OptionGroup,
    command,
    given_options,
    option,
    shared,
    value,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage, say, wrong_usage
from epic_cli.shell.options.common import quiet_option, seed_option, strategy_option, trust_option
from epic_cli.shell.options.link import TwoWayLink, two_way_link_options
from epic_cli.shell.options.trace import TraceOptions, check_network, two_way_trace_options
from epic_cli.show.link import clipping

EXAMPLES = """\b
Examples:
  epic play
  epic play --latency 150ms --loss 2% --record game.script
  epic play --script game.script --show events
  epic play --bot B=chaser --local predicted --show summary
  epic play --latency 200ms --duration 60 --show shots --format csv
  epic play --preset lte --up rate=256kbit --at 5s loss=30% --at 7s loss=4%
"""

#: With the strategy where the table has its name.
_TECHNIQUES = {one.name: option(one) for one in TECHNIQUES} | {
    "remote_strategy": strategy_option(
        "How other players are drawn; 'epic strategies' lists the strategies. Of snapshot,"
        " interpolation_time covers the latency, the jitter and two packet periods unless it is"
        " set.",
        "--remote-strategy",
        MatchSpec.remote_strategy,
    )
}
technique_options = OptionGroup("techniques", dict, *_TECHNIQUES.values())

_NAMES = [player.name for player in default_players(MOST_PLAYERS)]
_BOT = tuple(Choice(name, "runner", "The bot that steers this player.", BOTS) for name in _NAMES)
_CLOCK = tuple(Custom(name, None, CLOCK.help, CLOCK.form, CLOCK.read) for name in _NAMES)

player_options = OptionGroup(
    "players",
    make_players,
    option(PLAYERS),
    click.option(
        "--bot",
        "bots",
        type=Assignment(_BOT, "a match", "name=kind", "player"),
        multiple=True,
        help=f"The bot that steers a player without a script: {', '.join(BOTS)};"
        " may be repeated.  [default: A=hunter, the others runner]",
    ),
    click.option(
        "--clock",
        "clocks",
        type=Assignment(_CLOCK, "a match", "name=ahead[,rate]", "player"),
        multiple=True,
        help="A player's clock: how many seconds it is ahead, and its rate relative to real time.",
    ),
)


#: Any of these means no screen.
_HEADLESS_OPTIONS = {one.name for one in fields(OutputOptions)} | {"script", "duration"}
_HEADLESS_OPTIONS -= {"headless", "client", "record"}


@command(EXAMPLES, "players bot duration script s latency jitter loss headless show picture seed")
def play(
    techniques: Mapping[str, Any] = shared(technique_options),
    script: str | None = value(
        "Input over time; - is standard input. Lines are: TIME PLAYER left|right|up|down|"
        "stop [shoot|throw] [aim=PLAYER|aim=X,Y], or TIME set NAME=VALUE.",
        type=InputFile(),
        metavar="FILE",
    ),
    trust: bool = shared(trust_option),
    players: tuple[PlayerConfig, ...] = shared(player_options),
    duration: float = shared(option(DURATION)),
    seed: int = shared(seed_option("The same seed and script give the same bytes.")),
    link: TwoWayLink = shared(two_way_link_options("50ms", "One way.")),
    trace: TraceOptions = shared(two_way_trace_options),
    output: OutputOptions = shared(OutputOptions),
    quiet: bool = shared(quiet_option),
) -> int:
    """``epic play``.

    On a terminal it fills the screen: your client, the server and the other player's client side
    by side; steer with the arrow keys, the other keys are shown below. Otherwise, or with --script
    or an option of the output, it runs as fast as it can and writes a row for every frame, screen
    and player: what is drawn, and how far that is from the server's truth.

    Each client predicts its own player, sends its three newest moves in every packet, and
    reconciles with the server; a strategy draws the others. A shot carries what the shooter saw,
    and the server rewinds to that.

    Exit status: 0 done, 1 a line of --script or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a custom strategy failed, 130 interrupted.
    """
    given = given_options()
    check_network(trace)
    if script == "-" and trace.trace == "-":
        raise WrongUsage("--script and --trace cannot both be standard input", "script", "trace")
    spec = make_spec(techniques, players, link, seed)
    parsed = read_script(script, trust, spec, given)
    spec = begin_with(spec, parsed, given)
    parsed = parsed._replace(beginning=())
    output.check_names([player.name for player in spec.players])
    spec = over_network(spec, trace, link)
    parsed = with_changes(parsed, link, spec)
    if parsed.duration is not None and "duration" not in given:
        duration = parsed.duration
    output.check(duration)
    if _wants_screen(output.headless, script, given):
        from epic_cli.play.screen.game import play_on_terminal

        color = use_color("auto", sys.stdout)
        with open_optional(output.record) as sink, unrecordable():
            ended = play_on_terminal(spec, parsed, output.client, color, bool(output.record))
            keep_record(ended.recorder, sink)
        if not quiet:
            say(summary(ended.figures, ended.bumps))
        return ExitStatus.INTERRUPTED if ended.interrupted else ExitStatus.DONE
    with wrong_usage():
        run = HeadlessRun(spec, parsed, output.selection())
    with_summary = not quiet and output.show != "summary"
    try:
        write_match(run, output, duration)
    except KeyboardInterrupt:
        _summarise(run, with_summary)
        raise
    _summarise(run, with_summary)
    return ExitStatus.DONE


def _summarise(run: HeadlessRun, wanted: bool) -> None:
    if wanted:
        say(summary(run.figures(), run.statistics.bumps) + clipping(run.match.clipped))


def _wants_screen(headless: bool | None, script: str | None, given: set[str]) -> bool:
    if headless is not None:
        if not headless and (script or not has_terminal()):
            raise WrongUsage("--screen needs a terminal, and no --script", "screen", "script")
        return not headless
    return has_terminal() and not _HEADLESS_OPTIONS & given
