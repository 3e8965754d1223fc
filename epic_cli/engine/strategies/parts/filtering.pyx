"""The base class of the filters: initialization, restarts, and prediction between packets."""

from libc.math cimport fabs

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, Motion, Packet, Sample, clamped, components, is_beyond, is_finite,
)


cdef class Filter(Strategy):
    """A strategy that estimates position and velocity at each packet, and predicts them to now.

        drawn(t) = position + velocity * (age of the packet + time since it arrived)

    A filter overrides ``begin`` (takes the first packet as it is; its ``turn`` has begun) and
    ``step`` (a packet that is ``period`` seconds newer than the last). It restarts after a longer
    time than ``max_gap``, at a packet that is further than ``snap_distance`` from what is predicted
    for its timestamp, and where numbers overflow. A packet with the newest timestamp or an earlier
    one is discarded: it says nothing about the time since.
    """

    def configure(self, *, age):
        self.check_free()
        self.age = PacketAge(age)

    @property
    def state(self):
        """The filtered position and velocity at the newest packet."""
        return components(self.position), components(self.velocity)

    # ------------------------------------------------------------- for filters to override

    cdef void begin(self, const Packet& packet) noexcept nogil:
        self.position = packet.position
        self.velocity = packet.velocity

    cdef void step(self, const Packet& packet, double period) noexcept nogil:
        self.begin(packet)

    cdef bint is_sane(self) noexcept nogil:
        """Return True if the filter's state is finite."""
        return is_finite(self.position) and is_finite(self.velocity)

    # ------------------------------------------------------------- for the engine

    cdef void clear(self) noexcept nogil:
        self.age.clear()

    cdef void record_true_time(self, const Packet& packet, double now) noexcept nogil:
        """Set ``true_at``, the local time at which the packet's state was true."""
        self.true_at = now - self.age.measure(packet, now)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double period = packet.time - self.newest
        if not self.empty and period <= 0:
            return False
        self.record_true_time(packet, now)
        if self.empty or period > self.max_gap or is_beyond(
                packet.position - (self.position + self.velocity * period), self.snap_distance):
            self.turn.begin(packet)
            self.begin(packet)
        else:
            self.step(packet, period)
            if not self.is_sane():
                self.turn.begin(packet)
                self.begin(packet)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double ahead = at - self.true_at
        cdef double limited = clamped(ahead, -self.max_prediction, self.max_prediction)
        cdef Motion motion
        motion.position = self.position + self.velocity * limited
        self.turn.show(limited, fabs(ahead) <= self.max_prediction, sample)
        if not is_finite(motion.position):
            motion.position = self.position     # numbers too large to predict with
        elif fabs(ahead) <= self.max_prediction:
            motion.velocity = self.velocity
        if fabs(ahead) <= self.max_prediction:
            sample.show(motion, EXTRAPOLATED)
        else:
            sample.hold(motion, self.drawn, EXTRAPOLATED)
