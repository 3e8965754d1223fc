"""The moving average of round-trip times, as client and server keep it."""

from __future__ import annotations

from epic_cli.engine.strategies.parts.averages import WeightedTimedAverage

#: Seconds that the average covers.
DURATION = 1.0


class RoundTrip:
    """The book's average; its program begins at 0, this with the first measurement."""

    def __init__(self) -> None:
        self.count = 0
        self._average: WeightedTimedAverage | None = None

    @property
    def estimate(self) -> float:
        """In seconds; 0: not known."""
        return self._average.value if self._average else 0.0

    def add(self, measured: float, now: float) -> None:
        """Takes a round trip that has ended at the time ``now``; both in seconds."""
        self.count += 1
        if self._average is None:
            self._average = WeightedTimedAverage(DURATION, now - DURATION)
        self._average.add(measured, now)
