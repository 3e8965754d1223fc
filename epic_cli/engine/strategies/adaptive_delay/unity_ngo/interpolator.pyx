"""The interpolators of Unity's Netcode for GameObjects, for one vector each.

Four ways to follow a queue of timestamped values, from its releases 1.x (``double-lerp``, in single
precision as there) and 2.3 and later. ``server`` is the receiver's estimate of the server time,
``render`` an earlier time that is drawn.

Source: com.unity.netcode.gameobjects, BufferedLinearInterpolator. ``double-lerp`` from the
formulas of release 1.11 (MIT); the others, whose releases are under the Unity Companion License,
from published formulas and from runs of 2.13, none of their text.
"""

cimport cython
from libc.math cimport INFINITY, fabs, pow

from epic_cli.engine.packets cimport (
    Motion, Quaternion, Turn, Vec3, clamped, components, is_finite, narrowed, near_to, nlerp, slerp,
    widened,
)
from epic_cli.engine.strategies.parts.curves cimport lerp, smooth_damp
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, SnapshotBuffer, farther
from epic_cli.engine.strategies.parts.turning cimport degrees_near, degrees_of, of_degrees


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
# How near to the target, along each axis, it counts as reached, in length units.
cdef double NEAR = 0.005
# How near, in each part of a quaternion, a rotation is.
cdef double NEAR_TURN = 1e-6
# A shorter segment is over at once, s.
cdef double SHORTEST = 1e-10


@cython.final
cdef class BufferedInterpolator:
    """Follows timestamped values; see ``UnityNgo`` for what each kind does.

    ``maximum_time`` is the maximum interpolation time (s for the older lerps, a rate for the
    others), ``smooths`` the second lerp of the later kinds, ``per_frame`` its factor before
    2026, which does not know the frame's length. One that ``turns`` follows rotations (``given``
    with each value), and their spins as values.
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
        self.jump(Vec3[double]())
        self.seeded = False

    # ------------------------------------------------------------- for Python

    def add(self, value, double time):
        """Puts a value of three numbers with its timestamp into the queue."""
        x, y, z = value
        self.put(Vec3[double](x, y, z), time)

    def reset_to(self, value):
        """Resets and shows this value of three numbers."""
        x, y, z = value
        self.jump(Vec3[double](x, y, z))

    def update(self, double elapsed, double render, double server):
        """The value of the frame at these times, after ``elapsed`` seconds since the last."""
        cdef Vec3[double] value = self.advance(elapsed, render, server)
        return components(value)

    # ------------------------------------------------------------- for strategies

    cdef void make_room(self) noexcept nogil:
        self.queue.set_capacity(512)  # it must also last while the server time stands still

    cdef bint put(self, Vec3[double] value, double time) noexcept nogil:
        """Puts a value with its timestamp into the queue; False: it comes too late."""
        cdef Snapshot* item
        self.received += 1
        if self.received > BURST and time > self.latest:
            self.jump(value, time)
            # in 1.x a jump is a frame
            self.received = 0 if self.kind == DOUBLE_LERP else BURST
        elif self.received > BURST or not self.takes(time):
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

    cdef bint takes(self, double time) noexcept nogil:
        """Whether a value comes in time: double-lerp sorts in what it has not passed."""
        if self.kind == DOUBLE_LERP:
            return not self.seeded or time > self.target_time
        return time > self.newest

    cdef void jump(self, Vec3[double] value, double time=0) noexcept nogil:
        """Shows this value at once and waits for the next."""
        self.queue.clear()
        self.received = 0
        self.newest = self.latest = -INFINITY
        self.target = self.current = value
        self.rate = self.turn_rate = Vec3[double]()
        self.turn_target = self.turn_current = self.given
        self.seeded = True
        # in 1.x the first segment begins at time 0, however late it is; at negative times, nowhere
        self.target_time = min(time, 0.0)
        self.rest()

    cdef void rest(self) noexcept nogil:
        """Holds, and drops the target: the next segment begins here."""
        self.has_target = self.reached = False
        self.start = self.next_value = self.current
        self.turn_start = self.turn_next = self.turn_current

    cdef void resume(self, double time) noexcept nogil:
        """After a pause: the segment to the next value begins here and at this timestamp."""
        if not self.has_target:
            return                      # at rest: it begins here in any case
        self.queue.clear()
        self.reached = False
        self.target_time = time
        self.target = self.start = self.next_value = self.current
        self.turn_target = self.turn_start = self.turn_next = self.turn_current
        self.rate = self.turn_rate = Vec3[double]()

    cdef bint arrived(self) noexcept nogil:
        """Whether it has reached its target, and nothing is waiting."""
        return self.queue.empty() and (not self.has_target or self.there())

    cdef Vec3[double] advance(self, double elapsed, double render,
                              double server) noexcept nogil:
        cdef double idle
        cdef bint legacy = self.kind == LEGACY_LERP
        self.received = 0
        if self.kind == DOUBLE_LERP:
            return self.advance_double(elapsed, render, server)
        if not legacy:
            self.reached = self.reached or self.has_target and self.there()
            self.take(render + self.slack)
        elif not self.has_target or self.target_time + self.slack <= render:
            self.take(server)
        if not self.has_target:
            return self.current
        if not self.reached:
            self.move(elapsed, render)
            self.reached = legacy and self.there()
        elif self.queue.empty():
            idle = IDLE if legacy else self.longest + self.tick
            if render - self.target_time > idle:
                self.rest()
        return self.current

    cdef void move(self, double elapsed, double render) noexcept nogil:
        """Advances along the segment by a frame, then applies the second lerp."""
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
            self.current = lerp(self.current, self.next_value, self.smoothing(elapsed))
        else:
            self.current = self.next_value
        if self.turns:
            self.turn(u, elapsed)

    cdef void turn(self, double u, double elapsed) noexcept nogil:
        """As much with the rotation; smooth-damp each of its angles by itself."""
        cdef Vec3[double] angles, target
        if self.kind == SMOOTH_DAMP:
            angles = degrees_of(self.turn_next)
            target = degrees_near(self.turn_target, angles)
            angles.x = damp(angles.x, target.x, self.turn_rate.x, self.duration * u, elapsed)
            angles.y = damp(angles.y, target.y, self.turn_rate.y, self.duration * u, elapsed)
            angles.z = damp(angles.z, target.z, self.turn_rate.z, self.duration * u, elapsed)
            self.turn_next = of_degrees(angles)
        else:
            self.turn_next = self.turned(self.turn_start, self.turn_target, u)
        self.turn_current = self.turned(
            self.turn_current, self.turn_next, self.smoothing(elapsed) if self.smooths else 1)

    cdef Quaternion turned(self, Quaternion start, Quaternion end, double u) noexcept nogil:
        u = clamped(u, 0, 1)
        return nlerp(start, end, u) if self.lerps else slerp(start, end, u)

    cdef void take(self, double until) noexcept nogil:
        """Heads for the newest queued value up to this timestamp, if there is one."""
        cdef size_t count = self.queue.count_until(until)
        if count > 0:
            if self.turns:
                self.turn_target = self.queue[count - 1].turn.value().rotation
                self.turn_start = self.turn_next
            self.head_for(self.queue[count - 1].position, self.queue[count - 1].time,
                          self.target_time if self.has_target else self.queue[0].time)
            self.queue.drop_front(count)

    cdef void head_for(self, Vec3[double] value, double time, double start) noexcept nogil:
        cdef bint jumps = farther(self.target, value, self.snap_distance)
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

    cdef double smoothing(self, double elapsed) noexcept nogil:
        """How much of the difference to the interpolated value a frame makes up for, 0 to 1."""
        cdef double rate
        if self.kind == LEGACY_LERP:
            return min(elapsed / self.maximum_time, 1.0)
        rate = clamped(self.maximum_time, 0, 1)
        if self.per_frame:
            return 1 - rate
        return 1 - pow(0.99 if rate >= 1 else rate, 60 * elapsed)

    cdef bint there(self) noexcept nogil:
        """Whether the target counts as reached: each axis is within what rounds to 0.00."""
        cdef Vec3[double] left
        if self.turns:
            return self.turned_there()
        left = self.target - self.current
        return max(fabs(left.x), fabs(left.y), fabs(left.z)) <= NEAR

    cdef bint turned_there(self) noexcept nogil:
        cdef Quaternion end = near_to(self.turn_target, self.turn_current)
        return max(fabs(end.x - self.turn_current.x), fabs(end.y - self.turn_current.y),
                   fabs(end.z - self.turn_current.z),
                   fabs(end.w - self.turn_current.w)) <= NEAR_TURN

    # ------------------------------------------------------------- of 1.x, in single precision

    cdef Vec3[double] advance_double(self, double elapsed, double render,
                                     double server) noexcept nogil:
        cdef size_t count = self.queue.count_until(server)
        cdef float u = 1
        cdef Snapshot item
        if count > 0 and (not self.seeded or render >= self.target_time):
            item = self.queue[count - 1]
            self.queue.drop_front(count)
            if not self.seeded or farther(self.target, item.position, self.snap_distance):
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
        self.current = single_lerp(
            self.current, single_lerp(self.start, self.target, u),
            <float>elapsed / <float>self.maximum_time)
        if self.turns:
            self.turn_current = self.turned(
                self.turn_current, self.turned(self.turn_start, self.turn_target, u),
                elapsed / self.maximum_time)
        return self.current


cdef Vec3[double] single_lerp(Vec3[double] a, Vec3[double] b, float u) noexcept nogil:
    cdef Vec3[float] start = narrowed(a)
    cdef Vec3[double] result
    result = widened(start + (narrowed(b) - start) * min(max(u, <float>0), <float>1))
    return result if is_finite(result) else b


cdef double damp(double value, double target, double& velocity, double smooth_time,
                 double elapsed) noexcept nogil:
    cdef Motion motion = smooth_damp(
        Motion(Vec3[double](value, 0, 0), Vec3[double](velocity, 0, 0)),
        Vec3[double](target, 0, 0), smooth_time, elapsed)
    (&velocity)[0] = motion.velocity.x
    return motion.position.x


def damped(double value, double target, double velocity, double smooth_time, double elapsed):
    """One step of Unity's SmoothDamp along one axis: the new value and velocity."""
    value = damp(value, target, velocity, smooth_time, elapsed)
    return value, velocity
