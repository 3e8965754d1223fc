"""What the session's commands share."""

from __future__ import annotations

from collections.abc import Callable

import click

from epic_cli.repl.interpreter import Interpreter

pass_interpreter = click.make_pass_decorator(Interpreter)


class SessionCommand(click.Command):
    """A command whose help goes where the session's notes go."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.ensure_object(Interpreter).screen.say(ctx.get_help())
        ctx.exit()


def command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """Makes a function a command of the session; it is given the ``Interpreter``."""

    def decorate(function: Callable[..., None]) -> click.Command:
        return click.command(
            name, cls=SessionCommand, context_settings={"help_option_names": ["-h", "--help"]}
        )(pass_interpreter(function))

    return decorate
