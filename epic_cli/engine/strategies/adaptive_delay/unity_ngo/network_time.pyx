"""The server's time as a Netcode for GameObjects client estimates it."""

cimport cython
from libc.math cimport INFINITY, NAN, fabs


@cython.final
cdef class NetworkTime:
    """A clock that stays ``buffer`` seconds behind the arriving timestamps.

    Every ``interval`` seconds a packet sets the wanted offset. Each frame moves the offset towards
    it by ``ratio`` of the frame's length, and it never settles: it overshoots and returns, frame by
    frame. The phase of this swing is chance in a game, whose frames vary in length; here it begins
    in the middle. It jumps if it is off by more than ``hard_reset``:

        wanted = timestamp - now - buffer
        offset = offset + ratio * frame time    where wanted > offset, otherwise less by as much
        time   = local time + offset

    The time never goes back. With ``latency`` given (arrival minus timestamp, s) nothing is
    estimated.

    Source: com.unity.netcode.gameobjects (MIT), NetworkTimeSystem; formulas only.
    """

    cdef bint estimates, jumped
    cdef double offset
    cdef double fixed, buffer, hard_reset, ratio, interval
    cdef double desired, last_sync, latest

    def __init__(self, double latency=NAN, double buffer=0.05, double hard_reset=0.2,
                 double ratio=0.01, double interval=1.0):
        self.estimates = latency != latency
        self.fixed = -latency - buffer
        self.buffer = buffer
        self.hard_reset = hard_reset
        self.ratio = ratio
        self.interval = interval
        self.clear()

    cpdef void sync(self, double timestamp, double now) noexcept nogil:
        """Takes a packet with this timestamp, arrived at the local time ``now``."""
        cdef bint first = self.last_sync == -INFINITY
        if not self.estimates or now - self.last_sync < self.interval:
            return
        self.last_sync = now
        self.desired = timestamp - now - self.buffer
        if first or fabs(self.desired - self.offset) > self.hard_reset:
            self.offset = self.desired
            self.jumped = True

    cpdef double advance(self, double at, double elapsed) noexcept nogil:
        """The server's time in the frame at the local time ``at``, ``elapsed`` after the last."""
        cdef double step = elapsed * self.ratio
        if self.jumped and step > 0:
            self.offset += step / 2
            self.jumped = False
        elif self.estimates:
            self.offset += step if self.desired > self.offset else -step
        self.latest = max(self.latest, at + self.offset)
        return self.latest

    cpdef void clear(self) noexcept nogil:
        """Resets the estimate."""
        self.offset = self.desired = 0 if self.estimates else self.fixed
        self.last_sync = self.latest = -INFINITY
        self.jumped = False
