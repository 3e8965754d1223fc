"""The table of a session's commands: its own, and the shell's, run on the typed packets.

``:compare -s a,b`` is ``epic compare -s a,b``: a command of the shell runs unchanged. The packets
of the session are its standard input, the session's timing and strategy its defaults, and its
output stands above the prompt.
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

from epic_cli.engine.parameters import find_nearest
from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import write_spec
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.files import KEY, guard_files
from epic_cli.session.state import TYPED
from epic_cli.shell.command_line import epic
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.declared import list_completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.session.terminal import Screen

#: The command that a session is.
_SESSION = "session"

#: The first commands of ``:help``: those for a newcomer.
BEGIN = ("load", "plot", "compare", "strategy", "diagnose", "samples")

#: The beginning of messages on standard error, which the prompt replaces.
_PROGRAM = re.compile(r"^epic: ", re.MULTILINE)


def register_command(
    name: str, summary: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that registers a function as a command of the session.

    The function is given the ``SessionController``. ``summary`` is the command's help if the
    function has no docstring.
    """
    settings = {"help_option_names": ["-h", "--help"]}
    decorate = click.command(name, help=summary, context_settings=settings)
    return lambda function: decorate(click.pass_obj(function))


class CommandTable(click.Group):
    """The session's own commands, and those of the shell under the remaining names.

    A name may be shortened as long as it is unambiguous.
    """

    def __init__(self, commands: list[click.Command]) -> None:
        super().__init__("session", commands=commands)
        self._loaded: dict[str, click.Command] = {}

    def list_summaries(self) -> list[tuple[str, str]]:
        """Return the commands in the order of ``:help``, each with a sentence; load no command."""
        own = {name: _shorten_help(one) for name, one in self.commands.items()}
        left = {name: one.summary for name, one in COMMANDS.items() if name != _SESSION}
        known = {**left, **own}
        order = dict.fromkeys([*BEGIN, *own, *left])
        return [(name, known[name]) for name in order]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in the order of ``:help``."""
        del ctx
        return [name for name, _ in self.list_summaries()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the session's command with this name, or else the shell's command."""
        if cmd_name not in self.commands and cmd_name not in self._loaded:
            found = None if cmd_name == _SESSION else epic.get_command(ctx, cmd_name)
            if found is None:
                return None
            self._loaded[cmd_name] = found
        return self.commands.get(cmd_name) or self._loaded[cmd_name]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Propose the commands that begin with the typed text."""
        del ctx
        return list_completions(self.list_summaries(), incomplete)

    def find(self, name: str) -> str:
        """Return the name of the command with this name or beginning.

        Raise ``click.UsageError``.
        """
        known = [command for command, _ in self.list_summaries()]
        begun = [command for command in known if command.startswith(name)] if name else []
        if name in known or len(begun) == 1:
            return name if name in known else begun[0]
        if begun:
            raise click.UsageError(
                f"':{name}' is ambiguous: " + ", ".join(f":{command}" for command in begun)
            )
        near = find_nearest(name, known)
        hint = f"did you mean ':{near}'?" if near else "':help' lists the commands"
        raise click.UsageError(f"no command ':{name}'; {hint}")

    def list_defaults(self, found: click.Command, view: ReplaySpec, color: bool) -> dict[str, Any]:
        """Return the session's values for a shell command's options; the typed line overrides them.

        They are only those that differ from a new session's, in which ``:compare`` is ``epic
        compare``.
        """
        values: dict[str, Any] = dict(found.context_settings.get("default_map") or {})
        if found in self.commands.values():
            return values
        for setting in TIMING:
            value = getattr(view.timing, setting.name)
            if value != setting.default:
                values[setting.name] = setting.write(value)
        values["color"] = "always" if color else "never"
        if view.strategy != ReplaySpec().strategy:  # play has another default
            values["strategy"] = write_spec(view.strategy.name, view.strategy.settings)
        return values

    @contextmanager
    def run_attached(
        self, name: str, root: click.Context, screen: Screen, lines: list[bytes]
    ) -> Iterator[None]:
        """Connect a command's output and input to the session within the block.

        ``lines`` are the packets so far, ``root`` the context of all commands. On a screen the
        results of jobs are shown at their end, long ones in a pager; a game, a proxy and others
        that are no jobs have the terminal to themselves.
        """
        is_own = name in self.commands
        with ExitStack() as ending:
            if not is_own:
                root.meta[KEY] = ending.enter_context(guard_files())
            if screen.has_cursor and not (is_own or COMMANDS[name].is_job):
                ending.enter_context(screen.released())
                yield
                screen.begin_table()
                return
            messages = _open_above_prompt(screen, lambda text: _PROGRAM.sub("", text))
            if screen.has_cursor:
                output = ending.enter_context(_open_pager(screen))
            else:
                output = _open_above_prompt(screen, str)
            ending.enter_context(redirect_stdout(output))
            ending.enter_context(redirect_stderr(messages))
            if not is_own:
                ending.enter_context(_replace_stdin(lines))
            yield
            output.flush()


class _TypedPacketsInput(io.TextIOWrapper):
    """Standard input of a command: the packets so far, as they were typed."""

    recording_name = TYPED


@contextmanager
def _replace_stdin(lines: list[bytes]) -> Iterator[None]:
    before = sys.stdin
    with tempfile.TemporaryFile() as packets, _TypedPacketsInput(packets, "utf-8") as source:
        packets.writelines(lines)
        packets.seek(0)
        sys.stdin = source
        try:
            yield
        finally:
            sys.stdin = before


class _StoredOutput(io.BytesIO):
    """The output of a command, stored to be shown to a person."""

    def isatty(self) -> bool:
        """Return True, since a person will read the output."""
        return True


class _PagedOutput(io.TextIOWrapper):
    """The standard output of a command whose output is shown from the first line on."""

    paged = True


def _shorten_help(command: click.Command) -> str:
    """Return the first sentences of a command's help, without dots where a sentence ends."""
    text = command.get_short_help_str(200)
    return text.removesuffix("...") if text.endswith("....") else text


@contextmanager
def _open_pager(screen: Screen) -> Iterator[io.TextIOWrapper]:
    """Yield a stream whose content is shown in a pager at the end of the block.

    After an interrupt its last lines are shown.
    """
    held = _StoredOutput()

    def iterate_text() -> str:
        return held.getvalue().decode(screen.encoding, "replace")

    try:
        yield _PagedOutput(held, screen.encoding, "replace", write_through=True)
    except KeyboardInterrupt:
        screen.write_text("".join(iterate_text().splitlines(keepends=True)[-screen.lines :]))
        raise
    except BaseException:
        screen.show_page(iterate_text())
        raise
    screen.show_page(iterate_text())


def _open_above_prompt(screen: Screen, change: Callable[[str], str]) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(_AbovePromptStream(screen, change))
    return io.TextIOWrapper(buffered, screen.encoding, "replace", write_through=True)


class _AbovePromptStream(io.RawIOBase):
    """A command's standard output or error, which is written above the prompt.

    ``change`` is applied to the text first.
    """

    def __init__(self, screen: Screen, change: Callable[[str], str]) -> None:
        self._screen = screen
        self._change = change

    def writable(self) -> bool:
        """Return True: the stream can be written."""
        return True

    def isatty(self) -> bool:
        """Return True if a person sees the output at once."""
        return self._screen.shows_messages

    def write(self, data: Any) -> int:
        """Write the text, changed by ``change``, above the prompt."""
        text = bytes(data).decode(self._screen.encoding, "replace")
        self._screen.write_text(self._change(text))
        return len(data)
