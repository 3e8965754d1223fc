"""The entity interpolation of Gabriel Gambetta's live demo."""

from epic_cli.engine.packets cimport INTERPOLATED, Motion, Packet, Sample, Vec3
from epic_cli.engine.strategies.parts cimport SendInterval, Strategy
from epic_cli.engine.strategies.parts.snapshots cimport (
    SnapshotBuffer, draw_between, fraction_between,
)

from epic_cli.engine.declaration import Declaration, Need, LagVariation
from epic_cli.engine.parameters import Number, Switch
from epic_cli.engine.strategies.parts.common_settings import SNAP_DISTANCE


cdef class Gambetta(Strategy):
    """Draws between the states that arrived around a time one packet ago.

        render time = now - 1 / update_rate
        u           = (render time - before.arrival) / (after.arrival - before.arrival)
        drawn       = lerp(before, after, u)

    It uses arrival times, so it needs no timestamps and no clock, and it is the easiest
    interpolation to write: fifteen lines. The price is that jitter of the network is drawn as
    jitter of the entity's speed, that a constant velocity is a straight line only where packets
    arrive evenly, and that a lost packet freezes it. Where there is no later state it holds its
    last position, so it rests slightly short of the newest state, and moves there with the next
    packet; two packets that arrive at the same instant count as one. Nothing is drawn until
    there are two states, so an entity that sends a single packet is never seen.

    The demo reads its messages in its own update, so that it knows an arrival by the frame; here it
    is exact. The demo checks neither for reordered nor for duplicate packets: with ``quirks=on`` a
    late packet is drawn late. Here it is discarded, and so is a packet with the newest timestamp.
    The demo is given its update rate. ``auto`` draws as the given rate does, where at least three
    of eight packets follow the one before by one interval; silences and single losses cost nothing,
    and another rate is known within 32 packets. Until then the delay is that of the wrong rate: at
    30 % loss the first half second was drawn up to 75 ms off. ``snap_distance`` is an addition.

    The velocity is that of the packets, interpolated as the position is. The positions are those of
    ``buffer+stamps=arrival+delay=1i+before=none+beyond=freeze``.
    """

    declaration = Declaration(
        name="gambetta",
        summary="Gambetta's live demo: between the last two arrivals, one packet ago",
        needs=(Need.ARRIVALS, Need.STEADY_RATE),
        lag="latency plus one send interval",
        on_loss="holds its last position",
        source="Gabriel Gambetta, Fast-Paced Multiplayer, live demo; formulas only",
        proof="formula",
        rotates="slerp between the same two states, where the demo has none",
        lag_varies=LagVariation(
            "by a frame: one at the moment of an arrival may find nothing newer, and"
            " is held",
            frames=1,
        ),
        waits_for_two=True,
        settings=(
            Number("update_rate", "auto", "packets a second; auto measures it", "Hz", 0.1, 1000,
                   unset="auto", tune=(2, 60), scale="log"),
            SNAP_DISTANCE,
            Switch("quirks", "off", "treat late and duplicate packets as new, as the demo does",
                   tune=False),
        ),
    )

    cdef public double snap_distance
    cdef public bint quirks
    cdef SendInterval interval
    cdef SnapshotBuffer buffer
    cdef Motion shown
    cdef bint shows

    def configure(self, *, update_rate):
        self.check_free()
        self.interval = SendInterval(1.0 / update_rate, 0.1)
        self.buffer.set_capacity()

    cdef void clear(self) noexcept nogil:
        self.interval.clear()
        self.buffer.clear()
        self.shows = False

    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil:
        """Hold the teleport's position until two states have arrived; the demo has no teleports."""
        self.start_over()
        self.shown = Motion(packet.position, Vec3[double]())
        self.shows = True
        return self.accept(packet, now)

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time <= self.newest and not self.quirks and not self.buffer.empty():
            return False
        self.interval.add(packet.time)
        self.buffer.append(packet, now)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        cdef double time = at - self.interval.value
        while self.buffer.size() > 1 and self.buffer[1].arrival <= time:
            self.buffer.drop_front(1)
        if self.buffer.size() > 1 and self.buffer[0].arrival <= time:
            draw_between(
                self.buffer[0], self.buffer[1],
                fraction_between(self.buffer[0].arrival, self.buffer[1].arrival, time),
                self.snap_distance, sample)
            self.shown = sample
            self.shows = True
        elif self.shows:
            sample.hold(self.shown, self.drawn, INTERPOLATED)
