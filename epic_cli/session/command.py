"""``epic session``: packets typed by hand, and their rows.

The one command with two front ends to choose from: the session, and ``epic replay``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import checked
from epic_cli.jobs.replay.command import replay_options
from epic_cli.jobs.replay.run import ReplayOptions
from epic_cli.jobs.replay.run import run as run_replay
from epic_cli.shell.command_line import TYPED
from epic_cli.shell.console import use_color
from epic_cli.shell.declared import InputFile, command, flag, is_default, refuse, shared, value
from epic_cli.shell.errors import ExitStatus
from epic_cli.shell.options.common import trust_option

if TYPE_CHECKING:
    from epic_cli.session.loop import Opening

EXAMPLES = """\b
Examples:
  epic session
  epic session -s epic+calc_ahead=0.1 --tick 60hz
  epic session --format epic
"""


@dataclass(frozen=True)
class SessionOptions:
    """The options of a session that a replay lacks."""

    init: str | None = value(
        "Run a file of packets and commands first; without a terminal, only that. - is"
        " standard input.",
        type=InputFile(),
    )
    trust: bool = shared(trust_option)
    resume: bool = flag("Continue the last session, even after a crash.")
    history: bool = value(
        "Keep typed lines for later sessions.", "--history/--no-history", default=True
    )
    hints: bool = value(
        "Show what a packet still needs, and suggestions.", "--hints/--no-hints", default=True
    )
    proposals: bool = value("Propose the next packet.", "--proposals/--no-proposals", default=True)
    toolbar: bool = value(
        "Show the session's state at the bottom.", "--toolbar/--no-toolbar", default=True
    )
    keys: str = value(
        "The editing keys; F4 switches between them.",
        type=click.Choice(["emacs", "vi"]),
        default="emacs",
        show_default=True,
    )


#: The options of replays that a session has commands for instead.
_REPLAYS_ONLY = ("output", "entity", "strict", "file_column")


@command(EXAMPLES, "s set latency tick f o entity read resume")
def session(
    options: ReplayOptions = shared(replay_options), own: SessionOptions = shared(SessionOptions)
) -> int:
    """``epic session``.

    Change the strategy and see what would have been drawn. This is what epic alone does on a
    terminal.

    Lines that begin with a colon are commands (:help lists them); all others are packets. Typed
    lines are saved, and "epic --resume" continues the session.

    Without a terminal, "epic session < script" runs such lines from standard input and ends;
    "epic < packets" is "epic replay", and so is a FILE.
    """
    is_script = own.init is not None or click.get_current_context().meta.get(TYPED, False)
    if is_script and not options.files and not _on_terminal():
        refuse(_REPLAYS_ONLY, "is for replays; a session has :save, :export and :load")
        return _run_script(options, own)
    if options.files or not _on_terminal():
        own_names = [one.name for one in fields(SessionOptions)]
        refuse(own_names, "is for a session, which needs a terminal and no FILE")
        return run_replay(options)
    refuse(_REPLAYS_ONLY, "is for replays; a session has :save, :export and :load")
    from epic_cli.session.loop import run

    run(_opening(options, own))
    return ExitStatus.DONE


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None


def _run_script(options: ReplayOptions, own: SessionOptions) -> int:
    from epic_cli.session.loop import run_script
    from epic_cli.shell.sources import read_file, source_name

    refuse(("resume",), "is for a session, which needs a terminal")
    path = "-" if own.init is None else own.init
    script = read_file(path, lambda stream: stream.read())
    is_done = run_script(_opening(options, own), script, source_name(path))
    return ExitStatus.DONE if is_done else ExitStatus.LINES_REFUSED


def _opening(options: ReplayOptions, own: SessionOptions) -> Opening:
    from epic_cli.session.dialogue import Preferences
    from epic_cli.session.loop import Opening

    return Opening(
        _view(options),
        None if is_default("row_format") else options.row_format,
        use_color(options.color, sys.stdout),
        own.init,
        own.trust,
        own.resume,
        own.history,
        Preferences(own.hints, own.proposals, own.toolbar, own.keys == "vi"),
    )


def _view(options: ReplayOptions) -> ReplaySpec:
    """How the session shows its packets at first; raises ``ValueError`` for wrong settings."""
    chosen = options.chosen
    return ReplaySpec(
        StrategySpec(chosen.name, checked(chosen.name, chosen.settings)), options.timing
    )
