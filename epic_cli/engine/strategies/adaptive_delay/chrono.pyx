"""The replication of characters by Chrono, a replacement for Roblox' own character replication."""

from libc.math cimport fabs, isnan, NAN

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3, is_finite
from epic_cli.engine.strategies.parts.curves cimport hermite
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_between, is_farther, hold_state, make_snapshot,
)
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.turning cimport slerp_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# A packet this far from its time begins another clock, s.
cdef double OTHER_CLOCK = 1.0
# The render time is set at an error of `FAR`, and changes its speed at one of `NEAR`, s.
cdef double FAR_BEHIND = 0.1
cdef double NEAR_BEHIND = 0.01
# How much faster or slower it then runs, and the weights of the jitter and of too short a buffer.
cdef double CHANGE_OF_SPEED = 0.1
cdef double WEIGHT_OF_JITTER = 0.1
cdef double SHORT_OF_LEAST = 0.2
# A gap of more ticks is a rest.
cdef double TICKS_OF_REST = 3


cdef class Chrono(Strategy):
    """Draws cubic curves through the packets, on a clock that the newest packet sets.

        server = newest timestamp + time since its arrival
        wait   = tick + 2 jitter, bounded by ``least`` and ``most``; or ``buffer``
        render = render + frame time, up to 10 % faster or slower towards server - wait
        drawn  = cubic Hermite curve between the two states around the render time

    The velocity of a state is the way from the packet before over the time between them: one-sided,
    so that stops are overshot. At a gap of more than three ticks the old position is inserted once
    more, at rest, one tick before the new state, and the new velocity is the way over one tick.
    Below ``least`` the wait is ``least`` and a fifth of what is missing. The jitter is the mean
    difference of the latencies of two packets, over about ten of them.

    A render time that is 0.1 s off is set at once; one that is 0.01 s off runs a tenth faster or
    slower. A packet a second off its time begins another clock. Early packets pull the clock ahead,
    as they do there. Before the oldest state that one is held, after the newest one that.

    Left out: the teleport flag, half of the ticks for distant entities, and culling. A packet with
    the timestamp of another is discarded (ours), and ``snap_distance`` is an addition.
    """

    declaration = Declaration(
        name="chrono",
        summary="Chrono (Roblox): cubic curves, on a clock by the newest packet, with bounds",
        needs=(Need.ARRIVALS,),
        lag="latency and the wait: 0.098 s where nothing jitters at 20 packets a second",
        on_loss="interpolates what the wait covers, then holds",
        source="Chrono 2.1.6 (Parihsz/Chrono a0b1260), ClientClock, InterpolationBuffer,"
        " Snapshots, InterpolationMath; MIT",
        proof="values of an independent implementation; the original was not run",
        rotates="slerp between the same states, by the fraction of their time (CFrame:Lerp)",
        lag_varies=LagVariation(
            "by up to the time between two packets where that is longer than the wait", 0.03,
            periods=1, period_above=0.05,
        ),
        settings=(
            Number("tick", 0.05, "the time between two packets of the entity's type", "s", 0.001,
                   60),
            Number("buffer", 0.0, "a fixed delay, as entities other than players have (0.1); 0:"
                   " adapt it to the jitter", "s", 0, 60, tune=(0.02, 0.5)),
            Number("least", 0.09, "the shortest delay", "s", 0, 60),
            Number("most", 0.5, "the longest delay", "s", 0, 60),
            Number("keep", 30, "the largest number of states kept", "", 2, 4096, whole=True),
            SNAP_DISTANCE,
        ),
    )

    cdef public double tick, buffer, least, most, snap_distance
    cdef SnapshotBuffer states
    cdef bint ticking                   # is there a newest timestamp?
    cdef double stamp, stamped          # it, and its arrival, s
    cdef readonly double render         # the sender's time that is drawn, s; NaN: not set
    cdef double jitter, last_latency    # s; NaN: not measured

    def configure(self, *, keep):
        self.check_free()
        self.states.set_capacity(keep)

    cdef void clear(self) noexcept nogil:
        self.states.clear()
        self.forget_clock()

    cdef void forget_clock(self) noexcept nogil:
        self.ticking = False
        self.render = self.jitter = self.last_latency = NAN

    # ------------------------------------------------------------- packets

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef size_t place = self.states.count_until(packet.time)
        if place > 0 and self.states[place - 1].time == packet.time:
            return False
        self.count_packet(packet.time, now)
        self.insert_with_velocity(packet, now)
        return True

    cdef void count_packet(self, double time, double now) noexcept nogil:
        """Update the clock and the jitter by a packet's timestamp and its arrival ``now``."""
        cdef double latency
        if self.ticking:
            latency = self.estimate_server_time(now) - time
            if fabs(latency) > OTHER_CLOCK:
                self.forget_clock()
            elif isnan(self.jitter):
                self.jitter = 0
            else:
                self.jitter += WEIGHT_OF_JITTER * (
                    fabs(latency - self.last_latency) - self.jitter)
            if self.ticking:
                self.last_latency = latency
        if not self.ticking:
            self.ticking, self.stamp, self.stamped = True, time, now
        elif time > self.stamp:
            self.stamp, self.stamped = time, now
            if isnan(self.render):
                self.render = time - self.compute_wait()

    cdef double estimate_server_time(self, double now) noexcept nogil:
        return self.stamp + (now - self.stamped)

    cdef double compute_wait(self) noexcept nogil:
        cdef double wait = self.tick + (0 if isnan(self.jitter) else 2 * self.jitter)
        if self.buffer > 0:
            return self.buffer
        if wait < self.least:
            return self.least + SHORT_OF_LEAST * (self.least - wait)
        return min(wait, self.most)

    cdef void insert_with_velocity(self, const Packet& packet, double now) noexcept nogil:
        """Insert a packet's state with an estimated velocity.

        Insert a point of rest before it after a gap.
        """
        cdef Snapshot state = make_snapshot(packet, now)
        cdef Snapshot rest
        cdef double gap
        state.velocity = Vec3[double]()
        if not self.states.empty() and packet.time > self.states.back().time:
            rest = self.states.back()
            gap = packet.time - rest.time
            if gap > TICKS_OF_REST * self.tick:
                rest.time = packet.time - self.tick
                rest.velocity = Vec3[double]()
                self.insert(rest)
                gap = self.tick
            state.velocity = (state.position - rest.position) * (1 / max(gap, self.tick))
        self.insert(state)

    cdef void insert(self, const Snapshot& state) noexcept nogil:
        """Insert a state in order of time; drop the oldest state of a full buffer."""
        cdef size_t place = self.states.count_until(state.time)
        if self.states.full():
            if place == 0:
                return
            self.states.drop_front(1)
            place -= 1
        self.states.insert(place, state)

    # ------------------------------------------------------------- frames

    cdef void advance_render_time(self, double at) noexcept nogil:
        """Advance the render time to the frame at ``at``, faster or slower towards the wanted
        delay.
        """
        cdef double elapsed = self.elapsed(at)
        cdef double goal = self.estimate_server_time(at) - self.compute_wait()
        cdef double time = (goal if isnan(self.render) else self.render) + elapsed
        cdef double error = time - goal
        if fabs(error) > FAR_BEHIND:
            time = goal
        elif error > NEAR_BEHIND:
            time = max(goal, time - CHANGE_OF_SPEED * elapsed)
        elif error < -NEAR_BEHIND:
            time = min(goal, time + CHANGE_OF_SPEED * elapsed)
        self.render = time

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef size_t place
        self.advance_render_time(at)
        place = self.states.count_until(self.render)
        if place == 0:
            hold_state(self.states.front(), self.drawn, sample)
        elif place == self.states.size():
            hold_state(self.states.back(), self.drawn, sample)
        else:
            self.draw_curve(self.states[place - 1], self.states[place], sample)

    cdef void draw_curve(self, const Snapshot& before, const Snapshot& after,
                         Sample& sample) noexcept nogil:
        cdef double duration = after.time - before.time
        cdef double u = (self.render - before.time) / duration
        cdef Motion motion = hermite(before, after, duration, u)
        if is_farther(before.position, after.position, self.snap_distance) or not (
                is_finite(motion.position) and is_finite(motion.velocity)):
            draw_between(before, after, u, self.snap_distance, sample)
            return
        sample.show(motion, INTERPOLATED)
        slerp_between(before, after, u, sample)
