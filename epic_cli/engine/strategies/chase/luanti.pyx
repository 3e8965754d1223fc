"""The smooth translation of Luanti (Minetest): most of the way in the usual interval."""

from epic_cli.engine.packets cimport EXTRAPOLATED, INTERPOLATED, NONE, Motion, Packet, Sample, Vec3
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.snapshots cimport farther
from epic_cli.engine.strategies.parts.turning cimport TurnGlide

from epic_cli.engine.declaration import Declaration, Wavering
from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# An interval outside of these restarts the average, s.
cdef double SHORTEST = 0.001
cdef double LONGEST = 1


cdef class Luanti(Strategy):
    """On each packet, moves from the drawn position towards the new one, at a pace of its own.

        T     = 0.9 T + 0.1 (time since the packet before)    of frames
        drawn = start + (received - start) * min(pace * t / T, most)

    where ``start`` was drawn when the packet came and t is the time since then. At ``pace`` 0.8 it
    is four fifths of the way when the next packet is due, and beyond the received position, by
    half of the way at most, when packets stay away.

    Needs nothing but positions. It is always behind by a quarter of an interval and the age of the
    newest packet, sways where packets jitter, and stops half a step too far. With
    ``update_interval`` that is T, as where the server announces it.

    A packet with an earlier timestamp than the newest is discarded; Luanti numbers none.
    ``snap_distance`` is an addition. The velocity is that of the line being drawn.
    """

    declaration = Declaration(
        name="luanti",
        summary="Luanti: four fifths of the way to the newest position by the next packet",
        lag="a quarter of the interval between packets, and the age of the newest",
        on_loss="continues to half of the way beyond the newest position, then holds",
        source="Luanti (Minetest), SmoothTranslator in content_cao.cpp; formula only, none of its"
        " code (LGPL-2.1)",
        proof="runs of the original",
        rotates="slerp by the same fractions (the original: each of its angles, wrapped)",
        lag_wavers=Wavering(
            "by up to an interval where it is no whole number of frames",
            periods=1.5, frames=1,
        ),
        settings=(
            Number("update_interval", 0.0, "the time between two packets; 0: averages it", "s", 0,
                   60, tune=(0.02, 1), scale="log"),
            Number("pace", 0.8, "part of the way in that time", "", 0.01, 10, tune=(0.4, 1.5)),
            Number("most", 1.5, "the most of the way, beyond 1 on the line ahead", "", 1, 10,
                   tune=(1, 3)),
            SNAP_DISTANCE,
        ),
    )

    cdef public double update_interval, pace, most, snap_distance
    cdef bint empty
    cdef double interval, since
    cdef Vec3[double] start, target, shown
    cdef TurnGlide turn

    cdef void clear(self) noexcept nogil:
        self.empty = True
        self.interval = self.since = 0
        self.turn.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if not self.empty and packet.time < self.newest:
            return False
        if self.empty or farther(self.shown, packet.position, self.snap_distance):
            self.shown = packet.position
            self.turn.clear()
        self.turn.aim(packet)
        self.start = self.shown
        self.target = packet.position
        if self.update_interval > 0:
            self.interval = self.update_interval
        elif SHORTEST <= self.interval <= LONGEST:
            self.interval = self.interval * 0.9 + self.since * 0.1
        else:
            self.interval = self.since
        self.since = 0
        self.empty = False
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double u = self.pace, rate = 0
        cdef Vec3[double] way = self.target - self.start
        cdef Motion motion
        if self.empty:
            sample.status = NONE
            return
        self.since += self.elapsed(at)
        if self.interval > SHORTEST:
            u = self.pace * self.since / self.interval
            if u < self.most:
                rate = self.pace / self.interval
                motion.velocity = way * rate
            u = min(u, self.most)
        motion.position = self.shown = self.start + way * u
        self.turn.move(u)
        self.turn.show(rate, sample)
        if u < self.most and u <= 1:
            sample.show(motion, INTERPOLATED)
        elif u < self.most:
            sample.show(motion, EXTRAPOLATED)
        else:
            sample.hold(motion, self.drawn, EXTRAPOLATED)
