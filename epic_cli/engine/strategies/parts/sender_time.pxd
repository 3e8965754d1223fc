cimport cython

from epic_cli.engine.strategies.parts.windows cimport Window


@cython.final
cdef class SenderTime:
    cdef bint estimates
    cdef readonly double offset
    cdef Window delays
    cdef Window others          # those that differ by more, in a row
    cdef double latest

    cpdef void add(self, double timestamp, double now) noexcept nogil
    cpdef double time(self, double at) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class SendInterval:
    cdef bint measures
    cdef readonly double value
    cdef readonly long count    # of the differences measured
    cdef double first_guess
    cdef double newest
    cdef Window differences

    cpdef void add(self, double timestamp) noexcept nogil
    cpdef void clear(self) noexcept nogil
