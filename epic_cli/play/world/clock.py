"""A machine's own clock, which need not agree with the match's time."""

from __future__ import annotations

from epic_cli.play.world.times import SECOND_US


class MachineClock:
    """Shows ``offset`` (seconds) at the match's time 0, and runs ``rate`` times as fast.

    The machine is switched on at the match's time ``start_us``; its timers count from there.
    """

    def __init__(self, offset: float, rate: float, start_us: int) -> None:
        self._offset = offset
        self._rate = rate
        self._start_us = start_us
        self.start_us = self.read(start_us)

    def read(self, match_us: int) -> int:
        """What it shows at a time of the match."""
        return round(self._offset * SECOND_US + match_us * self._rate)

    def when(self, local_us: int) -> int:
        """When in the match a timer goes off that is set to this time of the clock."""
        return self._start_us + round((local_us - self.start_us) / self._rate)
