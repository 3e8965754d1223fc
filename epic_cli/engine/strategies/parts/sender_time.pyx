"""What a receiver can know of its sender: what time it is there, and how often it sends.

Engines agree on both when a connection begins. A recording does not say, so both are estimated
from timestamps and arrivals, or given.
"""

cimport cython
from libc.math cimport INFINITY, NAN, fabs

from epic_cli.engine.strategies.parts.averages import MovingAverage as NewMovingAverage

# How much one packet counts in the estimates: they settle within some twenty packets.
cdef double WEIGHT = 0.1

# An offset that is further off than this is that of a clock that has been set, s.
cdef double RESYNC = 0.5


@cython.final
cdef class SenderTime:
    """The sender's time of what comes in now: the local time minus an offset, in seconds.

        offset = moving average of (arrival - timestamp)

    The offset holds the latency besides the difference between the clocks, so ``time`` is the
    timestamp that would come in now. A packet whose offset differs by more than 0.5 s restarts the
    average. ``time`` never goes back. With ``offset`` given nothing is estimated.
    """

    def __init__(self, double offset=NAN):
        self.estimates = offset != offset
        self.offset = 0 if self.estimates else offset
        self.average = NewMovingAverage(WEIGHT)
        self.clear()

    cpdef void add(self, double timestamp, double now) noexcept nogil:
        """A packet with this timestamp came in at the local time ``now``."""
        if not self.estimates:
            return
        if self.average.count > 0 and fabs(now - timestamp - self.average.value) > RESYNC:
            self.average.clear()
        self.offset = self.average.add(now - timestamp)

    cpdef double time(self, double at) noexcept nogil:
        """The sender's time at the local time ``at``; the local time while nothing came in."""
        if self.estimates and self.average.count == 0:
            return at                   # no time of the sender's, so later ones may be before it
        self.latest = max(self.latest, at - self.offset)
        return self.latest

    cpdef void clear(self) noexcept nogil:
        """Forgets what was estimated."""
        self.latest = -INFINITY
        if self.estimates:
            self.average.clear()
            self.offset = 0


@cython.final
cdef class SendInterval:
    """The time between two packets in seconds, given or measured by their timestamps.

    A measured difference counts for a tenth, and for twice the average at most: a silence is
    not a send interval. Before two packets have come in it is ``first_guess``.
    """

    def __init__(self, double value=NAN, double first_guess=0.05):
        self.measures = value != value
        self.value = first_guess if self.measures else value
        self.first_guess = self.value
        self.clear()

    cpdef void add(self, double timestamp) noexcept nogil:
        """A packet with this timestamp came in, and it is the newest."""
        cdef double sample = timestamp - self.newest
        self.newest = timestamp
        if not self.measures or not sample > 0:
            return
        self.count += 1
        if self.count == 1:
            self.value = sample
        else:
            self.value += (min(sample, 2 * self.value) - self.value) * WEIGHT

    cpdef void clear(self) noexcept nogil:
        """Forgets what was measured."""
        self.value = self.first_guess
        self.newest = NAN
        self.count = 0
