"""The program ``epic``: its commands, their defaults, and how it ends.

The top floor: only here is it known that some commands open a screen and others only write.
Without click: a plain replay is done before click would be there.
"""

from __future__ import annotations

import gc
import os
import sys

from epic_cli.ui.endings import ending_of
from epic_cli.ui.plain import Plain, plain_replay


def main(args: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    words = sys.argv[1:] if args is None else args
    plain = plain_replay(words)
    return _run_with_click(words) if plain is None else _replay(plain)


def run() -> None:
    """The entry point of the command ``epic``."""
    gc.disable()  # what a start makes is there to stay: looking through it finds nothing
    plain = plain_replay(sys.argv[1:])
    if plain is None:
        sys.exit(_run_with_click(sys.argv[1:]))
    status = _replay(plain)
    # all is written, and nothing is left to be put away: Python's own end takes 4 ms
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(status)


def _run_with_click(words: list[str]) -> int:
    from epic_cli.ui.command_line import run_command_line

    return ending_of(lambda: run_command_line(words))


def _replay(plain: Plain) -> int:
    from epic_cli.engine.strategies import DEFAULT
    from epic_cli.ui.io.replaying import ReplayOptions, StrategyChoice
    from epic_cli.ui.io.replaying import run as replay

    gc.freeze()
    gc.enable()
    options = ReplayOptions(
        plain.files,
        StrategyChoice(plain.strategy or DEFAULT),
        row_format=plain.row_format or "epic",
    )
    return ending_of(lambda: replay(options))
