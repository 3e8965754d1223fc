"""What a session says about itself, in words."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from epic_cli.engine.contract import Sample
from epic_cli.engine.failures import StrategyFailed
from epic_cli.metrics.digits import counted
from epic_cli.recordings.writing import number
from epic_cli.session.terminal import DrawingStopped
from epic_cli.session.view import ViewChange

if TYPE_CHECKING:
    from epic_cli.session.session import Added, Session


def seconds(time: float) -> str:
    """A time as people read it."""
    return f"{number(round(time, 3))} s"


def failure(error: Exception) -> str:
    """What an exception that no one expected says of itself."""
    if isinstance(error, StrategyFailed):
        return str(error)
    return f"{type(error).__name__}: {error}"


def waiting_words(session: Session) -> str:
    """For what the newest rows wait; empty: all are drawn."""
    drawn, promised = session.horizon
    if not drawn < promised:
        return ""
    if session.timing_in_force.pacing == "arrival":
        return f"rows from {seconds(drawn)} on come with the next arrival (:rows draws them now)"
    return (
        f"rows up to {seconds(promised)} wait for the other entities' packets"
        " (:rows draws them now)"
    )


def no_rows_words(session: Session) -> str:
    """Why a packet that was taken has no rows, though nothing waits."""
    drawn = session.horizon[0]
    if not isfinite(drawn):
        return "no row yet: no clock gets to this packet's time"
    return f"no row yet: all are drawn up to {seconds(drawn)}, beyond this packet's"


def discarded_words(session: Session, added: Added) -> str:
    """Which packets the strategy did not want, and why if that can be seen."""
    strategy = session.view.strategy.name
    if added.packets > 1:
        packets = f"{added.discarded:,} of {counted(added.packets, 'packet')}"
        return f"discarded by {strategy}: {packets}, late ones for the most part"
    last = len(session.packets) - 1
    packet = session.packets[last]
    if not isfinite(packet.time):
        return f"discarded by {strategy}: the packet's time is not finite"
    newest = session.newest(packet.entity, last)
    if packet.time > newest:
        return f"discarded by {strategy}: the packet of {seconds(packet.time)}"
    whose = f" of {packet.entity}" if packet.entity else ""
    late = f"late: there is a packet{whose} of {seconds(newest)} already"
    return f"{late}; {strategy} discards the one of {seconds(packet.time)}"


def stopped_words(stop: DrawingStopped) -> str:
    """Where an interrupted drawing stands, and where the clock goes on."""
    drawn = "among the first rows" if stop.drawn is None else f"after {seconds(stop.drawn)}"
    return (
        f"stopped {drawn}; the packets are kept, and the clock goes on from {seconds(stop.clock)}"
        " (:rows draws the last rows, :undo takes a packet back)"
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
