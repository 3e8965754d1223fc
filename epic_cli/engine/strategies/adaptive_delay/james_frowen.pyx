"""The time-scaled snapshot buffer of James Frowen's NetworkPositionSync."""

from libc.math cimport fabs

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, clamped
from epic_cli.engine.strategies.parts cimport MovingAverage, SendInterval, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_at, hold_state, make_snapshot,
)

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number, Switch
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# The faster scales apply beyond this many thresholds.
cdef double FAR_OFF = 10
# The limits of the scale.
cdef double SLOWEST = 0.5
cdef double FASTEST = 2
# A snapshot is forgotten this many delays after it was drawn.
cdef double KEPT_DELAYS = 1.5


cdef class JamesFrowen(Strategy):
    """Plays a buffer on a clock that runs faster or slower to keep up with the timestamps.

        client time += frame time * scale
        drawn        = lerp(before, after) at client time - tick_delay * tick interval

    The client time begins at the first timestamp. With every packet the difference timestamp -
    client time goes into a moving average, and sets the scale: within diff_threshold ticks it is
    1, beyond it 1 + fast_scale or 1 - slow_scale, and beyond ten thresholds 1 + very_fast_scale
    or 1 - very_slow_scale. A packet more than skip_threshold ticks ahead of the clock resets it.

    Robust and small: no jitter estimate, just a fixed delay and a clock that tolerates half a
    tick. Jitter beyond the delay freezes the entity for a moment. When all snapshots have been
    forgotten, the next one is reached from where the entity is drawn, in one tick. When latency
    rises by more than the delay, each packet is shown on arrival and held, until the slower clock
    has fallen back: 7 s after a step of 1.5 s.

    As in the original the clock is the connection's: each message moves it, whichever entities are
    in it. One that comes twice counts twice for the clock; its snapshot is discarded (there it
    divides zero by zero, and the entity is nowhere for a frame).

    Where this differs from the original: ``tick_interval=auto`` measures the tick.
    ``snap_distance`` and ``reset_backward`` are additions: with the latter a clock that is as far
    ahead is reset too, and time that has been drawn is not drawn again. Late packets are discarded,
    as in the original.

    ``tick_interval=auto`` draws as the given tick does, where at least three of eight packets
    follow the one before by one tick; silences and single losses cost nothing, and another rate
    is known within 32 packets. Until then the delay is that of the wrong tick: at 30 % loss the
    first half second was drawn up to 0.15 s off.

    The velocity is that of the packets, interpolated as the position is.
    """

    declaration = Declaration(
        name="james-frowen",
        summary="NetworkPositionSync: a snapshot buffer on a clock with five speeds",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency of the first packet plus 2 send intervals",
        on_loss="interpolates across one lost packet, then holds",
        source="James-Frowen/NetworkPositionSync, SnapshotBuffer and InterpolationTime; MIT",
        proof="runs of the original's buffer and clock, called at a packet and in a frame as"
        " SyncPositionBehaviour calls them; its own tests",
        connection="its clock takes all packets (SyncPositionSystem.TimeSync)",
        rotates="slerp at the same fraction (TransformState)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to the time between two packets in frames that are no shorter: its"
            " clock knows a packet's arrival only by the frame before",
            periods=1, frame_above=0.9,
        ),
        settings=(
            Number("tick_interval", "auto", "time between two packets; auto measures it", "s",
                   0.001, 60, unset="auto"),
            Number("tick_delay", 2.0, "how far behind the newest timestamp to draw", "ticks", 0,
                   1000, tune=(0.5, 6)),
            Number("diff_threshold", 0.5, "tolerate a clock error below this", "ticks", 0,
                   1000, tune=(0.1, 2)),
            Number("fast_scale", 0.01, "how much faster the clock runs when behind", "", 0, 1),
            Number("very_fast_scale", 0.08, "how much faster the clock runs when far behind", "",
                   0, 1),
            Number("slow_scale", 0.04, "how much slower the clock runs when ahead", "", 0, 0.9),
            Number("very_slow_scale", 0.2, "how much slower the clock runs when far ahead", "", 0,
                   0.9),
            Number("skip_threshold", 20.0, "reset a clock that is behind by more", "ticks", 0,
                   1e6),
            Switch("reset_backward", "off", "also reset a clock that is ahead by skip_threshold"
                   " (not in the original)"),
            Number("moving_average_count", 30, "packets over which the clock error is averaged", "",
                   1, 10000, whole=True),
            SNAP_DISTANCE,
        ),
    )

    cdef public double tick_delay, diff_threshold, skip_threshold, snap_distance
    cdef public double fast_scale, very_fast_scale, slow_scale, very_slow_scale
    cdef public bint reset_backward
    cdef SendInterval interval
    cdef MovingAverage difference
    cdef SnapshotBuffer buffer
    cdef readonly double client_time, scale
    cdef double drawn_time
    cdef bint running                   # the clock, since the first message
    cdef Motion shown

    def configure(self, *, tick_interval, moving_average_count):
        self.check_free()
        self.interval = SendInterval(tick_interval, 0.05)
        self.clock_restarts = True
        self.difference = MovingAverage(2 / (moving_average_count + 1.0))
        self.buffer.set_capacity()

    cdef void clear(self) noexcept nogil:
        self.buffer.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.interval.clear()
        self.difference.clear()
        self.running = False
        self.scale = 1

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef JamesFrowen other = peer
        self.interval.copy(other.interval)
        self.difference.copy(other.difference)
        self.running, self.client_time, self.scale = other.running, other.client_time, other.scale
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if time < self.find_connection_newest():
            return
        self.interval.add_datagram(time, self)
        if self.running:
            self.adjust_scale(time)
        else:
            self.running, self.client_time = True, time

    cdef void pass_frame(self, double at) noexcept nogil:
        self.client_time += self.elapsed(at) * self.scale

    cdef double compute_delay(self) noexcept nogil:
        return self.tick_delay * self.interval.value

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Snapshot snapshot = make_snapshot(packet, now)
        cdef Snapshot drawn
        if not self.empty and packet.time < self.newest:
            return False
        if not self.same_datagram:
            self.count_datagram(packet.time, now)
        if not self.empty and packet.time == self.newest:
            return False
        if not self.empty and self.buffer.empty():
            drawn = snapshot
            drawn.time = packet.time - self.interval.value
            drawn.position, drawn.velocity = self.shown.position, self.shown.velocity
            drawn.turn = self.drawn.turn
            self.buffer.insert(0, drawn)
        self.buffer.append(snapshot)
        if self.empty:
            self.drawn_time = min(packet.time, self.client_time) - self.compute_delay()
        return True

    cdef void adjust_scale(self, double time) noexcept nogil:
        """Set the clock's speed by its error against a new timestamp.

        Set the clock if far behind.
        """
        cdef double tick = self.interval.value
        cdef double off = time - self.client_time
        cdef double limit = self.diff_threshold * tick
        if (fabs(off) if self.reset_backward else off) > self.skip_threshold * tick:
            self.client_time = time
            self.difference.clear()
            self.scale = 1
            return
        off = self.difference.add(off)
        if off > limit:
            self.scale = 1 + (self.very_fast_scale if off > limit * FAR_OFF else self.fast_scale)
        elif off < -limit:
            self.scale = 1 - (self.very_slow_scale if off < -limit * FAR_OFF else self.slow_scale)
        else:
            self.scale = 1
        self.scale = clamped(self.scale, SLOWEST, FASTEST)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        self.pass_frame(at)
        self.draw_buffer(self.client_time - self.compute_delay(), sample)
        self.drop_before(self.client_time - self.compute_delay() * (1 + KEPT_DELAYS))
        self.shown = sample

    cdef void drop_before(self, double time) noexcept nogil:
        while not self.buffer.empty() and self.buffer.front().time < time:
            self.buffer.drop_front(1)

    cdef void draw_buffer(self, double time, Sample& sample) noexcept nogil:
        cdef size_t after
        if self.buffer.empty():
            sample.hold(self.shown, self.drawn, INTERPOLATED)
            return
        # what a frozen entity shows is no later than the newest snapshot
        self.drawn_time = max(self.drawn_time, min(time, self.buffer.back().time))
        after = self.buffer.count_until(self.drawn_time)
        if after == 0:
            hold_state(self.buffer.front(), self.drawn, sample)
        elif after == self.buffer.size():
            hold_state(self.buffer.back(), self.drawn, sample)
        else:
            draw_at(self.buffer[after - 1], self.buffer[after], self.drawn_time,
                    self.snap_distance, sample)
