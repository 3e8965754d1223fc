"""Decentraland's remote players: seven curves from message to message."""

from libc.math cimport sqrt

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.packets cimport (
    EXTRAPOLATED, HELD, INTERPOLATED, Motion, NONE, Packet, Sample, Turn, Vec3, clamped, dot,
    hermite_turn, is_beyond, is_finite, slerp_turn, spun,
)
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.curves cimport blend_paths, hermite, lerp
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, SnapshotBuffer, make_snapshot


cdef enum:
    CAPACITY = 64                       # messages can wait; then the oldest is dropped


cdef class Spline(Strategy):
    """Plays the segment from each message to the next, in the time between their timestamps.

    It keeps no clock of the sender and no delay: a message waits until the one before it is
    played, and when none is waiting the entity continues as it moved. A segment from (p0, v0) to
    (p1, v1) takes T, the difference of the timestamps, on one of seven curves, with u = t / T:

        linear                  p0 + (p1 - p0) u
        hermite                 the cubic that matches p0, v0, p1, v1
        monotone-y-hermite      the same, with v0 and v1 of the y axis (up) limited to between 0
                                and the average (p1 - p0) / T, so that it does not swing
        full-monotonic-hermite  the same on all axes
        bezier                  control points p0 + v0 T/3 and p1 - v1 T/3: equal to hermite
        velocity-blending       projective blending from p0, v0 to the path that ends in p1 with
                                v1, which is projected back to p1 - v1 T
        position-blending       the same, without blending the velocity

    Where p0 = p1 nothing is limited, so that a stop still swings. Without messages it continues at
    the last velocity for ``linear_time``, slows to a halt over ``damped_steps`` times that,
    and holds. The next message is then approached from where the entity is, with the elapsed time
    subtracted from the difference of the timestamps; one that is not newer than that is dropped.
    With ``use_speed_up``,
    more than ``catch_up_messages_min`` waiting messages shorten T by a frame each, down to half,
    and a message at the same place (``min_position_delta``) is passed at once. Distances greater
    than ``min_teleport_distance`` are jumped.

    Good for players with a steady sender, where it passes exactly through all states, and needs no
    knowledge of the network; with jitter it overruns, waits and catches up. A sender whose
    clock runs fast is played too slowly: it is up to ``catch_up_messages_min`` intervals behind.

    Corrected: a frame that is longer than several segments plays them all (the original plays
    one, and falls behind); the slowing down does not depend on frames; no segment takes longer
    than ``max_duration`` (there, a pause is played in slow motion). The original compares its
    distances with squared ones: its 100 and 0.001 are 10 and 0.0316 here. Messages out of order
    are sorted in until they are played; a late or duplicate one is discarded.

    Not ported is what its system does around that in each frame: it waits two send intervals (0.2
    s) after the first message, plays a segment from or to rest in a straight line, and continues
    only what was faster than 0.01. The game is built with ``use_extrapolation=off``,
    ``max_speed_up_time_divider=1.7`` and ``catch_up_messages_min=4``.
    """

    declaration = Declaration(
        name="spline",
        summary="Decentraland's players: one of seven curves from message to message",
        needs=(Need.VELOCITY,),
        lag="latency and one interval between packets",
        on_loss="continues for linear_time, slows down for as long, then holds",
        source="decentraland/unity-explorer, Multiplayer/Movement; Apache-2.0",
        proof="formulas of the curves; what calls them was read",
        rotates="linear: slerp; other curves: a cubic through both rotations with their spins"
        " (ours)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to a frame and the time between two packets in frames that are longer:"
            " it continues where no packet waits, and drops those it has passed meanwhile",
            periods=1, frames=1, frame_above=1.5,
        ),
        settings=(
            Choice("interpolation_type", "hermite", "the curve", Curve),
            Switch("use_extrapolation", "on", "continue when no message is waiting"),
            Number("linear_time", 0.33, "how long extrapolation keeps its full speed", "s", 0, 60,
                   tune=(0.0, 1.0)),
            Number("damped_steps", 1.0, "time to slow down, as a multiple of linear_time", "", 0,
                   100),
            Switch("use_speed_up", "on", "catch up when messages wait"),
            Number("max_speed_up_time_divider", 2.0, "the largest speed-up, as a factor", "", 1,
                   100,
                   tune=(1, 4)),
            Number("catch_up_messages_min", 3, "how many messages may wait before it catches up",
                   "messages", 0,
                   CAPACITY, tune=(0, 6), whole=True),
            Switch("use_blend", "off", "limit the speed after an overrun"),
            Number("max_blend_speed", 5.0, "the largest speed after an overrun", "length units/s",
                   0.001, 1e9),
            Number("min_position_delta", 0.0316, "a message nearer than this is at the same place",
                   "length units", 0, 1e9),
            Number("min_teleport_distance", 10.0, "jump across any greater distance; 0: never",
                   "length units", 0, 1e12),
            Number("max_duration", 1.0, "the longest that a segment takes; 0: any length", "s",
                   0, 3600),
        ),
    )

    cdef public Curve interpolation_type
    cdef public bint use_extrapolation, use_speed_up, use_blend
    cdef public double linear_time, max_speed_up_time_divider, max_blend_speed
    cdef public double min_position_delta, min_teleport_distance, max_duration
    cdef public size_t catch_up_messages_min
    cdef double damped_time
    cdef SnapshotBuffer queue           # of the messages that wait
    cdef bint started, interpolating, extrapolating, teleported
    cdef double frame_time              # the last frame's length
    cdef size_t inbox                   # how many messages waited when the frame began
    cdef double time, duration          # of the part being played, or of the extrapolation
    cdef Snapshot past, end              # the part's
    cdef Motion curve_start, curve_end  # its ends, with the velocities that its curve takes
    cdef Vec3[double] shown

    def configure(self, *, damped_steps):
        self.check_free()
        self.queue.set_capacity(CAPACITY)
        self.damped_time = self.linear_time * damped_steps

    cdef void clear(self) noexcept nogil:
        self.queue.clear()
        self.started = False
        self.interpolating = self.extrapolating = False

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef size_t place = self.queue.count_until(packet.time)
        if self.started and packet.time <= (
                self.end.time if self.interpolating else self.past.time):
            return False
        if place > 0 and packet.time == self.queue[place - 1].time:
            return False
        if self.queue.full():
            if place == 0:
                return False
            place -= 1
            self.queue.drop_front(1)
        self.queue.insert(place, make_snapshot(packet, now))
        return True

    cdef Snapshot drop_first(self) noexcept nogil:
        cdef Snapshot first = self.queue.front()
        self.queue.drop_front(1)
        return first

    cdef void play(self, double elapsed) noexcept nogil:
        """Play ``elapsed`` seconds: the current segment, the next segments, then extrapolation."""
        while True:
            if self.interpolating:
                self.time += elapsed
                if self.time < self.duration:
                    return
                elapsed = self.time - self.duration
                self.interpolating = False
                self.arrive_at(self.end, False)
            if self.queue.empty():
                break
            self.begin_segment(self.drop_first())
        if self.use_extrapolation and not self.teleported:
            self.time = elapsed + (self.time if self.extrapolating else 0.0)
            self.extrapolating = True

    cdef void arrive_at(self, Snapshot message, bint teleported) noexcept nogil:
        self.past = message
        self.shown = message.position
        self.teleported = teleported

    cdef void begin_segment(self, Snapshot message) noexcept nogil:
        """Begin the segment to the next message.

        Jump to a message that is too far away or at the same place; drop a message that is earlier
        than what is drawn.
        """
        cdef bint was_extrapolating = self.extrapolating
        cdef double gone
        cdef Vec3[double] displacement, rate
        if was_extrapolating:
            gone = self.past.time + min(self.time, self.linear_time + self.damped_time)
            if message.time <= gone:
                return                  # earlier than what is drawn
            self.shown = self.extrapolate_position()
            self.past.time = gone
            self.past.position = self.shown
            if self.past.turn.known():
                self.past.turn.value().rotation = self.extrapolate_rotation(1).rotation
            self.extrapolating = False
        displacement = message.position - self.past.position
        if is_beyond(displacement, self.min_teleport_distance) or (
                self.use_speed_up
                and dot(displacement, displacement) < self.min_position_delta ** 2):
            self.arrive_at(message, True)
            return
        self.end = message
        self.time = 0
        self.duration = self.compute_duration(displacement, was_extrapolating)
        # the original takes the average rate by the timestamps, however long the part is played
        rate = displacement * (1 / (message.time - self.past.time))
        self.curve_start = Motion(
            self.past.position, limit_velocity(self.interpolation_type, self.past.velocity, rate))
        self.curve_end = Motion(
            message.position, limit_velocity(self.interpolation_type, message.velocity, rate))
        self.interpolating = True

    cdef double compute_duration(self, Vec3[double] displacement,
                                 bint was_extrapolating) noexcept nogil:
        cdef double duration = self.end.time - self.past.time
        cdef double speed = sqrt(dot(displacement, displacement)) / duration
        if self.max_duration > 0:
            duration = min(duration, self.max_duration)
        if self.use_blend and was_extrapolating:
            return duration * max(speed / self.max_blend_speed, 1.0)
        if self.use_speed_up and self.inbox > self.catch_up_messages_min:
            return max(duration - self.inbox * self.frame_time,
                       duration / self.max_speed_up_time_divider)
        return duration

    cdef double sum_extrapolated_time(self) noexcept nogil:
        """Return the time (s) at full speed that covers the same distance as the fading
        extrapolation.
        """
        cdef double slow = clamped(self.time - self.linear_time, 0, self.damped_time)
        cdef double full = min(self.time, self.linear_time) + slow
        if slow > 0:
            full -= 0.5 * slow * slow / self.damped_time
        return full

    cdef Vec3[double] extrapolate_position(self) noexcept nogil:
        """Return the extrapolated position."""
        return self.past.position + self.past.velocity * self.sum_extrapolated_time()

    cdef Turn extrapolate_rotation(self, double speed) noexcept nogil:
        cdef Turn turn = self.past.turn.value()
        return Turn(spun(turn.rotation, turn.spin, self.sum_extrapolated_time()), turn.spin * speed)

    cdef void set_rotation(self, Sample& sample) noexcept nogil:
        """Set the sample's rotation on the current segment, or to the last message's between
        segments.
        """
        cdef Turn turn = Turn(self.past.turn.value().rotation, Vec3[double]())
        cdef double u = self.time / self.duration
        if self.interpolating and self.end.turn.known():
            if self.interpolation_type == LINEAR:
                turn = slerp_turn(self.past.turn.value(), self.end.turn.value(), self.duration, u)
            else:
                turn = hermite_turn(self.past.turn.value(), self.end.turn.value(), self.duration, u)
        sample.turn.set(turn)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        self.inbox = self.queue.size()
        self.frame_time = max(self.since_drawn(at), 0.0)
        if not self.started:
            self.started = True
            self.arrive_at(self.drop_first(), True)
        self.play(self.frame_time)
        if self.past.turn.known() and not self.extrapolating:
            self.set_rotation(sample)
        if self.interpolating:
            sample.show(evaluate_curve(self.interpolation_type, self.curve_start, self.curve_end,
                                       self.duration, self.time), INTERPOLATED)
        elif self.extrapolating:
            self.draw_extrapolated(sample)
        else:
            sample.hold(Motion(self.shown, Vec3[double]()), self.drawn, INTERPOLATED)
        if not (is_finite(sample.position) and is_finite(sample.velocity)):
            # numbers too large to compute with: hold what was drawn last
            sample.show(Motion(self.shown if self.drawn.status == NONE else self.drawn.position,
                               Vec3[double]()), HELD)

    cdef void draw_extrapolated(self, Sample& sample) noexcept nogil:
        """Extrapolate at the last velocity, which fades to zero."""
        cdef double left = self.linear_time + self.damped_time - self.time
        cdef double speed = 0
        cdef Motion motion
        motion.position = self.extrapolate_position()
        if left > 0:
            speed = min(left / self.damped_time if self.damped_time > 0 else 1.0, 1.0)
            motion.velocity = self.past.velocity * speed
        if self.past.turn.known():
            sample.turn.set(self.extrapolate_rotation(speed))
        if left > 0:
            sample.show(motion, EXTRAPOLATED)
        else:
            sample.hold(motion, self.drawn, EXTRAPOLATED)


# ---------------- Decentraland's seven curves from a state to the next: (p0, v0) to (p1, v1) over T
# Source: decentraland/unity-explorer, InterpolationSpline (Apache-2.0), from the formulas.


cpdef enum Curve:
    LINEAR
    HERMITE
    MONOTONE_Y_HERMITE
    FULL_MONOTONIC_HERMITE
    BEZIER
    VELOCITY_BLENDING
    POSITION_BLENDING


cdef inline double limit_monotone(double velocity, double rate) noexcept nogil:
    """Return an axis's velocity limited to between 0 and the average rate.

    Unlimited at a rate of 0.
    """
    if rate > 0:
        return min(max(velocity, 0.0), rate)
    if rate < 0:
        return max(min(velocity, 0.0), rate)
    return velocity


cdef inline Vec3[double] limit_velocity(Curve curve, Vec3[double] velocity,
                                        Vec3[double] rate) noexcept nogil:
    """Return the velocity of a segment's end.

    As received, or limited so that the curve is monotone.
    """
    if curve == MONOTONE_Y_HERMITE:
        return Vec3[double](velocity.x, limit_monotone(velocity.y, rate.y), velocity.z)
    if curve == FULL_MONOTONIC_HERMITE:
        return Vec3[double](limit_monotone(velocity.x, rate.x), limit_monotone(velocity.y, rate.y),
                            limit_monotone(velocity.z, rate.z))
    return velocity


cdef inline Motion evaluate_curve(Curve curve, const Motion& start, const Motion& end,
                                  double duration,
                                  double t) noexcept nogil:
    """Return position and velocity on a segment's curve, ``t`` seconds after its start."""
    cdef double u = t / duration
    cdef bint blends_velocity = curve == VELOCITY_BLENDING
    if curve == LINEAR:
        return Motion(lerp(start.position, end.position, u),
                      (end.position - start.position) * (1 / duration))
    if blends_velocity or curve == POSITION_BLENDING:
        # blending needs the beginning of the received path
        return blend_paths(start, Motion(end.position - end.velocity * duration, end.velocity),
                           Vec3[double](), duration, t, blends_velocity)
    return hermite(start, end, duration, u)
