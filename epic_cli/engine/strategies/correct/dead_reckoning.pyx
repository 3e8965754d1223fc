"""The dead reckoning of Glazer and Madhav, with its kinds of correction."""

from epic_cli.engine.packets cimport EXTRAPOLATED, Motion, Packet, Sample, Vec3, is_beyond
from epic_cli.engine.strategies.parts.curves cimport damp_critically, hermite, project
from epic_cli.engine.strategies.parts cimport Acceleration, Strategy
from epic_cli.engine.strategies.parts.turning cimport TurnPrediction

from epic_cli.engine.declaration import Declaration, Need, OneClock
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import ACCELERATION, SNAP_CORRECTION

cpdef enum Correction:
    SNAP
    BLEND
    SPLINE
    SECOND_ORDER

cpdef enum class Age:
    MEASURED
    RTT

# Packets closer than this (s) give no acceleration.
cdef double SHORTEST_STEP = 1e-9

# A critically damped offset that begins at rest has this many time constants to go until 5 %
# of it are left: the solution of (1 + x) e^-x = 0.05.
cdef double SETTLED = 4.743864518


cdef class DeadReckoning(Strategy):
    """Assumes that the entity keeps moving as it did, and corrects that when a packet arrives.

    The received state is simulated forward by its age, and on until the next packet:

        predicted(t) = position + velocity * s + acceleration * s^2 / 2,  s = t - sent time

    ``age=measured`` takes the timestamp as the time at which the state was true, for clocks that
    agree; ``age=rtt`` takes half of ``rtt`` as the age of every packet on arrival. There is no lag
    while the entity moves as expected; when it does not, the drawn path was wrong for as long as
    the latency, and must be corrected:

    snap: at once. blend: the difference to what was drawn is added to the prediction, and fades
    in equal steps over ``correction_time``. spline: a cubic Hermite path of that length leads
    from the drawn position and velocity to the predicted ones. second-order: the acceleration is
    changed, as a critically damped spring would, so that position and velocity ease in without a
    corner; 5 % of a difference is left after ``correction_time``. A difference larger than
    ``snap_distance`` is not smoothed at all.

    Good for vehicles and anything with momentum; for a player who can turn on the spot it is
    wrong most of the time. Without packets it continues forever. A packet with an earlier
    timestamp than the newest is discarded. Every row is ``extrapolated``; the velocity is that
    of the drawn path.
    """

    declaration = Declaration(
        name="dead-reckoning",
        summary="continues as received; corrects by snap, blend, spline or second order",
        needs=(Need.VELOCITY, Need.CLOCKS.unless(", or age=rtt")),
        lag="none at constant velocity",
        on_loss="continues as before, forever",
        source="Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, Dead Reckoning",
        proof="the book's figure 8.5, closed forms",
        rotates="continues at the received spin; the offset from what was drawn is corrected as"
        " that of positions (ours: the book has none)",
        one_clock=OneClock((("age", "measured"),), (("age", "rtt"),)),
        settings=(
            Choice("correction", "blend", "how a wrong guess is corrected", Correction),
            Number("correction_time", 0.2, "how long a correction takes", "s", 0, 60,
                   tune=(0.02, 1.0), scale="log"),
            SNAP_CORRECTION,
            Choice("age", "measured", "how old a packet is on arrival: by its timestamp, or half"
                   " of rtt", Age),
            Number("rtt", 0.1, "the round-trip time, with age=rtt", "s", 0, 60,
                   tune=(0, 0.5)),
            ACCELERATION,
        ),
    )

    cdef public Correction correction
    cdef public Age age
    cdef public double correction_time, snap_distance, rtt
    cdef bint accelerates
    cdef double true_at                 # the local time at which its state was true
    cdef Motion received
    cdef Vec3[double] acceleration
    cdef bint correcting
    cdef double corrected_at            # the local time at which the correction began
    cdef Motion offset                  # drawn minus predicted, at that time
    cdef Motion end                     # of the spline
    cdef TurnPrediction turn

    def configure(self, *, acceleration):
        self.check_free()
        self.accelerates = acceleration == Acceleration.ESTIMATED

    cdef void clear(self) noexcept nogil:
        self.correcting = False
        self.acceleration = Vec3[double]()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint first = self.empty
        cdef Motion drawn
        cdef double period = 0
        if not first:
            if packet.time < self.newest:
                return False
            drawn = self.evaluate_path(now)
            self.turn.depart(now, self.compute_remaining(self.turn.offset, now))
            if self.accelerates and packet.time - self.newest > SHORTEST_STEP:
                period = packet.time - self.newest
                self.acceleration = (packet.velocity - self.received.velocity) * (1 / period)
        self.true_at = packet.time if self.age == Age.MEASURED else now - self.rtt / 2
        self.received = packet
        self.turn.receive(packet, self.true_at, now, period)
        self.correcting = False
        if not first:
            self.begin_correction(drawn, now)
        return True

    cdef void begin_correction(self, const Motion& drawn, double now) noexcept nogil:
        """Begin a correction from the drawn state to the predicted state at ``now``."""
        self.offset = drawn - self.predict(now)
        if self.correction == SNAP or self.correction_time <= 0:
            return
        if is_beyond(self.offset.position, self.snap_distance):
            return
        self.correcting = True
        self.corrected_at = now
        if self.correction == SPLINE:
            self.end = self.predict(now + self.correction_time)

    cdef Motion predict(self, double at) noexcept nogil:
        return project(self.received, self.acceleration, at - self.true_at)

    cdef bint is_corrected(self, double at) noexcept nogil:
        """Return True if no correction is in progress at local time ``at``."""
        return not self.correcting or (
            self.correction != SECOND_ORDER
            and (at - self.corrected_at) / self.correction_time >= 1)

    cdef Motion compute_remaining(self, const Motion& offset, double at) noexcept nogil:
        """Return the part of ``offset`` that is not yet corrected at local time ``at``."""
        cdef double elapsed = at - self.corrected_at
        if self.is_corrected(at):
            return Motion()
        if self.correction == SECOND_ORDER:
            return damp_critically(offset, SETTLED / self.correction_time, elapsed)
        if self.correction == BLEND:
            return Motion(offset.position * (1 - elapsed / self.correction_time),
                          offset.position * (-1 / self.correction_time))
        return hermite(offset, Motion(), self.correction_time, elapsed / self.correction_time)

    cdef Motion evaluate_path(self, double at) noexcept nogil:
        """Return the drawn state at local time ``at``.

        The prediction plus the uncorrected offset.
        """
        if self.is_corrected(at):
            return self.predict(at)
        if self.correction == SPLINE:
            return hermite(self.predict(self.corrected_at) + self.offset, self.end,
                           self.correction_time, (at - self.corrected_at) / self.correction_time)
        return self.predict(at) + self.compute_remaining(self.offset, at)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        if self.first.known():
            self.turn.show(at, self.compute_remaining(self.turn.offset, at), sample)
        sample.show(self.evaluate_path(at), EXTRAPOLATED)
