"""``epic`` alone: the session on a terminal, a replay of standard input elsewhere."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from epic_cli.cli.replay import replay
from epic_cli.engine.strategies import DEFAULT, checked, create
from epic_cli.playback import Timing
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage

EXAMPLES = """\b
Examples:
  epic session
  epic session --set calc_ahead=0.1 --tick 60hz
  epic session --format epic
"""

#: The options that a replay does not have.
OWN_OPTIONS: list[click.Parameter] = [
    click.Option(["--init"], type=click.Path(), help="Run a file of packets and commands first."),
    click.Option(
        ["--resume"], is_flag=True, help="Go on with the last session, after a crash too."
    ),
    click.Option(
        ["--history/--no-history"], default=True, help="Keep typed lines for later sessions."
    ),
    click.Option(
        ["--hints/--no-hints"],
        default=True,
        help="Show what a packet still lacks, and suggestions.",
    ),
    click.Option(["--proposals/--no-proposals"], default=True, help="Propose the next packet."),
    click.Option(["--toolbar/--no-toolbar"], default=True, help="Show the state at the bottom."),
    click.Option(
        ["--keys"],
        type=click.Choice(["emacs", "vi"]),
        default="emacs",
        show_default=True,
        help="The editing keys; F4 changes them.",
    ),
]


@click.pass_context
def _run(context: click.Context, /, **values: Any) -> int:
    own = {option.name: values.pop(option.name) for option in OWN_OPTIONS if option.name}
    if values["files"] or not _on_terminal():
        _refuse(context, list(own), "is for a session, which needs a terminal and no FILE")
        status: int = context.invoke(replay, **values)
        return status
    alien = ["output", "entity", "input_format", "strict"]
    _refuse(context, alien, "is for replays; a session has :save, :export and :load")
    _open(context, values, own)
    return ExitStatus.DONE


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None


def _refuse(context: click.Context, names: list[str], why: str) -> None:
    for option in context.command.params:
        if option.name in names and _is_given(context, option.name):
            raise WrongUsage(f"{option.opts[-1]} {why}")


def _is_given(context: click.Context, name: str | None) -> bool:
    return context.get_parameter_source(name or "") == ParameterSource.COMMANDLINE


def _open(context: click.Context, values: dict[str, Any], own: dict[str, Any]) -> None:
    from epic_cli.repl.app import Options, run
    from epic_cli.repl.interpreter import Switches
    from epic_cli.repl.session import View

    strategy = values["strategy"] or DEFAULT
    given = checked(strategy, dict(values["assignments"]))
    create(strategy, given)  # wrong settings show before the session begins
    timing = Timing(values["tick"], values["clock"], values["pacing"], values["latency"])
    plain = context.get_parameter_source("row_format") == ParameterSource.DEFAULT
    run(
        Options(
            View(strategy, given, timing),
            None if plain else values["row_format"],
            use_color(values["color"], sys.stdout),
            own["init"],
            own["resume"],
            own["history"],
            Switches(own["hints"], own["proposals"], own["toolbar"], own["keys"] == "vi"),
        )
    )


session = click.Command(
    "session",
    params=[*replay.params, *OWN_OPTIONS],
    callback=_run,
    epilog=EXAMPLES,
    help="""Type packets and see the rows at once.

    Change the strategy and see what would have been. This is what epic alone does on a terminal.

    Lines that begin with a colon are commands (:help lists them); all others are packets. What is
    typed is kept, and "epic --resume" goes on with it. With a FILE, or without a terminal, this is
    "epic replay".
    """,
)
