"""The snapshot interpolation of Mirror, with its catch-up and its dynamic adjustment."""

from libc.math cimport NAN, round, sqrt

from epic_cli.engine.strategies.parts.averages cimport MovingAverage
from epic_cli.engine.packets cimport INTERPOLATED, NONE, Motion, Packet, Sample
from epic_cli.engine.strategies.parts.sender_time cimport SendInterval
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot,
    SnapshotBuffer,
    draw_at,
    snapshot_of,
)
from epic_cli.engine.strategy cimport Strategy
from epic_cli.engine.vectors cimport clamped

from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE
from epic_cli.engine.declaration import Declaration, Setting
from epic_cli.engine.strategies.parts.averages import MovingAverage as NewMovingAverage
from epic_cli.engine.strategies.parts.sender_time import SendInterval as NewSendInterval


cdef class Mirror(Strategy):
    """Plays the snapshots on a timeline that runs a little faster or slower to stay behind them.

    It starts ``buffer_time`` behind the first snapshot and goes on with the frames:

        timeline += frame time * timescale
        u     = (timeline - before.time) / (after.time - before.time)
        drawn = lerp(before, after, u)

    A snapshot clamps it to within buffer_time of its place (buffer_time behind the snapshot),
    and how far it is behind goes into a moving average:

        drift     = average of (snapshot time - timeline) - buffer_time
        timescale = 1 + catchup_speed    where drift > catchup_positive_threshold send intervals
                    1 - slowdown_speed   where drift < catchup_negative_threshold send intervals
                    1                    otherwise

    With ``dynamic_adjustment`` the buffer grows with the deviation of the arrival intervals:

        buffer_time = send interval * (1 + tolerance) + deviation

    otherwise it is send interval * buffer_time_multiplier. Both averages weigh a sample by
    2 / (n + 1), n being the number of packets in their duration.

    No clock has to agree, small jitter is invisible, nothing is guessed. One late packet freezes
    a frame or two. A buffer of ``buffer_limit`` snapshots that is full loses the newest.

    Where this differs from Mirror: a silence longer than ``pause`` counts as a pause. It stays
    out of the jitter (in Mirror it inflates the buffer and slows the entity down for seconds),
    and after it the entity goes from where it is drawn to the new snapshot in one send interval,
    as Mirror's NetworkTransform has it after an idle time; ``pause=0``: never. A late packet is
    sorted in, but does not move the timeline; with ``quirks=on`` it does, even backwards, and
    its negative arrival interval counts as jitter. Mirror knows its send interval; ``auto``
    measures it. ``snap_distance`` is ours.

    The velocity is that of the packets, interpolated as the position is.
    """

    declaration = Declaration(
        name="mirror",
        summary="Mirror: a snapshot buffer on a timeline that catches up and slows down",
        family="delay buffer",
        needs=("arrival times", "a steady send rate"),
        lag="latency plus 2 send intervals, more where arrivals jitter",
        on_loss="interpolates across one lost packet, then holds",
        source="Mirror (MirrorNetworking/Mirror), SnapshotInterpolation.cs; MIT",
        proof="runs of the original, its own tests",
        settings=(
            Setting("send_interval", "auto", "time between two packets; auto measures it", "s",
                    0.001, 60, choices=("auto",)),
            Setting("buffer_time_multiplier", 2.0, "send intervals to stay behind, without"
                    " dynamic_adjustment", "", 0, 100, tune=(0.5, 6)),
            Setting("buffer_limit", 32, "the most snapshots that wait", "", 2, 4096, whole=True),
            Setting("catchup_negative_threshold", -1.0, "below this drift it slows down",
                    "send intervals", -100, 0, tune=(-3, 0)),
            Setting("catchup_positive_threshold", 1.0, "above this drift it catches up",
                    "send intervals", 0, 100, tune=(0, 3)),
            Setting("catchup_speed", 0.02, "how much faster it catches up", "", 0, 1,
                    tune=(0.005, 0.2), scale="log"),
            Setting("slowdown_speed", 0.04, "how much slower it slows down", "", 0, 1,
                    tune=(0.005, 0.2), scale="log"),
            Setting("drift_ema_duration", 1.0, "how long the drift is averaged", "s", 0, 600),
            Setting("dynamic_adjustment", "on", "let the buffer grow with the jitter",
                    choices=("on", "off")),
            Setting("dynamic_adjustment_tolerance", 1.0, "send intervals to stay behind besides"
                    " the jitter", "", 0, 100, tune=(0, 3)),
            Setting("delivery_time_ema_duration", 2.0, "the same of the jitter", "s", 0, 600),
            Setting("pause", 1.0, "a longer silence is a pause, not jitter; 0: none is", "s",
                    0, 3600),
            SNAP_DISTANCE,
            Setting("quirks", "off", "let late packets disturb the timeline, as the original does",
                    choices=("on", "off")),
        ),
    )

    cdef SendInterval interval
    cdef double multiplier, negative, positive, catchup, slowdown
    cdef double drift_duration, tolerance, delivery_duration, pause, snap_distance
    cdef bint adjusts, quirks
    cdef MovingAverage drift_average, delivery_average
    cdef SnapshotBuffer buffer
    cdef readonly double timeline       # the sender's time that is drawn
    cdef readonly double timescale, buffer_time
    cdef bint drew
    cdef double last_frame
    cdef Motion shown

    def configure(self, *, send_interval, buffer_time_multiplier, buffer_limit,
                  catchup_negative_threshold, catchup_positive_threshold, catchup_speed,
                  slowdown_speed, drift_ema_duration, dynamic_adjustment,
                  dynamic_adjustment_tolerance, delivery_time_ema_duration, pause, snap_distance,
                  quirks):
        self.interval = NewSendInterval(NAN if send_interval == "auto" else send_interval, 1.0 / 60)
        self.multiplier = buffer_time_multiplier
        self.buffer.set_capacity(int(buffer_limit))
        self.negative = catchup_negative_threshold
        self.positive = catchup_positive_threshold
        self.catchup = catchup_speed
        self.slowdown = slowdown_speed
        self.drift_duration = drift_ema_duration
        self.adjusts = dynamic_adjustment == "on"
        self.tolerance = dynamic_adjustment_tolerance
        self.delivery_duration = delivery_time_ema_duration
        self.pause = pause
        self.snap_distance = snap_distance
        self.quirks = quirks == "on"
        self.drift_average = NewMovingAverage()
        self.delivery_average = NewMovingAverage()

    @property
    def drift(self):
        """The averaged distance from the timeline to the newest snapshot, seconds."""
        return self.drift_average.value

    @property
    def waiting(self):
        """The number of snapshots in the buffer."""
        return self.buffer.size()

    cdef void clear(self) noexcept nogil:
        self.interval.clear()
        self.drift_average.clear()
        self.delivery_average.clear()
        self.buffer.clear()
        self.timeline = self.buffer_time = 0
        self.timescale = 1
        self.drew = False

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Snapshot snapshot = snapshot_of(packet, now)
        cdef bint first = self.buffer.empty()
        cdef bint late = packet.time < self.newest and not first
        cdef long measured = self.interval.count
        if not late:
            self.interval.add(packet.time)
        self.adjust()
        if first:
            if not self.drew:
                self.last_frame = now
            self.timeline = packet.time - self.buffer_time
        elif self.pause > 0 and packet.time - self.newest > self.pause:
            self.resume(packet.time)
        elif self.interval.count == 1 and measured == 0:
            # the send interval is known only now; so far there was one snapshot to show
            self.timeline = min(self.timeline, packet.time - self.buffer_time)
            self.drift_average.clear()
        if not self.insert(snapshot):
            return False
        if not late or self.quirks:
            self.follow(packet.time)
        return True

    cdef void adjust(self) noexcept nogil:
        """The buffer time of the jitter so far."""
        cdef double interval = self.interval.value
        cdef double deviation = sqrt(self.delivery_average.variance)
        self.drift_average.weight = weight_of(self.drift_duration, interval)
        self.delivery_average.weight = weight_of(self.delivery_duration, interval)
        if self.adjusts:
            self.buffer_time = interval + deviation + interval * self.tolerance
        else:
            self.buffer_time = interval * self.multiplier

    cdef void resume(self, double time) noexcept nogil:
        """After a pause: from what is drawn to the snapshot that has this timestamp."""
        cdef Snapshot drawn = self.buffer.back()
        if self.drew:
            drawn.position = self.shown.position
            drawn.velocity = self.shown.velocity
        drawn.time = time - self.interval.value
        self.buffer.clear()
        self.buffer.insert(0, drawn)
        self.timeline = time - self.buffer_time
        self.drift_average.clear()

    cdef bint insert(self, const Snapshot& snapshot) noexcept nogil:
        """Sorts a snapshot in; False: there is one with its timestamp, or no room."""
        cdef size_t place = self.buffer.count_until(snapshot.time)
        cdef size_t last = self.buffer.size()
        cdef double gap
        if self.buffer.full():
            return False
        if place > 0 and self.buffer[place - 1].time == snapshot.time:
            self.buffer[place - 1] = snapshot
            return False
        self.buffer.insert(place, snapshot)
        if last > 0 and (place == last or self.quirks):
            gap = self.buffer[last].arrival - self.buffer[last - 1].arrival
            if not 0 < self.pause < gap:
                self.delivery_average.add(gap)
        return True

    cdef void follow(self, double time) noexcept nogil:
        """Keeps the timeline near ``buffer_time`` behind the timestamp of a new snapshot."""
        cdef double interval = self.interval.value, drift
        self.timeline = clamped(self.timeline, time - 2 * self.buffer_time, time)
        drift = self.drift_average.add(time - self.timeline) - self.buffer_time
        if drift > interval * self.positive:
            self.timescale = 1 + self.catchup
        elif drift < interval * self.negative:
            self.timescale = 1 - self.slowdown
        else:
            self.timescale = 1

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef size_t before
        if self.buffer.empty():
            sample.status = NONE
        else:
            self.timeline += max(at - self.last_frame, 0.0) * self.timescale
            before = self.buffer.count_until(self.timeline)
            if before > 1:
                self.buffer.drop_front(before - 1)
            if before > 0 and self.buffer.size() > 1:
                draw_at(self.buffer[0], self.buffer[1], self.timeline, self.snap_distance, sample)
            else:
                sample.hold(self.buffer.front(), self.drawn, INTERPOLATED)
            self.shown = sample
        self.last_frame = at
        self.drew = True


cdef double weight_of(double duration, double interval) noexcept nogil:
    """What a sample counts in an average over so many seconds of packets."""
    return 2 / (max(round(duration / interval), 1.0) + 1)
