"""Keeping in step with a sender: the clock of the platformer log.

Source: "Multiplayer Platformer Log #5 - Entity Interpolation", class TimeSyncer. The log counts
in milliseconds, this in seconds.
"""

cimport cython

from epic_cli.engine.packets cimport clamped


@cython.final
cdef class PhaseLockedLoop:
    """A clock that is kept in step with updates sent at regular intervals.

    It needs no timestamps: it predicts the time of the next update, and the difference to the
    real one (the phase detector), summed with decay (the filter), shifts the clock slightly (the
    oscillator):

        difference = expected - time(now)
        integrator = integrator * decay + difference
        drift     += clamp(integrator * gain, -limit, limit)
        expected  += step

    ``start`` it at the first update and call ``server_update`` at each later one. ``step`` is the
    time between two updates in seconds, ``limit`` the largest shift per update in seconds.
    """

    def __init__(self, double step=0.1, double decay=0.9, double gain=0.01, double limit=0.0001):
        self.step = step
        self.decay = decay
        self.gain = gain
        self.limit = limit
        self.start(0)

    cpdef void start(self, double now) noexcept nogil:
        """Takes the first update, arrived at the local time ``now``."""
        self.drift = 0
        self.integrator = 0
        self.started = now
        self.expected = now + self.step
        self.ticks = 0

    cpdef double server_update(self, double now) noexcept nogil:
        """Takes the next update; returns how early (above 0) or late it was, in seconds."""
        cdef double difference = self.expected - self.time(now)
        self.integrator = self.integrator * self.decay + difference
        self.drift += clamped(self.integrator * self.gain, -self.limit, self.limit)
        self.expected += self.step
        self.ticks += 1
        return difference

    cpdef double time(self, double now) noexcept nogil:
        """The local time ``now`` on this clock."""
        return now + self.drift

    cpdef double since_start(self, double now) noexcept nogil:
        """The same, counted from the first update."""
        return self.time(now) - self.started

    cpdef double server_time(self, double delta) noexcept nogil:
        """When the newest update's state was true, given that it was ``delta`` seconds old."""
        return self.ticks * self.step - delta
