cimport cython

from epic_cli.engine.strategies.parts.averages cimport MovingAverage


@cython.final
cdef class SenderTime:
    cdef bint estimates
    cdef readonly double offset
    cdef MovingAverage average
    cdef double latest

    cpdef void add(self, double timestamp, double now) noexcept nogil
    cpdef double time(self, double at) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class SendInterval:
    cdef bint measures
    cdef readonly double value
    cdef readonly long count
    cdef double first_guess
    cdef double newest

    cpdef void add(self, double timestamp) noexcept nogil
    cpdef void clear(self) noexcept nogil
