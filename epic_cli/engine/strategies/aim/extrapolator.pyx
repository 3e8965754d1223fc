"""The Extrapolator of Jon Watte's EPIC library.

The algorithm follows Extrapolator.cpp of the Entity Position Interpolation Code:

    Copyright (c) 2006 Jon Watte

    Permission is hereby granted, free of charge, to any person obtaining a copy of this
    software and associated documentation files (the "Software"), to deal in the Software
    without restriction, including without limitation the rights to use, copy, modify, merge,
    publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
    to whom the Software is furnished to do so, subject to the following conditions:

    The above copyright notice and this permission notice shall be included in all copies or
    substantial portions of the Software.

    THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
    INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
    PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
    FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
    OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
    DEALINGS IN THE SOFTWARE.
"""

from libc.math cimport fabs

from epic_cli.engine.packets cimport (
    EXTRAPOLATED, INTERPOLATED, Motion, Packet, Sample, Vec3, clamped, is_finite, narrowed, widened,
)
from epic_cli.engine.strategies.parts cimport Strategy, has_finite_numbers
from epic_cli.engine.strategies.parts.turning cimport TurnLine

from epic_cli.engine.declaration import Declaration, Need, OneClock
from epic_cli.engine.parameters import Choice

# Times closer than this (s) count as equal.
cdef double EPSILON = 1e-4


cpdef enum class VelocitySource:
    AUTO
    GIVEN
    ESTIMATED

cpdef enum class SnapPoint:
    RESET
    ORIGIN

cpdef enum class Precision:
    FLOAT
    DOUBLE


cdef class Extrapolator(Strategy):
    """Draws a line from a snap point to an aim point, and adapts both to the traffic.

    It measures the time between packets (``update time``; a longer one counts for half at once,
    a shorter one for an eighth). When a packet arrives at the local time ``now``, the drawn
    position becomes the snap point; the aim point is where the entity will be one update time
    later:

        aim time = now + update time
        aim      = position + velocity * (aim time - timestamp)
        drawn(t) = snap + (aim - snap) / (aim time - now) * (t - now)

    So the entity is drawn where it is now, not where it was, and reaches the right place just
    when the next packet is due. Past the aim point the line is continued for one more update
    time, then it holds. Good where players move steadily and latency must not show; it
    overshoots at turns and stops by about the age of a packet times the speed. After a silence
    the new update time moves the end of the old line, which is read once more: a visible jump.

    Packets with the newest timestamp or an earlier one are discarded. The velocity is the
    packet's own, or, where it has none or with ``velocity=estimated``, that between the last two
    packets. A packet with ``teleport`` is the original's Reset. Rows are ``interpolated`` up to the
    aim point, ``extrapolated`` past it and ``held`` beyond that, where the original's
    ReadPosition returns false and a zero velocity.
    """

    declaration = Declaration(
        name="extrapolator",
        summary="the EPIC library's Extrapolator: adaptive line from a snap point to an aim point",
        needs=(Need.VELOCITY.unless(" (or estimated)"), Need.CLOCKS),
        lag="none at constant velocity: the entity is drawn where it is now",
        on_loss="continues for two update times after the last packet, then holds",
        source="Jon Watte, EPIC library, Extrapolator.h and .cpp (jwatte/EPIC, 2019 state); MIT",
        proof="the original's output, bit for bit: AddSample at an arrival, ReadPosition in a"
        " frame",
        rotates="a constant spin from the drawn rotation to that at the aim point (ours: the"
        " original has none)",
        takes_any_number=True,
        aims_at_prediction=True,
        one_clock=OneClock(),
        settings=(
            Choice("velocity", "auto", "use the packets' velocity, estimate it from their"
                   " positions, or (auto) whichever each packet allows", VelocitySource),
            Choice("start", "reset", "begin with a Reset at the first packet, or with the"
                   " original's constructor at the origin", SnapPoint, tune=False),
            Choice("precision", "float", "the type of positions; times are always double",
                   Precision, tune=False),
        ),
    )

    cdef public VelocitySource velocity
    cdef public SnapPoint start
    cdef bint single
    cdef Vec3[double] snap_position, snap_velocity, last_position
    cdef double snap_time, aim_time, last_time
    cdef double latency_, update_time_
    cdef TurnLine turn

    def configure(self, *, precision):
        self.check_free()
        self.single = precision == Precision.FLOAT
        self.estimates_velocity = self.velocity != VelocitySource.GIVEN

    @property
    def latency(self):
        """The estimated age of a packet on arrival, s; drawing does not use it."""
        return self.latency_

    @property
    def update_time(self):
        """The estimated time between packets, s."""
        return self.update_time_

    cdef void clear(self) noexcept nogil:
        self.begin_line(0, 0, Vec3[double](), Vec3[double]())
        self.turn.clear()

    cdef void begin_line(self, double timestamp, double now, Vec3[double] position,
                         Vec3[double] velocity) noexcept nogil:
        """Restart the line at this state, as the original's Reset does.

        A ``now`` before the timestamp counts as equal to it.
        """
        self.last_time = timestamp
        self.last_position = position
        self.snap_time = now
        self.snap_position = position
        self.snap_velocity = velocity
        self.update_time_ = max(now - timestamp, 0.0)
        self.latency_ = self.update_time_
        self.aim_time = now + self.update_time_

    cdef Vec3[double] narrow(self, Vec3[double] value) noexcept nogil:
        return widened(narrowed(value)) if self.single else value

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        cdef Vec3[double] velocity
        if self.uses_given_velocity(packet):
            velocity = self.narrow(packet.velocity)
        self.begin_line(packet.time, now, self.narrow(packet.position), velocity)
        self.turn.clear()
        self.turn.aim(packet, 0, 0)
        return True

    cdef bint uses_given_velocity(self, const Packet& packet) noexcept nogil:
        return packet.has_velocity and self.velocity != VelocitySource.ESTIMATED

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Vec3[double] position, velocity, aim
        cdef bint in_range
        cdef double elapsed = packet.time - self.last_time
        if self.empty and self.start == SnapPoint.RESET:
            return self.teleport(packet, now)
        if packet.time <= self.last_time:
            return False
        position = self.read_position(packet)
        if self.uses_given_velocity(packet):
            velocity = self.read_velocity(packet)
        elif fabs(elapsed) > EPSILON:
            velocity = self.narrow(self.narrow(position - self.last_position) * (1.0 / elapsed))
        self.update_averages(now - packet.time, elapsed)
        self.last_position = position
        self.last_time = packet.time
        # as in the original: the old line, extended by the new update time
        self.snap_position = self.evaluate_line(now, &in_range)
        self.rotate_to(now)
        self.aim_time = now + self.update_time_
        self.snap_time = now
        self.turn.aim(packet, self.aim_time - packet.time, self.update_time_)
        aim = self.narrow(position + velocity * (self.aim_time - packet.time))
        if fabs(self.aim_time - self.snap_time) < EPSILON:
            self.snap_velocity = velocity
        else:
            self.snap_velocity = self.narrow(
                self.narrow(aim - self.snap_position) * (1.0 / (self.aim_time - self.snap_time)))
        if not is_finite(self.snap_velocity) and has_finite_numbers(packet):
            return self.teleport(packet, now)   # the numbers have overflowed
        return True

    cdef Vec3[double] read_position(self, const Packet& packet) noexcept nogil:
        """Return a packet's position in the chosen precision, rounded once from the packet's text.
        """
        return widened(packet.single.position) if self.single else packet.position

    cdef Vec3[double] read_velocity(self, const Packet& packet) noexcept nogil:
        return widened(packet.single.velocity) if self.single else packet.velocity

    cdef void update_averages(self, double latency, double tick) noexcept nogil:
        latency = max(latency, 0.0)
        self.latency_ = adapt_average(self.latency_, latency)
        self.update_time_ = adapt_average(self.update_time_, tick)

    cdef Vec3[double] evaluate_line(self, double at, bint* in_range) noexcept nogil:
        """Return the line's position at local time ``at``, limited to the line's ends.

        Set ``in_range`` to False where the time was limited, as the original's ReadPosition does.
        """
        cdef double end = self.aim_time + self.update_time_
        in_range[0] = True
        if at < self.snap_time:
            at = self.snap_time
            in_range[0] = False
        if at > end:
            at = end
            in_range[0] = False
        return self.narrow(self.snap_position + self.snap_velocity * (at - self.snap_time))

    cdef void rotate_to(self, double at) noexcept nogil:
        if self.turn.known():
            self.turn.move(clamped(at, self.snap_time, self.aim_time + self.update_time_)
                           - self.snap_time)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef bint in_range
        cdef Vec3[double] position = self.evaluate_line(at, &in_range)
        self.rotate_to(at)
        self.turn.show(in_range, sample)
        if not in_range:
            sample.hold(Motion(position, Vec3[double]()), self.drawn, EXTRAPOLATED)
        else:
            sample.show(Motion(position, self.snap_velocity),
                        INTERPOLATED if at <= self.aim_time else EXTRAPOLATED)


cdef double adapt_average(double average, double sample) noexcept nogil:
    """Return the adaptive average: half of a larger sample, an eighth of a smaller sample."""
    if sample > average:
        return (average + sample) * 0.5
    return (average * 7 + sample) * 0.125
