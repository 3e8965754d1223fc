"""The snapshot interpolation of Mirror, with its catch-up and its dynamic adjustment."""

from libc.math cimport NAN, isnan, round, sqrt

from epic_cli.engine.packets cimport Motion, Packet, Sample, clamped
from epic_cli.engine.strategies.parts cimport MovingAverage, SendInterval, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_at, hold_state, make_snapshot,
)

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number, Span, Switch
from epic_cli.engine.strategies.parts.common_settings import SEND_INTERVAL, SNAP_DISTANCE

# The most time snapshots that a silence is filled with; by then, the timeline has settled.
cdef long MOST_SILENT_STEPS = 10_000


cdef class Mirror(Strategy):
    """Plays the snapshots on a timeline that runs a little faster or slower to stay behind them.

    It starts ``buffer_time`` behind the first snapshot and advances with the frames:

        timeline += frame time * timescale
        u     = (timeline - before.time) / (after.time - before.time)
        drawn = lerp(before, after, u)

    Each snapshot clamps it to within buffer_time of its place (buffer_time behind the snapshot),
    and how far behind it is goes into a moving average:

        drift     = average of (snapshot time - timeline) - buffer_time
        timescale = 1 + catchup_speed    drift > catchup_positive_threshold
                    1 - slowdown_speed   drift < catchup_negative_threshold
                    1                    otherwise

    With ``dynamic_adjustment`` the buffer grows with the deviation of the arrival intervals:

        buffer_time = send interval * (1 + tolerance) + deviation

    otherwise it is send interval * buffer_time_multiplier. Both averages weight a sample by
    2 / (n + 1), n being the number of packets in their duration.

    Clocks need not agree, small jitter is invisible, nothing is guessed. One late packet freezes
    a frame or two. When ``buffer_limit`` snapshots are waiting, a new one is dropped.

    Where this differs from Mirror: its timeline follows a message that the server sends in each
    interval, whether anything moves or not; here it follows the packets of all entities, and a
    silence longer than ``pause`` is filled with such messages. It does not count as jitter, and
    after it the entity goes from where it is drawn to the new snapshot in one send interval, as
    NetworkTransformReliable does after an idle time; ``pause=0``: never.
    NetworkTransformUnreliable drops its snapshots instead: ``buffer_reset_multiplier=3``. Both
    stamp snapshots one send interval later, as long as timelineOffset is on:
    ``timeline_offset=1``. ``mirror-reliable`` and ``mirror-unreliable`` are these. A late packet is
    sorted in, but does not move the timeline; with ``quirks=on`` it does, even backwards,
    its negative arrival interval counts as jitter, and of several snapshots that a frame passes
    half stay in the buffer, to be drawn again where timestamps are set back. Mirror knows its
    send interval; ``auto`` measures it, by the entities that send most. It knows an arrival by the
    frame. ``snap_distance`` is an addition.

    ``send_interval=auto`` draws as the given interval does, where at least three of eight
    packets follow the one before by one interval; silences and single losses cost nothing, and
    another rate is known within 32 packets. If the second packet is lost, the timeline begins too
    far behind and may stay so, by up to a send interval or two (60 ms at 30 % loss).

    The velocity is that of the packets, interpolated as the position is.
    """

    declaration = Declaration(
        name="mirror",
        summary="Mirror: a snapshot buffer on a timeline that catches up and slows down",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency plus 2 send intervals, more where arrivals jitter",
        on_loss="interpolates across one lost packet, then holds",
        source="Mirror (MirrorNetworking/Mirror), SnapshotInterpolation.cs; MIT",
        proof="runs of the original: DynamicAdjustment and InsertAndAdjust at a packet, StepTime"
        " and StepInterpolation in a frame, as NetworkClient calls them; its own tests",
        connection="its timeline takes all packets",
        rotates="slerp at the same fraction (NetworkTransform)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to the time between two packets in frames about as long as the buffer or"
            " longer: these overrun it, and are set back",
            periods=1, frame_above=1.9,
        ),
        settings=(
            SEND_INTERVAL,
            Number("buffer_time_multiplier", 2.0, "send intervals to stay behind, without"
                   " dynamic_adjustment", "", 0, 100, tune=(0.5, 6)),
            Number("buffer_limit", 32, "the largest number of waiting snapshots", "", 2, 4096,
                   whole=True),
            Number("catchup_negative_threshold", -1.0, "slow down below this drift",
                   "send intervals", -100, 0, tune=(-3, 0)),
            Number("catchup_positive_threshold", 1.0, "catch up above this drift",
                   "send intervals", 0, 100, tune=(0, 3)),
            Number("catchup_speed", 0.02, "how much faster time runs to catch up", "", 0, 1,
                   tune=(0.005, 0.2), scale="log"),
            Number("slowdown_speed", 0.04, "how much slower time runs to fall back", "", 0, 1,
                   tune=(0.005, 0.2), scale="log"),
            Number("drift_ema_duration", 1.0, "the time over which the drift is averaged", "s", 0,
                   600),
            Switch("dynamic_adjustment", "on", "let the buffer grow with the jitter"),
            Number("dynamic_adjustment_tolerance", 1.0, "send intervals to stay behind on top of"
                   " the jitter", "", 0, 100, tune=(0, 3)),
            Number("delivery_time_ema_duration", 2.0, "the time over which the jitter is averaged",
                   "s",
                   0, 600),
            Number("timeline_offset", 0.0, "how much later than the timeline snapshots are drawn",
                   "send intervals", 0, 100),
            Number("buffer_reset_multiplier", 0.0, "drop an entity's snapshots after a longer"
                   " silence (3 in NetworkTransformUnreliable); 0: never", "send intervals", 0,
                   1000),
            Span("pause", 1.0, "treat a longer silence as a pause, not as jitter, in seconds or"
                 " send intervals; 0: never", 0, 3600),
            SNAP_DISTANCE,
            Switch("quirks", "off", "let late packets disturb the timeline, as the original does",
                   tune=False),
        ),
    )

    cdef public double buffer_time_multiplier
    cdef public double catchup_negative_threshold, catchup_positive_threshold
    cdef public double catchup_speed, slowdown_speed
    cdef public double drift_ema_duration, delivery_time_ema_duration
    cdef public double dynamic_adjustment_tolerance, timeline_offset, pause, snap_distance
    cdef public double buffer_reset_multiplier
    cdef public bint dynamic_adjustment, quirks
    cdef SendInterval interval
    cdef MovingAverage drift_average, delivery_average
    cdef SnapshotBuffer buffer
    cdef readonly double timeline       # the sender's time that is drawn
    cdef readonly double timescale, buffer_time
    cdef double heard_timeline, heard_at    # timeline and frame at the newest snapshot
    cdef bint begun
    cdef double newest_arrival          # of the connection; NaN: none
    cdef Motion shown

    def configure(self, *, send_interval, buffer_limit):
        self.check_free()
        self.interval = SendInterval(send_interval, 1.0 / 60)
        self.clock_restarts = True
        self.buffer.set_capacity(buffer_limit)
        self.drift_average = MovingAverage()
        self.delivery_average = MovingAverage()

    @property
    def drift(self):
        """The averaged distance from the timeline to the newest snapshot, s."""
        return self.drift_average.value

    @property
    def waiting(self):
        """The number of snapshots in the buffer."""
        return self.buffer.size()

    cdef void clear(self) noexcept nogil:
        self.buffer.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.interval.clear()
        self.drift_average.clear()
        self.delivery_average.clear()
        self.timeline = self.buffer_time = self.heard_timeline = self.heard_at = 0
        self.timescale = 1
        self.begun, self.newest_arrival = False, NAN

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef Mirror other = peer
        self.interval.copy(other.interval)
        self.drift_average.copy(other.drift_average)
        self.delivery_average.copy(other.delivery_average)
        self.adjust_buffer_time()
        self.timeline, self.timescale = other.timeline, other.timescale
        self.heard_timeline, self.heard_at = other.heard_timeline, other.heard_at
        self.buffer_time = other.buffer_time
        self.begun, self.newest_arrival = other.begun, other.newest_arrival
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        cdef bint fresh = time > self.find_connection_newest()
        self.prepare_timeline(time, fresh)
        self.count_arrival(time, now, fresh)

    cdef void pass_frame(self, double at) noexcept nogil:
        self.timeline += self.elapsed(at) * self.timescale

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint fresh = packet.time > self.find_connection_newest()
        cdef bint inserted
        if not self.same_datagram:
            self.prepare_timeline(packet.time, fresh)
        if not self.buffer.empty() and packet.time > self.newest:
            self.end_silence(packet.time)
        inserted = self.insert_snapshot(packet, now)
        if not self.same_datagram and (inserted or self.connected):
            self.count_arrival(packet.time, now, fresh)
        return inserted

    cdef void prepare_timeline(self, double time, bint fresh) noexcept nogil:
        """Update the buffer time by a timestamp.

        Set the timeline at the start and after a pause.
        """
        cdef long measured = self.interval.count
        cdef double assumed = self.buffer_time
        self.interval.add_datagram(time, self)
        self.adjust_buffer_time()
        if not self.begun:
            self.begun, self.timeline = True, time - self.buffer_time
        elif fresh and self.is_pause(time - self.find_connection_newest()):
            self.pass_silence(time)
        elif self.interval.count == 1 and measured == 0:
            # the send interval is known only now; so far there was one snapshot to show
            self.timeline += assumed - self.buffer_time
            self.drift_average.clear()
            self.drift_average.add(self.buffer_time)

    cdef bint is_pause(self, double silence) noexcept nogil:
        """Return True if a silence (s) is a pause of the sender, not jitter or loss."""
        return 0 < (self.pause if self.pause > 0 else -self.pause * self.interval.value) < silence

    cdef void pass_silence(self, double time) noexcept nogil:
        """Advance the timeline to a timestamp ``time`` after a pause, in which the server's time
        snapshots went on: one in each send interval, without jitter.
        """
        cdef double interval = self.interval.value, stamp = self.find_connection_newest()
        cdef double left = self.drawn.time - self.heard_at
        cdef long steps = MOST_SILENT_STEPS
        self.timeline = self.heard_timeline
        while left > interval and stamp + 1.5 * interval < time and steps > 0:
            stamp += interval
            left -= interval
            steps -= 1
            self.timeline += interval * self.timescale
            self.adjust_timescale(stamp)
        self.timeline += left * self.timescale

    cdef void count_arrival(self, double time, double now, bint fresh) noexcept nogil:
        """Update the arrival jitter and the timescale by a snapshot that arrived at ``now``.

        ``fresh`` is True for the newest timestamp of the connection.
        """
        cdef double gap = now - self.newest_arrival
        cdef size_t size = self.buffer.size()
        if not fresh and not self.quirks:
            return
        if fresh:
            self.newest_arrival = now
        if self.quirks and size > 1 and not self.connected:
            gap = self.buffer[size - 1].arrival - self.buffer[size - 2].arrival
        if not isnan(gap) and not self.is_pause(gap):
            self.delivery_average.add(gap)
        self.adjust_timescale(time)
        self.heard_timeline, self.heard_at = self.timeline, self.drawn.time

    cdef void adjust_buffer_time(self) noexcept nogil:
        """Set the buffer time from the send interval and the arrival jitter measured so far."""
        cdef double interval = self.interval.value
        cdef double deviation = sqrt(self.delivery_average.variance)
        self.drift_average.weight = weigh_sample(self.drift_ema_duration, interval)
        self.delivery_average.weight = weigh_sample(self.delivery_time_ema_duration, interval)
        if self.dynamic_adjustment:
            self.buffer_time = interval + deviation + interval * self.dynamic_adjustment_tolerance
        else:
            self.buffer_time = interval * self.buffer_time_multiplier

    cdef void end_silence(self, double time) noexcept nogil:
        """Forget the entity's snapshots, or where it rested, if the one at ``time`` is long after
        them.
        """
        cdef double silence = time - self.newest
        if 0 < self.buffer_reset_multiplier < silence / self.interval.value - self.timeline_offset:
            self.buffer.clear()
        elif self.is_pause(silence):
            self.resume_after_pause(time)

    cdef void resume_after_pause(self, double time) noexcept nogil:
        """Replace the buffer by the drawn state, one send interval before the timestamp ``time``.
        """
        cdef Snapshot drawn = self.buffer.back()
        if self.drew:
            drawn.position = self.shown.position
            drawn.velocity = self.shown.velocity
            drawn.turn = self.drawn.turn
        drawn.time = time - self.interval.value
        self.buffer.clear()
        self.buffer.insert(0, drawn)

    cdef bint insert_snapshot(self, const Packet& packet, double now) noexcept nogil:
        """Insert a snapshot; return False if its timestamp is a duplicate or the buffer is full."""
        cdef size_t place = self.buffer.count_until(packet.time)
        if self.buffer.full():
            return False
        if place > 0 and self.buffer[place - 1].time == packet.time:
            self.buffer[place - 1] = make_snapshot(packet, now)
            return False
        self.buffer.insert(place, packet, now)
        return True

    cdef void adjust_timescale(self, double time) noexcept nogil:
        """Clamp the timeline to a new snapshot's timestamp, and set the timescale by the averaged
        drift.
        """
        cdef double interval = self.interval.value, drift
        self.timeline = clamped(self.timeline, time - 2 * self.buffer_time, time)
        drift = self.drift_average.add(time - self.timeline) - self.buffer_time
        if drift > interval * self.catchup_positive_threshold:
            self.timescale = 1 + self.catchup_speed
        elif drift < interval * self.catchup_negative_threshold:
            self.timescale = 1 - self.slowdown_speed
        else:
            self.timescale = 1

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef size_t before
        cdef double time
        self.pass_frame(at)
        time = self.timeline - self.timeline_offset * self.interval.value
        before = self.buffer.count_until(time)
        if 0 < before < self.buffer.size():
            draw_at(self.buffer[before - 1], self.buffer[before], time, self.snap_distance,
                    sample)
        else:
            hold_state(self.buffer[max(before, <size_t>1) - 1], self.drawn, sample)
        self.drop_passed(before, time)
        self.shown = sample

    cdef void drop_passed(self, size_t before, double time) noexcept nogil:
        """Drop the snapshots that the timeline has passed.

        ``before`` snapshots are not after ``time``.
        """
        cdef size_t passed = max(before, <size_t>1) - 1
        if self.quirks:
            # a snapshot exactly on the timeline ends the segment before it; and the loop runs to a
            # length that shrinks
            if passed > 0 and self.buffer[passed].time == time:
                passed -= 1
            passed = min(passed, (self.buffer.size() + 1) // 2)
        self.buffer.drop_front(passed)


cdef double weigh_sample(double duration, double interval) noexcept nogil:
    """Return the weight of a sample in a moving average over ``duration`` seconds of packets."""
    return 2 / (max(round(duration / interval), 1.0) + 1)
