"""The SmoothMover of Panda3D: a fixed delay, with simple prediction."""

from libc.math cimport trunc

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Vec3, dot, is_finite, narrowed,
    vector_between, widened,
)
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, is_farther,
)
from epic_cli.engine.strategies.parts.turning cimport hpr_between, slerp_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number, Switch
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# Rotations that are no further apart are the same, rad.
cdef double SAME_TURN = 1e-9

cdef enum:
    DELAYS = 10     # that the mean is of
    REPORTS = 10    # that are kept


cdef class Panda3D(Strategy):
    """Draws between the two reports around a time that is ``delay`` and the mean delay ago.

        time  = local time - delay - mean of the last 10 (arrival - timestamp), whole ms
        u     = (time - before.time) / (after.time - before.time)
        drawn = before + u * (after - before)

    Past the newest report it continues along the last two, by ``max_position_age`` at most
    (``prediction=off``: it stays). Two reports that are further apart than that mean
    that the entity stood still in between: a report of the older place is added
    ``expected_broadcast_period`` before the newer (``default_to_standing_still``). With
    ``accept_clock_skew=off`` the mean delay is left out, for clocks that agree.

    Simple, cheap, good for entities that send only when they move. The first of the delays is 0, so
    that for ten packets it is drawn too early; positions are in single precision, as in the wheel.
    A delay that shrinks can bring a frame back before what was drawn, which is then the report
    behind it.

    Panda's DistributedSmoothNode, which calls it once a frame, gives it a delay of 0.2 s without
    prediction and of 0 with it; here the two are settings of their own. Heading turns about z,
    pitch about x, roll about y; a rotation beyond the vertical goes there by turning round.

    Where this differs from Panda3D: a late packet is discarded, though its delay counts; there all
    reports are cleared, since TCP has no late ones (``quirks=on``). ``accept_clock_skew`` is on,
    since a recording's clocks need not agree; a packet's delay is measured at its arrival, not in
    a frame. ``snap_distance`` is an addition. The velocity is the slope of the line, zero where
    nothing moves for ``reset_velocity_age``.

    With ``accept_clock_skew=off``, ``prediction=off`` and ``default_to_standing_still=off`` its
    positions are those of ``buffer+delay=0.2+keep=10``, in single precision.
    """

    declaration = Declaration(
        name="panda3d",
        summary="Panda3D's SmoothMover: linear, a fixed delay in the past, with simple prediction",
        needs=(Need.ARRIVALS.unless(", or clocks that agree and accept_clock_skew=off"),),
        lag="latency and delay",
        on_loss="interpolates what the delay covers, continues for max_position_age, then holds",
        source="Panda3D (panda3d/panda3d), direct/src/deadrec/smoothMover.cxx; BSD-3-Clause, (c)"
        " Carnegie Mellon University",
        proof="runs of the original (its wheel), called at each arrival and frame, to the last"
        " digit of single precision",
        rotates="heading, pitch and roll on the same line, each the shorter way"
        " (runs of the original)",
        lag_varies=LagVariation(
            "by a millisecond, to which delays are rounded; by a frame where that is at a report",
            seconds=0.0015, frames=1,
        ),
        settings=(
            Number("delay", 0.2, "how far in the past to draw", "s", 0, 60, tune=(0.02, 0.5)),
            Switch("prediction", "on", "continue past the newest report"),
            Number("max_position_age", 0.25, "the extrapolation limit, and the longest time between"
                   " two reports to interpolate",
                   "s", 0, 3600, tune=(0.05, 1)),
            Switch("accept_clock_skew", "on", "subtract the mean delay of timestamps"),
            Switch("default_to_standing_still", "on", "treat a gap between reports as a rest"),
            Number("expected_broadcast_period", 0.2, "how long before the next report a rest ends",
                   "s", 0,
                   3600),
            Number("reset_velocity_age", 0.3, "how long a velocity is kept without reports", "s",
                   0, 3600),
            SNAP_DISTANCE,
            Switch("quirks", "off", "let a late packet clear all reports", tune=False),
        ),
    )

    cdef public double delay, max_position_age, expected_broadcast_period, reset_velocity_age
    cdef public double snap_distance
    cdef public bint prediction, accept_clock_skew, default_to_standing_still, quirks
    cdef SnapshotBuffer reports
    cdef long last_before, last_after   # places in reports; -1: none
    cdef double delays[DELAYS]
    cdef double total                   # of whole milliseconds: it stays exact
    cdef int count, oldest

    def configure(self):
        self.check_free()
        self.reports.set_capacity(64)

    cdef void clear(self) noexcept nogil:
        self.reports.clear()
        self.last_before = self.last_after = -1
        self.delays[0] = self.total = 0
        self.count, self.oldest = 1, 0

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double delay = trunc((now - packet.time) * 1000)
        if self.count < DELAYS:
            self.delays[self.count] = delay
            self.count += 1
        else:
            self.total -= self.delays[self.oldest]
            self.delays[self.oldest] = delay
            self.oldest = (self.oldest + 1) % DELAYS
        self.total += delay
        if not self.reports.empty():
            if packet.time < self.reports.back().time:
                if not self.quirks:
                    return False
                self.reports.clear()
                self.last_before = self.last_after = -1
            elif packet.time == self.reports.back().time:
                self.reports.drop_back()
            elif self.reports.size() >= REPORTS:
                self.drop_oldest()
        self.reports.append(packet, now)
        self.reports.back().position = widened(narrowed(packet.position))
        return True

    cdef void drop_oldest(self) noexcept nogil:
        """Drop the oldest report."""
        self.reports.drop_front(1)
        self.last_before -= 1
        self.last_after -= 1

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = at - self.delay
        if self.accept_clock_skew:
            time -= self.total / self.count / 1000
        while self.draw_or_add_rest(time, sample):
            pass

    cdef bint draw_or_add_rest(self, double time, Sample& sample) noexcept nogil:
        """Draw the sample, or insert a report of standing still.

        Return True if a report was inserted, so that drawing must be repeated.
        """
        cdef long size = self.reports.size()
        cdef long after = max(self.last_before, 0), before = -1, way_before
        cdef bint beyond
        cdef Snapshot rest
        while after < size and self.reports[after].time < time:
            before = after
            after += 1
        way_before = max(before - 1, -1)
        beyond = after >= size
        if before < 0:
            after = min(after, size - 1)
            sample.hold(Motion(self.reports[after].position, Vec3[double]()), self.drawn,
                        INTERPOLATED)
            slerp_between(self.reports[after], self.reports[after], 0, sample)
        elif not beyond or self.prediction and way_before >= 0:
            if beyond:
                after, before = before, way_before
                time = min(time, self.reports[after].time + self.max_position_age)
            rest = self.reports[before]
            rest.time = self.reports[after].time - self.expected_broadcast_period
            if self.default_to_standing_still and rest.time > self.reports[before].time and (
                    self.reports[after].time - self.reports[before].time > self.max_position_age
                    and self.are_apart(before, after)):
                self.reports.insert(after, rest)
                return True
            self.interpolate(before, after, time, beyond, sample)
        else:
            after = -1
            sample.show(self.reports[before], EXTRAPOLATED)
            sample.velocity = Vec3[double]()
            slerp_between(self.reports[before], self.reports[before], 0, sample)
            if way_before >= 0 and time - self.reports[before].time <= self.reset_velocity_age:
                sample.velocity = self.measure_velocity(way_before, before)
                hpr_between(self.reports[way_before], self.reports[before], 1, sample)
            sample.hold(sample, self.drawn, INTERPOLATED)
        self.last_before, self.last_after = before, -1 if before < 0 else after
        while way_before > 0 or way_before == 0 and not self.prediction:
            self.drop_oldest()
            way_before -= 1
        return False

    cdef bint are_apart(self, long before, long after) noexcept nogil:
        cdef Vec3[double] way = self.reports[after].position - self.reports[before].position
        if dot(way, way) > 0:
            return True
        if not self.reports[before].turn.known() or not self.reports[after].turn.known():
            return False
        way = vector_between(self.reports[before].turn.value().rotation,
                             self.reports[after].turn.value().rotation)
        return dot(way, way) > SAME_TURN * SAME_TURN

    cdef Vec3[double] measure_velocity(self, long before, long after) noexcept nogil:
        """Return the velocity between two reports; 0 if their times are too close."""
        cdef Vec3[double] slope = (
            self.reports[after].position - self.reports[before].position) * (
            1 / (self.reports[after].time - self.reports[before].time))
        return slope if is_finite(slope) else Vec3[double]()

    cdef void interpolate(self, long before, long after, double time, bint beyond,
                          Sample& sample) noexcept nogil:
        cdef Vec3[float] start = narrowed(self.reports[before].position)
        cdef Vec3[float] way = narrowed(self.reports[after].position) - start
        cdef double u = (time - self.reports[before].time) / (
            self.reports[after].time - self.reports[before].time)
        cdef Motion motion
        if not self.are_apart(before, after):
            motion.position = self.reports[before].position
            sample.hold(motion, self.drawn, INTERPOLATED)
            slerp_between(self.reports[before], self.reports[before], 0, sample)
            return
        if is_farther(self.reports[before].position, self.reports[after].position,
                      self.snap_distance):
            u = 0 if u < 1 else 1
        motion.position = widened(start + way * <float>u)
        if not is_finite(motion.position):      # more than single precision holds
            motion.position = self.reports[after].position
        motion.velocity = self.measure_velocity(before, after)
        hpr_between(self.reports[before], self.reports[after], u, sample)
        if beyond and time >= self.reports[after].time + self.max_position_age:
            sample.hold(motion, self.drawn, EXTRAPOLATED)
        else:
            sample.show(motion, EXTRAPOLATED if beyond else INTERPOLATED)
