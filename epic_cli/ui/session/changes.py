"""Changes the view of the packets and says in one line what that changed."""

from __future__ import annotations

from epic_cli.engine.contract import Sample
from epic_cli.formats.wording import FrontEnd, in_words
from epic_cli.ui.session.dialogue import Dialogue
from epic_cli.ui.session.session import View, ViewChange
from epic_cli.views.numbers import counted


def change_view(dialogue: Dialogue, view: View, what: str) -> None:
    """Replays the packets in another view, draws the last rows and says what is different."""
    session = dialogue.session
    if dialogue.quiet or not session.packets:
        session.change(view)
        if not dialogue.quiet:
            dialogue.screen.say(what)
        return
    change = session.change(view, dialogue.room)
    dialogue.draw_tail(drawing=change.after)
    dialogue.screen.say(f"{what}: {describe(change)}", "good")
    if change.refusals:
        first = in_words(change.refusals[0], FrontEnd.SESSION)
        dialogue.screen.warn(
            f"{len(change.refusals):,} of {len(session.packets):,} packets are left out; packet"
            f" {first.line}: {first.what}; expected {first.expected}"
        )


def describe(change: ViewChange) -> str:
    """What a change did to the rows."""
    rows = counted(change.after.rows, "row")
    if change.different is None:
        return f"{counted(change.before.rows, 'row')} -> {rows}"
    if not change.different:
        return f"{rows}, all as before"
    text = f"{change.different:,} of {rows} differ"
    before, after = position_text(change.before.last), position_text(change.after.last)
    if before and after and before != after:
        text += f", the last is {after}, was {before}"
    return text


def position_text(sample: Sample | None) -> str:
    """Where a sample is, with the digits that a table has; empty: nowhere."""
    if sample is None or sample.status == "none":
        return ""
    return ",".join(f"{coordinate:.2f}" for coordinate in sample.position)
