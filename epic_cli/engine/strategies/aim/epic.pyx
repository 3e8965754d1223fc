"""The interpolator of Jon Watte's EPIC demo."""

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, NONE, Motion, Packet, Sample, Vec3, is_finite, widened,
)
from epic_cli.engine.strategies.parts cimport Strategy, has_finite_numbers
from epic_cli.engine.strategies.parts.turning cimport TurnLine

from epic_cli.engine.declaration import Declaration, LagVariation, Need, OneClock
from epic_cli.engine.parameters import Choice, Number


cpdef enum class Start:
    ORIGIN
    PACKET


cdef class Epic(Strategy):
    """Draws a straight line from the last drawn position to where the entity will be.

    When a packet arrives, a new line starts at the last drawn position and heads for the
    packet's position extrapolated by ``calc_ahead``, at a speed that gets it there in
    ``display_behind`` seconds:

        slope    = (position + velocity * calc_ahead - drawn) / display_behind
        drawn(t) = start + slope * (t - timestamp)

    There are no jumps: a wrong guess is corrected along the next line. The price is overshoot at
    turns and stops, and a speed that is not the entity's own while a line makes up for the last
    one. Each line multiplies the error by 1 - elapsed / display_behind, where elapsed is the time
    from the packet's timestamp to the last row before the next packet: where that is usually more
    than twice display_behind, as with a latency of 0.35 s at 10 packets a second, the drawing
    diverges, and a longer display_behind is the cure. A line begins at the packet's timestamp, not
    at the time it was received, so after a gap the first rows lie before its beginning, on its
    backward extension. Without packets for ``slop_time`` the entity stands still where it was last
    drawn.

    With both times at their defaults, and packets that are drawn about ``calc_ahead`` after their
    timestamps, the entity is shown where it is now: no lag on a straight path.

    Rows are ``interpolated`` between the packet's timestamp and the target, ``extrapolated``
    before or beyond that, and ``held`` when packets have stayed away too long. All arithmetic is
    in single precision, as in the original. A packet with an earlier timestamp than the newest is
    silently dropped, one with an equal timestamp is taken; numbers that are not finite are taken,
    as in the original, and spread. Where packets come at other times than frames, which the demo
    does not have, what exceeds single precision is left out: a line far from its timestamps holds.
    """

    declaration = Declaration(
        name="epic",
        summary="the EPIC demo's interpolator: a line from the drawn position to the predicted one",
        needs=(Need.VELOCITY, Need.CLOCKS),
        lag="display_behind - calc_ahead at constant velocity: none at the defaults",
        on_loss="continues along its line for slop_time, then holds",
        source="Jon Watte, interpolation demo (EPIC), mindcontrol.org, 2006, class Interpolator",
        proof="the original program's output, byte for byte",
        rotates="a constant spin from the drawn rotation to the predicted one (ours: the original"
        " has none)",
        lag_varies=LagVariation(
            "by up to the time between two packets: each begins a new line, from the position"
            " drawn",
            periods=1.1,
        ),
        takes_any_number=True,
        begins_at_origin=True,
        aims_at_prediction=True,
        one_clock=OneClock(),
        settings=(
            Number("calc_ahead", 0.2, "how far a packet is extrapolated", "s", 0, 60,
                   tune=(0.0, 1.0)),
            Number("display_behind", 0.2, "time to reach the extrapolated point; below 0.0001 a"
                   " packet is shown at once", "s", 0, 60, tune=(0.0, 1.0)),
            Number("slop_time", 0.5, "how long the entity moves on without packets", "s", 0, 3600,
                   tune=(0.1, 2.0)),
            Choice("start", "origin", "where the first line begins: at the origin, as in the"
                   " demo's main(), or at the first packet", Start, tune=False),
        ),
    )

    cdef public float calc_ahead
    cdef public float display_behind
    cdef public float slop_time
    cdef bint starts_at_packet
    cdef bint arrivals              # a packet came between two frames, unlike in the demo
    cdef bint begun                 # a packet has come
    cdef Vec3[float] start          # of the line, at the packet's timestamp
    cdef Vec3[float] slope
    cdef float time                 # timestamp of the newest packet
    cdef Vec3[float] shown          # last drawn
    cdef TurnLine turn

    def configure(self, *, start):
        self.check_free()
        self.starts_at_packet = start == Start.PACKET

    cdef void clear(self) noexcept nogil:
        self.begin_line(Vec3[float](), Vec3[float](), -1)
        self.empty = False              # the first line begins at the origin
        self.begun = self.arrivals = False
        self.turn.clear()

    cdef void begin_line(self, Vec3[float] position, Vec3[float] velocity,
                         float time) noexcept nogil:
        """Begin a line at this position, velocity and time, as the original's constructor does."""
        self.start = position
        self.slope = velocity
        self.time = time
        self.shown = position
        self.begun = True

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        self.begin_line(packet.single.position, packet.single.velocity, packet.single.time)
        self.turn.aim(packet, 0, 0)
        return True

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.single.time < self.time:
            return False
        if not self.begun and self.starts_at_packet:
            return self.teleport(packet, now)
        if self.display_behind < 0.0001:
            self.start = packet.single.position
            self.slope = packet.single.velocity
        else:
            self.start = self.shown
            self.slope = (
                packet.single.position + packet.single.velocity * self.calc_ahead - self.start
            ) * (1 / self.display_behind)
        self.arrivals = self.arrivals or now != self.drawn.time
        if self.arrivals and not is_finite(widened(self.slope)) and has_finite_numbers(packet):
            self.slope = Vec3[float]()
            if is_finite(widened(packet.single.position)):
                self.start = packet.single.position
        self.turn.aim(packet, self.calc_ahead, self.display_behind)
        self.time = packet.single.time
        self.begun = True
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef float now = <float>at
        cdef bint waits = now < self.time + self.slop_time
        cdef Motion motion
        cdef Vec3[float] before
        if waits:
            before = self.shown
            self.shown = self.start + self.slope * (now - self.time)
            if self.arrivals and not is_finite(widened(self.shown)) and is_finite(
                    widened(self.slope)):
                self.shown = before
            self.turn.move(now - self.time)
            self.turn.show(True, sample)
        motion = Motion(widened(self.shown), widened(self.slope))
        if not waits:
            sample.hold(motion, self.drawn, INTERPOLATED)
            if not self.begun:
                sample.status = NONE
        elif now < self.time or now > self.time + self.display_behind:
            sample.show(motion, EXTRAPOLATED)
        else:
            sample.show(motion, INTERPOLATED)
