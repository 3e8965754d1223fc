"""A client's clock: what it shows, what a synchroniser learns and may do to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import ClassVar, NamedTuple

from epic_cli.play.world.moves import MOST_MOVES
from epic_cli.play.world.times import to_seconds, to_us


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


class SteeredClock:
    """Shows what the machine's own clock shows, until it is steered; it never goes back."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._machine_us: int | None = None  # when this speed began
        self._time_us = 0

    def read(self, machine_us: int) -> int:
        """What it shows when the machine's clock shows this."""
        if self._machine_us is None:
            return machine_us
        return self._time_us + round(max(machine_us - self._machine_us, 0) * self.speed)

    def machine_time(self, time_us: int) -> int:
        """What the machine's clock shows when this one shows ``time_us``.

        A time that was passed over, or that lies before the last change, is that of the change.
        """
        if self._machine_us is None:
            return time_us
        return self._machine_us + round(max(time_us - self._time_us, 0) / self.speed)

    def steer(self, machine_us: int, speed: float, ahead_us: int = 0) -> None:
        """Runs at another speed from now on, after ``ahead_us`` that pass at once.

        Where that is negative, it stands still for as long first.
        """
        self._time_us = self.read(machine_us) + max(ahead_us, 0)
        self._machine_us = machine_us + max(-ahead_us, 0)
        self.speed = speed


class Timekeeper:
    """Lets a synchroniser steer a client's clock.

    The client's own time (``clock``) never goes back, and stamps its moves. The server's time is
    that plus a shift, which changes only where the synchroniser jumps. Exchanges are measured on
    the machine's clock, which nobody steers.
    """

    def __init__(self, sync: ClockSync, step_us: int) -> None:
        self.clock = SteeredClock()
        self._sync = sync
        self._step_us = step_us
        self._shift_us: int | None = None if sync.needs_server else 0
        self._sent: deque[tuple[int, int]] = deque(maxlen=MOST_MOVES)  # stamp, machine's time

    def change_sync(self, sync: ClockSync) -> None:
        """Goes on from the time there is with another synchroniser."""
        self._sync = sync
        if self._shift_us is None and not sync.needs_server:
            self._shift_us = 0

    def server_us(self, time_us: int) -> int | None:
        """The server's time at a time of the client's own, as far as the client knows."""
        return None if self._shift_us is None else time_us + self._shift_us

    def frame(self, now_us: int) -> Steering:
        """A frame begins at this time of the client's own: steers, and says how."""
        machine_us = self.clock.machine_time(now_us)
        self._sent.append((now_us, machine_us))
        time_us = now_us + (self._shift_us or 0)
        steering = self._sync.steer(to_seconds(machine_us), to_seconds(time_us))
        if steering is None:
            return Steering()
        self._shift_us = (self._shift_us or 0) + to_us(steering.jump)
        if steering.frames or steering.speed != self.clock.speed:
            self.clock.steer(machine_us, steering.speed, steering.frames * self._step_us)
        return steering

    def hear(self, server_us: int, machine_us: int) -> None:
        """A state of this time, newer than all before it, came in."""
        self._sync.hear(to_seconds(server_us), to_seconds(machine_us))

    def measure(self, stamp_us: int, held_us: int, server_us: int, machine_us: int) -> float:
        """A move's echo came in, in a state of this time; returns the round trip in seconds."""
        while self._sent and self._sent[0][0] < stamp_us:
            self._sent.popleft()
        known = bool(self._sent) and self._sent[0][0] == stamp_us
        sent_us = self._sent[0][1] if known else stamp_us
        times = (sent_us, server_us - held_us, server_us, machine_us)
        self._sync.measure(Exchange(*map(to_seconds, times)))
        return to_seconds(machine_us - sent_us - held_us)
