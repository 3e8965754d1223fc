"""How the session's commands are declared and found: click commands on a ``Dialogue``."""

from __future__ import annotations

from collections.abc import Callable

import click

from epic_cli.engine.parameter_base import nearest
from epic_cli.session.dialogue import Dialogue

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
    """The commands; a name may be shortened as long as it stays clear which is meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of ``:help``."""
        del ctx
        return list(self.commands)

    def find(self, name: str) -> click.Command:
        """The command of this name or beginning; raises ``click.UsageError`` with the nearest."""
        known = self.commands
        if name in known:
            return known[name]
        begun = [one for one in known if one.startswith(name)] if name else []
        if len(begun) == 1:
            return known[begun[0]]
        if begun:
            raise click.UsageError(f"':{name}' may be " + ", ".join(f":{one}" for one in begun))
        near = nearest(name, list(known))
        hint = f"did you mean ':{near}'?" if near else "':help' lists the commands"
        raise click.UsageError(f"there is no command ':{name}'; {hint}")
