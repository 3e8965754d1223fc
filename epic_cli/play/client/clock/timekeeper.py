"""A client's two times: the one that its loop runs on, and what it takes for the server's."""

from __future__ import annotations

from collections import deque

from epic_cli.play.client.clock.contract import ClockSync, Exchange, Steering
from epic_cli.play.world.moves import MOST_MOVES
from epic_cli.play.world.times import to_seconds, to_us


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
