"""The snapshot interpolation of geckos.io."""

from libc.math cimport INFINITY, fabs, isnan, round

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3, is_finite
from epic_cli.engine.strategies.parts.snapshots cimport (
    Snapshot, SnapshotBuffer, draw_between, is_farther, fraction_between,
)
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.turning cimport angles_between

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE

# An offset with a larger error is replaced, s; the last digit allows for rounding.
cdef double TOLERANCE = 0.05 + 1e-9
# The value that the original uses for "no offset yet", s.
cdef double UNSET = -0.001
# The original takes a server time up to this (s) for a fraction.
cdef double FRACTION = 0.0015


cpdef enum class RotationType:
    QUAT
    DEG
    RAD


cdef class Geckos(Strategy):
    """Draws between the two snapshots around a time that is a fixed buffer behind the server's.

        offset      = arrival - timestamp of the first packet, or of one 50 ms off
        server time = local time - offset - interpolation_buffer
        u           = (server time - older.time) / (newer.time - older.time)
        drawn       = lerp(older, newer, u)

    The buffer is 100 ms, or three packets where ``server_fps`` says how many there are a
    second. The last ``vault_size`` snapshots are kept, sorted by their timestamps.

    Simple, exact, and indifferent to order and duplicates. It does not adapt: jitter or a gap
    that the buffer does not cover freezes the entity, which then jumps to where it should be. A
    clock that runs faster or slower than ours makes a step of 50 ms from time to time. Where there
    is no newer snapshot the original returns nothing and its caller keeps the last position: these
    rows are ``held``, and ``none`` before there was anything, so an entity that
    sends a single packet is never seen.

    Where this differs from the original: there, a packet more than 50 ms late sets the clock
    back, and the entity runs backwards; here it waits. A duplicate packet changes nothing, and a
    packet older than everything in a full vault is discarded. Times keep their fractions of a
    millisecond, every offset counts, even one of -1 ms, and every server time is a time, where
    the original takes one of 1 ms or less for the fraction ``u``. With ``quirks=on`` all of this
    is as in the original. ``snap_distance`` is an addition, and each entity has its own
    vault: one that joins later waits for two snapshots as the first did, and one that has left is
    held, where the original's snapshots of all entities show the former an interval early, and drop
    the latter. The offset is the connection's, as there.

    The velocity is that of the packets, interpolated as the position is. The positions are those of
    ``buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none+beyond=freeze
    +monotonic=on+keep=120``.
    """

    declaration = Declaration(
        name="geckos",
        summary="geckos.io: linear between two snapshots, a fixed buffer behind the server",
        needs=(Need.ARRIVALS,),
        lag="latency of the first packet plus the buffer",
        on_loss="interpolates across what the buffer covers, then holds its last position",
        source="@geckos.io/snapshot-interpolation 1.1.1 (Yannick Deubel); BSD-3-Clause",
        proof="runs of the original: snapshot.add at an arrival, calcInterpolation in a frame",
        connection="its offset takes all packets",
        rotates="quat: slerp; deg, rad: pitch, yaw and roll, each the shorter way"
        " (runs of the original)",
        lag_by_session=True,
        lag_varies=LagVariation(
            "by the time between two packets where that is longer than the buffer",
            periods=1, period_above=0.1,
        ),
        waits_for_two=True,
        settings=(
            Number("interpolation_buffer", "auto", "how far behind the server to draw; auto: 0.1,"
                   " or three packets of server_fps", "s", 0, 60, unset="auto",
                   tune=(0.02, 0.5), scale="log"),
            Number("server_fps", 0.0, "packets a second; 0: unknown", "Hz", 0, 1000),
            Switch("auto_correct_time_offset", "on", "replace an offset that is off by over 50 ms"),
            Number("vault_size", 120, "the largest number of snapshots kept", "", 2, 4096,
                   whole=True),
            Choice("rotation", "quat", "the type of the rotation's fields", RotationType),
            SNAP_DISTANCE,
            Switch("quirks", "off", "reproduce the original's mistakes", tune=False),
        ),
    )

    cdef public double snap_distance
    cdef public bint auto_correct_time_offset, quirks
    cdef public RotationType rotation
    cdef double buffer_time
    cdef SnapshotBuffer vault
    cdef bint has_offset, shows
    cdef readonly double offset         # arrival minus timestamp, s
    cdef double server_time
    cdef Motion shown

    def configure(self, *, interpolation_buffer, server_fps, vault_size):
        self.check_free()
        self.buffer_time = interpolation_buffer
        if isnan(self.buffer_time):
            self.buffer_time = 3.0 / server_fps if server_fps else 0.1
        self.vault.set_capacity(vault_size)
        self.clock_restarts = True

    @property
    def timestamps(self):
        """The timestamps of the buffered snapshots, oldest first, s."""
        return [self.vault[index].time for index in range(self.vault.size())]

    cdef void clear(self) noexcept nogil:
        self.vault.clear()
        self.shows = False
        self.server_time = 0

    cdef void clear_clock(self) noexcept nogil:
        self.has_offset = False
        self.offset = 0

    cdef int copy_clock(self, Strategy peer) except -1:
        self.has_offset, self.offset = (<Geckos>peer).has_offset, (<Geckos>peer).offset
        return 0

    cdef void count_datagram(self, double time, double now) noexcept nogil:
        cdef double offset = self.convert_clock(now - time)
        if not self.has_offset or (self.quirks and fabs(self.offset - UNSET) < 1e-9):
            self.offset = offset
            self.has_offset = True
        elif self.auto_correct_time_offset and fabs(self.offset - offset) > TOLERANCE:
            self.offset = offset

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        """Hold the teleport's position until two snapshots have arrived.

        The original has no teleports.
        """
        self.start_over()
        self.shown = Motion(packet.position, Vec3[double]())
        self.shows = True
        self.server_time = -INFINITY
        return self.accept(packet, now)

    cdef double convert_clock(self, double time, double buffer=0) noexcept nogil:
        """Return a clock's time minus the buffer; with ``quirks`` in whole milliseconds."""
        if self.quirks:
            # whole milliseconds less a buffer of whole milliseconds
            return (round(time * 1000) - round(buffer * 1e12) / 1e9) / 1000
        return time - buffer

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef size_t place = self.vault.count_until(packet.time)
        if self.connected and not self.same_datagram:
            self.count_datagram(packet.time, now)
        if not self.quirks:
            if place > 0 and self.vault[place - 1].time == packet.time:
                return False
            if place == 0 and self.vault.full():
                return False
        if not self.connected:
            self.count_datagram(packet.time, now)
        # with quirks an equal stamp goes before the other: towards newer ones the first that
        # arrived counts, towards older ones the last
        while place > 0 and self.vault[place - 1].time == packet.time:
            place -= 1
        if self.vault.full():
            place = max(place, <size_t>1) - 1
            self.drop_oldest()
        self.vault.insert(place, packet, now)
        return True

    cdef void drop_oldest(self) noexcept nogil:
        """Drop the snapshot with the oldest timestamp; of equal timestamps the last in order."""
        cdef size_t last = 0
        while last + 1 < self.vault.size() and self.vault[last + 1].time == self.vault[0].time:
            last += 1
        while last > 0:
            self.vault[last] = self.vault[last - 1]
            last -= 1
        self.vault.drop_front(1)

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = self.convert_clock(at - self.offset, self.buffer_time)
        cdef size_t newer
        cdef Sample otherwise
        if self.shows and not self.quirks:
            time = max(time, self.server_time)
        newer = self.vault.count_until(time)
        if 0 < newer < self.vault.size():
            self.draw_pair(self.vault[newer - 1], self.vault[newer], fraction_between(
                self.vault[newer - 1].time, self.vault[newer].time, time), sample)
            if self.quirks and time < FRACTION:
                otherwise = sample
                self.draw_pair(self.vault[newer - 1], self.vault[newer], time * 1000, sample)
                if not (is_finite(sample.position) and is_finite(sample.velocity)):
                    sample = otherwise
            self.shown = sample
            self.shows = True
        elif self.shows:
            sample.hold(self.shown, self.drawn, INTERPOLATED)
        self.server_time = time

    cdef void draw_pair(self, const Snapshot& older, const Snapshot& newer, double u,
                        Sample& sample) noexcept nogil:
        draw_between(older, newer, u, self.snap_distance, sample)
        if self.rotation != RotationType.QUAT and not is_farther(
                older.position, newer.position, self.snap_distance):
            angles_between(older, newer, u, sample)
