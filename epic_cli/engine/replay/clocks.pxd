cdef class Clock:
    cdef double now

    cdef void restart(self) noexcept nogil
    cdef double following(self) noexcept nogil
    cdef void step(self) noexcept nogil
    cdef void skip_to(self, double target) noexcept nogil
    cdef double lead(self, double time, float single_time) noexcept nogil
    cdef double ticks_to(self, double target) noexcept nogil
    cdef double reach(self) noexcept nogil
    cdef double length(self) noexcept nogil


cdef class SingleClock(Clock):
    cdef float current
    cdef float tick
    cdef float stall


cdef class ExactClock(Clock):
    cdef double index
    cdef double numerator
    cdef double denominator
