"""Changes the view of the packets and says in one line what that changed."""

from __future__ import annotations

from epic_cli.engine.settings import Value
from epic_cli.engine.strategies import declaration
from epic_cli.repl.interpreter import Interpreter
from epic_cli.repl.session import Change, Session, View
from epic_cli.wording import FrontEnd, in_words


def change_view(interpreter: Interpreter, view: View, what: str) -> None:
    """Replays the packets in another view, draws the last rows and says what is different."""
    session = interpreter.session
    if interpreter.quiet or not session.lines:
        session.change(view)
        if not interpreter.quiet:
            interpreter.screen.say(what)
        return
    change = session.change(view)
    interpreter.draw_tail()
    interpreter.screen.say(f"{what}: {describe(change)}", "good")
    if change.refusals:
        first = in_words(change.refusals[0], FrontEnd.SESSION)
        interpreter.screen.warn(
            f"{len(change.refusals):,} of {len(session.lines):,} packets are left out; packet"
            f" {first.line}: {first.what}; expected {first.expected}"
        )


def describe(change: Change) -> str:
    """What a change did to the rows."""
    if change.different is None:
        return f"{_rows(change.rows_before)} -> {_rows(change.rows)}"
    if not change.different:
        return f"{_rows(change.rows)}, all as before"
    text = f"{change.different:,} of {_rows(change.rows)} differ"
    before, after = _position(change.last_before), _position(change.last)
    if before and after and before != after:
        text += f", the last is {after}, was {before}"
    return text


def _rows(count: int) -> str:
    return f"{count:,} row" + ("s" if count != 1 else "")


def _position(row: bytes) -> str:
    """The position in a row of the table, as it stands there."""
    words = row.decode("utf-8", "replace").split()[1:4]
    return ",".join(words) if len(words) == 3 and words[0] != "-" else ""


def settings_in_force(session: Session) -> dict[str, Value]:
    """All settings of the session's strategy, given or default."""
    return declaration(session.view.strategy).values(session.view.settings)


def settings_that_differ(session: Session) -> dict[str, Value]:
    """The settings that are not at their defaults."""
    defaults = declaration(session.view.strategy).values({})
    values = settings_in_force(session)
    return {name: value for name, value in values.items() if value != defaults[name]}
