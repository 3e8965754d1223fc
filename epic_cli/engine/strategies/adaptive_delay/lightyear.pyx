"""The interpolation timeline of lightyear: its delay follows the jitter, its speed the error."""

from libc.math cimport fabs, floor, isnan

from epic_cli.engine.packets cimport Packet, Sample, clamped
from epic_cli.engine.strategies.parts cimport AUTO, PacketAge, SendInterval, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    SnapshotBuffer, draw_at, is_farther, fraction_between, hold_state,
)
from epic_cli.engine.strategies.parts.turning cimport curve_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import SEND_INTERVAL, SNAP_DISTANCE

# The weight of a packet in the sender's time, with little and with much jitter, and these (ms).
cdef double MOST_WEIGHT = 0.10
cdef double LEAST_WEIGHT = 0.02
cdef double LITTLE_JITTER = 1
cdef double MUCH_JITTER = 10
# The weights of a measurement in the mean latency and in its deviation.
cdef double LATENCY_WEIGHT = 1 / 12.0
cdef double JITTER_WEIGHT = 1 / 6.0
# A measurement is cut to the mean plus this number of deviations, to a multiple of the
# mean, and to the mean plus this time (s), but never below the last multiple of the mean.
cdef double MOST_DEVIATIONS = 3
cdef double MOST_TIMES = 3
cdef double MOST_ABOVE = 0.5
cdef double ALWAYS_TIMES = 1.2


cpdef enum class RotationCurve:
    SLERP
    HERMITE


cdef class Lightyear(Strategy):
    """Draws between two snapshots on a timeline behind the sender's, as far as jitter demands.

        delay     = max(send_interval_ratio * send interval, min_delay)
                    + jitter_multiple * jitter + jitter_margin ticks
        timeline += frame time * speed

    The sender's time is an average of timestamp + rtt / 2 - local time, in which a packet weighs
    0.1 where the jitter is below 2 ms, down to 0.02 from 10 ms on, by whole milliseconds. A second
    packet of a tick counts in it too. After each frame with packets
    the timeline's error e against that time - delay is looked at, in ticks: beyond
    ``max_error_margin`` the timeline is set; the third in a row beyond ``error_margin`` on the same
    side sets the speed, which otherwise goes a tenth of the way back to 1:

        speed = 1 + 2 (speedup_factor - 1) * min(|e| / max_error_margin, 1)    or 1 / that

    Adapts without ever jumping at small errors, which it leaves alone: the lag may stay off by a
    tick. There is no extrapolation, and the delay does not include the latency: it is counted from
    the sender's present, so with ``rtt`` given the buffer runs empty where half of it
    exceeds the delay.

    Where this differs from lightyear: it exchanges pings, which a recording does not have. ``rtt``
    is given, 0 unless it is known; ``jitter=auto`` is what its estimator makes of the packets' ages
    on arrival: half of the average of their deviations from the mean, which begins with half of the
    first, outliers cut to three deviations above the mean. Where clocks do not agree an age is what
    exceeds the least. ``send_interval=auto`` measures it. Packets are drawn from the first on,
    without a handshake. ``snap_distance`` is an addition. Late packets are discarded, and of the
    packets of a tick all but the first.

    The velocity is that of the packets, interpolated as the position is.
    """

    declaration = Declaration(
        name="lightyear",
        summary="lightyear: a timeline behind the sender's, by send interval and jitter",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency - rtt / 2, 1.7 send intervals, 4 times the jitter, and a tick",
        on_loss="interpolates what the delay covers, then holds",
        source="lightyear (cBournhonesque/lightyear), crates/core/sync and crates/replication;"
        " MIT or Apache-2.0",
        proof="runs of the original's functions, in a driver that calls them once a packet and"
        " once a frame with packets, as its systems do; its own tests",
        connection="its timeline takes all packets",
        rotates="slerp at the same fraction, or a Hermite curve with the angular velocities"
        " (lightyear_avian)",
        lag_varies=LagVariation(
            "by up to two ticks, and a frame: errors below one are not corrected",
            seconds=0.035, periods=1, frames=2,
        ),
        settings=(
            SEND_INTERVAL,
            Number("tick_interval", 1.0 / 64, "the time between two ticks", "s", 0.001, 1),
            Number("min_delay", 0.005, "the least delay", "s", 0, 60),
            Number("send_interval_ratio", 1.7, "the delay in send intervals", "", 0, 100,
                   tune=(0.5, 5)),
            Number("jitter", "auto", "deviation of the latency; auto measures it", "s", 0, 60,
                   unset="auto"),
            Number("jitter_multiple", 4, "how many times the jitter is added to the delay", "", 0,
                   255, whole=True,
                   tune=(0, 8)),
            Number("jitter_margin", 1.0, "a margin added to the delay", "ticks", 0, 100, tune=(0,
                   4)),
            Number("rtt", 0.0, "round-trip time; half of it is taken for a packet's age", "s", 0,
                   60),
            Number("error_margin", 1.0, "tolerate a smaller error", "ticks", 0, 100,
                   tune=(0.2, 4)),
            Number("max_error_margin", 10.0, "set the timeline at a larger error", "ticks", 0.1,
                   1e4),
            Number("consecutive_errors_threshold", 3, "errors in a row before the speed changes",
                   "", 1, 255, whole=True),
            Number("speedup_factor", 1.05, "the speed of the timeline at half of max_error_margin",
                   "", 1, 2,
                   tune=(1.01, 1.3)),
            Choice("rotation", "slerp", "the curve of rotations, as lightyear_avian registers it",
                   RotationCurve),
            SNAP_DISTANCE,
        ),
    )

    cdef public double tick_interval, min_delay, send_interval_ratio, jitter, jitter_margin, rtt
    cdef public double error_margin, max_error_margin, speedup_factor, snap_distance
    cdef public long jitter_multiple, consecutive_errors_threshold
    cdef public RotationCurve rotation
    cdef SendInterval interval
    cdef PacketAge age
    cdef SnapshotBuffer snapshots
    cdef double mean, deviation         # of the packets' ages
    cdef long measured                  # the number of ages measured
    cdef double offset                  # the sender's time - ours
    cdef bint heard                     # since the last frame:
    cdef double first_heard, sum, kept  # a stamp, the weighted sum of others - it, the old weight
    cdef long errors
    cdef bint begun, synced, behind
    cdef readonly double timeline, speed

    def configure(self, *, send_interval):
        self.check_free()
        self.interval = SendInterval(send_interval, 0.05)
        self.clock_restarts = True
        self.age = PacketAge(AUTO)
        self.snapshots.set_capacity()

    cdef void clear(self) noexcept nogil:
        self.snapshots.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.interval.clear()
        self.age.clear()
        self.mean = self.deviation = self.offset = 0
        self.measured = self.errors = 0
        self.heard = self.synced = self.behind = self.begun = False
        self.timeline, self.speed = 0, 1

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef Lightyear other = peer
        self.interval.copy(other.interval)
        self.age.copy(other.age)
        self.mean, self.deviation, self.offset = other.mean, other.deviation, other.offset
        self.measured, self.errors = other.measured, other.errors
        self.heard, self.synced, self.behind = other.heard, other.synced, other.behind
        self.first_heard, self.sum, self.kept = other.first_heard, other.sum, other.kept
        self.begun, self.timeline, self.speed = other.begun, other.timeline, other.speed
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        cdef Packet packet
        packet.time, packet.arrival = time, now
        self.count_packet(packet, now)

    cdef void count_packet(self, const Packet& packet, double now) noexcept nogil:
        """Update latency, sender's time and send interval by the first packet of a datagram."""
        if packet.time < self.find_connection_newest():
            return
        self.measure_latency(self.age.measure(packet, now))
        self.average_stamp(packet.time)
        self.begun = True
        self.interval.add_datagram(packet.time, self)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if not self.snapshots.empty() and packet.time < self.newest:
            return False
        if not self.same_datagram:
            self.count_packet(packet, now)
        if not self.snapshots.empty() and packet.time == self.newest:
            return False
        self.snapshots.append(packet, now)
        return True

    cdef void measure_latency(self, double age) noexcept nogil:
        """Update the mean latency and its deviation by a packet's age on arrival (s).

        The formulas are those of lightyear's estimator of round-trip times.
        """
        cdef double most
        if age < 0:
            return
        self.measured += 1
        if self.measured == 1:
            self.mean, self.deviation = age, age / 2
            return
        if self.measured > 2:
            most = min(self.mean + MOST_DEVIATIONS * self.deviation, self.mean * MOST_TIMES)
            most = max(min(most, self.mean + MOST_ABOVE), self.mean * ALWAYS_TIMES)
            age = min(age, most)
        self.deviation += (fabs(age - self.mean) - self.deviation) * JITTER_WEIGHT
        self.mean += (age - self.mean) * LATENCY_WEIGHT

    cdef double compute_jitter(self) noexcept nogil:
        return self.deviation / 2 if isnan(self.jitter) else self.jitter

    cdef void average_stamp(self, double stamp) noexcept nogil:
        """Add a packet's timestamp to the weighted mean that updates the sender's time at the next
        frame.
        """
        cdef double whole = floor(self.compute_jitter() * 1000 + 1e-9)
        cdef double share = clamped((whole - LITTLE_JITTER) / (MUCH_JITTER - LITTLE_JITTER), 0, 1)
        cdef double weight = MOST_WEIGHT - share * (MOST_WEIGHT - LEAST_WEIGHT)
        if not self.begun:
            weight = 1
        if not self.heard:
            self.heard, self.first_heard, self.sum, self.kept = True, stamp, 0, 1
        self.sum += (stamp - self.first_heard - self.sum) * weight
        self.kept *= 1 - weight

    cdef void sync_timeline(self, double at) noexcept nogil:
        """Correct the timeline or its speed by its error.

        Called once per frame that had packets.
        """
        cdef double delay = max(self.send_interval_ratio * self.interval.value, self.min_delay)
        cdef double goal, error, faster
        cdef bint behind, turned
        delay += self.jitter_multiple * self.compute_jitter()
        goal = at + self.offset - delay - self.jitter_margin * self.tick_interval
        error = (self.timeline - goal) / self.tick_interval
        if not self.synced:
            self.synced = True
            self.timeline = goal
            return
        behind = error < 0
        turned = behind != self.behind
        self.behind = behind
        if fabs(error) > self.max_error_margin:
            self.errors = 0
            self.timeline = goal
            return
        if fabs(error) > self.error_margin:
            self.errors = min(self.errors + 1, 255)
            if not turned and self.errors >= self.consecutive_errors_threshold:
                faster = 1 + 2 * (self.speedup_factor - 1) * fabs(error) / self.max_error_margin
                self.speed = faster if behind else 1 / faster
                return
        else:
            self.errors = 0
        if fabs(self.speed - 1) > 0.001:
            self.speed += (1 - self.speed) * 0.1

    cdef bint advance_timeline(self, double at) noexcept nogil:
        """Advance the timeline to the frame at ``at``.

        Return True if packets came since the last frame, so that ``sync_timeline`` is due after
        drawing.
        """
        cdef bint heard = self.heard
        self.timeline += self.elapsed(at) * self.speed
        if heard:
            self.heard = False
            self.offset = self.offset * self.kept + self.sum + (
                1 - self.kept) * (self.first_heard + self.rtt / 2 - at)
        if not self.synced:
            self.sync_timeline(at)
            heard = False
        return heard

    cdef void pass_frame(self, double at) noexcept nogil:
        if self.advance_timeline(at):
            self.sync_timeline(at)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef bint heard = self.advance_timeline(at)
        cdef size_t before
        before = self.snapshots.count_until(self.timeline)
        if before > 1:
            self.snapshots.drop_front(before - 1)
        if before > 0 and self.snapshots.size() > 1:
            draw_at(self.snapshots[0], self.snapshots[1], self.timeline, self.snap_distance,
                    sample)
            if self.rotation == RotationCurve.HERMITE and not is_farther(
                    self.snapshots[0].position, self.snapshots[1].position, self.snap_distance):
                curve_between(self.snapshots[0], self.snapshots[1], fraction_between(
                    self.snapshots[0].time, self.snapshots[1].time, self.timeline), sample)
        else:
            hold_state(self.snapshots.front(), self.drawn, sample)
        if heard:
            self.sync_timeline(at)
