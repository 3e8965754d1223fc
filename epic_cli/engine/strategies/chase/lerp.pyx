"""Linear interpolation towards the newest position, after Easterling."""

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3, dot
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.turning cimport TurnChase
from epic_cli.engine.strategies.parts cimport Strategy

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Number


cdef class Lerp(Strategy):
    """Moves in each frame from the drawn position towards the newest received one.

    The fraction of the distance covered is the time since the last frame over ``lerp_time``; a
    frame longer than ``lerp_time`` jumps to the received position:

        if elapsed <= lerp_time: drawn = lerp(drawn, received, elapsed / lerp_time)
        else:                    drawn = received

    Simple and cheap, needs nothing but positions, and never overshoots. It follows as if on a
    rubber band: fast at first, then ever slower, never quite there. How much it smooths depends
    on the frame rate, and so does its lag: at a steady speed, with packets at the frame rate, it
    is lerp_time - elapsed behind the newest packet, about ``lerp_time`` on a fast screen.

    A packet with an earlier timestamp than the newest is discarded. Rows are ``interpolated``
    until the entity is at the received position, and ``held`` there. The velocity is the step of
    this frame over its time. It draws what ``chase+how=lerp+time=0.1`` draws.
    """

    declaration = Declaration(
        name="lerp",
        summary="each frame moves a fraction of the way to the newest position",
        lag="about lerp_time at a high frame rate, plus the age of the newest packet",
        on_loss="glides to the newest position, then holds",
        source="Jermaine Easterling, How I Implemented Client-Side Linear Interpolation (2019)",
        proof="formula",
        rotates="slerp by the same fraction (ours: the source has none)",
        lag_varies=LagVariation(
            "by up to the time between two packets: it slows down on its way to each",
            periods=1,
        ),
        settings=(
            Number("lerp_time", 0.1, "the frame time in which the whole distance is covered (the"
                   " source leaves it open)", "s", 0.001, 60, tune=(0.02, 1.0), scale="log"),
        ),
    )

    cdef public double lerp_time
    cdef Vec3[double] target, shown
    cdef TurnChase turn

    cdef void clear(self) noexcept nogil:
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if self.empty:
            self.shown = packet.position
        elif packet.time < self.newest:
            return False
        self.target = packet.position
        self.turn.aim(packet)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Vec3[double] before = self.shown
        cdef Vec3[double] left = self.target - before
        cdef double elapsed = self.since_drawn(at)
        cdef Motion motion
        if elapsed > self.lerp_time:
            self.shown = self.target
        elif elapsed > 0:
            self.shown = lerp(before, self.target, elapsed / self.lerp_time)
        motion.position = self.shown
        if elapsed > 0:
            motion.velocity = (self.shown - before) * (1 / elapsed)
        self.turn.step(min(elapsed / self.lerp_time, 1.0), elapsed, sample)
        if dot(left, left) > 0:
            sample.show(motion, INTERPOLATED)
        else:
            sample.hold(motion, self.drawn, INTERPOLATED)
