"""Help: what commands and keys do, what is shown while typing, earlier lines; and the way out."""

from __future__ import annotations

import click

from epic_cli.session.command_table import CommandTable, command, show_help
from epic_cli.session.dialogue import Dialogue

KEYS = (
    ("Enter", "enter the packet or run the command"),
    ("Right, Ctrl-E", "accept the proposed packet or the suggestion"),
    ("Tab", "complete a command, a strategy, a setting, a file"),
    ("Up, Down", "earlier and later lines"),
    ("Ctrl-R", "search the history"),
    ("Ctrl-C", "drop the line; stop a running command"),
    ("Ctrl-D", "on an empty line, leave"),
    ("F4", "emacs or vi keys; with vi keys the prompt begins with the mode: ins, cmd or rep"),
    ("Ctrl-L", "clear the screen"),
    ("Ctrl-Z", "suspend the session"),
    ("q", "at the start of a line, then Enter: leave"),
)


@command("history")
@click.argument("count", default=20, type=click.IntRange(1), metavar="[N]")
def history(dialogue: Dialogue, count: int) -> None:
    """Show the last N lines of the history."""
    lines = dialogue.earlier_lines()[-count:]
    dialogue.screen.say("\n".join(lines) if lines else "the history is empty")


@command("keys")
def keys(dialogue: Dialogue) -> None:
    """Show what the keys do."""
    from rich.console import Group

    from epic_cli.show.text import definitions

    dialogue.screen.show(Group(*definitions(KEYS, dialogue.screen.columns)), paged=True)


def _switch(name: str, summary: str) -> click.Command:
    """The command that turns one of the preferences on or off."""

    @command(name, summary)
    @click.argument("state", required=False, type=click.Choice(["on", "off"]))
    def switch(dialogue: Dialogue, state: str | None) -> None:
        if state is None:
            is_on = getattr(dialogue.preferences, name)
            dialogue.screen.say(f"{name} {'on' if is_on else 'off'}")
            return
        dialogue.preferences = dialogue.preferences._replace(**{name: state == "on"})

    return switch


@command("help")
@click.argument("name", required=False)
@click.pass_context
def help_(context: click.Context, dialogue: Dialogue, name: str | None) -> None:
    """List the commands, or explain one."""
    table = context.find_root().command
    assert isinstance(table, CommandTable)
    screen = dialogue.screen
    if name is not None:
        name = table.find(name.removeprefix(":"))
        found = table.get_command(context.find_root(), name)
        assert found is not None
        show_help(dialogue, click.Context(found, info_name=f":{name}"))
        return
    from rich.console import Group

    from epic_cli.show.text import definitions, paragraph

    room = screen.columns
    items = [(f":{one}", words) for one, words in table.summaries()]
    lines = [
        *paragraph("A line x,y,z / vx,vy,vz / t is a packet; its rows follow. q leaves.", room),
        *definitions(items, room, "  "),
        *paragraph(":help NAME or :NAME --help says more; :keys shows the keys.", room),
    ]
    screen.show(Group(*lines), paged=True)


@command("quit")
def quit_(dialogue: Dialogue) -> None:
    """Leave the session; epic --resume continues it."""
    dialogue.ended = True


COMMANDS = [
    history,
    keys,
    _switch("toolbar", "Turn the toolbar at the bottom on or off."),
    _switch(
        "hints", "Turn hints on or off: what a packet still needs, and lines from the history."
    ),
    _switch("proposals", "Turn proposals of the next packet on or off."),
    help_,
    quit_,
]
