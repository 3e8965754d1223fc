"""The state in sight: strategy, settings, clock, tick, packets, the newest packet's time."""

from __future__ import annotations

from epic_cli.engine.text.widths import cut, width
from epic_cli.ui.io.timing import tick_text
from epic_cli.ui.session.remarks import seconds
from epic_cli.ui.session.script import assignments
from epic_cli.ui.session.session import Session

_GAP = " | "


def toolbar_text(session: Session, columns: int, listening: str = "") -> str:
    """One line no wider than the window; what matters least is left out first.

    ``listening`` says where packets come from that nobody types.
    """
    timing = session.timing_in_force
    strategy = f"{session.view.strategy} {assignments(session.view.changed)}".rstrip()
    packets = f"{len(session.packets):,} taken, {session.refused:,} refused"
    if session.discarded:
        packets += f", {session.discarded:,} discarded"
    last = f"last {_last_time(session)}" if session.packets else ""
    drawn, promised = session.horizon
    if drawn < promised and not listening:
        last += f", rows wait from {seconds(max(drawn, 0.0))}"
    tick = f"tick {tick_text(timing.tick)}"
    clock = f"{timing.clock} clock, {timing.pacing} pacing"
    for parts in (
        (strategy, clock, tick, packets, last, listening),
        (strategy, tick, packets, last, listening),
        (strategy, packets, last, listening),
        (strategy, packets, listening),
        (session.view.strategy, packets, listening),
        (session.view.strategy, packets),
    ):
        text = " " + _GAP.join(part for part in parts if part)
        if width(text) <= columns:
            return text
    return cut(text, columns)


def _last_time(session: Session) -> str:
    return seconds(session.packets[len(session.packets) - 1].time)
