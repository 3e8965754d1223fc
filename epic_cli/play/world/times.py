"""Times, clocks and steps: seconds where people read them, microseconds where they must add up.

Floating-point seconds that are summed step by step drift apart on two machines that sum in
different steps. So the simulation, the event queue and the packets count microseconds, under names
that end in ``_us``; everything else is in seconds.
"""

from __future__ import annotations

from fractions import Fraction

from epic_cli.engine.strategies.parts import WeightedTimedAverage

SECOND_US = 1_000_000


def to_us(seconds: float) -> int:
    """The nearest whole number of microseconds."""
    return round(seconds * SECOND_US)


def to_seconds(time_us: int) -> float:
    """The double nearest to it: ``to_us`` gives the same microseconds back."""
    return time_us / SECOND_US


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


class FixedStepLoop:
    """A loop that takes steps of fixed length, however often it is called.

        while loop.advance(now_us):
            simulate_one_step()

    The n-th step is due at ``first_us + n * step_us``, rounded to a microsecond once, so a step
    of 1/60 s does not drift. ``time_us`` is the time of the step taken last.

    Source: "Multiplayer Platformer Log #5 - Entity Interpolation", Synchronizing Client Update
    Loop. The log takes a step as soon as more than its length has passed; here a step is due when
    exactly that has passed, since a simulated clock shows such times.

    Raises ``ValueError`` for a step of no length.
    """

    def __init__(self, step_us: Fraction | int, first_us: int) -> None:
        self.time_us = first_us
        self.due_us = first_us
        self.change_step(step_us)

    def change_step(self, step_us: Fraction | int) -> None:
        """The step that is due stays where it is; those after it come at the new distance."""
        if not step_us > 0:
            raise ValueError("a step is longer than 0 s")
        self._step_us = step_us
        self._first_us = self.due_us
        self._taken = 0

    def advance(self, now_us: int) -> bool:
        """Whether a step is due at this time of the machine's clock; if so it counts as taken."""
        if now_us < self.due_us:
            return False
        self.time_us = self.due_us
        self._taken += 1
        self.due_us = self._first_us + round(self._taken * self._step_us)
        return True


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
