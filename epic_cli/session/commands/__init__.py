"""The session's commands: click commands, from which completion and help are made as well."""

from __future__ import annotations

from epic_cli.session.command_table import CommandTable
from epic_cli.session.commands import help as help_commands
from epic_cli.session.commands import listening, packets, plotting, view

COMMANDS = CommandTable(
    "session",
    commands=[
        *view.COMMANDS,
        *packets.COMMANDS,
        *listening.COMMANDS,
        packets.golden,
        *plotting.COMMANDS,
        *help_commands.COMMANDS,
    ],
)
