"""The dead reckoning of the seed book, with its three kinds of correction."""

from epic_cli.engine.strategies.parts.curves cimport critically_damped, hermite, projected
from epic_cli.engine.packets cimport EXTRAPOLATED, NONE, Motion, Packet, Sample
from epic_cli.engine.strategy cimport Strategy
from epic_cli.engine.vec3 cimport Vec3
from epic_cli.engine.vectors cimport is_beyond

from epic_cli.engine.declaration import Declaration, Setting

cdef enum Correction:
    SNAP
    BLEND
    SPLINE
    SECOND_ORDER

_CORRECTIONS = ("snap", "blend", "spline", "second-order")

# A critically damped offset that begins at rest has this many time constants to go until 5 %
# of it are left: the solution of (1 + x) e^-x = 0.05.
cdef double SETTLED = 4.743864518


cdef class DeadReckoning(Strategy):
    """Assumes that the entity goes on as it did, and corrects the guess when a packet comes.

    The received state is simulated forward by its age, and on until the next packet:

        predicted(t) = position + velocity * s + acceleration * s^2 / 2,  s = t - timestamp

    ``age=measured`` takes the timestamp as the time at which the state was true, for clocks that
    agree; ``age=rtt`` takes half of ``rtt`` for the age of every packet when it comes in. There
    is no lag while the entity does the expected; when it does not, what is drawn was wrong for
    the length of the latency, and must be corrected:

    snap: at once. blend: the difference to what was drawn is added to the prediction, and fades
    in equal steps over ``correction_time``. spline: a cubic Hermite path of that length leads
    from the drawn position and velocity to the predicted ones. second-order: the acceleration is
    changed, as a critically damped spring would, so that position and velocity ease in without a
    corner; 5 % of a difference are left after ``correction_time``. A difference larger than
    ``snap_distance`` is not smoothed at all.

    Good for vehicles and whatever has momentum; on a player who turns at once it is wrong most
    of the time. It goes on without end when no packets come. A packet with an earlier timestamp
    than the newest is discarded. Every row is ``extrapolated``; the velocity is that of the drawn
    path.
    """

    declaration = Declaration(
        name="dead-reckoning",
        summary="goes on as received; corrects by snap, blend, spline or second order",
        family="extrapolate and correct",
        needs=("velocity", "clocks that agree, or age=rtt"),
        lag="none at constant velocity",
        on_loss="goes on as before, for ever",
        source="Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, Dead Reckoning",
        proof="the book's figure 8.5, closed forms",
        settings=(
            Setting("correction", "blend", "how a wrong guess is mended",
                    choices=("snap", "blend", "spline", "second-order")),
            Setting("correction_time", 0.2, "how long mending takes", "s", 0, 60,
                    tune=(0.02, 1.0), scale="log"),
            Setting("snap_distance", 0.0, "a larger difference is not smoothed; 0: all are"
                    " smoothed", "length units", 0, 1e12),
            Setting("age", "measured", "how old a packet is when it comes in: by its stamp, or half"
                    " of rtt", choices=("measured", "rtt")),
            Setting("rtt", 0.1, "the round-trip time, with age=rtt", "s", 0, 60),
            Setting("acceleration", "none", "simulate with the acceleration between the last two"
                    " packets, or without", choices=("none", "estimated")),
        ),
    )

    cdef Correction correction
    cdef double correction_time, snap_distance, half_rtt
    cdef bint measures_age, accelerates
    cdef bint empty
    cdef double true_at                 # the local time at which its state was true
    cdef Motion received
    cdef Vec3[double] acceleration
    cdef bint correcting
    cdef double corrected_at            # the local time at which the correction began
    cdef Motion offset                  # drawn less predicted, then
    cdef Motion end                     # of the spline

    def configure(self, *, correction, correction_time, snap_distance, age, rtt, acceleration):
        self.correction = <Correction><int>_CORRECTIONS.index(correction)
        self.correction_time = correction_time
        self.snap_distance = snap_distance
        self.measures_age = age == "measured"
        self.half_rtt = rtt / 2
        self.accelerates = acceleration == "estimated"

    cdef void clear(self) noexcept nogil:
        self.empty = True
        self.correcting = False
        self.acceleration = Vec3[double]()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint first = self.empty
        cdef Motion drawn
        if not first:
            if packet.time < self.newest:
                return False
            drawn = self.path(now)
            if self.accelerates and packet.time > self.newest:
                self.acceleration = (
                    (packet.velocity - self.received.velocity) * (1 / (packet.time - self.newest)))
        self.empty = False
        self.true_at = packet.time if self.measures_age else now - self.half_rtt
        self.received = packet
        self.correcting = False
        if not first:
            self.correct(drawn, now)
        return True

    cdef void correct(self, const Motion& drawn, double now) noexcept nogil:
        """Begins to lead from what was drawn to what is predicted now."""
        self.offset = drawn - self.predicted(now)
        if self.correction == SNAP or self.correction_time <= 0:
            return
        if is_beyond(self.offset.position, self.snap_distance):
            return
        self.correcting = True
        self.corrected_at = now
        if self.correction == SPLINE:
            self.end = self.predicted(now + self.correction_time)

    cdef Motion predicted(self, double at) noexcept nogil:
        return projected(self.received, self.acceleration, at - self.true_at)

    cdef Motion path(self, double at) noexcept nogil:
        """What is drawn: the prediction and what is left of the correction."""
        cdef double elapsed = at - self.corrected_at
        cdef double fraction
        cdef Motion predicted = self.predicted(at)
        if not self.correcting:
            return predicted
        if self.correction == SECOND_ORDER:
            return predicted + critically_damped(
                self.offset, SETTLED / self.correction_time, elapsed)
        fraction = elapsed / self.correction_time
        if fraction >= 1:
            return predicted
        if self.correction == BLEND:
            return Motion(
                predicted.position + self.offset.position * (1 - fraction),
                predicted.velocity - self.offset.position * (1 / self.correction_time))
        return hermite(self.predicted(self.corrected_at) + self.offset, self.end,
                       self.correction_time, fraction)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        if self.empty:
            sample.status = NONE
            return
        sample.show(self.path(at), EXTRAPOLATED)
