"""Glenn Fiedler's snapshot interpolation, with Hermite curves and adaptive smoothing."""

from libc.math cimport floor, pow, sqrt

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3, dot, is_finite
from epic_cli.engine.strategies.parts.curves cimport hermite, lerp
from epic_cli.engine.strategies.parts cimport SendInterval, SenderTime, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_between, is_farther,
)
from epic_cli.engine.strategies.parts.turning cimport curve_between

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import (
    LATENCY, SEND_INTERVAL, SNAP_DISTANCE_OR_ERROR,
)

# The frames in which the error factors are given.
cdef double FRAME_RATE = 60
# After this many frames no error remains.
cdef double MOST_FRAMES = 1000
# An error is over when its square is below this.
cdef double NO_ERROR = 1e-6


cpdef enum class Smoothing:
    NONE
    ADAPTIVE


cdef class Hermite(Strategy):
    """Draws a curve through position and velocity of two snapshots, a playout delay in the past.

        time  = sender's time - playout_delay
        u     = (time - before.time) / (after.time - before.time)
        drawn = Hermite(before, after, u)

    A jitter buffer holds packets for the delay; Fiedler's choice is three send intervals, so
    that two packets in a row may be lost, and 50 ms for the jitter. The curve matches position
    and velocity at both ends, so even 10 packets a second look smooth, where straight lines
    would show corners. A gap of more intervals than the delay has is not bridged: the entity
    freezes until the next snapshot's time.

    The curve is only as good as the velocities: it is nearer to the truth than a line where they
    are off by less than 0.65 of what they change by from packet to packet, at any rate. In recorded
    games it then leaves 0.2 to 0.75 of a line's error across the movement at 5 to 20 Hz; without
    velocities, 0.6 to 1. Where a ball bounces between two packets, 10 a second, it is drawn 1.4 cm
    beyond the bounce or 11 cm short of it in the mean, by a line 22 cm short (tests/studies has it
    all). With ``extrapolation`` both ends are moved along their velocities for that time, which
    hides as much of the delay.

    ``smoothing=adaptive`` keeps the rest of a jump as an error that is added to what is
    drawn and reduced by a factor in each of 60 frames a second: ``small_error_factor`` up to
    ``small_error``, ``large_error_factor`` from ``large_error`` on, linear in between. Small
    errors fade unseen, large ones get out of the way. Here it bridges the jump after a freeze.

    The sender's time is the timestamp that would arrive now, estimated (``latency=auto``) or
    given by the arrival time minus the timestamp; Fiedler counts from the first packet. The
    estimate is the mean of the middle half of the last 31 delays: nothing is lost without jitter,
    and one late packet costs nothing. Jitter with a standard deviation of 20 ms makes the drawn
    time waver by 4 ms, 12 at most; a clock that is 1 % off shifts it by 7 ms at 20 Hz.
    ``send_interval=auto`` is exact where at least three of eight packets follow the one before by
    one interval. ``snap_distance`` is an addition. A packet with the newest timestamp or an
    earlier one is discarded. The velocity is that of the curve. With ``latency=0`` and gaps that
    the delay has always room for (``send_interval=60``) it draws what
    ``buffer+curve=hermite+delay=0.35`` draws.
    """

    declaration = Declaration(
        name="hermite",
        summary="Fiedler: Hermite curves over a jitter buffer, with adaptive smoothing",
        needs=(Need.VELOCITY, Need.ARRIVALS.unless(", or clocks that agree and latency=0")),
        lag="latency plus playout_delay",
        on_loss="interpolates across two lost packets at the defaults, then holds",
        source="Glenn Fiedler, Gaffer On Games, Snapshot Interpolation and State"
        " Synchronization; formulas only",
        proof="formula",
        connection="its clock takes all packets",
        rotates="a cubic through both rotations with their spins (Kim, Kim and Shin 1995)",
        settings=(
            Number("playout_delay", 0.35, "how far in the past the entity is drawn", "s", 0, 60,
                   tune=(0.02, 1.0), scale="log"),
            SEND_INTERVAL,
            Number("extrapolation", 0.0, "move both ends ahead by their velocities for this time",
                   "s", 0, 10, tune=(0, 0.5)),
            Choice("smoothing", "none", "how jumps are smoothed", Smoothing),
            Number("small_error", 0.25, "up to this size small_error_factor applies",
                   "length units", 0, 1e12),
            Number("large_error", 1.0, "from this size on large_error_factor applies",
                   "length units", 0, 1e12),
            Number("small_error_factor", 0.95, "the factor on a small error after 1/60 s", "",
                   0, 1, tune=(0.7, 0.99)),
            Number("large_error_factor", 0.85, "the factor on a large error after 1/60 s", "", 0, 1,
                   tune=(0.5, 0.99)),
            LATENCY,
            SNAP_DISTANCE_OR_ERROR,
        ),
    )

    cdef public double playout_delay, extrapolation, snap_distance
    cdef public Smoothing smoothing
    cdef public double small_error, large_error, small_error_factor, large_error_factor
    cdef SenderTime clock
    cdef SendInterval interval
    cdef SnapshotBuffer buffer
    cdef bint frozen
    cdef double frozen_at
    cdef Vec3[double] shown, error

    def configure(self, *, send_interval, latency):
        self.check_free()
        self.large_error = max(self.small_error, self.large_error)
        self.clock = SenderTime(latency)
        self.interval = SendInterval(send_interval, 0.1)
        self.buffer.set_capacity()
        self.clock_restarts = True

    cdef void clear_clock(self) noexcept nogil:
        self.clock.clear()
        self.interval.clear()

    cdef int copy_clock(self, Strategy peer) except -1:
        self.clock.copy((<Hermite>peer).clock)
        self.interval.copy((<Hermite>peer).interval)
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if time > self.find_connection_newest():
            self.count_stamp(time, now)

    cdef void count_stamp(self, double time, double now) noexcept nogil:
        """Update the clock and the send interval by the connection's newest timestamp."""
        self.clock.add(time, now)
        self.interval.add_datagram(time, self)

    cdef void clear(self) noexcept nogil:
        self.buffer.clear()
        self.frozen = False
        self.error = Vec3[double]()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time <= self.newest and not self.buffer.empty():
            return False
        if not self.connected:
            self.count_stamp(packet.time, now)
        elif not self.same_datagram:
            self.count_datagram(packet.time, now)
        self.buffer.append(packet, now)
        (&self.buffer.back()).position = packet.position + packet.velocity * self.extrapolation
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = self.clock.time(at) - self.playout_delay
        cdef size_t before
        cdef bint frozen
        before = self.buffer.count_until(time)
        if before > 1:
            self.buffer.drop_front(before - 1)
        frozen = before == 0 or self.buffer.size() == 1 or not self.is_bridged(
            self.buffer[0], self.buffer[1])
        if frozen:
            sample.hold(Motion(self.buffer.front().position, Vec3[double]()), self.drawn,
                        INTERPOLATED)
        else:
            self.draw_curve(self.buffer[0], self.buffer[1], time, sample)
        if self.smoothing == Smoothing.ADAPTIVE:
            self.smooth_jump(at, frozen, sample)

    cdef bint is_bridged(self, const Snapshot& before, const Snapshot& after) noexcept nogil:
        """Return True if the playout delay covers the gap between two snapshots."""
        cdef double intervals = max(floor(self.playout_delay / self.interval.value + 1e-6), 1.0)
        # half an interval more, since timestamps are not exact
        return after.time - before.time < (intervals + 0.5) * self.interval.value

    cdef void draw_curve(self, const Snapshot& before, const Snapshot& after, double time,
                         Sample& sample) noexcept nogil:
        cdef double duration = after.time - before.time
        cdef double u = (time - before.time) / duration
        cdef Motion motion = hermite(before, after, duration, u)
        cdef bint snaps = is_farther(before.position, after.position, self.snap_distance)
        if snaps or not is_finite(motion.position):
            draw_between(before, after, u, self.snap_distance, sample)
        else:
            if not is_finite(motion.velocity):
                motion.velocity = lerp(before.velocity, after.velocity, u)
            sample.show(motion, INTERPOLATED)
        if not snaps:
            curve_between(before, after, u, sample)

    cdef void smooth_jump(self, double at, bint frozen, Sample& sample) noexcept nogil:
        """Add the remaining error to the sample; start a new error when a freeze ends."""
        if self.drew:
            self.fade_error(self.since_drawn(at) * FRAME_RATE)
            if self.frozen and self.buffer.front().time != self.frozen_at:
                self.error = self.shown - sample.position
                if is_farther(self.shown, sample.position, self.snap_distance):
                    self.error = Vec3[double]()
        self.frozen = frozen
        self.frozen_at = self.buffer.front().time
        sample.position = sample.position + self.error
        self.shown = sample.position
        if dot(self.error, self.error) > 0:
            sample.status = INTERPOLATED

    cdef void fade_error(self, double frames) noexcept nogil:
        """Reduce the error by ``frames`` frames of 1/60 s."""
        frames = min(frames, MOST_FRAMES)
        while frames > 0 and dot(self.error, self.error) > 0:
            self.error = self.error * pow(self.choose_factor(sqrt(dot(self.error, self.error))),
                                          min(frames, 1.0))
            if dot(self.error, self.error) < NO_ERROR:
                self.error = Vec3[double]()
            frames -= 1

    cdef double choose_factor(self, double distance) noexcept nogil:
        """Return the factor on an error of this size (length units) after 1/60 s."""
        if distance <= self.small_error:
            return self.small_error_factor
        if distance >= self.large_error:
            return self.large_error_factor
        return self.small_error_factor + (self.large_error_factor - self.small_error_factor) * (
            (distance - self.small_error) / (self.large_error - self.small_error))
