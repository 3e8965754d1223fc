"""Pacing, which decides before which tick a packet is applied, and the tick clocks."""

from libc.math cimport INFINITY, NAN, ceil, fabs, isfinite, isnan, nextafter

from epic_cli.engine.packets cimport Packet, PacketBlock
from epic_cli.engine.strategies.parts cimport draw_sample, take_native


cdef enum Verdict:
    ACCEPTED
    NEVER_REACHED
    STALLS
    TOO_FAR
    NO_ARRIVAL
    ARRIVAL_GOES_BACK

# The most rows drawn for one gap on the exact clock, three days at 50 ms: a time further away
# belongs to another clock, and one packet must not keep a program busy for more than a second or
# two. (The demo draws up to 18,073,720 before its own clock stands still.)
cdef double MOST_TICKS = 5_000_000

# The exact clock counts its ticks up to here, about.
cdef double EXACT_TICKS = 2.0 ** 52

# How far past the last arrival rows are drawn, in seconds.
cdef double TAIL = 0.15


cdef class Pacing:
    """A rule for which ticks are drawn before a packet is applied, and which after.

    Ticks are due while the clock ``is_behind`` the time that ``due_before`` or ``due_after``
    returns. ``shared`` is set once there are several entities on the clock.
    """

    cdef readonly Clock clock
    cdef bint started
    cdef bint shared
    cdef bint knows_arrivals

    cdef void restart(self) noexcept nogil:
        self.clock.restart()
        self.started = False
        self.shared = False

    cdef Verdict judge(self, const Packet& packet) noexcept nogil:
        """Return ``ACCEPTED``, or why the packet's time has no place on the clock."""
        return ACCEPTED

    cdef object make_refusal(self, PacketBlock block, size_t index, Verdict verdict):
        """Return the ``Refusal`` of a packet, for a verdict of ``judge``."""
        from epic_cli.engine.refusals import Reason

        field = "arrival" if isinstance(self, ArrivalPacing) else "time"
        if verdict == NO_ARRIVAL:
            return block.make_refusal(index, Reason.NO_ARRIVAL, "arrival")
        if verdict == ARRIVAL_GOES_BACK:
            return block.make_refusal(index, Reason.ARRIVAL_GOES_BACK, field)
        if verdict == TOO_FAR:
            return block.make_refusal(index, Reason.TOO_FAR, field, MOST_TICKS)
        stalls = verdict == STALLS and isinstance(self.clock, SingleClock)  # other clocks continue
        reason = Reason.SINGLE_CLOCK_STALLS if stalls else Reason.BEYOND_CLOCK
        return block.make_refusal(index, reason, field, self.clock.get_reach())

    cdef void begin(self, const Packet& packet) noexcept nogil:
        """Start the clock with the first accepted packet."""
        self.started = True

    cdef double due_before(self, const Packet& packet) noexcept nogil:
        """Return the time up to which ticks are drawn before the packet is applied."""
        return -INFINITY

    cdef double due_after(self, const Packet& packet) noexcept nogil:
        """Return the time up to which ticks are drawn after the packet is applied."""
        return -INFINITY

    cdef double find_arrival(self, const Packet& packet) noexcept nogil:
        """Return the time that packets are sorted by; NaN if they stay in the order read."""
        return NAN

    cdef double find_now(self, const Packet& packet) noexcept nogil:
        """Return the receiver's time at which the packet is applied."""
        return self.clock.now

    cdef bint is_behind(self, double due) noexcept nogil:
        return False

    cdef double find_end(self) noexcept nogil:
        """Return the time up to which ticks are drawn after the last packet."""
        return -INFINITY

    cdef double find_row_end(self, const Packet& packet) noexcept nogil:
        """Return the time up to which this packet makes rows due."""
        return -INFINITY

    cdef void run_entity(self, Run& run, void* strategy) noexcept nogil:
        """Run the fast loop for one entity, up to the first exception."""

    cdef Verdict judge_distance(self, double target) noexcept nogil:
        cdef double ticks = self.clock.count_ticks_to(target)
        if ticks == INFINITY:
            return self.explain_unreached(target, True)
        return TOO_FAR if ticks > MOST_TICKS else ACCEPTED

    cdef Verdict explain_unreached(self, double target, bint from_now) noexcept nogil:
        """Return why the clock never passes the time ``target``.

        This clock stalls, or any clock would. ``from_now`` is True if the ticks on the way to the
        time are drawn.
        """
        cdef double tick = self.clock.get_tick_length()
        if not fabs(target) < EXACT_TICKS * tick:
            return NEVER_REACHED
        return TOO_FAR if from_now and target - self.clock.now > MOST_TICKS * tick else STALLS


cdef class DemoPacing(Pacing):
    """The demo's loop: apply each packet at once, then draw rows up to its time + 0.15 s.

    The receiver's time is that of the last row. With several entities the rows of a packet wait
    until a packet needs later ones, so that all states of the same time have arrived when their
    tick is drawn.
    """

    cdef double promised

    def __init__(self, Clock clock not None):
        self.clock = clock

    cdef void restart(self) noexcept nogil:
        Pacing.restart(self)
        self.promised = -INFINITY

    cdef Verdict judge(self, const Packet& packet) noexcept nogil:
        return self.judge_distance(self.clock.round_row_end(packet.time, packet.single.time))

    cdef double due_before(self, const Packet& packet) noexcept nogil:
        if self.clock.round_row_end(packet.time, packet.single.time) > self.promised:
            return self.promised
        return -INFINITY

    cdef double due_after(self, const Packet& packet) noexcept nogil:
        cdef double lead = self.clock.round_row_end(packet.time, packet.single.time)
        if lead > self.promised:
            self.promised = lead
        return -INFINITY if self.shared else lead

    cdef bint is_behind(self, double due) noexcept nogil:
        return self.clock.now < due

    cdef double find_end(self) noexcept nogil:
        return self.promised

    cdef double find_row_end(self, const Packet& packet) noexcept nogil:
        return self.clock.round_row_end(packet.time, packet.single.time)

    cdef void run_entity(self, Run& run, void* strategy) noexcept nogil:
        run.promised = self.promised
        self.clock.follow_demo(run, strategy)
        self.promised = run.promised


cdef class ArrivalPacing(Pacing):
    """Packets in order of arrival, each applied before the first tick at or after its arrival.

    Rows go from the first tick at or after the first arrival to the last arrival + 0.15 s.
    ``latency`` (seconds; NaN: none) is added to the time of a packet that has no arrival.
    """

    cdef double latency
    cdef double newest

    def __init__(self, Clock clock not None, double latency=NAN):
        self.clock = clock
        self.latency = latency
        self.knows_arrivals = True

    cdef void restart(self) noexcept nogil:
        Pacing.restart(self)
        self.newest = -INFINITY

    cdef double find_arrival(self, const Packet& packet) noexcept nogil:
        return packet.time + self.latency if isnan(packet.arrival) else packet.arrival

    cdef Verdict judge(self, const Packet& packet) noexcept nogil:
        cdef double arrival = self.find_arrival(packet)
        if isnan(arrival):
            return NO_ARRIVAL
        if arrival < self.newest:
            return ARRIVAL_GOES_BACK
        # the rows after it go to the tick after arrival + TAIL: that must be passed, not met
        if not -self.clock.get_reach() < arrival < self.clock.get_reach() - 2 * TAIL:
            return self.explain_unreached(arrival, self.started)
        return self.judge_distance(arrival) if self.started else ACCEPTED

    cdef void begin(self, const Packet& packet) noexcept nogil:
        self.started = True
        self.clock.skip_to(self.find_arrival(packet))

    cdef double due_before(self, const Packet& packet) noexcept nogil:
        return self.find_arrival(packet)

    cdef double due_after(self, const Packet& packet) noexcept nogil:
        self.newest = self.find_arrival(packet)
        return -INFINITY

    cdef double find_now(self, const Packet& packet) noexcept nogil:
        return self.find_arrival(packet)

    cdef bint is_behind(self, double due) noexcept nogil:
        return self.clock.find_next_tick() < due

    cdef double find_end(self) noexcept nogil:
        return nextafter(self.newest + TAIL, INFINITY)

    cdef double find_row_end(self, const Packet& packet) noexcept nogil:
        return self.find_arrival(packet)

    cdef void run_entity(self, Run& run, void* strategy) noexcept nogil:
        run.limit -= 1
        run.newest, run.latency = self.newest, self.latency
        self.follow_ticks(run, strategy)
        self.newest = run.newest

    cdef void follow_ticks(self, Run& run, void* strategy) noexcept nogil:
        self.clock.follow_arrivals(run, strategy)


cdef class FramePacing(ArrivalPacing):
    """Arrival pacing in which the receiver's time is the tick before which a packet is applied.

    A game reads its socket at the start of a frame, and stamps what it finds with the frame's time.
    """

    cdef double find_now(self, const Packet& packet) noexcept nogil:
        cdef double arrival = self.find_arrival(packet), frame = self.clock.find_next_tick()
        # before the first packet of an entity, the clock may not have reached its arrival
        return frame if self.started and frame >= arrival else self.clock.find_tick_from(arrival)

    cdef void follow_ticks(self, Run& run, void* strategy) noexcept nogil:
        self.clock.follow_frames(run, strategy)


# ---------------- tick clocks: the times at which rows are drawn


# How far past the newest packet rows are drawn, in seconds: the demo's 0.15f.
cdef double LEAD = 0.15
cdef float SINGLE_LEAD = <float>0.15


cdef class Clock:
    """A clock that holds the last tick drawn, s; ``find_next_tick()`` is the one after."""

    cdef double now

    cdef void restart(self) noexcept nogil:
        """Reset the clock to time 0, before the first tick."""

    cdef double find_next_tick(self) noexcept nogil:
        """Return the time of the next tick, s."""
        return self.now

    cdef void step(self) noexcept nogil:
        """Advance to the next tick."""

    cdef void skip_to(self, double target) noexcept nogil:
        """Advance the clock so that the next tick is the first at or after ``target`` (s)."""

    cdef double find_tick_from(self, double target) noexcept nogil:
        """Return the time of the first tick at or after ``target`` (s)."""
        return target

    cdef double round_row_end(self, double time, float single_time) noexcept nogil:
        """Return a packet's time + 0.15 s, up to which it has rows, in this clock's precision."""
        return time + LEAD

    cdef double count_ticks_to(self, double target) noexcept nogil:
        """Return the approximate number of ticks to ``target``.

        Infinity if the clock never passes it.
        """
        return 0

    cdef double get_reach(self) noexcept nogil:
        """Return the largest time that the clock reaches, s."""
        return 0

    cdef double get_tick_length(self) noexcept nogil:
        """Return the time between two ticks, s."""
        return 0

    cdef void lend(self, Run& run) noexcept nogil:
        """Copy the clock's state to the loop for one entity."""
        run.now = self.now
        # near a limit the pacing decides, exactly
        run.limit = self.get_reach()

    cdef void take_back(self, const Run& run) noexcept nogil:
        """Copy the clock's state back from the loop for one entity."""
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        """Run the loop for one entity with demo pacing."""

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        """Run the loop for one entity with arrival pacing."""

    cdef void follow_frames(self, Run& run, void* strategy) noexcept nogil:
        """Run the loop for one entity with frame pacing, which applies packets at the next tick."""


cdef class SingleClock(Clock):
    """The demo's clock: starts at 0 and adds the tick in single precision, again and again.

    It drifts (2003 ticks of 0.05 s make 100.152 s) and stands still where half the distance
    between two neighboring floats is no less than the tick: at 2^20 s for 0.05 s.
    """

    cdef float current
    cdef float tick
    cdef float stall

    def __init__(self, double tick=0.05):
        self.tick = <float>tick
        if not (self.tick > 0 and isfinite(self.tick)):
            raise ValueError("a tick must be longer than 0 s")
        self.stall = 1
        while self.stall + self.tick != self.stall:
            self.stall *= 2
        if not isfinite(self.stall):
            raise ValueError("a tick is too long for single precision")
        while self.stall / 2 + self.tick == self.stall / 2:
            self.stall /= 2

    cdef void restart(self) noexcept nogil:
        self.current = 0
        self.now = 0

    cdef double find_next_tick(self) noexcept nogil:
        return self.current + self.tick

    cdef void step(self) noexcept nogil:
        self.current += self.tick
        self.now = self.current

    cdef void skip_to(self, double target) noexcept nogil:
        while self.find_next_tick() < target and self.now < self.stall:
            self.step()

    cdef double find_tick_from(self, double target) noexcept nogil:
        cdef float tick = self.current
        if not tick < target:
            tick = 0
        while tick < target and tick < self.stall:
            tick += self.tick
        return tick

    cdef double round_row_end(self, double time, float single_time) noexcept nogil:
        return single_time + SINGLE_LEAD

    cdef double count_ticks_to(self, double target) noexcept nogil:
        return 0 if not target > self.stall else INFINITY

    cdef double get_reach(self) noexcept nogil:
        return self.stall

    cdef double get_tick_length(self) noexcept nogil:
        return self.tick

    cdef void lend(self, Run& run) noexcept nogil:
        Clock.lend(self, run)
        run.tick = self.tick

    cdef void take_back(self, const Run& run) noexcept nogil:
        self.current = <float>run.now
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        follow[DemoPace[SingleTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        follow[ArrivalPace[SingleTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_frames(self, Run& run, void* strategy) noexcept nogil:
        follow[FramePace[SingleTicks]](run, strategy, take_native, draw_sample)


cdef class ExactClock(Clock):
    """A clock that never drifts: tick k is at k * numerator / denominator seconds, rounded once."""

    cdef double index
    cdef double numerator
    cdef double denominator

    def __init__(self, numerator=1, denominator=20):
        self.numerator = numerator
        self.denominator = denominator
        if not (self.numerator > 0 and self.denominator > 0):
            raise ValueError("a tick must be longer than 0 s")
        # beyond 2^53 the products below would no longer be exact
        if self.numerator > 2.0 ** 40 or self.denominator > 2.0 ** 40:
            raise ValueError("a tick has too many digits")

    cdef void restart(self) noexcept nogil:
        self.index = 0
        self.now = 0

    cdef double find_next_tick(self) noexcept nogil:
        return (self.index + 1) * self.numerator / self.denominator

    cdef void step(self) noexcept nogil:
        self.index += 1
        self.now = self.index * self.numerator / self.denominator

    cdef void skip_to(self, double target) noexcept nogil:
        self.index = self.find_index_from(target) - 1
        self.now = self.index * self.numerator / self.denominator

    cdef double find_tick_from(self, double target) noexcept nogil:
        return self.find_index_from(target) * self.numerator / self.denominator

    cdef double find_index_from(self, double target) noexcept nogil:
        """Return the index of the first tick at or after ``target`` (s)."""
        # The quotient may round to either side of the tick; look at the neighbors.
        cdef double index = ceil(target * self.denominator / self.numerator) - 2
        while index * self.numerator / self.denominator < target:
            index += 1
        return index

    cdef double count_ticks_to(self, double target) noexcept nogil:
        if not target > self.now:
            return 0
        if target > self.get_reach():
            return INFINITY
        return (target - self.now) * self.denominator / self.numerator

    cdef double get_reach(self) noexcept nogil:
        return 2.0 ** 52 / self.denominator

    cdef double get_tick_length(self) noexcept nogil:
        return self.numerator / self.denominator

    cdef void lend(self, Run& run) noexcept nogil:
        Clock.lend(self, run)
        run.limit = min(run.limit, self.now + MOST_TICKS / 2 * self.get_tick_length())
        run.index, run.numerator, run.denominator = self.index, self.numerator, self.denominator

    cdef void take_back(self, const Run& run) noexcept nogil:
        self.index = run.index
        self.now = run.now

    cdef void follow_demo(self, Run& run, void* strategy) noexcept nogil:
        follow[DemoPace[ExactTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_arrivals(self, Run& run, void* strategy) noexcept nogil:
        follow[ArrivalPace[ExactTicks]](run, strategy, take_native, draw_sample)

    cdef void follow_frames(self, Run& run, void* strategy) noexcept nogil:
        follow[FramePace[ExactTicks]](run, strategy, take_native, draw_sample)
