"""The client-side interpolation of Glazer and Madhav: a local perception filter."""

from libc.math cimport isnan

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3
from epic_cli.engine.strategies.parts cimport MovingAverage, Strategy
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.turning cimport TurnGlide

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Number


cdef class LocalPerception(Strategy):
    """Moves from the drawn position to the new state over the period, starting at each packet.

        drawn(t) = lerp(start, received, (t - now) / period)

    where ``start`` is the drawn position when the packet arrived at ``now``. It never shows
    anything but points between states that the server has sent. It is behind by the age of a packet
    plus the period, so the period should be short; but when it is shorter than the packet period
    the entity arrives early and waits: a stutter. The best period is the packet period, which
    ``period=auto`` measures as a moving average of the times between arrivals.

    A packet with an earlier timestamp than the newest is discarded. Rows are ``interpolated``
    until the entity gets there and ``held`` from then on. The velocity is that of the line being
    drawn. With ``period=0.1`` it draws what ``chase+how=linear+time=0.1+start=arrival`` draws.
    """

    declaration = Declaration(
        name="local-perception",
        summary="from the drawn position to the new state, over one packet period",
        lag="latency plus the period",
        on_loss="arrives at the newest state, then holds",
        source="Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8,"
        " Client Side Interpolation",
        proof="formula",
        rotates="slerp over the same period (ours: the book has none)",
        settings=(
            Number("period", "auto", "the interpolation period; auto measures the packet period",
                   "s", 0, 60, unset="auto", tune=(0.02, 0.5), scale="log"),
            Number("first_period", 0.1, "the period until two packets have arrived, with"
                   " period=auto", "s", 0, 60),
            Number("weight", 0.1, "the weight of a new measurement, with period=auto", "", 0.001,
                   1, tune=(0.02, 0.5), scale="log"),
        ),
    )

    cdef bint measures
    cdef double fixed_period
    cdef MovingAverage interval     # between arrivals, s
    cdef double started, period     # of the segment being drawn: when its packet arrived, s
    cdef Vec3[double] start, target
    cdef TurnGlide turn

    def configure(self, *, period, first_period, weight):
        self.check_free()
        self.measures = isnan(period)
        self.fixed_period = first_period if self.measures else period
        self.interval = MovingAverage(weight)

    cdef void clear(self) noexcept nogil:
        self.interval.clear()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time < self.newest:
            return False
        if self.measures and not self.empty:
            self.interval.add(now - self.started)
        if not self.empty:
            self.turn.move(self.compute_fraction(now))
        self.start = packet.position if self.empty else self.compute_position(now)
        self.turn.aim(packet)
        self.target = packet.position
        self.started = now
        self.period = self.choose_period()
        return True

    cdef double choose_period(self) noexcept nogil:
        if self.measures and self.interval.count > 0:
            return self.interval.value
        return self.fixed_period

    cdef double compute_fraction(self, double at) noexcept nogil:
        cdef double elapsed = max(at - self.started, 0.0)
        return elapsed / self.period if elapsed < self.period else 1

    cdef Vec3[double] compute_position(self, double at) noexcept nogil:
        cdef double u = self.compute_fraction(at)
        return lerp(self.start, self.target, u) if u < 1 else self.target

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        self.turn.move(self.compute_fraction(at))
        if at - self.started < self.period:
            self.turn.show(1 / self.period, sample)
            sample.show(Motion(self.compute_position(at),
                               (self.target - self.start) * (1 / self.period)), INTERPOLATED)
        else:
            self.turn.show(0, sample)
            sample.hold(Motion(self.compute_position(at), Vec3[double]()), self.drawn, INTERPOLATED)
