"""How well a client's clock is in step with the server's."""

from __future__ import annotations

import math

from epic_cli.play.client.client import Client
from epic_cli.play.world.times import to_seconds


class ClockError:
    """Compares what a client takes for the server's time with that time, once a frame.

    ``set`` counts how often the clock was set, ``held`` the frames that were waited for.
    """

    def __init__(self) -> None:
        self.set = 0
        self.held = 0
        self._first = math.nan
        self._count = 0
        self._total = 0.0
        self._largest = 0.0
        self._speeds = (math.inf, -math.inf)

    def add(self, client: Client, server_us: int) -> None:
        """A client has made a frame at this time of the server."""
        taken_us = client.timekeeper.server_us(client.now_us)
        if taken_us is None:
            return
        if not self._count:
            self._first = to_seconds(server_us)
        error = abs(to_seconds(taken_us - server_us))
        self._count += 1
        self._total += error
        self._largest = max(self._largest, error)
        speed = client.timekeeper.clock.speed
        self._speeds = (min(self._speeds[0], speed), max(self._speeds[1], speed))

    def figures(self) -> list[tuple[str, float, str]]:
        """The lines of a summary: name, value, unit."""
        slowest, fastest = self._speeds if self._count else (math.nan, math.nan)
        return [
            ("clock known after", self._first, "s"),
            ("clock error", self._total / self._count if self._count else math.nan, "s"),
            ("largest clock error", self._largest if self._count else math.nan, "s"),
            ("clock set", self.set, "times"),
            ("slowest clock", slowest, "speed"),
            ("fastest clock", fastest, "speed"),
            ("frames waited", self.held, ""),
        ]
