"""The session's commands: click commands, from which completion and help are made as well."""

from __future__ import annotations

import click

from epic_cli.engine.declaration import nearest
from epic_cli.repl.commands import comparison, keep, packets, timing, view


class Commands(click.Group):
    """All commands; a name may be shortened as long as it stays clear which is meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of ``:help``."""
        del ctx
        return list(self.commands)


COMMANDS = Commands(
    "session",
    commands=[
        *view.COMMANDS,
        *timing.COMMANDS,
        *packets.COMMANDS,
        *comparison.COMMANDS,
        *keep.COMMANDS,
    ],
)


def resolve(name: str) -> click.Command:
    """The command of this name or beginning; raises ``click.UsageError`` with the nearest."""
    known = COMMANDS.commands
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
