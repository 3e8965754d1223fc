"""The session itself: history, keys, help, what is shown, the way out."""

from __future__ import annotations

import click

from epic_cli.repl.commands.common import command
from epic_cli.repl.interpreter import Interpreter

KEYS = (
    ("Enter", "take the packet or run the command"),
    ("Right, Ctrl-E", "accept the proposed packet or the suggestion"),
    ("Tab", "complete a command, a strategy, a setting, a file"),
    ("Up, Down", "earlier and later lines"),
    ("Ctrl-R", "search the history"),
    ("Ctrl-C", "drop the line; stop a running command"),
    ("Ctrl-D", "on an empty line: leave"),
    ("F4", "emacs or vi keys"),
    ("Ctrl-L", "clear the screen"),
    ("Ctrl-Z", "put the session into the background"),
    ("q", "at the start of a line, then Enter: leave"),
)


@command("history")
@click.argument("count", default=20, type=click.IntRange(1), metavar="[N]")
def history(interpreter: Interpreter, count: int) -> None:
    """Show the last N lines of the history."""
    lines = interpreter.earlier_lines()[-count:]
    interpreter.screen.say("\n".join(lines) if lines else "the history is empty")


@command("keys")
def keys(interpreter: Interpreter) -> None:
    """Show what the keys do."""
    interpreter.screen.say("\n".join(f"{key:<15} {what}" for key, what in KEYS))


@command("toolbar")
@click.argument("state", type=click.Choice(["on", "off"]))
def toolbar(interpreter: Interpreter, state: str) -> None:
    """Show the toolbar at the bottom, or do not."""
    interpreter.switches.toolbar = state == "on"


@command("hints")
@click.argument("state", type=click.Choice(["on", "off"]))
def hints(interpreter: Interpreter, state: str) -> None:
    """Show what a packet still lacks, and suggestions from the history, or do not."""
    interpreter.switches.hints = state == "on"


@command("proposals")
@click.argument("state", type=click.Choice(["on", "off"]))
def proposals(interpreter: Interpreter, state: str) -> None:
    """Propose the next packet, or do not."""
    interpreter.switches.proposals = state == "on"


@command("help")
@click.argument("name", required=False)
def help_(interpreter: Interpreter, name: str | None) -> None:
    """List the commands, or explain one."""
    from epic_cli.repl.commands import COMMANDS, resolve

    screen = interpreter.screen
    if name is not None:
        found = resolve(name.removeprefix(":"))
        screen.say(found.get_help(click.Context(found, info_name=f":{found.name}")))
        return
    room = max(screen.columns - 14, 20)
    lines = ["A line x,y,z / vx,vy,vz / t is a packet; its rows follow. q leaves."]
    lines += [
        f"  :{one:<11}{found.get_short_help_str(room)}" for one, found in COMMANDS.commands.items()
    ]
    screen.say("\n".join(lines) + "\n:help NAME or :NAME --help says more; :keys shows the keys.")


@command("quit")
def quit_(interpreter: Interpreter) -> None:
    """Leave the session; epic --resume brings it back."""
    interpreter.ended = True


COMMANDS = [history, keys, toolbar, hints, proposals, help_, quit_]
