"""How old a packet is when it comes in, on two clocks that may not agree.

A strategy that draws the present predicts a received state forward by its age. The receiver's
time minus the timestamp is that age only if both clocks agree; a clock that runs 1 % fast is 6 s
off after ten minutes.
"""

cimport cython
from libc.math cimport NAN, isfinite, isnan

from epic_cli.engine.packets cimport Packet, clamped

# The latency that is still believed, seconds; a larger one is a difference of the clocks.
cdef double BELIEVABLE = 0.5

# The least age is forgotten at this rate, so that a slow clock is followed: 2 % is more than
# clocks are off, and in the seconds that a burst of jitter lasts it comes to milliseconds.
cdef double FORGETTING = 0.02


@cython.final
cdef class PacketAge:
    """The age of each packet in seconds, by one of three rules.

    stamp: the receiver's time minus the time at which the state was true, for clocks that agree.
    arrival: 0, every packet counts as new. auto: like stamp as long as the smallest recent age
    lies between 0 and 0.5 s, which a network can cause; anything beyond that is taken for the
    difference between the clocks and left out. If the clock is wrong from the first packet on,
    only differences between ages are believed: the quickest packets then count as new. Packets
    without an arrival time keep the age that their timestamp gives, since their ``now`` says
    nothing about a network.
    """

    def __init__(self, AgeSource source):
        self.source = source
        self.clear()

    cdef double of(self, const Packet& packet, double now) noexcept nogil:
        """The age of a packet that came in at the receiver's time ``now``."""
        cdef double age = now - (packet.time - packet.delta)
        if self.source == ARRIVAL or not isfinite(age):
            return 0
        if self.source == STAMP or isnan(packet.arrival):
            return age
        if isnan(self.least):
            self.least = age
            self.agree = 0 <= age <= BELIEVABLE
        else:
            self.least = min(self.least + FORGETTING * (now - self.measured), age)
        self.measured = now
        age -= self.least
        return age + clamped(self.least, 0, BELIEVABLE) if self.agree else age

    cdef void clear(self) noexcept nogil:
        """Forgets what was measured."""
        self.least = NAN
