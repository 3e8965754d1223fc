"""No synchronisation at all: the machine's own clock, as it is."""

from __future__ import annotations

from typing import ClassVar

from epic_cli.play.client.clock.contract import ClockSync, Steering


class FreeRunning(ClockSync):
    """The server's stamps are compared with the machine's own clock, whatever it shows.

    Right where both clocks agree, as in *Multiplayer Game Programming*, whose program runs on one
    machine. A clock that is behind draws the others late, as far back as their states are kept;
    one that is ahead has no newer state to go on to, and draws them in jumps.
    """

    needs_server: ClassVar[bool] = False

    def __init__(self, step: float) -> None:
        del step

    def steer(self, now: float, time: float) -> Steering:
        """Nothing, ever."""
        del now, time
        return Steering()
