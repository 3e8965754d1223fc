"""The commands of a session: its own, and every command of ``epic`` on what was typed.

``:compare -s a,b`` is ``epic compare -s a,b``: a command of the shell runs as it is. The packets of
the session are its standard input, the session's timing and strategy its defaults, and what it
writes stands above the prompt.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.parameters import nearest
from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import written
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.files import KEY, guarding
from epic_cli.session.state import TYPED
from epic_cli.shell.command_line import epic
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.declared import completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.session.terminal import Screen

#: The command that a session is.
_SESSION = "session"

#: What a newcomer needs comes first.
BEGIN = ("load", "plot", "compare", "strategy", "diagnose", "samples")

#: What a message on standard error begins with; the prompt says it.
_PROGRAM = re.compile(r"^epic: ", re.MULTILINE)


def command(
    name: str, summary: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Makes a function a command of the session; it is given the ``SessionController``.

    ``summary`` is its help where the function has no docstring for it.
    """
    settings = {"help_option_names": ["-h", "--help"]}
    decorate = click.command(name, help=summary, context_settings=settings)
    return lambda function: decorate(click.pass_obj(function))


class CommandTable(click.Group):
    """The session's own commands, and those of the shell under the names that are left.

    A name may be shortened as long as it stays clear which is meant.
    """

    def __init__(self, commands: list[click.Command]) -> None:
        super().__init__("session", commands=commands)
        self._loaded: dict[str, click.Command] = {}

    def summaries(self) -> list[tuple[str, str]]:
        """The commands in the order of ``:help``, each with a sentence; none is loaded."""
        own = {name: one.get_short_help_str(200) for name, one in self.commands.items()}
        left = {name: one.summary for name, one in COMMANDS.items() if name != _SESSION}
        known = {**left, **own}
        order = dict.fromkeys([*BEGIN, *own, *left])
        return [(name, known[name]) for name in order]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of ``:help``."""
        del ctx
        return [name for name, _ in self.summaries()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The session's command of this name, or else the shell's, with its configuration."""
        if cmd_name not in self.commands and cmd_name not in self._loaded:
            found = None if cmd_name == _SESSION else epic.get_command(ctx, cmd_name)
            if found is None:
                return None
            self._loaded[cmd_name] = found
        return self.commands.get(cmd_name) or self._loaded[cmd_name]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin like this."""
        del ctx
        return completions(self.summaries(), incomplete)

    def find(self, name: str) -> str:
        """The command that this name or beginning means; raises ``click.UsageError``."""
        known = [command for command, _ in self.summaries()]
        begun = [command for command in known if command.startswith(name)] if name else []
        if name in known or len(begun) == 1:
            return name if name in known else begun[0]
        if begun:
            raise click.UsageError(
                f"':{name}' may be " + ", ".join(f":{command}" for command in begun)
            )
        near = nearest(name, known)
        hint = f"did you mean ':{near}'?" if near else "':help' lists the commands"
        raise click.UsageError(f"there is no command ':{name}'; {hint}")

    def defaults(self, found: click.Command, view: ReplaySpec, color: bool) -> dict[str, Any]:
        """What the session decides for a command of the shell, unless its line does.

        Only what differs from a new session's, where ``:compare`` is ``epic compare``.
        """
        values: dict[str, Any] = dict(found.context_settings.get("default_map") or {})
        if found in self.commands.values():
            return values
        for setting in TIMING:
            value = getattr(view.timing, setting.name)
            if value != setting.default:
                values[setting.name] = setting.write(value)
        values["color"] = "always" if color else "never"
        if view.strategy != ReplaySpec().strategy:  # that of play is another
            values["strategy"] = written(view.strategy.name, view.strategy.settings)
        return values

    @contextmanager
    def running(
        self, name: str, root: click.Context, screen: Screen, lines: list[bytes]
    ) -> Iterator[None]:
        """Lets a command run within the block: what it writes, and what the shell's read.

        ``lines`` are the packets so far, ``root`` the context of all commands. On a screen the
        results of jobs are shown at their end, in a pager where they are long; what is no job, a
        game or a proxy, has the terminal to itself.
        """
        is_own = name in self.commands
        with ExitStack() as ending:
            if not is_own:
                root.meta[KEY] = ending.enter_context(guarding())
            if screen.has_cursor and not (is_own or COMMANDS[name].is_job):
                ending.enter_context(screen.released())
                yield
                screen.begin_table()
                return
            messages = _above_prompt(screen, lambda text: _PROGRAM.sub("", text))
            if screen.has_cursor:
                output = ending.enter_context(_paged(screen))
            else:
                output = _above_prompt(screen, str)
            ending.enter_context(redirect_stdout(output))
            ending.enter_context(redirect_stderr(messages))
            if not is_own:
                ending.enter_context(_typed_packets(lines))
            yield
            output.flush()


class _TypedPackets(io.TextIOWrapper):
    """Standard input of a command: the packets so far, as they were typed."""

    recording_name = TYPED


@contextmanager
def _typed_packets(lines: list[bytes]) -> Iterator[None]:
    before = sys.stdin
    with tempfile.TemporaryFile() as packets, _TypedPackets(packets, "utf-8") as source:
        packets.writelines(lines)
        packets.seek(0)
        sys.stdin = source
        try:
            yield
        finally:
            sys.stdin = before


class _Held(io.BytesIO):
    """What a command writes, kept for a person."""

    def isatty(self) -> bool:
        """As a terminal: it is for one."""
        return True


class _Pages(io.TextIOWrapper):
    """Standard output of a command, whose first lines are seen first."""

    paged = True


@contextmanager
def _paged(screen: Screen) -> Iterator[io.TextIOWrapper]:
    """An output that is shown at its end; after an interrupt only its last lines are."""
    held = _Held()

    def text() -> str:
        return held.getvalue().decode(screen.encoding, "replace")

    try:
        yield _Pages(held, screen.encoding, "replace", write_through=True)
    except KeyboardInterrupt:
        screen.write_text("".join(text().splitlines(keepends=True)[-screen.lines :]))
        raise
    except BaseException:
        screen.page(text())
        raise
    screen.page(text())


def _above_prompt(screen: Screen, change: Callable[[str], str]) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(_AbovePrompt(screen, change))
    return io.TextIOWrapper(buffered, screen.encoding, "replace", write_through=True)


class _AbovePrompt(io.RawIOBase):
    """Standard output or error of a command: the session's screen; ``change`` is made of text."""

    def __init__(self, screen: Screen, change: Callable[[str], str]) -> None:
        self._screen = screen
        self._change = change

    def writable(self) -> bool:
        """It can be written."""
        return True

    def isatty(self) -> bool:
        """Whether a person sees at once what is written."""
        return self._screen.shows_messages

    def write(self, data: Any) -> int:
        """Writes it above the prompt."""
        text = bytes(data).decode(self._screen.encoding, "replace")
        self._screen.write_text(self._change(text))
        return len(data)
