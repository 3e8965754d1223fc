cimport cython


@cython.final
cdef class NetworkTime:
    cdef bint estimates, jumped
    cdef double offset
    cdef double fixed, buffer, hard_reset, ratio, interval
    cdef double desired, last_sync, latest

    cpdef void sync(self, double timestamp, double now) noexcept nogil
    cpdef double advance(self, double at, double elapsed) noexcept nogil
    cpdef void clear(self) noexcept nogil
