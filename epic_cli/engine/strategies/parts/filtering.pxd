from epic_cli.engine.packets cimport Packet
from epic_cli.engine.strategies.parts.age cimport PacketAge
from epic_cli.engine.strategy cimport Strategy
from epic_cli.engine.vec3 cimport Vec3


cdef class Filter(Strategy):
    cdef PacketAge age
    cdef public double max_prediction, max_gap, snap_distance
    cdef bint empty
    cdef double true_at                 # the local time at which the state was true
    cdef Vec3[double] position, velocity

    cdef void measured_at(self, const Packet& packet, double now) noexcept nogil

    cdef void begin(self, const Packet& packet) noexcept nogil
    cdef void step(self, const Packet& packet, double period) noexcept nogil
    cdef bint is_sane(self) noexcept nogil
