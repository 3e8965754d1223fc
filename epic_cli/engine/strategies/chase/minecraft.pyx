"""Minecraft's entities: a target reached in a number of ticks, drawn between two ticks."""

from libc.math cimport floor

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3, is_finite
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, is_farther, make_snapshot,
)
from epic_cli.engine.strategies.parts.turning cimport TurnChase, slerp_between

from epic_cli.engine.declaration import Declaration, LagVariation
from epic_cli.engine.parameters import Choice, Number

# A tick that is due in this part of a tick is due: rounding must not decide.
cdef double NEARLY_DUE = 1e-9
# The most positions that wait in the queue.
cdef size_t MOST_QUEUED = 10


cpdef enum class Way:
    STEPS
    QUEUE


cdef class Minecraft(Strategy):
    """Goes to the newest state in a number of ticks; each frame draws between the last two ticks.

        at each tick:  before = place;  place += (target - place) / left;  left -= 1
        drawn        = before + (place - before) * (time - last tick) / tick

    where a packet sets ``left`` to ``steps``: 3 for players and most others, 10 for boats, 5 for
    minecarts. Ticks count from the first frame; a frame takes its packets before it runs its ticks.
    A frame runs ``most_ticks`` at most, and the rest of its time is dropped. The first packet is
    drawn at once, and so is a packet that is farther away than ``snap``.

    Servers send players in each second tick, and most others in each third: with fewer ticks than
    ``steps`` between packets, the target is never quite reached while it moves.

    ``mode=queue`` is ClassiCube's: a packet adds two places to a queue, the middle of the way from
    the packet before it, and its own. Each tick goes to the next place; ten may wait.

    The game's packets travel by TCP, so that none comes late; here a packet that is older than the
    newest is discarded. Version 26.3, whose packets name the ticks of each step, is left out.
    """

    declaration = Declaration(
        name="minecraft",
        summary="Minecraft: a target reached in a number of ticks, drawn between two ticks",
        lag="the age of the newest packet, steps - 1 ticks at a packet each tick, and one tick",
        on_loss="goes to the newest position, then holds",
        source="clients and tools for Minecraft up to 26.2, which agree (delta-client,"
        " GrimAnticheat, ViaVersion), and ClassiCube (BSD-3); formulas only, none of their code",
        proof="values of an independent implementation",
        connection="all entities have the same ticks",
        rotates="slerp by the same shares (Minecraft: each angle the shorter way)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by up to two ticks where packets and ticks are of other lengths", 0.1,
            periods=1, frames=1,
        ),
        settings=(
            Number("tick", 0.05, "the time between two ticks", "s", 0.001, 60),
            Number("steps", 3, "ticks to the target", "", 1, 1000, whole=True, tune=(1, 10)),
            Number("most_ticks", 10, "the most ticks that a frame runs", "", 1, 1000, whole=True),
            Choice("mode", "steps", "go to the newest in steps, or take the places of a queue"
                   " (ClassiCube)", Way, tune=False),
            Number("snap", 64.0, "jump to a target that is farther away; 0: never", "length units",
                   0, 1e12),
        ),
    )

    cdef public double tick, snap
    cdef public long steps, most_ticks
    cdef public Way mode
    cdef bint ticking
    cdef double framed, part            # time of the last frame, s; the part of a tick since then
    cdef long left                      # ticks until the target is reached
    cdef Snapshot target, before, place
    cdef SnapshotBuffer queue
    cdef TurnChase turn

    def configure(self):
        self.check_free()
        self.queue.set_capacity(MOST_QUEUED)
        self.clock_restarts = True

    cdef void clear(self) noexcept nogil:
        self.left = 0
        self.queue.clear()
        self.turn.clear()

    cdef void clear_clock(self) noexcept nogil:
        self.ticking = False
        self.part = 0

    cdef int copy_clock(self, Strategy peer) except -1:
        cdef Minecraft other = peer
        self.ticking, self.framed, self.part = other.ticking, other.framed, other.part
        return 0

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef Snapshot last = self.target
        if not self.empty and packet.time < self.newest:
            return False
        self.target = make_snapshot(packet, now)
        self.turn.aim(packet)
        if self.empty or is_farther(self.place.position, packet.position, self.snap):
            self.before = self.place = self.target
            self.left = 0
            self.queue.clear()
        elif self.mode == Way.QUEUE:
            self.enqueue(last)
        else:
            self.left = self.steps
        return True

    cdef void enqueue(self, const Snapshot& last) noexcept nogil:
        """Queue the midpoint between the last packet's state and the newest, then the newest."""
        cdef Snapshot middle = self.target
        cdef Sample between
        middle.position = (last.position + self.target.position) * 0.5
        slerp_between(last, self.target, 0.5, between)
        middle.turn.copy(between.turn)
        self.queue.append(middle)
        self.queue.append(self.target)

    cdef void pass_frame(self, double at) noexcept nogil:
        self.count_ticks(at)

    cdef long count_ticks(self, double at) noexcept nogil:
        """Advance the tick clock to the frame at ``at``; return the number of ticks to run."""
        cdef double due
        if not self.ticking:
            self.ticking, self.framed = True, at
        self.part += max(at - self.framed, 0.0) / self.tick
        self.framed = at
        due = floor(self.part + NEARLY_DUE)
        self.part = max(self.part - due, 0.0)
        return <long>min(due, <double>self.most_ticks)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef Vec3[double] way
        for _ in range(self.count_ticks(at)):
            self.run_tick()
        way = self.place.position - self.before.position
        if not is_finite(way):
            way = Vec3[double]()
        sample.hold(Motion(self.before.position + way * self.part, way * (1 / self.tick)),
                    self.drawn, INTERPOLATED)
        slerp_between(self.before, self.place, self.part, sample)

    cdef void run_tick(self) noexcept nogil:
        """Move the entity by one tick towards the target or to the queue's next position."""
        cdef Sample turned
        self.before = self.place
        self.place.time = self.before.time + self.tick
        if self.mode == Way.QUEUE and not self.queue.empty():
            self.place.position = self.queue.front().position
            self.place.turn.copy(self.queue.front().turn)
            self.queue.drop_front(1)
        elif self.left > 0:
            self.place.position = self.place.position + (
                self.target.position - self.place.position) * (1.0 / self.left)
            self.turn.step(1.0 / self.left, self.tick, turned)
            self.place.turn.copy(turned.turn)
            self.left -= 1
