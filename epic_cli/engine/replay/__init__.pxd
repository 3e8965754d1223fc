"""The replay loop for one entity, and the clock and pacing state that it borrows."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Packet, Sample
from epic_cli.engine.strategies.parts cimport DrawSample, TakePacket


cdef extern from "replay/one_entity.h" namespace "epic" nogil:
    cdef cppclass SingleTicks:
        pass

    cdef cppclass ExactTicks:
        pass

    cdef cppclass DemoPace[Ticks]:
        pass

    cdef cppclass ArrivalPace[Ticks]:
        pass

    cdef cppclass FramePace[Ticks]:
        pass

    cdef cppclass Run:
        const Packet* packet
        const Packet* end
        vector[Sample]* out
        size_t capacity
        size_t taken
        size_t discarded
        int32_t entity
        double due
        double limit
        double now
        float tick
        double index
        double numerator
        double denominator
        double promised
        double newest
        double latency

    void follow[Pace](Run& run, void* strategy, TakePacket take, DrawSample draw)
