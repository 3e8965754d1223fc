"""The state in sight: strategy, settings, clock, tick, packets, the newest stamp."""

from __future__ import annotations

from epic_cli.formats.writing import number
from epic_cli.repl.changes import settings_that_differ
from epic_cli.repl.script import assignments, tick_text
from epic_cli.repl.session import Session

_GAP = " | "


def toolbar_text(session: Session, columns: int) -> str:
    """One line no wider than the window; what matters least is left out first."""
    timing = session.view.timing
    differing = settings_that_differ(session)
    settings = assignments(differing) if differing else ""
    strategy = f"{session.view.strategy} {settings}".rstrip()
    packets = f"{len(session.lines):,} taken, {session.refused:,} refused"
    if session.discarded:
        packets += f", {session.discarded:,} discarded"
    last = f"last {_last_stamp(session)}" if session.lines else ""
    tick = f"tick {tick_text(timing.tick)}"
    clock = f"{session.clock} clock, {session.pacing} pacing"
    for parts in (
        (strategy, clock, tick, packets, last),
        (strategy, tick, packets, last),
        (strategy, packets, last),
        (strategy, packets),
        (session.view.strategy, packets),
    ):
        text = " " + _GAP.join(part for part in parts if part)
        if len(text) <= columns:
            return text
    return text[:columns]


def _last_stamp(session: Session) -> str:
    return f"{number(round(session.packets[len(session.packets) - 1].time, 3))} s"
