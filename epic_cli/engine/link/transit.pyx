"""Packets in flight, and counts of their outcomes."""

from libc.math cimport NAN, ceil
from libc.stdint cimport int64_t
from libcpp.map cimport map as ordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, packet_from_python


cdef extern from "link/rounding.h" namespace "epic" nogil:
    double three_digits(double value)


cdef extern from "link/flights.h" namespace "epic" nogil:
    cdef cppclass Flights:
        bint empty()
        double next_arrival()
        void add(double arrival, int64_t sequence, int copy, const vector[Packet]& packets)
        int64_t land(vector[Packet]& arrived)


cdef class Tally:
    """Counts of the datagrams' outcomes, in memory that does not grow with their number.

    ``reordered`` are those that arrive after one that was sent later (RFC 4737). Delays are kept
    to three digits.
    """

    cdef readonly int64_t sent
    cdef readonly int64_t lost
    cdef readonly int64_t duplicated
    cdef readonly int64_t arrived
    cdef readonly int64_t reordered
    cdef readonly int64_t longest_loss
    cdef int64_t losses_in_a_row
    cdef int64_t latest
    cdef int64_t delayed
    cdef ordered_map[double, int64_t] delays

    def __cinit__(self):
        self.latest = -1

    cpdef count_sent(self, double time, tuple arrivals):
        """Counts a datagram that was sent at ``time``, with the times of its arrival."""
        cdef double arrival
        cdef Py_ssize_t count = len(arrivals)
        self.sent += 1
        if count == 0:
            self.lost += 1
            self.losses_in_a_row += 1
            self.longest_loss = max(self.longest_loss, self.losses_in_a_row)
            return
        self.losses_in_a_row = 0
        self.duplicated += count - 1
        for arrival in arrivals:
            self.delayed += 1
            self.delays[three_digits(arrival - time)] += 1

    cpdef count_arrived(self, int64_t sequence):
        """Counts an arrival."""
        self.arrived += 1
        self.reordered += sequence < self.latest
        self.latest = max(self.latest, sequence)

    def delay(self, double share):
        """The delay in seconds that this share (0 to 1) of the arrivals do not exceed."""
        cdef pair[double, int64_t] one
        cdef int64_t passed = 0
        for one in self.delays:
            passed += one.second
            if passed >= ceil(share * self.delayed):
                return one.first
        return NAN


cdef class Transit:
    """Datagrams between their sender and the receiver, counted in ``tally``.

    All blocks share ``entities``.
    """

    cdef readonly Entities entities
    cdef Tally tally
    cdef Flights flights
    cdef int64_t sequence

    def __init__(self, Tally tally not None):
        self.entities = Entities()
        self.tally = tally

    def send(self, double time, packets, tuple arrivals):
        """Sends ``Packet``s in a datagram, of which copies are to arrive at these times."""
        cdef vector[Packet] natives
        cdef double arrival
        cdef int copy = 0
        natives.resize(len(packets) if arrivals else 0)
        for packet in packets if arrivals else ():
            packet_from_python(packet, natives[copy])
            natives[copy].entity = self.entities.number_of(packet.entity)
            copy += 1
        self.tally.count_sent(time, arrivals)
        copy = 0
        for arrival in arrivals:
            self.flights.add(arrival, self.sequence, copy, natives)
            copy += 1
        self.sequence += 1

    def land(self, double time, PacketBlock block not None):
        """Puts what has arrived by ``time`` (seconds) into a block, in order of arrival."""
        while not self.flights.empty() and self.flights.next_arrival() <= time:
            self.tally.count_arrived(self.flights.land(block.items))
