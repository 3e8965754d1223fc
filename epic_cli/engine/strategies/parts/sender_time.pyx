"""A receiver's estimates of its sender's time and send rate.

Engines agree on both when a connection begins. A recording does not say, so both are estimated
from timestamps and arrivals, or given.
"""

cimport cython
from libc.math cimport INFINITY, NAN, fabs


# So many delays are kept: enough to even out jitter, few enough to follow a clock that is off.
cdef int DELAYS = 31

# So many intervals: a send rate that changes is followed within as many packets.
cdef int INTERVALS = 32

# An offset further off than this means a clock reset, s;
cdef double RESYNC = 0.5
# if so many packets in a row show it.
cdef int AGREEING = 3


@cython.final
cdef class SenderTime:
    """The timestamp that would arrive now: the local time minus an offset, in seconds.

        offset = mean of the middle half of the last 31 (arrival - timestamp)

    The offset holds the latency besides the difference between the clocks, so ``time`` is the
    timestamp that would arrive now. Packets that were delayed more than others, up to a quarter
    of them, change nothing; a latency that changes is followed within 24 packets. One packet
    whose offset differs by more than 0.5 s is left out, three in a row reset the estimate. ``time``
    never goes back. With ``offset`` given nothing is estimated.
    """

    def __init__(self, double offset=NAN):
        self.estimates = offset != offset
        self.offset = 0 if self.estimates else offset
        self.clear()

    cpdef void add(self, double timestamp, double now) noexcept nogil:
        """A packet with this timestamp arrived at the local time ``now``."""
        cdef double offset = now - timestamp
        if not self.estimates:
            return
        if self.delays.count > 0 and fabs(offset - self.offset) > RESYNC:
            add_to(self.others, offset)
            if self.others.count < AGREEING:
                return
            self.delays = self.others
            self.delays.size = DELAYS
        else:
            add_to(self.delays, offset)
        start_window(self.others, AGREEING)
        self.offset = middle_mean(self.delays)

    cpdef double time(self, double at) noexcept nogil:
        """The sender's time at the local time ``at``; the local time before the first packet."""
        if self.estimates and self.delays.count == 0:
            return at                   # not a sender's time, so later ones may be before it
        self.latest = max(self.latest, at - self.offset)
        return self.latest

    cpdef void clear(self) noexcept nogil:
        """Resets the estimate."""
        self.latest = -INFINITY
        start_window(self.delays, DELAYS)
        start_window(self.others, AGREEING)
        if self.estimates:
            self.offset = 0


@cython.final
cdef class SendInterval:
    """The time between two packets in seconds, given or measured by their timestamps.

        interval = mean of the last 32 differences, without those that are half off or more

    off the difference at three eighths of the way from the smallest to the largest. A packet that
    was lost, or a silence, makes a difference of two intervals or more, which then does not
    count, as long as three of eight differences are single intervals. Before two packets have
    come in it is ``first_guess``.
    """

    def __init__(self, double value=NAN, double first_guess=0.05):
        self.measures = value != value
        self.value = first_guess if self.measures else value
        self.first_guess = self.value
        self.clear()

    cpdef void add(self, double timestamp) noexcept nogil:
        """Takes the timestamp of a packet; one that is not the newest is ignored."""
        cdef double sample = timestamp - self.newest
        if sample <= 0:
            return
        self.newest = timestamp
        if self.measures and sample > 0:
            self.count += 1
            add_to(self.differences, sample)
            self.value = typical(self.differences)

    cpdef void clear(self) noexcept nogil:
        """Resets the measurements."""
        self.value = self.first_guess
        self.newest = NAN
        self.count = 0
        start_window(self.differences, INTERVALS)


# Sliding windows of the last measurements, for means that ignore outliers.

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
