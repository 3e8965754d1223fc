cimport cython


@cython.final
cdef class PhaseLockedLoop:
    cdef readonly double step
    cdef readonly double decay
    cdef readonly double gain
    cdef readonly double limit
    cdef readonly double drift
    cdef readonly double integrator
    cdef readonly double expected
    cdef readonly double started
    cdef readonly long ticks

    cpdef void start(self, double now) noexcept nogil
    cpdef double server_update(self, double now) noexcept nogil
    cpdef double time(self, double now) noexcept nogil
    cpdef double since_start(self, double now) noexcept nogil
    cpdef double server_time(self, double delta) noexcept nogil
