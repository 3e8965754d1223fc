"""Tick clocks: the times at which rows are drawn."""

from libc.math cimport INFINITY, ceil, isfinite

from epic_cli.engine.strategies.parts cimport draw_sample, take_native

# How far past the newest packet rows are drawn, in seconds: the demo's 0.15f.
cdef double LEAD = 0.15
cdef float SINGLE_LEAD = <float>0.15


cdef class Clock:
    """Holds the last tick drawn; ``following()`` is the next one. Seconds."""

    cdef double now

    cdef void restart(self) noexcept nogil:
        """Goes back to time 0, before the first tick."""

    cdef double following(self) noexcept nogil:
        """The time of the next tick."""
        return self.now

    cdef void step(self) noexcept nogil:
        """Advances to the next tick."""

    cdef void skip_to(self, double target) noexcept nogil:
        """Advances until the next tick is the first one at or after ``target``."""

    cdef double lead(self, double time, float single_time) noexcept nogil:
        """The time up to which a packet of this time has rows drawn, as this clock rounds it."""
        return time + LEAD

    cdef double ticks_to(self, double target) noexcept nogil:
        """About how many ticks until ``target``; infinity if the clock never passes it."""
        return 0

    cdef double reach(self) noexcept nogil:
        """The largest time that the clock reaches."""
        return 0

    cdef double length(self) noexcept nogil:
        """The time between two ticks."""
        return 0

    cdef void lend(self, Run& run) noexcept nogil:
        """Lends the clock's state to the loop for one entity."""
        run.now = self.now
        # near a limit the pacing decides, exactly
        run.limit = self.reach()

    cdef void take_back(self, const Run& run) noexcept nogil:
        """Takes the state back from that loop."""
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        """That loop, paced as the demo is."""

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        """That loop, paced by arrivals."""


cdef class SingleClock(Clock):
    """The demo's clock: starts at 0 and adds the tick in single precision, again and again.

    It drifts (2003 ticks of 0.05 s make 100.152 s) and stands still where half the distance
    between two neighbouring floats is no less than the tick: at 2^20 s for 0.05 s.
    """

    cdef float current
    cdef float tick
    cdef float stall

    def __init__(self, double tick=0.05):
        self.tick = <float>tick
        if not (self.tick > 0 and isfinite(self.tick)):
            raise ValueError("a tick must be longer than 0 s")
        self.stall = 1
        while self.stall + self.tick != self.stall:
            self.stall *= 2
        if not isfinite(self.stall):
            raise ValueError("a tick is too long for single precision")
        while self.stall / 2 + self.tick == self.stall / 2:
            self.stall /= 2

    cdef void restart(self) noexcept nogil:
        self.current = 0
        self.now = 0

    cdef double following(self) noexcept nogil:
        return self.current + self.tick

    cdef void step(self) noexcept nogil:
        self.current += self.tick
        self.now = self.current

    cdef void skip_to(self, double target) noexcept nogil:
        while self.following() < target and self.now < self.stall:
            self.step()

    cdef double lead(self, double time, float single_time) noexcept nogil:
        return single_time + SINGLE_LEAD

    cdef double ticks_to(self, double target) noexcept nogil:
        return 0 if not target > self.stall else INFINITY

    cdef double reach(self) noexcept nogil:
        return self.stall

    cdef double length(self) noexcept nogil:
        return self.tick

    cdef void lend(self, Run& run) noexcept nogil:
        Clock.lend(self, run)
        run.tick = self.tick

    cdef void take_back(self, const Run& run) noexcept nogil:
        self.current = <float>run.now
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        follow[DemoPace[SingleTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        follow[ArrivalPace[SingleTicks]](run, strategy, take_native, draw_sample)


cdef class ExactClock(Clock):
    """Tick k is at k * numerator / denominator seconds, rounded once: it never drifts."""

    cdef double index
    cdef double numerator
    cdef double denominator

    def __init__(self, numerator=1, denominator=20):
        self.numerator = numerator
        self.denominator = denominator
        if not (self.numerator > 0 and self.denominator > 0):
            raise ValueError("a tick must be longer than 0 s")
        # beyond 2^53 the products below would no longer be exact
        if self.numerator > 2.0 ** 40 or self.denominator > 2.0 ** 40:
            raise ValueError("a tick has too many digits")

    cdef void restart(self) noexcept nogil:
        self.index = 0
        self.now = 0

    cdef double following(self) noexcept nogil:
        return (self.index + 1) * self.numerator / self.denominator

    cdef void step(self) noexcept nogil:
        self.index += 1
        self.now = self.index * self.numerator / self.denominator

    cdef void skip_to(self, double target) noexcept nogil:
        # The quotient may round to either side of the tick; look at the neighbours.
        cdef double index = ceil(target * self.denominator / self.numerator) - 2
        while index * self.numerator / self.denominator < target:
            index += 1
        self.index = index - 1
        self.now = self.index * self.numerator / self.denominator

    cdef double ticks_to(self, double target) noexcept nogil:
        if not target > self.now:
            return 0
        if target > self.reach():
            return INFINITY
        return (target - self.now) * self.denominator / self.numerator

    cdef double reach(self) noexcept nogil:
        return 2.0 ** 52 / self.denominator

    cdef double length(self) noexcept nogil:
        return self.numerator / self.denominator

    cdef void lend(self, Run& run) noexcept nogil:
        Clock.lend(self, run)
        run.limit = min(run.limit, self.now + MOST_TICKS / 2 * self.length())
        run.index, run.numerator, run.denominator = self.index, self.numerator, self.denominator

    cdef void take_back(self, const Run& run) noexcept nogil:
        self.index = run.index
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        follow[DemoPace[ExactTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        follow[ArrivalPace[ExactTicks]](run, strategy, take_native, draw_sample)
