"""The interpolated variables of Valve's Source engine."""

from libc.math cimport fabs, floor

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Vec3, is_finite,
)
from epic_cli.engine.strategies.parts.curves cimport hermite, lerp
from epic_cli.engine.strategies.parts cimport SenderTime, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_between, is_farther, hold_state,
)

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Number, Switch
from epic_cli.engine.strategies.parts.common_settings import LATENCY, SNAP_DISTANCE

# Timestamps closer than this are the same, s.
cdef double EPSILON = 0.0001
# Between states that are closer than this there is no velocity to extrapolate by, s.
cdef double NO_TIME = 0.001
# How much longer than needed a state is kept, s.
cdef double KEPT_BEHIND = 0.05


cdef class Source(Strategy):
    """Draws the entity an interpolation time in the past, on a curve through the history.

        time  = sender's time - (delay + 1 tick)
        delay = max(cl_interp, cl_interp_ratio / cl_updaterate), in whole ticks of tick_interval

    Between two states with a third one before them it is a cubic Hermite curve whose slopes are
    the two differences (the slope at its end is that of the segment that ends there, not of the
    next one, so no later state is needed):

        p(u) = (2u^3 - 3u^2 + 1) p1 + (3u^2 - 2u^3) p2 + (u^3 - 2u^2 + u) (p1 - p0)
               + (u^3 - u^2) (p2 - p1)

    with p0 moved along the line to p1, to where it would be if all intervals were equal. With
    only two states it is a line. Past the newest state the last segment is continued for
    ``cl_extrapolate_amount`` at most, then held. That is for a server that is silent: where a
    newer packet of another entity has come, an entity of which none has is at rest, and its newest
    state is held.

    Smooth at constant acceleration, hides one lost packet at the default settings, and a few more
    by extrapolation. The one-sided slopes overshoot: an entity that stops dead is drawn 14 % of
    its last step too far; one that starts is not drawn moving backwards first, but starts late.

    The SDK intends that and does less: what calls it in each frame (C_BaseEntity's list of what is
    to be interpolated) drops a variable once it is drawn past its newest state, until that
    changes. So it continues for a single frame and stays there: with ``quirks=on``.

    Source's client knows the server's time; here the timestamp that would arrive now is
    estimated (``latency=auto``), or given by the arrival time minus the timestamp. The estimate
    is the mean of the middle half of the last 31 delays: nothing is lost without jitter, and one
    late packet costs nothing. Jitter with a standard deviation of 20 ms makes the drawn time
    waver by 4 ms, 12 at most; a clock that is 1 % off shifts it by 7 ms at 20 Hz. Late packets
    are discarded; with ``quirks=on`` a late packet wipes out the newer ones, as in the original.
    Without a tick (``tick_interval=0``) the delay is not rounded.
    A packet with the newest timestamp replaces the newest. ``snap_distance`` stands for Source's
    no-interpolation flag.

    The velocity is that of the packets, taken along the same curve as any other variable.
    """

    declaration = Declaration(
        name="source",
        summary="Source engine: a one-sided Hermite curve, 0.1 s in the past",
        needs=(Need.ARRIVALS.unless(", or clocks that agree and latency=0"),),
        lag="latency plus the larger of cl_interp and cl_interp_ratio / cl_updaterate, in whole"
        " ticks, and a tick",
        on_loss="interpolates across what is lost, extrapolates for 0.25 s, then holds",
        source="Source SDK 2013 (Valve), interpolatedvar.h; formulas only, none of its code",
        proof="runs of interpolatedvar.h, called in every frame, and (quirks=on) by the list of"
        " C_BaseEntity",
        connection="its clock takes all packets, and a newer one of another entity says that this"
        " one is at rest: it is held, not extrapolated",
        rotates="slerp of the angles' quaternions, also beyond the newest; never a Hermite curve"
        " (lerp_functions.h)",
        settings=(
            Number("cl_interp", 0.1, "how far in the past the entity is drawn; Source's own"
                   " variable ends at 0.5", "s", 0, 10, tune=(0, 0.5)),
            Number("cl_interp_ratio", 2.0, "the interpolation delay in packets; the longer of the"
                   " two counts",
                   "packets", 0, 100, tune=(0, 4)),
            Number("cl_updaterate", 20.0, "packets a second", "Hz", 0.1, 1000),
            Number("tick_interval", 0.015, "entities are drawn one tick later", "s", 0, 1),
            Switch("cl_extrapolate", "on", "continue past the newest state"),
            Number("cl_extrapolate_amount", 0.25, "the extrapolation limit", "s", 0, 60, tune=(0,
                   1)),
            LATENCY,
            SNAP_DISTANCE,
            Switch("quirks", "off", "let a late packet wipe out newer ones, and continue past the"
                   " newest state for a single frame, as the original does", tune=False),
        ),
    )

    cdef public double snap_distance
    cdef public bint quirks
    cdef double interpolation_time, most
    cdef bint stays             # was continued, with quirks
    cdef Sample last
    cdef SenderTime clock
    cdef SnapshotBuffer history

    def configure(self, *, cl_interp, cl_interp_ratio, cl_updaterate, tick_interval,
                  cl_extrapolate, cl_extrapolate_amount, latency):
        self.check_free()
        self.interpolation_time = max(cl_interp, cl_interp_ratio / cl_updaterate)
        if tick_interval > 0:
            self.interpolation_time = tick_interval * (
                floor(self.interpolation_time / tick_interval + 0.5) + 1)
        self.most = cl_extrapolate_amount if cl_extrapolate else 0
        self.clock = SenderTime(latency)
        self.history.set_capacity()

    cdef void clear(self) noexcept nogil:
        self.history.clear()
        self.stays = False

    cdef void clear_clock(self) noexcept nogil:
        self.clock.clear()

    cdef int copy_clock(self, Strategy peer) except -1:
        self.clock.copy((<Source>peer).clock)
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if not time < self.find_connection_newest() or self.quirks:
            self.clock.add(time, now)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time < self.newest and not self.quirks:
            return False
        if not self.same_datagram:
            self.count_datagram(packet.time, now)
        if self.stays:      # until a value comes that is another
            self.stays = not are_different(self.history.back().position, packet.position)
            self.last.position = packet.position
        while not self.history.empty() and self.history.back().time + EPSILON > packet.time:
            self.history.drop_back()
        self.history.append(packet, now)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = self.clock.time(at) - self.interpolation_time
        cdef size_t before
        # three states more than what is older than needed
        before = self.history.count_until(time - KEPT_BEHIND)
        if before > 3:
            self.history.drop_front(before - 3)
        before = self.history.count_until(time)
        if before == 0:
            hold_state(self.history.front(), self.drawn, sample)
        elif self.stays:
            sample.hold(self.last, self.drawn, EXTRAPOLATED)
            sample.turn.copy(self.last.turn)
        elif before == self.history.size():
            self.draw_past(self.history.back(), time, sample)
            if self.quirks:
                self.stays, self.last = True, sample
        else:
            self.draw_along(before - 1, time, sample)

    cdef void draw_past(self, const Snapshot& newest, double time, Sample& sample) noexcept nogil:
        """Extrapolate the last segment, or hold the newest state where there is nothing to
        extrapolate.
        """
        cdef const Snapshot* before
        cdef double past = time - newest.time
        hold_state(newest, self.drawn, sample)
        if self.history.size() < 2 or past <= 0 or self.most <= 0:
            return
        if self.others_newest > self.newest:
            return
        before = &self.history[self.history.size() - 2]
        if newest.time - before.time < NO_TIME or is_farther(before.position, newest.position,
                                                             self.snap_distance):
            return
        draw_between(before[0], newest,
                     1 + min(past, self.most) / (newest.time - before.time), 0, sample)
        if past <= self.most:
            sample.status = EXTRAPOLATED
        else:
            sample.hold(sample, self.drawn, EXTRAPOLATED)

    cdef void draw_along(self, size_t index, double time, Sample& sample) noexcept nogil:
        """Draw the curve from the state ``index`` to the next at the sender's time ``time``."""
        cdef const Snapshot* start = &self.history[index]
        cdef const Snapshot* end = &self.history[index + 1]
        cdef const Snapshot* previous
        cdef double duration = end.time - start.time
        cdef double u = (time - start.time) / duration
        cdef double ratio
        draw_between(start[0], end[0], u, self.snap_distance, sample)
        if index == 0 or is_farther(start.position, end.position, self.snap_distance):
            return
        previous = &self.history[index - 1]
        if is_farther(previous.position, start.position, self.snap_distance):
            return
        ratio = duration / (start.time - previous.time)
        if fabs(duration - (start.time - previous.time)) <= EPSILON:
            ratio = 1
        sample.position = evaluate_curve(previous.position, start.position, end.position, ratio, u,
                                         sample.position)
        sample.velocity = evaluate_curve(previous.velocity, start.velocity, end.velocity, ratio, u,
                                         sample.velocity)
        sample.status = INTERPOLATED


cdef bint are_different(Vec3[double] a, Vec3[double] b) noexcept nogil:
    return a.x != b.x or a.y != b.y or a.z != b.z


cdef Vec3[double] evaluate_curve(Vec3[double] p0, Vec3[double] p1, Vec3[double] p2,
                                 double ratio, double u,
                                 Vec3[double] otherwise) noexcept nogil:
    """Return the point at ``u`` of the one-sided Hermite curve; ``otherwise`` on overflow."""
    cdef Vec3[double] result
    if ratio != 1:
        p0 = lerp(p0, p1, 1 - ratio)
    result = hermite(Motion(p1, p1 - p0), Motion(p2, p2 - p1), 1, u).position
    return result if is_finite(result) else otherwise
