"""What happened in a match, with its time and what is to be said of it."""

from __future__ import annotations

from typing import NamedTuple

Value = float | int | str | bool


class Event(NamedTuple):
    """``time`` is the match's own, in seconds; ``where`` is ``server`` or a player's screen."""

    time: float
    where: str
    what: str
    player: str
    details: dict[str, Value]
