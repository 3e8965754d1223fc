from epic_cli.engine.packets cimport Packet, Sample


cdef class Strategy:
    cdef readonly dict settings
    cdef dict own, others       # the same, converted: what has an attribute, and what has none

    cdef int furnish(self) except -1
    cdef double newest          # the newest timestamp accepted; NaN: none yet
    cdef Sample drawn           # the frame before: its time (NaN: none yet), position and status
    cdef bint broken
    cdef bint takes_any_number

    cdef bint take(self, const Packet& packet, double now) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef double elapsed(self, double at) noexcept nogil

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
ctypedef void (*BeginAfter)(void* strategy, double frame) noexcept nogil

cdef TakePacket take_packet
cdef DrawSample draw_sample
cdef IsBroken is_broken
cdef BeginAfter begin_after
