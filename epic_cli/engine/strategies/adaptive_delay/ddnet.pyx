"""The snapshot interpolation of DDNet (Teeworlds), on its smooth time."""

from libc.math cimport trunc
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport EXTRAPOLATED, Motion, Packet, Sample, is_finite
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_at, is_farther, hold_state,
)
from epic_cli.engine.strategies.parts.turning cimport slerp_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# The clock's speed towards its target, as a share of the way per second: up, and down at first.
cdef double UP = 0.3
cdef double FIRST_DOWN = 0.3
# The speed downwards is doubled below the first (0.3 up to 38.4), and never falls below the second.
cdef double FASTEST_DOWN = 30
cdef double SLOWEST_DOWN = 2

# The largest number of timestamps that wait for a frame.
cdef size_t MOST_FRESH = 1024


cdef class DDNet(Strategy):
    """Draws between the two snapshots around a clock that ignores spikes of latency.

        time  = c + (t - c) * min(elapsed * speed, 1)    since the last snapshot that set it
        u     = (time - before.time) / (after.time - before.time)
        drawn = lerp(before, after, u), also beyond 1

    c is where the clock would be by itself, t where it should be: ``tick_interval`` before the new
    snapshot. Each snapshot moves c to what the clock shows, and t; its time left is how far it is
    ahead of the clock. Below zero the speed downwards, 0.3 at first, doubles while it is below 30
    (it reaches 38.4); otherwise it falls by 5 %, but not below 2: the first packet in time lifts it
    from 0.3 to 2. Upwards it is 0.3. With less than -``spike`` it is a spike: five are counted,
    each one in time takes one off, and below fifteen a spike moves nothing.

    Little lag, and deaf to single spikes. Snapshots that are further apart than a tick
    are drawn by extrapolation for the rest of the time, without limit when they stay away. The
    clock runs backwards where it is far ahead.

    The clock is the connection's. A DDNet snapshot has all entities, so that one of which no packet
    has come would stand still or be gone; here it goes on as if no snapshot had come.

    Where this differs from DDNet: times are not whole milliseconds where it compares
    them with 0, and an entity is shown from its first snapshot on. ``snap_distance`` is an
    addition. Late packets are discarded. The velocity is interpolated alike.
    """

    declaration = Declaration(
        name="ddnet",
        summary="DDNet, Teeworlds: between two snapshots, on a clock that ignores spikes",
        needs=(Need.ARRIVALS,),
        lag="latency and a tick; what is missing of the interval is extrapolated",
        on_loss="continues in a straight line, forever",
        source="DDNet (ddnet/ddnet), smooth_time.cpp, client.cpp, (c) Magnus Auvinen; zlib",
        proof="runs of the original's clock, called for each snapshot and frame as client.cpp calls"
        " it",
        connection="its clock takes all packets",
        rotates="its one angle as positions, the shorter way; about other axes slerp (ours: it is"
        " flat)",
        lag_varies=LagVariation(
            "by up to a frame: its clock knows a packet's arrival only by the frame",
            seconds=0.002, periods=1, frames=1,
        ),
        settings=(
            Number("tick_interval", 0.02, "the time between two ticks", "s", 0.0001, 1,
                   tune=(0.005, 0.2), scale="log"),
            Number("spike", 0.05, "a packet later than this is a spike", "s", 0, 60,
                   tune=(0.02, 0.5), scale="log"),
            SNAP_DISTANCE,
        ),
    )

    cdef public double tick_interval, spike, snap_distance
    cdef SnapshotBuffer snapshots
    cdef vector[double] fresh           # timestamps that no frame has seen
    cdef long spikes
    cdef bint begun, running            # after the first timestamp, and the second
    cdef double snap, current, target, down     # the clock: last snapshot, value, target, speed
    cdef readonly double game_time

    def configure(self):
        self.check_free()
        self.snapshots.set_capacity()

    cdef void clear(self) noexcept nogil:
        self.snapshots.clear()
        self.game_time = 0

    cdef void clear_clock(self) noexcept nogil:
        self.fresh.clear()
        self.spikes = 0
        self.begun = self.running = False

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef DDNet other = peer
        self.fresh, self.spikes = other.fresh, other.spikes
        self.begun, self.running = other.begun, other.running
        self.snap, self.current, self.target = other.snap, other.current, other.target
        self.down = other.down
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        if time > self.find_connection_newest() and self.fresh.size() < MOST_FRESH:
            self.fresh.push_back(time)

    cdef void pass_frame(self, double at) noexcept nogil:
        cdef double stamp
        for stamp in self.fresh:
            if self.running:
                self.adjust_clock(at, stamp)
            elif self.begun:
                self.running = True
                self.down = FIRST_DOWN
                self.snap = at
                self.current = self.target = stamp - self.tick_interval
            self.begun = True
        self.fresh.clear()

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if not self.snapshots.empty() and packet.time <= self.newest:
            return False
        if not self.same_datagram:
            self.count_datagram(packet.time, now)
        self.snapshots.append(packet, now)
        return True

    cdef double read_clock(self, double at) noexcept nogil:
        cdef double elapsed = at - self.snap
        cdef double way = self.target - self.current
        return self.current + elapsed + way * min(elapsed * (UP if way > 0 else self.down), 1.0)

    cdef void adjust_clock(self, double at, double stamp) noexcept nogil:
        """Adjust the clock's target and speed to a new snapshot's timestamp, as
        ``CSmoothTime::Update``.
        """
        # whole milliseconds, towards zero
        cdef double left = trunc((stamp - self.read_clock(at)) * 1000 + 1e-9) / 1000
        if left < 0:
            if left < -self.spike - 1e-9:
                self.spikes = min(self.spikes + 5, 50)
                if self.spikes < 15:
                    return
            if self.down < FASTEST_DOWN:
                self.down *= 2
        else:
            self.spikes = max(self.spikes - 1, 0)
            self.down = max(self.down * 0.95, SLOWEST_DOWN)
        self.current = self.read_clock(at)
        self.snap = at
        self.target = stamp - self.tick_interval

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef const Snapshot* before
        cdef const Snapshot* after
        cdef double u
        cdef Motion motion
        self.pass_frame(at)
        if not self.running or self.snapshots.size() < 2:
            hold_state(self.snapshots.front(), self.drawn, sample)
            return
        self.game_time = self.read_clock(at)
        while self.snapshots.size() > 2 and self.snapshots[1].time < self.game_time:
            self.snapshots.drop_front(1)
        before, after = &self.snapshots[0], &self.snapshots[1]
        u = (self.game_time - before.time) / (after.time - before.time)
        motion.position = lerp(before.position, after.position, u)
        motion.velocity = lerp(before.velocity, after.velocity, u)
        if 0 <= u <= 1 or is_farther(before.position, after.position, self.snap_distance) or not (
                is_finite(motion.position) and is_finite(motion.velocity)):
            draw_at(before[0], after[0], self.game_time, self.snap_distance, sample)
        else:
            sample.show(motion, EXTRAPOLATED)
            slerp_between(before[0], after[0], u, sample)
