"""The entity interpolation of the Multiplayer Platformer Log: between two updates, in the past."""

from libc.math cimport ceil, fabs

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3
from epic_cli.engine.strategies.parts cimport PhaseLockedLoop, Strategy
from epic_cli.engine.strategies.parts.curves cimport lerp
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, SnapshotBuffer
from epic_cli.engine.strategies.parts.turning cimport (
    curve_between, nlerp_between, slerp_between, unchecked_between,
)

from epic_cli.engine.declaration import Declaration, LagVariation, Need, OneClock
from epic_cli.engine.parameters import Choice, Number


cpdef enum class Clock:
    STAMPS
    PLL

cpdef enum class Turning:
    SLERP
    NLERP
    HERMITE
    UNCHECKED
    HOLD

cdef class SnapshotInterpolation(Strategy):
    """Draws the entity ``interpolation_time`` in the past, between the two updates around it.

        time  = clock - interpolation_time
        drawn = lerp(before, after, (time - before.time) / (after.time - before.time))

    The entity is always drawn where it has been, or a point between two of them: no
    guessing, no overshoot. The price is the delay, which must cover the time between two updates
    and the jitter of the network; two update periods are common (one may be lost).

    Updates wait in a ring of ceil(interpolation_time / step) + 1 places, one of which stays
    empty; where they are closer together than ``step`` the oldest is overwritten. Before there
    is an update older than the drawn time, the oldest is shown; when there is none newer, the
    newest is: rows that show it again are ``held``.

    ``clock=stamps`` compares the packets' timestamps (minus their ``delta``: how old the state
    was) with the local time, for clocks that agree. ``clock=pll`` needs no timestamps: a
    phase-locked loop keeps a local clock in step with updates that arrive every ``server_step``
    seconds, counts them, and takes update n for the state at n * server_step - delta. A lost
    update is then missing from the count, and the loop moves the clock after it by at most
    ``limit`` per update. When an update is ``resync`` seconds off, the loop restarts. It is the
    connection's: the packets of all entities that are sent at one time are one update.

    The velocity is the slope between the two updates; zero where only one is shown.

    It draws what ``buffer+delay=0.2+keep=7`` draws, and with ``clock=pll+server_step=0.05`` what
    ``buffer+stamps=ticks+interval=0.05+clock=pll+clock_resync=1+late=insert+delay=0.2+keep=7``.
    """

    declaration = Declaration(
        name="snapshot",
        summary="interpolates between two updates, a fixed time in the past",
        needs=(Need.CLOCKS.unless(", or clock=pll and a steady send rate"),),
        lag="interpolation_time (plus latency, with clock=pll)",
        on_loss="interpolates across one lost update if the delay allows, then holds",
        source="Multiplayer Platformer Log #5 - Entity Interpolation (TimeSyncer,"
        " PositionCircularBuffer)",
        proof="formula",
        connection="with clock=pll its loop takes all packets",
        rotates="slerp, or as rotation says, between the same two updates (ours: the log has none)",
        lag_varies=LagVariation(
            "by up to the time between two packets: it waits for each, unless"
            " interpolation_time covers the latency and that time, and step is about that time",
            periods=1,
        ),
        one_clock=OneClock((("clock", "stamps"),), (("clock", "pll"), ("server_step", None))),
        settings=(
            Number("interpolation_time", 0.2, "how far in the past the entity is drawn", "s",
                   0.001, 60, tune=(0.02, 1.0), scale="log"),
            Number("step", 0.033, "the shortest time between two updates, which sizes the ring",
                   "s", 0.001, 60),
            Choice("clock", "stamps", "the source of the sender's time: timestamps, or a"
                   " phase-locked loop", Clock),
            Number("server_step", 0.1, "time between two updates, with clock=pll", "s", 0.001, 60),
            Number("decay", 0.9, "how much of the summed difference stays, with clock=pll", "",
                   0, 0.9999, tune=(0.5, 0.99)),
            Number("gain", 0.01, "how much of the summed difference shifts the clock, with"
                   " clock=pll", "", 0, 1,
                   tune=(0.001, 0.1), scale="log"),
            Number("limit", 0.0001, "the largest shift of the clock per update, with clock=pll",
                   "s", 0, 1, tune=(0.00001, 0.01), scale="log"),
            Number("resync", 1.0, "restart the loop at an update that is this far off, with"
                   " clock=pll", "s", 0.01, 3600),
            Choice("rotation", "slerp", "how rotations are interpolated: slerp, nlerp, hermite"
                   " (by the angular velocities), hold, or unchecked: nlerp that goes the long way"
                   " where the signs of quaternions differ, a common bug", Turning, tune=False),
        ),
    )

    cdef public double interpolation_time, resync
    cdef public Clock clock
    cdef public Turning rotation
    cdef bint running               # the loop has had its first update
    cdef double update              # the timestamp with which the newest update began
    cdef PhaseLockedLoop loop
    cdef SnapshotBuffer updates

    def configure(self, *, step, server_step, decay, gain, limit):
        self.check_free()
        self.loop = PhaseLockedLoop(server_step, decay, gain, limit)
        # two updates are the least to interpolate with
        self.updates.set_capacity(<size_t>max(ceil(self.interpolation_time / step), 2.0))
        self.clock_restarts = True
        self.listens = self.listens and self.clock == Clock.PLL

    cdef void clear(self) noexcept nogil:
        self.updates.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.running = False

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef SnapshotInterpolation other = peer
        self.running, self.update = other.running, other.update
        self.loop.copy(other.loop)
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        cdef Snapshot newest
        if self.running and not self.begins_round(self.update):
            return
        self.update = max(self.update, time) if self.running else time
        if self.running and fabs(self.loop.expected - self.loop.time(now)) <= self.resync:
            self.loop.server_update(now)
            return
        self.running = True
        self.loop.start(now)
        if self.updates.empty():
            return
        newest = self.updates.back()
        newest.time = -self.interpolation_time
        self.updates.clear()
        if self.connected:              # what is shown stays: the restart may be another entity's
            self.updates.append(newest)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double time = packet.time - packet.delta
        if self.clock == Clock.PLL:
            if not self.same_datagram:
                self.count_datagram(packet.time, now)
            time = self.loop.server_time(packet.delta)
        if not self.updates.empty() and time <= self.updates.back().time:
            return False
        self.updates.append(packet, now)
        (&self.updates.back()).time = time
        return True

    cdef double compute_drawn_time(self, double at) noexcept nogil:
        if self.clock == Clock.PLL:
            at = self.loop.since_start(at)
        return at - self.interpolation_time

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = self.compute_drawn_time(at)
        cdef const Snapshot* before
        cdef const Snapshot* after
        while self.updates.size() > 1 and self.updates[1].time < time:
            self.updates.drop_front(1)
        before = &self.updates.front()
        if before.time >= time or self.updates.size() == 1:
            sample.hold(Motion(before.position, Vec3[double]()), self.drawn, INTERPOLATED)
            slerp_between(before[0], before[0], 0, sample)
            return
        after = &self.updates[1]
        sample.show(
            Motion(lerp(before.position, after.position,
                        (time - before.time) / (after.time - before.time)),
                   (after.position - before.position) * (1 / (after.time - before.time))),
            INTERPOLATED)
        self.interpolate_rotation(
            before[0], after[0], (time - before.time) / (after.time - before.time), sample)

    cdef void interpolate_rotation(self, const Snapshot& before, const Snapshot& after, double u,
                                   Sample& sample) noexcept nogil:
        if self.rotation == Turning.SLERP:
            slerp_between(before, after, u, sample)
        elif self.rotation == Turning.NLERP:
            nlerp_between(before, after, u, sample)
        elif self.rotation == Turning.HERMITE:
            curve_between(before, after, u, sample)
        elif self.rotation == Turning.UNCHECKED:
            unchecked_between(before, after, u, sample)
        else:
            slerp_between(before, before, 0, sample)
