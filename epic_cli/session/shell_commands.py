"""Every command of ``epic`` on what was typed: ``:compare -s a,b`` is ``epic compare -s a,b``.

A command of the shell runs as it is: the packets of the session are its standard input, its
defaults are the session's timing and strategy, and what it writes stands above the prompt.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import written
from epic_cli.recordings.files import KEY, guarding
from epic_cli.session.dialogue import TYPED, Dialogue
from epic_cli.shell.command_line import epic
from epic_cli.shell.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.engine.replay.playback import ReplaySpec
    from epic_cli.session.screen import Screen

#: The command that a session is.
_SESSION = "session"

#: What ends each message of a command on standard error begins with; here the prompt says it.
_PROGRAM = re.compile(r"^epic: ", re.MULTILINE)


class _TypedPackets(io.TextIOWrapper):
    """Standard input of a command: the packets so far, as they were typed."""

    recording_name = TYPED


class _AbovePrompt(io.RawIOBase):
    """Standard output and error of a command: the session's screen."""

    def __init__(self, screen: Screen, shown: Callable[[str], str] = str) -> None:
        self._screen = screen
        self._shown = shown

    def writable(self) -> bool:
        """It can be written."""
        return True

    def isatty(self) -> bool:
        """Whether a person sees at once what is written."""
        return self._screen.is_window

    def write(self, data: Any) -> int:
        """Writes it above the prompt."""
        self._screen.write_text(self._shown(bytes(data).decode(self._screen.encoding, "replace")))
        return len(data)


def names() -> list[str]:
    """The commands of the shell that a session has, too."""
    return [name for name in COMMANDS if name != _SESSION]


def summary(name: str) -> str:
    """The first sentence of a command's help; the command is not loaded."""
    return COMMANDS[name].summary


def load(context: click.Context, name: str) -> click.Command:
    """A command of the shell, with the defaults of the configuration."""
    found = epic.get_command(context, name)
    assert found is not None
    return found


def defaults(command: click.Command, dialogue: Dialogue) -> dict[str, Any]:
    """What the session decides for a command, unless its line does: timing, strategy, colour.

    Only what differs from the session's own defaults, so that ``:compare`` of a new session is
    ``epic compare``.
    """
    view = dialogue.session.view
    found: dict[str, Any] = dict(command.context_settings.get("default_map") or {})
    found["color"] = "always" if dialogue.screen.color else "never"
    for setting in TIMING:
        value = getattr(view.timing, setting.name)
        if value != setting.default:
            found[setting.name] = setting.write(value)
    return {**found, **_strategy(view)}


def _strategy(view: ReplaySpec) -> dict[str, Any]:
    """For the commands that draw with one strategy."""
    name, settings = view.strategy.name, view.strategy.settings
    return {"strategy": written(name, settings)}


@contextmanager
def on_typed_packets(dialogue: Dialogue, context: click.Context) -> Iterator[None]:
    """Lets the commands of the shell work on the session while the block runs."""
    screen = dialogue.screen
    with (
        tempfile.TemporaryFile() as packets,
        _TypedPackets(packets, "utf-8", "surrogateescape") as source,
        guarding() as context.meta[KEY],
    ):
        for lines in dialogue.session.packets.texts():
            packets.write(lines)
        packets.seek(0)
        output, messages = (
            io.TextIOWrapper(io.BufferedWriter(raw), screen.encoding, "replace", write_through=True)
            for raw in (
                _AbovePrompt(screen),
                _AbovePrompt(screen, lambda text: _PROGRAM.sub("", text)),
            )
        )
        before, sys.stdin = sys.stdin, source
        try:
            with redirect_stdout(output), redirect_stderr(messages):
                yield
                output.flush()
        finally:
            sys.stdin = before
