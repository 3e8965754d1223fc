from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Packet, Sample

ctypedef bint (*TakePacket)(void* strategy, const Packet& packet, double now) noexcept nogil
ctypedef void (*DrawSample)(void* strategy, double at, Sample& sample) noexcept nogil

cdef extern from "replay/demo_run.h" namespace "epic" nogil:
    cdef cppclass DemoRun:
        const Packet* packet
        const Packet* end
        vector[Sample]* out
        size_t capacity
        size_t taken
        size_t discarded
        double due
        double promised
        float now
        float tick
        float stall
        int32_t entity

    void follow_demo(DemoRun& run, void* strategy, TakePacket take, DrawSample draw)


cdef class Strategy:
    cdef readonly dict settings
    cdef double newest          # the newest timestamp accepted; NaN: none yet
    cdef Sample drawn           # the row before: its position and status
    cdef bint broken
    cdef bint takes_any_number

    cdef bint take(self, const Packet& packet, double now) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef void run_demo(self, DemoRun& run) noexcept nogil

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil
    cdef void draw(self, double at, Sample& sample) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil


cdef class PythonStrategy(Strategy):
    cdef readonly object wrapped
    cdef object error
    cdef object entity


ctypedef bint (*IsBroken)(void* strategy) noexcept nogil
ctypedef void (*FollowDemo)(void* strategy, DemoRun& run) noexcept nogil

cdef TakePacket take_packet
cdef DrawSample draw_sample
cdef IsBroken is_broken
cdef FollowDemo follow_packets
