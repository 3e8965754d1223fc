"""The age of a packet on arrival, on two clocks that may not agree.

A strategy that draws the present predicts a received state forward by its age. The receiver's
time minus the timestamp is that age only if both clocks agree; a clock that runs 1 % fast is 6 s
off after ten minutes.
"""

cimport cython
from libc.math cimport NAN, isfinite, isnan

from epic_cli.engine.packets cimport Packet, clamped

# The largest plausible latency, seconds; anything above is a clock difference.
cdef double BELIEVABLE = 0.5

# The least age decays at this rate, to follow a slow clock: 2 % is more than clocks drift, and
# amounts to milliseconds over a burst of jitter.
cdef double FORGETTING = 0.02


@cython.final
cdef class PacketAge:
    """The age of each packet in seconds, by one of three rules.

    stamp: the receiver's time minus the time at which the state was true, for clocks that agree.
    arrival: 0, every packet counts as new. auto: like stamp as long as the smallest recent age
    lies between 0 and 0.5 s, which a network can cause; anything beyond that counts as a clock
    difference and is subtracted. If the clock is off from the first packet on, only differences
    between ages are used: the fastest packets then count as new. Packets
    without an arrival time keep the age that their timestamp gives, since their ``now`` holds no
    network delay.
    """

    def __init__(self, AgeSource source):
        self.source = source
        self.clear()

    cdef double of(self, const Packet& packet, double now) noexcept nogil:
        """The age of a packet that arrived at the receiver's time ``now``."""
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
        """Resets the measurements."""
        self.least = NAN
