"""Projective velocity blending, from Murphy's Believable Dead Reckoning."""

from libc.math cimport isnan, sqrt

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Vec3, dot, is_beyond, is_finite,
)
from epic_cli.engine.strategies.parts cimport Acceleration, MovingAverage, PacketAge, Strategy
from epic_cli.engine.strategies.parts.curves cimport blend_paths, project
from epic_cli.engine.strategies.parts.turning cimport TurnPrediction

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts.common_settings import (
    ACCELERATION,
    SNAP_CORRECTION,
    age_setting,
)


cpdef enum class Blending:
    VELOCITY
    POSITION

cpdef enum class Begin:
    ARRIVAL
    LAST_FRAME


cdef class Projective(Strategy):
    """Continues from the drawn state, and blends into the path of the packet.

    Two paths are projected from each packet on: one from the drawn position p0 and velocity v0,
    one from the received p1, v1 and acceleration a. Over the smoothing time T the first passes
    into the second; with t the time since its arrival and u = t / T:

        vb       = v0 + (v1 - v0) u            (blending=position: vb = v0)
        own      = p0 + vb t + a t^2 / 2
        received = p1 + v1 t + a t^2 / 2
        drawn    = own + (received - own) u    from T on: received

    Blending the velocity too keeps the path from oscillating as the splines of older programs
    do. The longer T is, the smoother the path, and the longer it is wrong. Murphy takes the time
    between two packets; delta3d makes T the average of it (``smoothing_time=average``, each new
    one counts for half) up to ``max_smoothing_time``, or 1 s if the velocity could not cover the
    difference in that time; or it is fixed. An interval longer than ``max_smoothing_time`` is a
    pause, and does not count. After a turn v0 may be much faster than the entity ever was: if it
    is more than four times as fast as in the packet before, it is cut to twice that speed
    (``limit_velocity``).

    Good for vehicles with few packets, and always smooth; a player who turns on the spot is shown
    overshooting. There is no lag but the packet's age, and none with ``age=auto``. Without packets
    paths continue forever. A teleport that is not marked as one is a fast slide, unless it
    is longer than ``snap_distance``.

    A packet with the newest timestamp or an earlier one is discarded. With ``begin=last-frame`` the
    blend begins at the last frame drawn, as in the original, which reads its velocity from the
    last two frames; by default it begins on arrival, on the path itself, so that
    frames do not matter. Rows are ``interpolated`` until T and ``extrapolated`` after it.
    """

    declaration = Declaration(
        name="projective",
        summary="projective velocity blending: blends its own path into the received one",
        needs=(Need.VELOCITY,),
        lag="the age of a packet on arrival; none with age=auto or stamp",
        on_loss="continues as received, forever",
        source="Murphy, Believable Dead Reckoning for Networked Games, Game Engine Gems 2 (2011);"
        " rules of delta3d/delta3d; LGPL-2.1, formulas only",
        proof="formula",
        rotates="what goes on as drawn is blended into what was received, as the path is (ours)",
        aims_at_prediction=True,
        settings=(
            Choice("blending", "velocity", "blend velocity and position, or position alone",
                   Blending),
            Number("smoothing_time", "average", "how long a correction takes; average: the"
                   " average time between packets", "s", 0.01, 60, unset="average",
                   tune=(0.02, 2.0), scale="log"),
            Number("max_smoothing_time", 4.0, "the longest smoothing time, with"
                   " smoothing_time=average",
                   "s", 0.01, 60),
            ACCELERATION,
            Switch("limit_velocity", "on", "cut a drawn velocity that is far above the received"
                   " one"),
            Choice("begin", "arrival", "when a blend begins", Begin),
            age_setting("arrival"),
            SNAP_CORRECTION,
        ),
    )

    cdef public Acceleration acceleration
    cdef public bint limit_velocity
    cdef public double max_smoothing_time, snap_distance
    cdef bint blends_velocity, averages, begins_at_frame
    cdef double fixed_time
    cdef PacketAge age
    cdef MovingAverage interval
    cdef double last_arrival
    cdef double began, smoothing_time   # of the blend
    cdef Motion start, received         # (p0, v0) and (p1, v1)
    cdef Vec3[double] a
    cdef Vec3[double] received_velocity  # of the newest packet, as it came
    cdef Motion shown                   # by the last frame
    cdef TurnPrediction turn

    def configure(self, *, blending, smoothing_time, begin, age):
        self.check_free()
        self.blends_velocity = blending == Blending.VELOCITY
        self.averages = isnan(smoothing_time)
        self.fixed_time = smoothing_time
        self.begins_at_frame = begin == Begin.LAST_FRAME
        self.age = PacketAge(age)
        self.interval = MovingAverage(0.5)

    cdef void clear(self) noexcept nogil:
        self.age.clear()
        self.interval.clear()
        self.a = Vec3[double]()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double age, period = 0
        cdef Vec3[double] last_velocity = self.received_velocity
        cdef bint first = self.empty
        if not first:
            if packet.time <= self.newest:
                return False
            self.begin_blend(now)
            if now - self.last_arrival <= self.max_smoothing_time:
                self.interval.add(now - self.last_arrival)
            if self.acceleration == Acceleration.ESTIMATED:
                period = packet.time - self.newest
                self.a = (packet.velocity - last_velocity) * (1 / period)
        self.last_arrival = now
        self.received_velocity = packet.velocity
        age = self.age.measure(packet, now)
        self.received = project(packet, self.a, age)
        if not (is_finite(self.received.position) and is_finite(self.received.velocity)):
            self.received = packet          # numbers too large to project
            self.a = Vec3[double]()
        if first or not self.prepare_blend(last_velocity):
            self.began = now
            self.smoothing_time = 0     # follow the received path at once
        self.turn.receive(packet, self.began - age, self.began, period)
        return True

    cdef void begin_blend(self, double now) noexcept nogil:
        """Set the start of the next blend to the state drawn now, or in the last frame."""
        cdef Motion drawn
        cdef double at = self.drawn.time if self.begins_at_frame and self.drew else now
        self.turn.depart(at, self.compute_rotation_offset(at))
        if self.limit_velocity:
            self.turn.limit()
        if not self.begins_at_frame:
            drawn = self.evaluate_path(now)      # before the blend restarts
            self.began, self.start = now, drawn
        elif self.drew:                 # by a frame
            self.began, self.start = self.drawn.time, self.shown

    cdef Motion compute_rotation_offset(self, double at) noexcept nogil:
        """Return the remaining offset between the blended and the received rotation at ``at``."""
        cdef double t = at - self.began
        if t < self.smoothing_time:
            return blend_paths(self.turn.offset, Motion(), Vec3[double](), self.smoothing_time, t,
                               self.blends_velocity)
        return Motion()

    cdef bint prepare_blend(self, Vec3[double] last_velocity) noexcept nogil:
        """Set the smoothing time and limit the start velocity.

        Return False if the start is too far from the received path, or not finite, to blend.
        """
        cdef Vec3[double] displacement = self.received.position - self.start.position
        cdef double speed2 = dot(self.start.velocity, self.start.velocity)
        cdef double last2 = dot(last_velocity, last_velocity)
        if (self.begins_at_frame and not self.drew) or is_beyond(displacement, self.snap_distance):
            return False
        if self.limit_velocity and speed2 > 16 * last2:
            self.start.velocity = self.start.velocity * sqrt(4 * last2 / speed2)
        self.smoothing_time = self.fixed_time
        if self.averages:
            self.smoothing_time = self.max_smoothing_time
            if self.interval.count > 0:
                self.smoothing_time = min(self.interval.value, self.smoothing_time)
            if (dot(self.received.velocity, self.received.velocity) * self.smoothing_time ** 2
                    < dot(displacement, displacement)):
                self.smoothing_time = min(self.smoothing_time, 1.0)
        return is_finite(displacement) and is_finite(self.start.velocity)

    cdef Motion evaluate_path(self, double at) noexcept nogil:
        cdef double t = at - self.began
        if t < self.smoothing_time:
            return blend_paths(self.start, self.received, self.a, self.smoothing_time, t,
                               self.blends_velocity)
        return project(self.received, self.a, t)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Motion drawn
        if self.begins_at_frame and not self.drew:
            self.began = at
        drawn = self.evaluate_path(at)
        if self.first.known():
            self.turn.show(at, self.compute_rotation_offset(at), sample)
        if not (is_finite(drawn.position) and is_finite(drawn.velocity)):
            drawn = Motion(self.received.position, Vec3[double]())
        if self.begins_at_frame:
            if self.drew:
                drawn.velocity = self.measure_frame_velocity(drawn.position, at)
            self.shown = drawn
        sample.show(drawn, INTERPOLATED if at - self.began < self.smoothing_time else EXTRAPOLATED)

    cdef Vec3[double] measure_frame_velocity(self, Vec3[double] position, double at) noexcept nogil:
        """Return the velocity from the last frame's position to this position.

        Return the last velocity if no time has passed.
        """
        cdef Vec3[double] velocity
        if not at > self.drawn.time:
            return self.shown.velocity
        velocity = (position - self.shown.position) * (1 / (at - self.drawn.time))
        return velocity if is_finite(velocity) else Vec3[double]()
