"""The hiding of prediction corrections: the drawn local player moves on without a jump.

After move replay the predicted state is somewhere else. Engines move the simulation at once and
what is drawn gradually, by an offset that fades.
"""

from libc.math cimport INFINITY, exp, log, sqrt

from epic_cli.engine.packets cimport EXTRAPOLATED, Motion, Packet, Sample, Vec3, dot, is_finite
from epic_cli.engine.strategies.parts.curves cimport damp_critically, project
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.turning cimport TurnPrediction

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_CORRECTION

cpdef enum class Fading:
    SNAP
    LINEAR
    EXPONENTIAL
    FRAMES
    OVERSHOOTING
    SPRING
    STEPS

# The share of a correction that an exponential curve leaves after its time.
cdef double RATIO = 0.5

# How far Unreal's linear smoothing overshoots its end.
cdef double BEYOND = 1.15


cdef class VisualOffset:
    """The difference between what is drawn and what is predicted, length units, and how it fades.

    By the formulas of ``VisualOffsetStrategy``. A new correction is added to what is left, and its
    age begins again. One below ``smooth_above`` is applied at once; one beyond ``snap_above`` is,
    too, and drops what was left.

    Source: linear: Valve's Source SDK, cl_smooth and cl_smoothtime, 0.1 s (formula only), and
    netfox, which takes one tick. exponential: lightyear (MIT/Apache), 0.2 s. frames, overshooting:
    Unreal's exponential and linear smoothing, 0.1 s (formulas only). spring: the smoothing of
    Game Programming Gems 4, chapter 1.10. steps: Lance (Apache-2.0), bendToCurrent: 0.6 of a
    correction in 10 frames of 1/60 s.
    """

    cdef public Fading fading
    cdef public double time, smooth_above, snap_above, share
    cdef public int steps
    cdef Motion offset
    cdef Vec3[double] bend          # what steps of the whole time take off
    cdef double began, seen
    cdef int steps_left

    def __init__(self, fading=Fading.LINEAR, double time=0.1, double smooth_above=0.0,
                 double snap_above=INFINITY):
        self.steps, self.share = 10, 1.0
        self.set(fading, time, smooth_above, snap_above)

    cpdef void set(self, Fading fading, double time, double smooth_above, double snap_above):
        """Set how later corrections fade; the rest of the last correction is kept."""
        self.fading, self.time = fading, time
        self.smooth_above, self.snap_above = smooth_above, snap_above

    def add(self, double x, double y, double z, double now):
        """Add a correction, the drawn position minus the new prediction, at local time ``now``.

        Drawing continues from the drawn position, as seen from the new prediction.
        """
        self.correct(Vec3[double](x, y, z), now)

    def left(self, double now):
        """Return the offset (x, y, z) to draw at ``now``; times must not decrease."""
        cdef Vec3[double] left = self.advance_offset(now).position
        return left.x, left.y, left.z

    cdef void clear(self) noexcept nogil:
        self.offset = Motion()
        self.began = self.seen = 0
        self.steps_left = 0

    cdef void correct(self, Vec3[double] offset, double now) noexcept nogil:
        cdef double size = sqrt(dot(offset, offset))
        cdef Motion left
        if size < self.smooth_above:
            return
        left = self.advance_offset(now)
        if size > self.snap_above or not is_finite(left.position + offset):
            self.offset = Motion()
        else:
            self.offset = Motion(left.position + offset, left.velocity)
        self.began = self.seen = now
        self.bend, self.steps_left = self.offset.position * self.share, self.steps

    cdef Motion advance_offset(self, double now) noexcept nogil:
        """Advance the fading to ``now``; return the remaining offset and its velocity."""
        cdef double age = now - self.began
        cdef double frame = now - self.seen
        cdef double share = 0
        if self.fading == Fading.SNAP or self.time <= 0:
            return Motion()
        if self.fading == Fading.SPRING:
            return damp_critically(self.offset, 2 / self.time, age)
        if self.fading == Fading.FRAMES:
            self.offset.position = self.offset.position * max(1 - frame / self.time, 0.0)
            self.seen = now
            return self.offset
        if self.fading == Fading.STEPS:
            if frame > 0 and self.steps_left > 0:
                self.offset.position = self.offset.position - self.bend * (frame / self.time)
                self.steps_left -= 1
            self.seen = now
            return self.offset
        if self.fading == Fading.EXPONENTIAL:
            share = fading_share(age, self.time, RATIO)
        elif self.fading == Fading.OVERSHOOTING:
            share = 1 - min(age / self.time, BEYOND)
        elif age < self.time:
            share = 1 - age / self.time
        return Motion(self.offset.position * share, Vec3[double]())


cpdef double fading_share(double seconds, double period, double ratio=RATIO) noexcept nogil:
    """Return the share of an offset left after ``seconds``.

    Each ``period`` (s) leaves ``ratio``.
    """
    return exp(log(ratio) / period * seconds)


cdef class VisualOffsetStrategy(Strategy):
    """Draws one's own predicted player, and hides the corrections of the prediction.

    Its packets are the states that a client predicts for itself, one a frame, each known at once.
    A packet that is marked as a teleport is a correction: the client had replayed its moves from a
    state of the server. What is drawn goes on from where it was, and the difference fades:

        snap         0
        linear       offset * (1 - age / time), until that is 0 (Source, netfox)
        exponential  offset * 0.5^(age / time) (lightyear)
        frames       in each frame of dt seconds: offset * (1 - dt / time);
                     0 where dt >= time (Unreal, exponential)
        overshooting offset * (1 - min(age / time, 1.15)) (Unreal, linear)
        spring       critically damped: x'' = -2 w x' - w^2 x, w = 2 / time;
                     its velocity goes on
        steps        in each of the next ``steps`` frames of dt seconds: offset - share * (offset
                     at the correction) * dt / time; what is left stays (Lance: 0.6 in 10 frames
                     of 1/60 s, ``fading=steps+time=1/6+share=0.6``)

    Source leaves errors of up to 0.5 and of more than 64 units as they are: ``smooth_above`` and
    ``snap_distance``, in its units.

    Between two packets it moves on by the newest one's velocity. A packet with an earlier timestamp
    than the newest is discarded. Every row is ``extrapolated``; the velocity is the packet's.
    """

    declaration = Declaration(
        name="visual-offset",
        summary="one's own prediction, its corrections faded: snap, linear, exponential, spring,"
        " steps",
        needs=(Need.VELOCITY,),
        lag="none",
        on_loss="continues at constant velocity",
        source="Valve's Source SDK, Unreal, lightyear, netfox, Lance: how they smooth prediction"
        " errors",
        proof="closed forms, tables of the formulas",
        rotates="continues at the spin; the offset of a correction fades in the tangent space as"
        " that of positions (ours)",
        own_player=True,
        settings=(
            Choice("fading", "snap", "how a correction fades", Fading),
            Number("time", 0.1, "how long a correction takes; exponential: until half is left",
                   "s", 0, 60, tune=(0.02, 1.0), scale="log"),
            Number("steps", 10, "frames in which a correction is taken off, with fading=steps", "",
                   1, 1000, whole=True),
            Number("share", 1.0, "the share of a correction that is taken off, with fading=steps",
                   "", 0, 1),
            Number("smooth_above", 0.0, "apply a smaller correction at once", "length units",
                   0, 1e12),
            SNAP_CORRECTION,
        ),
    )

    cdef VisualOffset offset, turn_offset
    cdef TurnPrediction turn
    cdef Motion received
    cdef double arrived

    def configure(self, *, fading, time, steps, share, smooth_above, snap_distance):
        self.check_free()
        self.offset = VisualOffset(fading, time, smooth_above, snap_distance or INFINITY)
        self.turn_offset = VisualOffset(fading, time)
        for offset in (self.offset, self.turn_offset):
            offset.steps, offset.share = steps, share

    cdef void clear(self) noexcept nogil:
        self.offset.clear()
        self.turn_offset.clear()
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time < self.newest:
            return False
        self.received = packet
        self.arrived = now
        self.turn.receive(packet, now, now, 0)
        return True

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        cdef Vec3[double] before, left
        if not self.empty:
            left = self.turn_offset.advance_offset(now).position
            self.turn.depart(now, Motion(left, Vec3[double]()))
            self.turn.receive(packet, now, now, 0)
            # relative to what is drawn, which has the rest of earlier corrections in it
            self.turn_offset.correct(self.turn.offset.position - left, now)
            before = project(self.received, Vec3[double](), now - self.arrived).position
            self.offset.correct(before - packet.position, now)
        return self.accept(packet, now)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Motion motion
        motion = project(self.received, Vec3[double](), at - self.arrived)
        motion.position = motion.position + self.offset.advance_offset(at).position
        if not is_finite(motion.position):
            motion.position = self.received.position    # numbers too large to predict with
        if self.first.known():
            self.turn.show(
                at, Motion(self.turn_offset.advance_offset(at).position, Vec3[double]()), sample)
        sample.show(motion, EXTRAPOLATED)
