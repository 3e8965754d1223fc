"""What a synchroniser learns, and what it may do to a client's clock; one that does nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple


class Exchange(NamedTuple):
    """A move that went to the server and came back as an echo: four time stamps, in seconds.

    ``sent`` and ``returned`` are on the machine's own clock, ``received`` and ``answered`` on the
    server's. Source: RFC 5905, section 8.
    """

    sent: float
    received: float
    answered: float
    returned: float

    @property
    def round_trip(self) -> float:
        """On the link alone: without the time that the server held the move."""
        return (self.returned - self.sent) - (self.answered - self.received)

    @property
    def offset(self) -> float:
        """How far the server's clock is ahead, if both ways took as long."""
        return ((self.received - self.sent) + (self.answered - self.returned)) / 2


class Steering(NamedTuple):
    """What a clock does from this frame on.

    ``speed`` is how many times as fast as the machine's own clock it runs. ``frames`` are made at
    once, beyond those that are due; a negative number of them is waited for, while time stands
    still. ``jump`` (seconds, forward or back) sets the estimate of the server's clock: nothing
    drawn by the old one counts any more.
    """

    speed: float = 1.0
    frames: int = 0
    jump: float = 0.0


class ClockSync(ABC):
    """Keeps a client's time in step with the server's; all times are in seconds.

    ``needs_server``: there is no time until the server has been heard.
    """

    needs_server: ClassVar[bool] = True

    def measure(self, exchange: Exchange) -> None:
        """A round trip has been completed; the states between bring no new echo."""
        del exchange

    def hear(self, server_time: float, now: float) -> None:
        """A state, newer than all before it, came in at the machine's time ``now``."""
        del server_time, now

    @abstractmethod
    def steer(self, now: float, time: float) -> Steering | None:
        """What to do in a frame at the machine's time ``now``, which is taken for ``time``.

        None: nothing is known of the server's clock yet.
        """


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
