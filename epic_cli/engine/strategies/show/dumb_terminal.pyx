"""The dumb terminal client of Glazer and Madhav."""

from epic_cli.engine.packets cimport Packet, Sample
from epic_cli.engine.strategies.parts cimport Strategy
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot, hold_state, make_snapshot

from epic_cli.engine.declaration import Declaration, LagVariation


cdef class DumbTerminal(Strategy):
    """Shows the last received state until the next one arrives.

    The conservative extreme: nothing is guessed, so nothing wrong is ever shown, and nothing is
    smoothed, so however fast the screen is, the player sees no more frames a second than packets
    arrive. It is behind by the age of the state: half the round-trip time on arrival, and one
    packet period more when the next one arrives. The baseline for every other strategy.

    A packet with an earlier timestamp than the newest is discarded. The row that first shows a
    state is ``interpolated``, those that show it again are ``held``; the velocity is the one in the
    packet. The positions are those of ``chase+how=share+share=1``.
    """

    declaration = Declaration(
        name="dumb-terminal",
        summary="the last received state, held",
        lag="the age of the newest packet: latency, plus up to one packet period",
        on_loss="holds",
        source="Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8,"
        " The Dumb Terminal Client",
        proof="definition",
        rotates="shows the last received rotation (ours: the source has none)",
        lag_varies=LagVariation(
            "by the time between two packets: it moves only with them",
            periods=1,
        ),
    )

    cdef Snapshot received

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        if packet.time < self.newest:
            return False
        self.received = make_snapshot(packet, now)
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        hold_state(self.received, self.drawn, sample)
