"""The point between the last two fixed ticks, as game loops with fixed steps draw it."""

from libc.math cimport ceil, floor

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample
from epic_cli.engine.strategies.parts cimport SendInterval, Strategy
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, farther, make_snapshot
from epic_cli.engine.strategies.parts.turning cimport slerp_between

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# A frame this close to a tick is at it: rounding must not decide, s.
cdef double NEARLY = 1e-9
# The most ticks that a frame runs; the others wait for the next.
cdef int MOST_TICKS = 8


cpdef enum class Recorded:
    LOOP
    TICK


cdef class TickInterpolation(Strategy):
    """Runs ticks of its own; each frame draws between the last two.

        at each tick:  a = b, b = the newest received state
        drawn        = lerp(a, b, (time - last tick) / tick_interval)

    The way in which a game with fixed steps draws at any frame rate: "Fix your timestep", Godot's
    physics interpolation and netfox's TickInterpolator, bevy's overstep. Ticks begin with
    the first frame; ``tick_interval=auto`` ticks as often as packets come.

    Where a frame runs several ticks, netfox records once after all of them (``recorded=loop``): it
    goes from the state before the frame's ticks to the one after, and runs eight at most; a tick
    that is due exactly at a frame waits for the next. Godot and Fiedler record at every tick
    (``recorded=tick``): both ends are then the newest state, and a tick runs in the frame at which
    it is due. All entities have the same ticks.

    Exact for what is simulated here, but no jitter buffer: a tick without a packet stands still,
    and one with two is twice as fast. One tick is added to the age of the newest packet.

    Where this differs from netfox: a frame of more than a second is a frame, not a pause of the
    game, late packets are discarded, and ``snap_distance`` is an
    addition. A marked teleport is drawn at once, as there. The velocity is interpolated too.
    """

    declaration = Declaration(
        name="tick-interpolation",
        summary="fixed ticks (netfox, Godot, bevy): between the last two, by the frame's fraction",
        lag="the age of the newest packet at a tick, and one tick",
        on_loss="arrives at the newest state within two ticks, then holds",
        source="netfox (foxssake/netfox), interpolation-server.gd, MIT; Glenn Fiedler, Fix Your"
        " Timestep!",
        proof="formulas of the tick loop, the recording and the fraction; its own tests",
        connection="all entities have the same ticks",
        rotates="slerp between the same two ticks (netfox, Godot)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to two ticks where packets and ticks or frames are of other lengths",
            periods=2, frames=1,
        ),
        settings=(
            Number("tick_interval", "auto", "the time between two ticks; auto: between two packets",
                   "s", 0.001, 60, unset="auto"),
            Choice("recorded", "loop", "where a frame runs several ticks, record after all of them"
                   " (netfox), or at each (Godot, Fiedler)", Recorded),
            SNAP_DISTANCE,
        ),
    )

    cdef public double snap_distance
    cdef public Recorded recorded
    cdef SendInterval interval
    cdef double last_tick
    cdef bint ticking
    cdef Snapshot newest_state, before, after

    def configure(self, *, tick_interval):
        self.check_free()
        self.interval = SendInterval(tick_interval, 1.0 / 30)
        self.clock_restarts = True

    cdef void clear_clock(self) noexcept nogil:
        self.interval.clear()
        self.ticking = False

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef TickInterpolation other = peer
        self.interval.copy(other.interval)
        self.ticking, self.last_tick = other.ticking, other.last_tick
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        self.interval.add_datagram(time, self)

    cdef void pass_frame(self, double at) noexcept nogil:
        self.run_ticks(at)

    cdef double run_ticks(self, double at) noexcept nogil:
        """Return the number of ticks that this frame runs."""
        cdef double tick = self.interval.value, passed
        if not self.ticking:
            self.ticking, self.last_tick = True, at
        if self.recorded == Recorded.LOOP:
            passed = min(ceil((at - self.last_tick - NEARLY) / tick) - 1, <double>MOST_TICKS)
        else:
            passed = floor((at - self.last_tick + NEARLY) / tick)
        passed = max(passed, 0.0)
        self.last_tick += passed * tick
        return passed

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef bint late = not self.empty and packet.time < self.newest
        if not self.same_datagram and (self.connected or not late):
            self.count_datagram(packet.time, now)
        if late:
            return False
        self.newest_state = make_snapshot(packet, now)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double tick = self.interval.value
        cdef double passed = self.run_ticks(at), u
        if not self.drew:
            self.before = self.after = self.newest_state
        elif passed > 0:
            if passed == 1 or self.recorded == Recorded.LOOP:
                self.before = self.after
            else:
                self.before = self.newest_state
            self.after = self.newest_state
            if farther(self.before.position, self.after.position, self.snap_distance):
                self.before = self.after
        u = min(max((at - self.last_tick) / tick, 0.0), 1.0)
        sample.hold(Motion(lerp(self.before.position, self.after.position, u),
                           lerp(self.before.velocity, self.after.velocity, u)),
                    self.drawn, INTERPOLATED)
        if self.after.time > self.before.time:
            slerp_between(self.before, self.after, u, sample)
        else:
            sample.turn = self.after.turn
