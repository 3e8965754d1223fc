"""What happened in a match, when, and the details."""

from __future__ import annotations

from typing import NamedTuple

Value = float | int | str | bool


class Event(NamedTuple):
    """``time`` is the match's own; ``where`` is ``server`` or the player on whose screen it was.

    Times are in seconds, in ``details`` too; there ``stamp`` is on the clock of the player.
    """

    time: float
    where: str
    what: str
    player: str
    details: dict[str, Value]
