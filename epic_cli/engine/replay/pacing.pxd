from epic_cli.engine.packets cimport Packet
from epic_cli.engine.replay.clocks cimport Clock


cdef double MOST_TICKS


cdef enum Verdict:
    ACCEPTED
    NEVER_REACHED
    STALLS
    TOO_FAR
    NO_ARRIVAL
    ARRIVAL_GOES_BACK


cdef class Pacing:
    cdef readonly Clock clock
    cdef bint started
    cdef bint shared

    cdef void restart(self) noexcept nogil
    cdef Verdict refuses(self, const Packet& packet) noexcept nogil
    cdef void begin(self, const Packet& packet) noexcept nogil
    cdef double before(self, const Packet& packet) noexcept nogil
    cdef double after(self, const Packet& packet) noexcept nogil
    cdef double now(self, const Packet& packet) noexcept nogil
    cdef bint behind(self, double due) noexcept nogil
    cdef double end(self) noexcept nogil
    cdef double asks_for(self, const Packet& packet) noexcept nogil
    cdef Verdict distance(self, double target) noexcept nogil
    cdef Verdict unreached(self, double target, bint from_now) noexcept nogil


cdef class DemoPacing(Pacing):
    cdef double promised


cdef class ArrivalPacing(Pacing):
    cdef double latency
    cdef double newest

    cdef double arrival(self, const Packet& packet) noexcept nogil
