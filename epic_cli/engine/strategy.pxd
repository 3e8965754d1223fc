from epic_cli.engine.packets cimport Packet, Sample
from epic_cli.engine.velocity_estimate cimport VelocityEstimate

ctypedef bint (*TakePacket)(void* strategy, const Packet& packet, double now) noexcept nogil
ctypedef void (*DrawSample)(void* strategy, double at, Sample& sample) noexcept nogil


cdef class Strategy:
    cdef readonly dict settings
    cdef dict own, others       # the same, converted: what has an attribute, and what has none

    cdef int apply_settings(self) except -1
    cdef double newest          # the newest timestamp accepted; NaN: none yet
    cdef Sample drawn           # the frame before: its time (NaN: none yet), position and status
    cdef VelocityEstimate past  # for packets without a velocity
    cdef readonly bint estimates_velocity
    cdef bint broken
    cdef bint in_use            # by a replay, which may be drawing without the GIL
    cdef bint takes_any_number

    cdef int check_free(self) except -1
    cdef int take_into_use(self) except -1
    cdef int let_go(self) except -1
    cdef int raise_error(self) except -1

    cdef bint take(self, const Packet& packet, double now) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef double elapsed(self, double at) noexcept nogil

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil
    cdef void draw(self, double at, Sample& sample) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil


cdef bint finite(const Packet& packet) noexcept nogil
cpdef bint is_native(object made)

ctypedef bint (*IsBroken)(void* strategy) noexcept nogil
ctypedef void (*BeginAfter)(void* strategy, double frame) noexcept nogil

cdef TakePacket take_packet
cdef DrawSample draw_sample
cdef IsBroken is_broken
cdef TakePacket take_native      # the same, where the strategy is the engine's own
cdef BeginAfter begin_after
