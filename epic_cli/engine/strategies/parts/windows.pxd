cdef enum:
    MOST = 32


cdef struct Window:
    double arrived[MOST]        # in a ring, the oldest at ``oldest`` once it is full
    double sorted[MOST]
    int size, count, oldest


cdef void start_window(Window& window, int size) noexcept nogil
cdef void add_to(Window& window, double value) noexcept nogil
cdef double middle_mean(const Window& window) noexcept nogil
cdef double typical(const Window& window) noexcept nogil
