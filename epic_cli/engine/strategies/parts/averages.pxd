cimport cython


@cython.final
cdef class MovingAverage:
    cdef readonly double weight
    cdef readonly double value
    cdef readonly double variance
    cdef readonly long count

    cpdef double add(self, double sample) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class WeightedTimedAverage:
    cdef readonly double duration
    cdef readonly double value
    cdef double updated

    cpdef void start(self, double value, double now) noexcept nogil
    cpdef double add(self, double sample, double now) noexcept nogil
