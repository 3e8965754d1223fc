"""The time that a client's loop runs on: its machine's clock, sped up, slowed down or held."""

from __future__ import annotations


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
