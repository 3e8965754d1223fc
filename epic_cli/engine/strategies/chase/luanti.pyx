"""The smoothing of entities in Luanti (Minetest).

Its SmoothTranslator, and the code that calls it.
"""

from libc.math cimport fabs, isnan

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Quaternion, Sample, Turn, Vec3, dot, is_finite,
    vector_between,
)
from epic_cli.engine.strategies.parts cimport Acceleration, SendInterval, Strategy
from epic_cli.engine.strategies.parts.curves cimport project
from epic_cli.engine.strategies.parts.snapshots cimport is_farther
from epic_cli.engine.strategies.parts.turning cimport YXZ, angles_from_turn, of_degrees

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import ACCELERATION, SNAP_DISTANCE

# An interval outside of these (s) restarts the average; one no longer than the first is
# passed at once.
cdef double SHORTEST = 0.001
cdef double LONGEST = 1


cpdef enum class Caller:
    PLAYER
    OBJECT
    PHYSICAL
    TRANSLATOR


cdef struct Pace:
    double interval, since      # of an update and since the last one, s
    bint ends                   # it does not go beyond its end


cdef class Luanti(Strategy):
    """Goes a part of the way to the newest position in each frame: a chase that never overshoots.

        drawn += (received - drawn) * min(pace * frame time / T, most)

    T is the interval that the server announces (``update_interval``; its own step, 0.09 s, unless
    configured). Luanti's SmoothTranslator by itself goes four fifths of the way to a position
    until the next one is due, and on to half of the way beyond it (``mode=translator``):

        drawn = start + (received - start) * min(pace * t / T, most)

    from where it was drawn when the packet came, t ago. But a GenericCAO calls its update in every
    frame, so that each frame begins a way of its own: ``mode=player``. The server sends players
    without a velocity. An object has one, and an acceleration: what is chased moves on by them
    (``object``), of a ``physical`` one as far as nothing is in its way, with 80 % of the way in
    each frame.

    Needs nothing but positions. With packets 0.1 s apart it draws a steady movement 0.17 s late on
    a fast screen. ``update_interval=0`` is what the translator does where none is announced: it
    averages the times between two updates, in frames; those of a caller are the frames themselves.

    Each angle goes by the same parts of its way, but from where it is drawn: they add up, so that
    it arrives after some frames, and waits. Angles are Luanti's, about y, x and z.

    A packet with an earlier timestamp than the newest is discarded; Luanti numbers none. A teleport
    turns at once. ``snap_distance`` is an addition. The velocity is the step of this frame over its
    time; the translator's, that of its line.
    """

    declaration = Declaration(
        name="luanti",
        summary="Luanti: each frame moves a part of the way to the newest position",
        lag="1.25 intervals between packets at a high frame rate, and the age of the newest",
        on_loss="glides to the newest position, then holds; an object continues forever",
        source="Luanti (Minetest), SmoothTranslator and GenericCAO::step in content_cao.cpp;"
        " formulas only, none of its code (LGPL-2.1)",
        proof="runs of the original's translators, called by its step and its message of positions"
        " (collisions left out)",
        rotates="each of its angles by the same parts of the way, which add up (runs of the"
        " original)",
        lag_varies=LagVariation(
            "by up to the time between two packets: it slows down on its way to each",
            periods=1.5, frames=1,
        ),
        settings=(
            Choice("mode", "player", "who calls the translator: a player's or an object's step, a"
                   " physical object's, or only a packet (translator)", Caller),
            Number("update_interval", "auto", "the time between two packets, as the server"
                   " announces it; auto measures it, 0: averaged by the translator", "s", 0, 60,
                   unset="auto", tune=(0.02, 1), scale="log"),
            Number("pace", 0.8, "the share of the way covered in that time", "", 0.01, 10,
                   tune=(0.4, 1.5)),
            Number("most", 1.5, "the largest share of the way; above 1 beyond the target", "", 1,
                   10,
                   tune=(1, 3)),
            ACCELERATION,
            SNAP_DISTANCE,
        ),
    )

    cdef public Caller mode
    cdef public double pace, most, snap_distance
    cdef bint measures, accelerates, turns
    cdef double announced
    cdef SendInterval measured
    cdef Motion received            # of the newest packet, moved on
    cdef Vec3[double] last_velocity, acceleration, start, target, shown
    cdef Pace moving, turning
    cdef Vec3[double] angles, target_angles, way    # degrees; the way without a sign

    def configure(self, *, update_interval, acceleration):
        self.check_free()
        self.measures = isnan(update_interval)
        self.measured = SendInterval(update_interval, 0.09)
        self.announced = update_interval
        self.accelerates = acceleration == Acceleration.ESTIMATED

    cdef void clear(self) noexcept nogil:
        self.turns = False
        self.measured.clear()
        self.acceleration = Vec3[double]()

    cdef void reset_translators(self, const Packet& packet) noexcept nogil:
        """Reset the translators to the packet's position and rotation, as their ``init`` does."""
        self.start = self.target = self.shown = packet.position
        self.moving = self.turning = Pace(0, 0, True)
        self.turns = packet.turn.known()
        if self.turns:
            self.angles = self.target_angles = read_angles(
                packet.turn.value().rotation)
            self.way = Vec3[double]()

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        self.start_over()
        self.reset_translators(packet)
        self.take_state(packet)
        return True

    cdef void take_state(self, const Packet& packet) noexcept nogil:
        if self.accelerates and not self.empty and packet.time > self.newest:
            self.acceleration = (packet.velocity - self.last_velocity) * (
                1 / (packet.time - self.newest))
            if not is_finite(self.acceleration):
                self.acceleration = Vec3[double]()
        self.last_velocity = packet.velocity
        self.received = Motion(packet.position, Vec3[double]())
        if self.mode == Caller.OBJECT or self.mode == Caller.PHYSICAL:
            self.received.velocity = packet.velocity
        self.measured.add(packet.time)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double interval
        if not self.empty and packet.time < self.newest:
            return False
        if self.empty or is_farther(self.shown, packet.position, self.snap_distance):
            self.reset_translators(packet)
        self.take_state(packet)
        interval = self.measured.value if self.measures else self.announced
        if self.mode != Caller.PHYSICAL:
            self.head_for(packet.position, False, interval)
        if packet.turn.known():
            self.aim_angles(packet.turn.value().rotation, interval)
        return True

    # ------------------------------------------------------------- the translators

    cdef void head_for(self, Vec3[double] target, bint ends, double interval) noexcept nogil:
        self.start, self.target = self.shown, target
        begin_pace(self.moving, ends, interval)

    cdef double advance_pace(self, Pace& pace, double elapsed) noexcept nogil:
        """Return the share of the way covered after a frame of ``elapsed`` seconds."""
        cdef double u = 1
        pace.since += elapsed
        if pace.interval > SHORTEST:
            u = pace.since / pace.interval
        return min(self.pace * u, 1.0 if pace.ends else self.most)

    cdef void aim_angles(self, Quaternion rotation, double interval) noexcept nogil:
        self.target_angles = read_angles(rotation)
        if not self.turns:
            self.turns = True
            self.angles = self.target_angles
            self.turning = Pace(0, 0, True)
        self.way = Vec3[double](measure_shorter_way(self.angles.x, self.target_angles.x),
                                measure_shorter_way(self.angles.y, self.target_angles.y),
                                measure_shorter_way(self.angles.z, self.target_angles.z))
        begin_pace(self.turning, False, interval)

    cdef void step_angles(self, double elapsed, Sample& sample) noexcept nogil:
        cdef Quaternion before = of_degrees(self.angles, YXZ), after
        cdef double u = self.advance_pace(self.turning, elapsed)
        self.angles = Vec3[double](step_angle(self.angles.x, self.target_angles.x, self.way.x * u),
                                   step_angle(self.angles.y, self.target_angles.y, self.way.y * u),
                                   step_angle(self.angles.z, self.target_angles.z, self.way.z * u))
        after = of_degrees(self.angles, YXZ)
        sample.turn.set(Turn(after, vector_between(before, after) * (1 / elapsed)
                             if elapsed > 0 else Vec3[double]()))

    # ------------------------------------------------------------- their caller

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double elapsed = self.elapsed(at)
        cdef Vec3[double] before = self.shown
        cdef Motion motion
        cdef double u
        if self.turns:
            self.step_angles(elapsed, sample)
        if self.mode != Caller.TRANSLATOR:
            motion = project(self.received, self.acceleration, elapsed)
            if is_finite(motion.position) and is_finite(motion.velocity):
                self.received = motion
            if self.mode == Caller.PHYSICAL:
                self.head_for(self.received.position, False, elapsed)
            else:
                self.head_for(self.received.position, self.moving.ends, self.moving.interval)
        u = self.advance_pace(self.moving, elapsed)
        motion.position = self.start + (self.target - self.start) * u
        if not is_finite(motion.position):
            motion.position = self.target
        self.shown = motion.position
        motion.velocity = Vec3[double]()
        if self.mode == Caller.TRANSLATOR:
            if self.moving.interval > SHORTEST and u < (1.0 if self.moving.ends else self.most):
                motion.velocity = (self.target - self.start) * (self.pace / self.moving.interval)
        elif elapsed > 0:
            motion.velocity = (self.shown - before) * (1 / elapsed)
        if not is_finite(motion.velocity):
            motion.velocity = Vec3[double]()
        sample.hold(motion, self.drawn,
                    EXTRAPOLATED if u > 1 or dot(self.received.velocity, self.received.velocity) > 0
                    else INTERPOLATED)


cdef void begin_pace(Pace& pace, bint ends, double interval) noexcept nogil:
    """Begin a way that takes ``interval`` seconds, as the translators' update does.

    With an interval of 0, use the average time between updates.
    """
    if interval > 0:
        pace.interval = interval
    elif SHORTEST <= pace.interval <= LONGEST:
        pace.interval = pace.interval * 0.9 + pace.since * 0.1
    else:
        pace.interval = pace.since
    pace.since = 0
    pace.ends = ends


cdef double measure_shorter_way(double angle, double target) noexcept nogil:
    """Return the unsigned angle (degrees) of the shorter way from ``angle`` to ``target``.

    The result is below 0 where the angle went far below 0, as in Luanti.
    """
    cdef double way = fabs(target - angle)
    return 360 - way if way > 180 else way


cdef double step_angle(double angle, double target, double step) noexcept nogil:
    """Return an angle (degrees) moved by ``step`` towards ``target``, not beyond it.

    An angle that passes 0 downwards becomes negative.
    """
    cdef double upwards = target - angle if target >= angle else target - angle + 360
    if upwards <= step or 360 - upwards <= step:
        return target
    angle += step if upwards < 180 else -step
    return angle - 360 if angle >= 360 else angle


cdef Vec3[double] read_angles(const Quaternion& rotation) noexcept nogil:
    """Return a rotation's angles about x, y and z as Luanti has them: 0 to 360 degrees."""
    cdef Vec3[double] angles = angles_from_turn(rotation, YXZ)
    return Vec3[double](angles.x + 360 if angles.x < 0 else angles.x,
                        angles.y + 360 if angles.y < 0 else angles.y,
                        angles.z + 360 if angles.z < 0 else angles.z)
