"""The interpolation of Unity's Netcode for GameObjects, in its four kinds."""

cimport cython

from libc.math cimport INFINITY, NAN, fabs, floor, isnan, pow

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.packets cimport (
    INTERPOLATED, Motion, Packet, Quaternion, Sample, Turn, Vec3, clamped, components, is_finite,
    narrowed, near_to, nlerp, slerp, widened,
)
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts cimport SendInterval, Strategy
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE
from epic_cli.engine.strategies.parts.curves cimport lerp, smooth_damp
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, SnapshotBuffer, is_farther
from epic_cli.engine.strategies.parts.turning cimport YXZ, angles_from_turn, of_degrees, shorter


# The rounding error of adding and subtracting offsets is below this, s, or below this part of a
# time. Whether a frame is before a timestamp or after it must not be left to the last digit: one
# that is taken to be just after each shows but the beginning of each segment, and the entity
# stands still.
cdef double ROUNDING = 1e-9
cdef double RELATIVE_ROUNDING = 1e-15

# The timestamp of a whole number of intervals may be below it by this part of one.
cdef double INTERVAL_ROUNDING = 1e-6


cpdef enum class SmoothingFactor:
    FRAME_RATE_INDEPENDENT
    PER_FRAME


cpdef enum class RotationLerp:
    SLERP
    NLERP


cpdef enum RenderFrom:
    SERVER_TIME
    LOCAL_TIME


cdef class UnityNgo(Strategy):
    """Follows a queue of states some ticks behind the server time, and smooths the result.

    The client's server time is ``server_buffer`` behind a timestamp in the frame before the one
    that reads it; one timestamp a second counts. What is rendered is ``tick_latency`` ticks behind
    that. A frame takes states from the queue and heads for the
    newest of them; ``start`` and ``target`` are the two ends, ``r`` is the render time:

    double-lerp (1.x): states up to the server time, once r has passed the target:
        value  = lerp(start, target, (r - start.time) / (target.time - start.time))
        drawn += (value - drawn) * frame time / position_max_interpolation_time
    legacy-lerp (default since 2.3): the same, but a segment begins at the last value, not at the
    last target. The sooner after a timestamp the frames draw, the further it falls behind: where
    r is always a fraction f of a tick past the target, by (1 - f) / f ticks. Frames that are
    about as long as ticks are always so: pass by pass the entity slows down, for seconds if the
    two lengths are nearly the same, and then jumps to where it should be.
    lerp: states up to r; advances by the frame times, not by r. After it:
        drawn += (value - drawn) * (1 - position_max_interpolation_time ^ (60 * frame time))
    smooth-damp: as lerp, with Unity's SmoothDamp towards the target for ``value``.

    ``position_lerp_smoothing=off`` leaves out the second step (double-lerp always has it). Up to
    2026 its factor in the last two kinds was 1 - position_max_interpolation_time a frame, so
    that smoothing depended on the frame rate and 1 froze the object: smoothing_factor=per-frame.

    Clients before 2.13.3 subtracted the ticks from the local time, and so rendered about the
    server time: shorter lag, but often nothing to move to: ``render_from=local-time``.

    Very smooth, and never overshoots; but floaty: the second lerp never quite arrives, and the
    lag is larger than any other's. double-lerp is computed in single precision, as in Unity. For
    the others a target counts as reached, and nothing moves until the next, when each axis is
    within 0.005 of it; they drop their start once they have rested for a while: the next segment
    begins at what is drawn, and in legacy-lerp its end is the value at once. More than 100 packets
    in one frame, late ones included, count as a burst, of which only the newest is shown.

    Where this differs from Unity: the tick rate is measured with ``tick_rate=auto``; the server
    time never goes back; a frame that only rounding puts before or after a timestamp is at it;
    a late packet after a burst is discarded; after a silence longer than ``pause`` a segment takes
    one tick, unless the entity had come to rest, where Unity begins it at the stale timestamp and
    is there at once (``pause=0``); ``snap_distance`` is an addition, since Unity teleports on
    demand only. Late packets are discarded, except by double-lerp, which sorts them in as long as
    it has not passed them.

    ``tick_rate=auto`` draws as the given rate does, where at least three of eight packets follow
    the one before by one tick; silences and single losses cost nothing, and another rate is known
    within 32 packets. Until then the delay is that of the wrong tick.

    The velocity is that of the packets, followed in the same way.
    """

    declaration = Declaration(
        name="unity-ngo",
        summary="Unity Netcode for GameObjects: buffered interpolation, then a second smoothing",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency, server_buffer, tick_latency ticks, and the second smoothing, less a frame",
        on_loss="moves to the newest state, then holds",
        source="Netcode for GameObjects (Unity-Technologies), BufferedLinearInterpolator;"
        " double-lerp from 1.11 (MIT), the others from formulas and runs of 2.13 (Unity Companion"
        " License), none of its text",
        proof="runs of the interpolators of 1.11 (bit for bit) and 2.13, called at a packet and in"
        " a frame as NetworkTransform calls them; upstream tests",
        connection="its server time and tick take all packets (NetworkTimeSystem)",
        rotates="slerp (half floats: nlerp) where positions lerp; smooth-damp: each angle by itself"
        " (BufferedLinearInterpolatorQuaternion)",
        lag_varies=LagVariation(
            "as its clock does, by 1 % of a frame; by up to a tick where frames are of"
            " another length; legacy-lerp falls behind for seconds and then jumps where they are"
            " of nearly the same length",
            seconds=0.001, periods=60,
        ),
        settings=(
            Choice("mode", "legacy-lerp", "the kind of interpolation", Interpolation),
            Number("tick_rate", "auto", "ticks (packets) a second; auto measures it", "Hz",
                   0.1, 1000, unset="auto"),
            Number("tick_latency", "auto", "ticks to stay behind the server time; auto: 1 for"
                   " double-lerp and legacy-lerp, otherwise 2", "ticks", 0, 1000,
                   unset="auto", tune=(0, 5)),
            Choice("render_from", "server-time", "the clock that tick_latency is subtracted from",
                   RenderFrom),
            Switch("position_lerp_smoothing", "on", "smooth the interpolated position"),
            Number("position_max_interpolation_time", 0.1, "the time constant of the smoothing",
                   "s", 0.01, 1, tune=(0.01, 0.9)),
            Choice("rotation", "slerp", "how rotations interpolate; nlerp: as with half floats",
                   RotationLerp),
            Choice("smoothing_factor", "frame-rate-independent", "the smoothing factor of releases"
                   " since 2026, or of those before",
                   SmoothingFactor),
            Number("latency", "auto", "arrival time minus timestamp, which sets the server time;"
                   " auto measures it", "s", -1e12, 1e12, unset="auto"),
            Number("server_buffer", 0.05, "how far the server time is behind the timestamps", "s",
                   0, 10, tune=(0, 0.2)),
            Number("hard_reset", 0.2, "reset a server time that is off by more than this", "s",
                   0, 60),
            Number("adjustment_ratio", 0.01, "how fast a smaller error is corrected", "", 0, 1,
                   tune=(0.001, 0.1), scale="log"),
            Number("sync_interval", 1.0, "time between two timestamps that set the server time",
                   "s", 0, 60),
            Number("pause", 1.0, "after a longer silence the next segment takes one tick;"
                   " 0: never", "s", 0, 3600),
            SNAP_DISTANCE,
        ),
    )

    cdef public Interpolation mode
    cdef public RenderFrom render_from
    cdef public double tick_latency, pause
    cdef BufferedInterpolator positions, velocities, turns
    cdef NetworkTime clock
    cdef SendInterval interval
    cdef double rendered

    def configure(self, *, tick_rate, position_lerp_smoothing, position_max_interpolation_time,
                  rotation, smoothing_factor, latency, server_buffer, hard_reset, adjustment_ratio,
                  sync_interval, snap_distance):
        self.check_free()
        given = (self.mode, position_max_interpolation_time, position_lerp_smoothing,
                 smoothing_factor == SmoothingFactor.PER_FRAME)
        self.positions = BufferedInterpolator(*given)
        self.velocities = BufferedInterpolator(*given)
        self.turns = BufferedInterpolator(*given, True, rotation == RotationLerp.NLERP)
        self.positions.snap_distance = snap_distance
        self.clock = NetworkTime(latency, server_buffer, hard_reset, adjustment_ratio,
                                 sync_interval)
        self.interval = SendInterval(1.0 / tick_rate, 1.0 / 30)
        self.clock_restarts = True
        if isnan(self.tick_latency):
            self.tick_latency = 1 if self.mode in (DOUBLE_LERP, LEGACY_LERP) else 2

    cdef void clear(self) noexcept nogil:
        self.turns.seeded = False

    cdef void clear_clock(self) noexcept nogil:
        self.clock.clear()
        self.interval.clear()
        self.rendered = -INFINITY

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef UnityNgo other = peer
        self.clock.copy(other.clock)
        self.interval.copy(other.interval)
        self.rendered = other.rendered
        self.set_tick(self.positions)
        self.set_tick(self.velocities)
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if time > self.find_connection_newest():
            self.count_stamp(time)

    cdef void count_stamp(self, double time) noexcept nogil:
        """Update the server time and the tick by the connection's newest timestamp."""
        self.interval.add_datagram(time, self)
        self.clock.sync(time, self.drawn.time)  # messages are read before the frame's time is added
        self.set_tick(self.positions)
        self.set_tick(self.velocities)

    cdef void pass_frame(self, double at) noexcept nogil:
        self.advance(at)

    cdef double advance(self, double at) noexcept nogil:
        """Advance the clock to the frame at ``at``.

        Set ``rendered``, and return the server time.
        """
        cdef double server = self.clock.advance(at, self.elapsed(at)), render = server
        if self.render_from == SERVER_TIME:
            render -= self.interval.value * self.tick_latency
        # the render time does not go back when another tick rate is measured
        self.rendered = max(self.rendered, render)
        return server

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint resumes = not self.empty and 0 < self.pause < packet.time - self.newest
        cdef double tick = self.interval.value
        if not self.connected:
            if self.empty or packet.time > self.newest:
                self.count_stamp(packet.time)
        elif not self.same_datagram:
            self.count_datagram(packet.time, now)
        if self.empty:
            self.positions.jump_to(packet.position, packet.time)
            self.velocities.jump_to(packet.velocity, packet.time)
        elif resumes:
            self.positions.resume_after_pause(packet.time - tick)
            self.velocities.resume_after_pause(packet.time - tick)
        if packet.turn.known():
            self.accept_rotation(packet)
        self.empty = False              # even where the first comes too late: 1.x jumps to it
        self.velocities.queue_value(packet.velocity, packet.time)
        return self.positions.queue_value(packet.position, packet.time)

    cdef void accept_rotation(self, const Packet& packet) noexcept nogil:
        cdef Turn turn = packet.turn.value()
        self.turns.given = turn.rotation
        if not self.turns.seeded:
            self.turns.make_room()
            self.turns.jump_to(turn.spin, packet.time)
        elif 0 < self.pause < packet.time - self.newest:
            self.turns.resume_after_pause(packet.time - self.interval.value)
        self.set_tick(self.turns)
        self.turns.queue_value(turn.spin, packet.time)

    cdef void set_tick(self, BufferedInterpolator one) noexcept nogil:
        one.tick = self.interval.value
        one.latency = self.interval.value * self.tick_latency

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double elapsed = self.elapsed(at), server = self.advance(at), render = self.rendered
        cdef Vec3[double] spin
        self.positions.slack = max(ROUNDING, RELATIVE_ROUNDING * max(fabs(at), fabs(server)))
        self.velocities.slack = self.positions.slack
        sample.show(Motion(self.positions.advance(elapsed, render, server),
                           self.velocities.advance(elapsed, render, server)), INTERPOLATED)
        if self.positions.has_arrived():
            sample.hold(sample, self.drawn, INTERPOLATED)
        if self.turns.seeded:
            self.turns.slack = self.positions.slack
            spin = self.turns.advance(elapsed, render, server)
            sample.turn.set(Turn(self.turns.turn_current, spin))


# ---------------- the interpolators of Unity's Netcode for GameObjects, for one vector each
# Four ways to follow a queue of timestamped values, from its releases 1.x (``double-lerp``, in
# single precision as there) and 2.3 and later. ``server`` is the receiver's estimate of the server
# time, ``render`` an earlier time that is drawn.
# Source: com.unity.netcode.gameobjects, BufferedLinearInterpolator. ``double-lerp`` from the
# formulas of release 1.11 (MIT); the others, whose releases are under the Unity Companion License,
# from published formulas and from runs of 2.13, none of their text.


cpdef enum Interpolation:
    DOUBLE_LERP
    LEGACY_LERP
    LERP
    SMOOTH_DAMP

# More values than this within one frame are a burst: only the newest counts.
cdef long BURST = 100
# A segment that was to end this many durations ago counts as no further past its end.
cdef float PAST_END = 3
# How long legacy-lerp waits at its target before it drops its start, s.
cdef double IDLE = 0.3
# The distance along each axis at which a target counts as reached, in length units.
cdef double NEAR = 0.005
# The tolerance of each component of a quaternion.
cdef double NEAR_TURN = 1e-6
# A shorter segment is over at once, s.
cdef double SHORTEST = 1e-10


@cython.final
cdef class BufferedInterpolator:
    """A follower of timestamped values; see ``UnityNgo`` for what each kind does.

    ``maximum_time`` is the maximum interpolation time (s for the older lerps, a rate for the
    others), ``smooths`` the second lerp of the later kinds, ``per_frame`` its factor before 2026,
    which does not know the frame's length. One that ``turns`` follows rotations (``given`` with
    each value), and their spins as values.
    """

    cdef Interpolation kind
    cdef bint smooths, per_frame
    cdef double maximum_time
    cdef public double tick         # the least duration of a segment, s
    cdef public double latency      # how far rendering is behind the server time, s
    cdef public double snap_distance
    cdef public double slack        # times that are no further apart are the same, s
    cdef SnapshotBuffer queue
    cdef long received              # since the last frame
    cdef double newest              # the newest timestamp in the queue or taken from it
    cdef double latest              # the timestamp of the value that was put in last
    cdef bint seeded                # it has a value
    cdef bint has_target, reached   # reached: nothing moves until there is a new target
    cdef double start_time, target_time, duration, elapsed, longest
    cdef Vec3[double] start, target, next_value, current, rate
    cdef bint turns, lerps          # lerps: normalized linear, as with half floats
    cdef Quaternion given, turn_start, turn_target, turn_next, turn_current
    cdef Vec3[double] turn_rate     # of pitch, yaw and roll, degrees/s

    def __init__(self, kind, double maximum_time, bint smooths, bint per_frame,
                 bint turns=False, bint lerps=False):
        self.kind = kind
        self.maximum_time = maximum_time
        self.smooths = smooths
        self.per_frame = per_frame
        self.tick = 1.0 / 30
        self.latency = 2 * self.tick
        self.turns, self.lerps = turns, lerps
        if not turns:                 # those wait for the first rotation
            self.make_room()
        self.jump_to(Vec3[double]())
        self.seeded = False

    # ------------------------------------------------------------- for Python

    def add(self, value, double time):
        """Queue a value (three numbers) with its timestamp."""
        x, y, z = value
        self.queue_value(Vec3[double](x, y, z), time)

    def reset_to(self, value):
        """Empty the queue and show this value (three numbers) at once."""
        x, y, z = value
        self.jump_to(Vec3[double](x, y, z))

    def update(self, double elapsed, double render, double server):
        """Return the value after a frame of ``elapsed`` seconds, at a render time and a server
        time.
        """
        cdef Vec3[double] value = self.advance(elapsed, render, server)
        return components(value)

    # ------------------------------------------------------------- for strategies

    cdef void make_room(self) noexcept nogil:
        self.queue.set_capacity(512)  # it must also last while the server time stands still

    cdef bint queue_value(self, Vec3[double] value, double time) noexcept nogil:
        """Queue a value with its timestamp; return False if the timestamp is too old."""
        cdef Snapshot* item
        self.received += 1
        if self.received > BURST and time > self.latest:
            self.jump_to(value, time)
            # in 1.x a jump is a frame
            self.received = 0 if self.kind == DOUBLE_LERP else BURST
        elif self.received > BURST or not self.accepts_time(time):
            return False
        if self.queue.full():
            self.queue.drop_front(1)
        self.latest = time
        self.newest = max(self.newest, time)
        item = &self.queue.made(self.queue.count_until(time))
        item.time = time
        item.position = value
        if self.turns:
            item.turn.set(Turn(self.given, Vec3[double]()))
        return True

    cdef bint accepts_time(self, double time) noexcept nogil:
        """Return True if a timestamp is newer than all others (double-lerp.

        Than the current target's).
        """
        if self.kind == DOUBLE_LERP:
            return not self.seeded or time > self.target_time
        return time > self.newest

    cdef void jump_to(self, Vec3[double] value, double time=0) noexcept nogil:
        """Empty the queue and show this value at once."""
        self.queue.clear()
        self.received = 0
        self.newest = self.latest = -INFINITY
        self.target = self.current = value
        self.rate = self.turn_rate = Vec3[double]()
        self.turn_target = self.turn_current = self.given
        self.seeded = True
        # in 1.x the first segment begins at time 0, however late it is; at negative times, nowhere
        self.target_time = min(time, 0.0)
        self.hold()

    cdef void hold(self) noexcept nogil:
        """Hold the current value; the next segment begins there."""
        self.has_target = self.reached = False
        self.start = self.next_value = self.current
        self.turn_start = self.turn_next = self.turn_current

    cdef void resume_after_pause(self, double time) noexcept nogil:
        """Begin the segment to the next value at the current value and at the timestamp ``time``.
        """
        if not self.has_target:
            return                      # at rest: it begins here in any case
        self.queue.clear()
        self.reached = False
        self.target_time = time
        self.target = self.start = self.next_value = self.current
        self.turn_target = self.turn_start = self.turn_next = self.turn_current
        self.rate = self.turn_rate = Vec3[double]()

    cdef bint has_arrived(self) noexcept nogil:
        """Return True if the target is reached and the queue is empty."""
        return self.queue.empty() and (not self.has_target or self.is_at_target())

    cdef Vec3[double] advance(self, double elapsed, double render,
                              double server) noexcept nogil:
        cdef double idle
        cdef bint legacy = self.kind == LEGACY_LERP
        self.received = 0
        if self.kind == DOUBLE_LERP:
            return self.advance_double_lerp(elapsed, render, server)
        if not legacy:
            self.reached = self.reached or self.has_target and self.is_at_target()
            self.take_until(render + self.slack)
        elif not self.has_target or self.target_time + self.slack <= render:
            self.take_until(server)
        if not self.has_target:
            return self.current
        if not self.reached:
            self.advance_segment(elapsed, render)
            self.reached = legacy and self.is_at_target()
        elif self.queue.empty():
            idle = IDLE if legacy else self.longest + self.tick
            if render - self.target_time > idle:
                self.hold()
        return self.current

    cdef void advance_segment(self, double elapsed, double render) noexcept nogil:
        """Advance along the segment by a frame of ``elapsed`` seconds, then apply the second lerp.
        """
        cdef double u = 1
        cdef Motion step
        if self.kind == LEGACY_LERP:
            if self.duration > SHORTEST:
                u = clamped((render - self.start_time) / self.duration, 0, 1)
            self.next_value = lerp(self.start, self.target, u)
        else:
            self.elapsed = min(self.elapsed + elapsed, self.duration)
            u = self.elapsed / self.duration
            if self.kind == LERP:
                self.next_value = lerp(self.start, self.target, u)
            else:
                step = smooth_damp(Motion(self.next_value, self.rate), self.target,
                                   self.duration * u, elapsed)
                self.next_value, self.rate = step.position, step.velocity
        if self.smooths:
            self.current = lerp(self.current, self.next_value, self.compute_share(elapsed))
        else:
            self.current = self.next_value
        if self.turns:
            self.advance_rotation(u, elapsed)

    cdef void advance_rotation(self, double u, double elapsed) noexcept nogil:
        """Advance the rotation to the fraction ``u`` of the segment.

        Smooth-damp treats each angle alone.
        """
        cdef Vec3[double] angles, target
        if self.kind == SMOOTH_DAMP:
            angles = angles_from_turn(self.turn_next, YXZ)
            target = angles + shorter(angles, angles_from_turn(self.turn_target, YXZ))
            angles.x = damp_axis(angles.x, target.x, self.turn_rate.x, self.duration * u, elapsed)
            angles.y = damp_axis(angles.y, target.y, self.turn_rate.y, self.duration * u, elapsed)
            angles.z = damp_axis(angles.z, target.z, self.turn_rate.z, self.duration * u, elapsed)
            self.turn_next = of_degrees(angles, YXZ)
        else:
            self.turn_next = self.blend_rotations(self.turn_start, self.turn_target, u)
        self.turn_current = self.blend_rotations(
            self.turn_current, self.turn_next, self.compute_share(elapsed) if self.smooths else 1)

    cdef Quaternion blend_rotations(self, Quaternion start, Quaternion end,
                                    double u) noexcept nogil:
        u = clamped(u, 0, 1)
        return nlerp(start, end, u) if self.lerps else slerp(start, end, u)

    cdef void take_until(self, double until) noexcept nogil:
        """Begin a segment to the newest queued value that is not after ``until``, if there is one.
        """
        cdef size_t count = self.queue.count_until(until)
        if count > 0:
            if self.turns:
                self.turn_target = self.queue[count - 1].turn.value().rotation
                self.turn_start = self.turn_next
            self.begin_segment(self.queue[count - 1].position, self.queue[count - 1].time,
                               self.target_time if self.has_target else self.queue[0].time)
            self.queue.drop_front(count)

    cdef void begin_segment(self, Vec3[double] value, double time, double start) noexcept nogil:
        cdef bint jumps = is_farther(self.target, value, self.snap_distance)
        self.start_time = start
        self.duration = time - start
        if self.kind != LEGACY_LERP:
            self.duration = max(self.duration, self.tick)
        self.longest = self.latency
        self.elapsed = 0
        self.has_target = True
        self.reached = False
        self.target = value
        self.target_time = time
        if jumps:
            self.next_value = self.current = value
            self.rate = Vec3[double]()
        # not the old target but what is drawn, so legacy-lerp falls behind where frames and
        # timestamps do not coincide
        self.start = self.next_value

    cdef double compute_share(self, double elapsed) noexcept nogil:
        """Return the share, 0 to 1, of the remaining difference that a frame's second lerp removes.
        """
        cdef double rate
        if self.kind == LEGACY_LERP:
            return min(elapsed / self.maximum_time, 1.0)
        rate = clamped(self.maximum_time, 0, 1)
        if self.per_frame:
            return 1 - rate
        return 1 - pow(0.99 if rate >= 1 else rate, 60 * elapsed)

    cdef bint is_at_target(self) noexcept nogil:
        """Return True if each axis is within 0.005 of the target, which rounds to 0.00."""
        cdef Vec3[double] left
        if self.turns:
            return self.is_rotation_at_target()
        left = self.target - self.current
        return max(fabs(left.x), fabs(left.y), fabs(left.z)) <= NEAR

    cdef bint is_rotation_at_target(self) noexcept nogil:
        cdef Quaternion end = near_to(self.turn_target, self.turn_current)
        return max(fabs(end.x - self.turn_current.x), fabs(end.y - self.turn_current.y),
                   fabs(end.z - self.turn_current.z),
                   fabs(end.w - self.turn_current.w)) <= NEAR_TURN

    # ------------------------------------------------------------- of 1.x, in single precision

    cdef Vec3[double] advance_double_lerp(self, double elapsed, double render,
                                          double server) noexcept nogil:
        cdef size_t count = self.queue.count_until(server)
        cdef float u = 1
        cdef Snapshot item
        if count > 0 and (not self.seeded or render >= self.target_time):
            item = self.queue[count - 1]
            self.queue.drop_front(count)
            if not self.seeded or is_farther(self.target, item.position, self.snap_distance):
                if self.seeded:
                    self.current = item.position
                self.start_time = item.time
                self.start = item.position
            else:
                self.start_time = self.target_time
                self.start = self.target
            self.seeded = self.has_target = True
            self.target_time = item.time
            self.target = item.position
            if self.turns:
                self.turn_start = self.turn_target
                self.turn_target = item.turn.value().rotation
        if not self.has_target:
            return self.current
        if self.target_time - self.start_time > 1e-10:
            u = <float>((render - self.start_time) / (self.target_time - self.start_time))
            u = 0 if u < 0 else 1 if u > PAST_END else u
        self.current = lerp_in_single(
            self.current, lerp_in_single(self.start, self.target, u),
            <float>elapsed / <float>self.maximum_time)
        if self.turns:
            self.turn_current = self.blend_rotations(
                self.turn_current, self.blend_rotations(self.turn_start, self.turn_target, u),
                elapsed / self.maximum_time)
        return self.current


cdef Vec3[double] lerp_in_single(Vec3[double] a, Vec3[double] b, float u) noexcept nogil:
    cdef Vec3[float] start = narrowed(a)
    cdef Vec3[double] result
    result = widened(start + (narrowed(b) - start) * min(max(u, <float>0), <float>1))
    return result if is_finite(result) else b


cdef double damp_axis(double value, double target, double& velocity, double smooth_time,
                      double elapsed) noexcept nogil:
    cdef Motion motion = smooth_damp(
        Motion(Vec3[double](value, 0, 0), Vec3[double](velocity, 0, 0)),
        Vec3[double](target, 0, 0), smooth_time, elapsed)
    (&velocity)[0] = motion.velocity.x
    return motion.position.x


def step_smooth_damp(double value, double target, double velocity, double smooth_time,
                     double elapsed):
    """Return value and velocity after one step of Unity's SmoothDamp along one axis."""
    value = damp_axis(value, target, velocity, smooth_time, elapsed)
    return value, velocity


# ---------------- the server's time as a Netcode for GameObjects client estimates it


@cython.final
cdef class NetworkTime:
    """A clock that stays ``buffer`` seconds behind the arriving timestamps.

    The server sends its time once in ``interval`` seconds of its clock; here the first packet of
    each such interval does. A frame reads it before it adds its own duration to the local time, so
    that ``now`` is the time of the frame before. Each frame moves the offset towards the wanted one
    by ``ratio`` of the frame's length, and it never settles: it overshoots and returns, frame by
    frame. The phase of this swing is chance in a game, whose frames vary in length; here it begins
    in the middle. It jumps if it is off by more than ``hard_reset``:

        wanted = timestamp - now - buffer
        offset = offset + ratio * frame time    where wanted > offset, otherwise less by as much
        time   = local time + offset

    The time never goes back. With ``latency`` given (arrival minus timestamp, s) nothing is
    estimated.

    Source: com.unity.netcode.gameobjects 1.11 (MIT), NetworkTimeSystem, NetworkManager; formulas
    only.
    """

    cdef bint estimates, jumped
    cdef double offset
    cdef double fixed, buffer, hard_reset, ratio, interval
    cdef double desired, latest
    cdef double last_sync               # the interval of the timestamp that was measured last

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
        """Measure the wanted offset by a packet's timestamp, read after the frame at ``now``."""
        cdef bint first = self.last_sync == -INFINITY
        cdef double due = timestamp
        if self.interval > 0:
            due = floor(timestamp / self.interval + INTERVAL_ROUNDING)
        if not self.estimates or due <= self.last_sync:
            return
        self.last_sync = due
        self.desired = timestamp - now - self.buffer
        if first or fabs(self.desired - self.offset) > self.hard_reset:
            self.offset = self.desired
            self.jumped = True

    cpdef double advance(self, double at, double elapsed) noexcept nogil:
        """Return the server time of the frame at ``at``, ``elapsed`` seconds after the last frame.
        """
        cdef double step = elapsed * self.ratio
        if self.jumped and step > 0:
            self.offset += step / 2
            self.jumped = False
        elif self.estimates:
            self.offset += step if self.desired > self.offset else -step
        self.latest = max(self.latest, at + self.offset)
        return self.latest

    cdef void copy(self, NetworkTime other) noexcept:
        """Copy the offset and times of another ``NetworkTime`` with the same settings."""
        self.offset, self.desired, self.jumped = other.offset, other.desired, other.jumped
        self.last_sync, self.latest = other.last_sync, other.latest

    cpdef void clear(self) noexcept nogil:
        """Reset the estimated offset and the latest time."""
        self.offset = self.desired = 0 if self.estimates else self.fixed
        self.last_sync = self.latest = -INFINITY
        self.jumped = False
