"""How the session's commands are declared and found: click commands on a ``Dialogue``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.parameter_base import nearest
from epic_cli.session import shell_commands
from epic_cli.session.dialogue import Dialogue
from epic_cli.shell.declared import completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

pass_dialogue = click.make_pass_decorator(Dialogue)


class SessionCommand(click.Command):
    """A command whose help goes where the session's messages go."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    dialogue = ctx.find_object(Dialogue)
    if wanted and dialogue and not ctx.resilient_parsing:
        show_help(dialogue, ctx)
        ctx.exit()


def show_help(dialogue: Dialogue, context: click.Context) -> None:
    """Shows what a command does, no wider than the window."""
    columns = min(dialogue.screen.columns, 80)
    formatter = click.HelpFormatter(width=columns - 2)
    context.command.format_help(context, formatter)
    dialogue.screen.page(formatter.getvalue())


def command(
    name: str, summary: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Makes a function a command of the session; it is given the ``Dialogue``.

    ``summary`` is its help where the function has no docstring for it.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        return click.command(
            name,
            cls=SessionCommand,
            help=summary,
            context_settings={"help_option_names": ["-h", "--help"]},
        )(pass_dialogue(function))

    return decorate


class CommandTable(click.Group):
    """The session's own commands, and those of the shell under the names that are left.

    A name may be shortened as long as it stays clear which is meant.
    """

    def summaries(self) -> list[tuple[str, str]]:
        """The commands in the order of ``:help``, each with a sentence; none is loaded."""
        own = [(name, one.get_short_help_str(200)) for name, one in self.commands.items()]
        shells = [one for one in shell_commands.names() if one not in self.commands]
        return own + [(name, shell_commands.summary(name)) for name in shells]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of ``:help``."""
        del ctx
        return [name for name, _ in self.summaries()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The session's command of this name, or else the shell's."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name not in self._loaded and cmd_name in shell_commands.names():
            self._loaded[cmd_name] = shell_commands.load(ctx, cmd_name)
        return self._loaded.get(cmd_name)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._loaded: dict[str, click.Command] = {}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin like this."""
        del ctx
        return completions(self.summaries(), incomplete)

    def find(self, name: str) -> str:
        """The command that this name or beginning means; raises ``click.UsageError``."""
        known = [one for one, _ in self.summaries()]
        if name in known:
            return name
        begun = [one for one in known if one.startswith(name)] if name else []
        if len(begun) == 1:
            return begun[0]
        if begun:
            raise click.UsageError(f"':{name}' may be " + ", ".join(f":{one}" for one in begun))
        near = nearest(name, known)
        hint = f"did you mean ':{near}'?" if near else "':help' lists the commands"
        raise click.UsageError(f"there is no command ':{name}'; {hint}")
