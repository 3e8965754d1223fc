from epic_cli.engine.packets cimport Packet, Sample
from epic_cli.engine.velocity_estimate cimport VelocityEstimate


cdef class Strategy:
    cdef readonly dict settings
    cdef double newest          # the newest timestamp accepted; NaN: none yet
    cdef Sample drawn           # the row before: its position and status
    cdef VelocityEstimate past  # for packets without a velocity
    cdef readonly bint estimates_velocity
    cdef bint broken
    cdef bint takes_any_number

    cdef bint take(self, const Packet& packet, double now) noexcept nogil
    cdef void restart(self) noexcept nogil

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil
    cdef void draw(self, double at, Sample& sample) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil


cdef class PythonStrategy(Strategy):
    cdef readonly object wrapped
    cdef object error
    cdef object entity


ctypedef bint (*TakePacket)(void* strategy, const Packet& packet, double now) noexcept nogil
ctypedef void (*DrawSample)(void* strategy, double at, Sample& sample) noexcept nogil
ctypedef bint (*IsBroken)(void* strategy) noexcept nogil

cdef TakePacket take_packet
cdef DrawSample draw_sample
cdef IsBroken is_broken
