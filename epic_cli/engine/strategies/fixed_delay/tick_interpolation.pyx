"""Interpolation between the last two fixed ticks, as game loops with fixed steps draw."""

from libc.math cimport NAN, ceil, floor, isnan, rint
from libcpp.algorithm cimport lower_bound
from libcpp.vector cimport vector

import cython

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, clamped
from epic_cli.engine.strategies.parts cimport SendInterval, Strategy
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, is_farther, make_snapshot,
)
from epic_cli.engine.strategies.parts.turning cimport slerp_between

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# A frame this close to a tick is at it: rounding must not decide, s.
cdef double NEARLY = 1e-9
# The most ticks that a frame runs; the others wait for the next.
cdef int MOST_TICKS = 8

# RobustToolbox: the states it draws between, the waiting ones (beyond its buffer size) that it does
# not hurry to apply, the share of a tick by which one too many speeds it up, the limit of that
# share, the ticks of time that a frame catches up, and the states it holds.
cdef int BETWEEN = 2
cdef int TOLERATED = 5
cdef double SHARE_PER_STATE = 0.1
cdef double MOST_SHARE = 0.99
cdef int MOST_TIME = 5
cdef size_t MOST_STATES = 512

# No two states are farther apart, in ticks: what is counted must fit into an int.
cdef double FARTHEST = 1e6


cpdef enum class Recorded:
    LOOP
    TICK


@cython.final
cdef class TickBuffer:
    """A buffer of the sender's waiting ticks, and the tick that is drawn (RobustToolbox' state
    buffer).

    The buffer begins with the state that came first, once ``size`` later states wait; then each
    tick applies the next state. A tick whose state is missing applies none, and if no state waits
    at all, time stands still. Where more than ``size`` + 6 states wait, a tick applies all but
    ``size`` + 5.
    """

    cdef double size
    cdef vector[double] stamps      # of the states that wait, oldest first
    cdef double applied             # stamp of the last state applied, or of the first to be
    cdef bint begun
    cdef int missed                 # ticks without a state since
    cdef bint moved                 # the last tick applied a state

    def __init__(self, double size):
        self.size = size
        self.clear()

    cdef void clear(self) noexcept nogil:
        self.stamps.clear()
        self.applied = NAN
        self.missed = 0
        self.begun = self.moved = False

    cdef void copy(self, TickBuffer other) noexcept:
        self.stamps, self.applied, self.begun = other.stamps, other.applied, other.begun
        self.missed, self.moved = other.missed, other.moved

    cdef void add(self, double stamp) noexcept nogil:
        """Insert the timestamp of a state; ignore a duplicate, and one too old to be applied."""
        cdef vector[double].iterator place = lower_bound(
            self.stamps.begin(), self.stamps.end(), stamp)
        if isnan(self.applied):
            self.applied = stamp
        elif stamp <= self.applied or place != self.stamps.end() and cython.operator.dereference(
                place) == stamp:
            return
        elif self.stamps.size() < MOST_STATES:
            self.stamps.insert(place, stamp)
        else:
            self.clear()            # it asks for a full state
            self.applied = stamp

    cdef int count_waiting(self, double tick) noexcept nogil:
        """Return the number of ticks from the applied state to the newest state."""
        return 0 if self.stamps.empty() else count_ticks(self.applied, self.stamps.back(), tick)

    cdef double run_tick(self, double tick) noexcept nogil:
        """Run a tick, which applies the next states; return the time to the next tick, s."""
        cdef int left, ahead
        if not self.begun:
            self.begun = self.moved = self.stamps.size() >= self.size
            return self.compute_period(tick) if self.begun else tick
        ahead = self.count_waiting(tick) - <int>self.size - TOLERATED
        left = self.missed + max(ahead, 1)
        self.missed, self.moved = 0, False
        while left > 0 and not self.stamps.empty():
            ahead = count_ticks(self.applied, self.stamps.front(), tick)
            if ahead > left:
                self.missed, self.moved = left, False
                break
            left -= ahead
            self.applied, self.moved = self.stamps.front(), True
            self.stamps.erase(self.stamps.begin())
        return self.compute_period(tick)

    cdef double compute_period(self, double tick) noexcept nogil:
        cdef double share = SHARE_PER_STATE * (self.count_waiting(tick) - self.size)
        return tick * (1 - clamped(share, -MOST_SHARE, MOST_SHARE))


cdef int count_ticks(double earlier, double later, double tick) noexcept nogil:
    """Return the number of ticks between two timestamps."""
    return <int>clamped(rint((later - earlier) / tick), 0, FARTHEST)


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

    RobustToolbox (Space Station 14) has a jitter buffer of ticks (``buffer_size``): it begins when
    that many states and the two it draws between wait, and each of its ticks applies the next:

        drawn = lerp(state of the tick, state of the next one, (time - last tick) / tick_interval)

    Its next tick lasts (waiting: ticks to the newest state)

        tick_interval * (1 - clamp(0.1 * (waiting - buffer_size - 2), -0.99, 0.99))

    so that a long tick ends beyond the next state. An entity stands for a tick whose next state has
    not come, or is farther than ``snap_distance``.

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
        " Timestep!; RobustToolbox (space-wizards), MIT",
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
            Number("buffer_size", "none", "states that wait, besides the two it draws between"
                   " (RobustToolbox); none: it goes to the newest", "", 0, 256, whole=True,
                   unset="none"),
        ),
    )

    cdef public double snap_distance
    cdef public Recorded recorded
    cdef SendInterval interval
    cdef double last_tick
    cdef bint ticking
    cdef Snapshot newest_state, before, after
    cdef TickBuffer buffer          # None: there is none
    cdef double period              # of the present tick, s
    cdef SnapshotBuffer states      # of this entity, from the one drawn on

    def configure(self, *, tick_interval, buffer_size):
        self.check_free()
        self.interval = SendInterval(tick_interval, 1.0 / 30)
        self.buffer = None if isnan(buffer_size) else TickBuffer(buffer_size + BETWEEN)
        self.states.set_capacity(MOST_STATES)
        self.clock_restarts = True

    cdef void clear(self) noexcept nogil:
        self.states.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.interval.clear()
        self.ticking = False
        if self.buffer is not None:
            self.buffer.clear()

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef TickInterpolation other = peer
        self.interval.copy(other.interval)
        self.ticking, self.last_tick = other.ticking, other.last_tick
        self.period = other.period
        if self.buffer is not None:
            self.buffer.copy(other.buffer)
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        self.interval.add_datagram(time, self)
        if self.buffer is not None:
            self.buffer.add(time)

    cdef void pass_frame(self, double at) noexcept nogil:
        if self.buffer is not None:
            self.run_buffer(at)
        else:
            self.advance_ticks(at)

    cdef double advance_ticks(self, double at) noexcept nogil:
        """Advance the tick clock to the frame at ``at``; return the number of ticks to run."""
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

    cdef bint run_buffer(self, double at) noexcept nogil:
        """Run the buffer's ticks up to the frame at ``at``; return True if there are any."""
        cdef double tick = self.interval.value
        cdef bint ran = False
        if not self.ticking:
            self.ticking, self.last_tick, self.period = True, at, tick
        self.last_tick = max(self.last_tick, at - MOST_TIME * tick)
        while at - self.last_tick + NEARLY >= self.period:
            self.last_tick += self.period
            self.period = self.buffer.run_tick(tick)
            ran = True
        return ran

    # ------------------------------------------------------------- packets

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if self.buffer is not None:
            return self.accept_buffered(packet, now)
        return self.accept_newest(packet, now)

    cdef bint accept_newest(self, const Packet& packet, double now) noexcept nogil:
        cdef bint late = not self.empty and packet.time < self.newest
        if not self.same_datagram and (self.connected or not late):
            self.count_datagram(packet.time, now)
        if late:
            return False
        self.newest_state = make_snapshot(packet, now)
        return True

    cdef bint accept_buffered(self, const Packet& packet, double now) noexcept nogil:
        cdef size_t place
        if not self.same_datagram:
            self.count_datagram(packet.time, now)
        place = self.states.count_until(packet.time)
        if not self.states.empty() and (
                packet.time <= self.buffer.applied
                or place > 0 and self.states[place - 1].time == packet.time):
            return False
        if self.states.full():
            if place == 0:
                return False
            self.states.drop_front(1)
            place -= 1
        self.states.insert(place, packet, now)
        return True

    # ------------------------------------------------------------- frames

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double u
        if self.buffer is not None:
            self.select_buffered(at)
        else:
            self.select_newest(at)
        u = max((at - self.last_tick) / self.interval.value, 0.0)
        if self.buffer is None:
            u = min(u, 1.0)
        if is_farther(self.before.position, self.after.position, self.snap_distance):
            sample.hold(self.before, self.drawn, INTERPOLATED)
        else:
            sample.hold(Motion(lerp(self.before.position, self.after.position, u),
                               lerp(self.before.velocity, self.after.velocity, u)),
                        self.drawn, INTERPOLATED)
        if self.after.time > self.before.time:
            slerp_between(self.before, self.after, u, sample)
        else:
            sample.turn = self.after.turn

    cdef void select_newest(self, double at) noexcept nogil:
        """Run the ticks of a frame; select the two states that it lies between."""
        cdef double passed = self.advance_ticks(at)
        if not self.drew:
            self.before = self.after = self.newest_state
        elif passed > 0:
            if passed == 1 or self.recorded == Recorded.LOOP:
                self.before = self.after
            else:
                self.before = self.newest_state
            self.after = self.newest_state
            if is_farther(self.before.position, self.after.position, self.snap_distance):
                self.before = self.after

    cdef void select_buffered(self, double at) noexcept nogil:
        """Run the buffer's ticks; select the state of the last tick, and the next one if any."""
        cdef double tick = self.interval.value, applied
        cdef size_t count
        if not self.run_buffer(at) and self.drew:
            return
        applied = self.buffer.applied
        count = self.states.count_until(applied + tick / 2)
        if count > 1:
            self.states.drop_front(count - 1)
        self.before = self.after = self.states.front()
        if self.buffer.moved and self.states.size() > 1 and (
                count_ticks(applied, self.states[1].time, tick) == 1):
            self.after = self.states[1]
