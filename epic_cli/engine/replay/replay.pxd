from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, SampleBlock
from epic_cli.engine.replay.one_entity cimport Run
from epic_cli.engine.replay.pacing cimport Pacing, Verdict
from epic_cli.engine.strategy cimport Strategy


cdef struct RefusedPacket:
    size_t index
    Verdict verdict


cdef class Replay:
    cdef readonly Pacing pacing
    cdef readonly Entities entities
    cdef object made                    # the strategies that are in use
    cdef readonly size_t taken
    cdef readonly size_t discarded
    cdef object make_strategy
    cdef bint strict
    cdef vector[void*] pointers         # to the strategies, in the order of drawing
    cdef vector[int32_t] drawn          # their entities, in the same order
    cdef vector[int32_t] places         # of each entity in the two above; -1: not there yet
    cdef vector[RefusedPacket] refused
    cdef PacketBlock block
    cdef size_t index
    cdef size_t next_entity             # to be drawn at the present tick
    cdef double due
    cdef bint ended                     # there are no more packets
    cdef bint drawing
    cdef bint closed
    cdef bint broken
    cdef bint any_python
    cdef bint is_usual                  # a pacing and a clock that one_entity.h knows
    cdef bint by_arrival, is_single
    cdef object error

    cdef int check_idle(self) except -1
    cdef int let_go(self) except -1
    cdef int raise_error(self) except -1
    cdef object refusal(self, RefusedPacket refused)
    cdef bint run(self, SampleBlock out) noexcept nogil
    cdef void run_one_entity(self, SampleBlock out) noexcept nogil
    cdef void follow_clock(self, Run& run) noexcept nogil
    cdef bint draw_due(self, SampleBlock out) noexcept nogil
    cdef void apply(self, const Packet& packet) noexcept nogil
    cdef bint add_entity(self, int32_t entity) noexcept nogil
    cdef Strategy new_strategy(self, int32_t entity)
    cdef void check(self, void* strategy) noexcept nogil
