"""Sliding windows of the last measurements, for means that ignore outliers."""


cdef void start_window(Window& window, int size) noexcept nogil:
    """Makes a window of the last ``size`` values, at most ``MOST``."""
    window.size = size
    window.count = window.oldest = 0


cdef void add_to(Window& window, double value) noexcept nogil:
    """Inserts a value; a full window drops its oldest."""
    cdef int place
    if window.count == window.size:
        place = place_of(window, window.arrived[window.oldest])
        window.arrived[window.oldest] = value
        window.oldest = window.oldest + 1 if window.oldest + 1 < window.size else 0
    else:
        place = window.count
        window.arrived[window.count] = value
        window.count += 1
    # shifts the values between the free slot and the new one's
    while place > 0 and window.sorted[place - 1] > value:
        window.sorted[place] = window.sorted[place - 1]
        place -= 1
    while place < window.count - 1 and window.sorted[place + 1] < value:
        window.sorted[place] = window.sorted[place + 1]
        place += 1
    window.sorted[place] = value


cdef int place_of(const Window& window, double value) noexcept nogil:
    """The first place of a value that is in the window."""
    cdef int low = 0
    cdef int high = window.count - 1
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if window.sorted[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


cdef double middle_mean(const Window& window) noexcept nogil:
    """The mean of the middle half (interquartile mean); of two values the smaller."""
    cdef int cut = max(window.count // 4, 1)
    cdef double total = 0
    cdef int place
    if window.count < 3:
        return window.sorted[0]
    for place in range(cut, window.count - cut):
        # differences, since the values may be large and close to each other
        total += window.sorted[place] - window.sorted[cut]
    return window.sorted[cut] + total / (window.count - 2 * cut)


cdef double typical(const Window& window) noexcept nogil:
    """The mean of the values that are less than half off the one at three eighths of the way up.

    That one is below the median, since what disturbs these values makes them larger.
    """
    cdef double middle = window.sorted[(window.count - 1) * 3 // 8]
    cdef double total = 0
    cdef int first = 0
    cdef int last = window.count - 1
    cdef int place
    while first < last and not middle < 1.5 * window.sorted[first]:
        first += 1
    while last > first and not 1.5 * window.sorted[last] < 2.25 * middle:
        last -= 1
    for place in range(first, last + 1):
        total += window.sorted[place] - middle
    return middle + total / (last + 1 - first)
