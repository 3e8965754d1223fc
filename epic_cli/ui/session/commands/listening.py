"""Packets from a socket, beside those that are typed."""

from __future__ import annotations

import click

from epic_cli.analysis.digits import counted
from epic_cli.live.addresses import Address, parse_address
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.io.timing import OrWord
from epic_cli.ui.session.command_table import command
from epic_cli.ui.session.dialogue import Dialogue
from epic_cli.ui.session.listening import Listening


@command("listen")
@click.argument(
    "address",
    required=False,
    type=OrWord(Parsed("[HOST:]PORT", parse_address, Address), "off"),
    metavar="[[HOST:]PORT|off]",
)
def listen(dialogue: Dialogue, address: Address | str | None) -> None:
    """Take packets of a running game too, and draw their rows when they are due.

    They come as UDP datagrams, as for "epic listen", and are packets of the session like those that
    are typed; a packet that is typed meanwhile arrives when it is entered. Off, or Ctrl-C on an
    empty line, ends it. Without a HOST nothing is heard but this machine.
    """
    if address is None:
        listening = dialogue.listening
        dialogue.screen.say("listen off" if listening is None else listening.words)
    elif isinstance(address, str):
        if dialogue.listening is None:
            dialogue.screen.say("it does not listen")
        dialogue.stop_listening()
    else:
        _begin(dialogue, address)


def _begin(dialogue: Dialogue, address: Address) -> None:
    if dialogue.confirm is None:
        raise click.UsageError("a script cannot listen: 'epic listen' takes packets by itself")
    session = dialogue.session
    if session.view.timing.pacing == "demo":
        raise click.UsageError("packets are drawn by their arrivals: ':pacing auto' first")
    if session.packets:
        count = counted(len(session.packets), "packet")
        raise click.UsageError(
            f"there are {count} of another clock: ':reset' first (:save FILE keeps them)"
        )
    dialogue.stop_listening()
    dialogue.listening = listening = Listening(dialogue, address)
    dialogue.screen.say(f"{listening.words}; :pause holds its rows back")
    if not dialogue.screen.has_cursor:
        dialogue.screen.say("this terminal can only scroll: rows come with each Enter")


@command("pause")
def pause(dialogue: Dialogue) -> None:
    """Hold back the rows of packets that are listened to, or go on showing them.

    Packets still come in, and are kept.
    """
    listening = dialogue.listening
    if listening is None:
        raise click.UsageError("it does not listen: ':listen 9870' begins that")
    listening.paused = not listening.paused
    words = "; packets are kept, :pause goes on" if listening.paused else ""
    dialogue.screen.say(listening.words + words)


COMMANDS = [listen, pause]
