cimport cython

from epic_cli.engine.packets cimport Packet


cpdef enum AgeSource:
    AUTO
    STAMP
    ARRIVAL


@cython.final
cdef class PacketAge:
    cdef AgeSource source
    cdef double least           # the least age of late, on the two clocks as they are; NaN: none
    cdef double measured        # the receiver's time of the last measurement
    cdef bint agree             # the first packet's age was one that a network can cause

    cdef double of(self, const Packet& packet, double now) noexcept nogil
    cdef void clear(self) noexcept nogil
