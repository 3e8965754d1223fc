"""The session's commands: click commands, from which completion and help are made as well."""

from __future__ import annotations

from epic_cli.repl.command_table import CommandTable
from epic_cli.repl.commands import help as help_commands
from epic_cli.repl.commands import packets, studies, timing, view

COMMANDS = CommandTable(
    "session",
    commands=[
        *view.COMMANDS,
        *timing.COMMANDS,
        *packets.COMMANDS,
        *studies.COMMANDS,
        *help_commands.COMMANDS,
    ],
)
