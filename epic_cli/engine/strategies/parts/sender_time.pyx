"""Estimators of a sender's time and send rate at the receiver.

Engines agree on both when a connection begins. A recording does not say, so both are estimated from
timestamps and arrivals, or given.
"""

cimport cython

from libc.math cimport INFINITY, NAN, exp, fabs, isfinite, isinf, isnan, sqrt
from libcpp.algorithm cimport lower_bound

from epic_cli.engine.packets cimport Packet, clamped


# This many delays are kept: enough to even out jitter, few enough to follow a clock that is off.
cdef int DELAYS = 31

# This many intervals: a send rate that changes is followed within as many packets.
cdef int INTERVALS = 32

# An offset further off than this means a clock reset, s;
cdef double RESYNC = 0.5
# if this many packets in a row show it.
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
        """Update the offset by a packet's timestamp and its arrival ``now``."""
        cdef double offset = now - timestamp
        if not self.estimates:
            return
        if self.delays.count > 0 and fabs(offset - self.offset) > RESYNC:
            add_value(self.others, offset)
            if self.others.count < AGREEING:
                return
            self.delays = self.others
            self.delays.size = DELAYS
        else:
            add_value(self.delays, offset)
        start_window(self.others, AGREEING)
        self.offset = compute_middle_mean(self.delays)

    cpdef double time(self, double at) noexcept nogil:
        """Return the sender's time at the local time ``at``.

        Return the local time itself before the first packet.
        """
        if self.estimates and self.delays.count == 0:
            return at                   # not a sender's time, so later ones may be before it
        self.latest = max(self.latest, at - self.offset)
        return self.latest

    cdef void copy(self, SenderTime other) noexcept:
        """Copy the offset and the delays of another ``SenderTime``."""
        self.offset, self.latest = other.offset, other.latest
        self.delays, self.others = other.delays, other.others

    cpdef void clear(self) noexcept nogil:
        """Reset the offset and drop the measured delays."""
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
    was lost, or a silence, makes a difference of two intervals or more, which then does not count,
    as long as three of eight differences are single intervals. With a ``duration`` (s) it is the
    exponential mean of all over that time instead, with a ``last`` above 0 the mean of that many,
    or that of which the newest is a ``share``, within ``least`` and ``most`` (s); one that is not
    positive then counts as ``late`` (s). Before two packets have come in it is ``first_guess``.
    """

    def __init__(self, double value=NAN, double first_guess=0.05, double duration=0, int last=0,
                 double share=1, double least=1e-4, double most=INFINITY, double late=0):
        self.duration = duration
        self.last = last
        self.share = share
        self.least, self.most, self.late = least, most, late
        self.measures = value != value
        self.value = first_guess if self.measures else value
        self.first_guess = self.value
        self.clear()

    cpdef void add(self, double timestamp) noexcept nogil:
        """Measure the time since the last packet's timestamp.

        Ignore a timestamp that is not the newest.
        """
        cdef double sample = timestamp - self.newest
        if sample <= 0:
            return
        self.newest = timestamp
        if self.measures and sample > 0:
            self.measure(sample)

    cdef void add_datagram(self, double timestamp, Strategy strategy) noexcept nogil:
        """Measure the send interval by a datagram that ``strategy`` counts.

        With several entities the interval is the time between two packets of one entity, since
        datagrams of entities that send in turn come more often.
        """
        if not strategy.connected:
            self.add(timestamp)
        elif self.measures and timestamp > strategy.previous:
            self.measure(timestamp - strategy.previous)

    cdef void measure(self, double difference) noexcept nogil:
        """Update the interval by the time between two packets, s."""
        self.count += 1
        if self.last > 0:
            if self.late > 0 and not difference > 0:
                difference = self.late
            add_value(self.differences, difference)
            if self.share == 1:
                self.mean = compute_mean(self.differences)
            elif self.mean > self.least:
                self.mean += (difference - self.mean) * self.share
            else:
                self.mean = difference
            self.value = min(max(self.mean, self.least), self.most)
        elif self.duration > 0:
            self.value += (difference - self.value) * (
                compute_weight(difference, self.duration) if self.count > 1 else 1)
        else:
            add_value(self.differences, difference)
            self.value = compute_typical(self.differences)

    cdef void copy(self, SendInterval other) noexcept:
        """Copy the interval and the measurements of another ``SendInterval``."""
        self.value, self.count, self.newest = other.value, other.count, other.newest
        self.mean = other.mean
        self.differences = other.differences

    cpdef void clear(self) noexcept nogil:
        """Reset the interval to its first guess and drop the measurements."""
        self.value = self.first_guess
        self.newest = NAN
        self.count = 0
        self.mean = 0
        start_window(self.differences, self.last if self.last > 0 else INTERVALS)


# A median is of this many packets at most.
cdef size_t OFFSETS = 1024

# An offset that is as far off as the limit may be further off by rounding, s.
cdef double SLIGHTLY = 1e-9


@cython.final
cdef class ClockOffset:
    """The receiver's time minus the sender's (s), as games estimate it from arrival minus stamp.

    agree: 0. first: that of the first packet. newest: of the newest. min, median, max: of those
    that arrived within ``duration`` (s; infinite: since the first), or of the last ``most``, as the
    mean may be. mean: the exponential mean with
    that time constant, or of all; with a ``share`` each packet shifts it by that part of the
    difference. pll: a phase-locked loop,

        summed = summed * decay + (value - offset)
        value -= clamp(summed * gain, -limit, limit)

    A packet whose offset is more than ``resync`` (s; 0: never) off starts it again.
    """

    def __init__(self, ClockRule rule, double duration=2, double resync=0, double gain=0.01,
                 double decay=0.9, double limit=0.0001, double share=0, size_t most=0):
        self.rule = rule
        self.counts = most > 0
        self.duration = <double>most - 1 if most > 0 else duration
        self.resync = resync
        self.gain = gain
        self.decay = decay
        self.limit = limit
        self.share = share
        self.clear()

    cpdef bint add(self, double offset, double now) noexcept nogil:
        """Update the estimate by an offset measured at the receiver's time ``now``.

        Return True if the estimate restarts.
        """
        cdef double off = fabs(offset - self.value)
        cdef double at
        cdef bint restarts = self.count > 0 and self.resync > 0 and off > self.resync + SLIGHTLY
        if self.count == 0 or restarts:
            self.clear()
            self.value = offset
        self.count += 1
        at = self.count if self.counts else now
        if self.rule == ClockRule.NEWEST:
            self.value = offset
        elif self.rule == ClockRule.MEAN and self.counts:
            self.value = self.average_recent(offset, at)
        elif self.rule == ClockRule.MEAN:
            self.value += (offset - self.value) * (
                self.share if self.share > 0 else 1.0 / self.count if isinf(self.duration)
                else compute_weight(now - self.updated, self.duration) if self.count > 1 else 0)
        elif self.rule == ClockRule.PLL:
            self.summed = self.summed * self.decay + (self.value - offset)
            self.value -= clamped(self.summed * self.gain, -self.limit, self.limit)
        elif self.rule == ClockRule.MEDIAN:
            self.insert_offset(offset, at)
            self.value = compute_median(self.ordered)
        elif self.rule == ClockRule.MIN or self.rule == ClockRule.MAX:
            self.keep_extremes(offset, at)
        self.updated = now
        return restarts

    cdef double average_recent(self, double offset, double at) noexcept nogil:
        """Return the mean of the offsets in the window, the newest among them."""
        cdef double total = 0
        cdef size_t index
        self.recent.push_back(Measured(at, offset))
        while self.recent.front().at < at - self.duration:
            self.recent.pop_front()
        for index in range(self.recent.size()):
            total += self.recent[index].offset
        return total / self.recent.size()

    cdef void insert_offset(self, double offset, double at) noexcept nogil:
        self.recent.push_back(Measured(at, offset))
        self.ordered.insert(
            lower_bound(self.ordered.begin(), self.ordered.end(), offset), offset)
        while self.recent.front().at < at - self.duration or self.recent.size() > OFFSETS:
            self.ordered.erase(lower_bound(
                self.ordered.begin(), self.ordered.end(), self.recent.front().offset))
            self.recent.pop_front()

    cdef void keep_extremes(self, double offset, double at) noexcept nogil:
        """Update the minimum or maximum over the window.

        Keep only offsets that can become extreme.
        """
        cdef double sign = 1 if self.rule == ClockRule.MIN else -1
        if isinf(self.duration):
            self.value = sign * min(sign * self.value, sign * offset)
            return
        while not self.recent.empty() and sign * self.recent.back().offset >= sign * offset:
            self.recent.pop_back()
        self.recent.push_back(Measured(at, offset))
        while self.recent.front().at < at - self.duration:
            self.recent.pop_front()
        self.value = self.recent.front().offset

    cpdef void clear(self) noexcept nogil:
        """Reset the estimated offset and drop the recent offsets."""
        self.value = self.summed = 0
        self.count = 0
        self.updated = NAN
        self.recent.clear()
        self.ordered.clear()


cdef double compute_weight(double elapsed, double duration) noexcept nogil:
    """Return a new sample's weight in an exponential mean with the time constant ``duration`` (s).
    """
    return 1 - exp(-elapsed / duration)


cdef double compute_median(const vector[double]& ordered) noexcept nogil:
    """Return the median of sorted values, of two in the middle the larger, as games have it."""
    return ordered[ordered.size() // 2]


@cython.final
cdef class Deviation:
    """The exponentially weighted standard deviation of a measurement.

    ``duration`` (s) is its time constant.
    """

    def __init__(self, double duration):
        self.duration = duration
        self.clear()

    cpdef void add(self, double sample, double now) noexcept nogil:
        """Update mean and variance by a sample measured at ``now`` (s)."""
        cdef double share = 1 if self.empty else compute_weight(now - self.updated, self.duration)
        cdef double off = sample - self.mean
        self.mean += share * off
        self.variance = (1 - share) * (self.variance + share * off * off)
        self.updated = now
        self.empty = False

    cpdef double value(self) noexcept nogil:
        """Return the standard deviation; 0 for fewer than two samples."""
        return sqrt(self.variance)

    cpdef void clear(self) noexcept nogil:
        """Drop all samples."""
        self.mean = self.variance = 0
        self.updated = NAN
        self.empty = True


@cython.final
cdef class RecentValues:
    """The values measured within ``duration`` (s), or the last ``most``, and their spread."""

    def __init__(self, double duration=2, size_t most=0):
        self.duration = INFINITY if most > 0 else duration
        self.most = most if most > 0 else OFFSETS
        self.clear()

    cpdef void add(self, double value, double now) noexcept nogil:
        """Insert a value measured at ``now`` (s), and drop those that no longer count."""
        self.recent.push_back(Measured(now, value))
        while self.recent.size() > self.most or self.recent.front().at < now - self.duration:
            self.recent.pop_front()

    cpdef double spread(self) noexcept nogil:
        """Return the largest value less the least; 0 without values."""
        cdef double least = INFINITY
        cdef double most = -INFINITY
        cdef size_t index
        for index in range(self.recent.size()):
            least = min(least, self.recent[index].offset)
            most = max(most, self.recent[index].offset)
        return max(most - least, 0.0)

    cpdef double largest(self) noexcept nogil:
        """Return the largest value; 0 without one above 0."""
        cdef double most = 0
        cdef size_t index
        for index in range(self.recent.size()):
            most = max(most, self.recent[index].offset)
        return most

    cpdef double deviation(self) noexcept nogil:
        """Return the standard deviation; 0 without values."""
        cdef size_t count = self.recent.size()
        cdef double mean = 0
        cdef double total = 0
        cdef size_t index
        if count == 0:
            return 0
        for index in range(count):
            mean += self.recent[index].offset
        mean /= count
        for index in range(count):
            total += (self.recent[index].offset - mean) * (self.recent[index].offset - mean)
        return sqrt(total / count)

    cpdef void clear(self) noexcept nogil:
        """Drop all values."""
        self.recent.clear()


# Sliding windows of the last measurements, for means that ignore outliers.

cdef void start_window(Window& window, int size) noexcept nogil:
    """Empty the sliding window, and set its capacity to ``size`` values (at most ``MOST``)."""
    window.size = size
    window.count = window.oldest = 0


cdef void add_value(Window& window, double value) noexcept nogil:
    """Insert a value into the sliding window; drop the oldest value of a full window."""
    cdef int place
    if window.count == window.size:
        place = find_place(window, window.arrived[window.oldest])
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


cdef int find_place(const Window& window, double value) noexcept nogil:
    """Return the first index of a value in the window's sorted values."""
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


cdef double compute_middle_mean(const Window& window) noexcept nogil:
    """Return the interquartile mean of the window's values; the smaller of two values."""
    cdef int cut = max(window.count // 4, 1)
    cdef double total = 0
    cdef int place
    if window.count < 3:
        return window.sorted[0]
    for place in range(cut, window.count - cut):
        # differences, since the values may be large and close to each other
        total += window.sorted[place] - window.sorted[cut]
    return window.sorted[cut] + total / (window.count - 2 * cut)


cdef double compute_mean(const Window& window) noexcept nogil:
    """Return the mean of the window's values, which are summed in the order of their arrival."""
    cdef double total = 0
    cdef int index
    for index in range(window.count):
        total += window.arrived[(window.oldest + index) % window.count]
    return total / window.count


cdef double compute_typical(const Window& window) noexcept nogil:
    """Return the mean of the values that differ by less than half from the value at rank 3/8.

    The rank is below the median, since disturbances make send intervals longer.
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


# ---------------- the age of a packet on arrival, on two clocks that may not agree
# A strategy that draws the present predicts a received state forward by its age. The receiver's
# time minus the timestamp is that age only if both clocks agree; a clock that runs 1 % fast is 6 s
# off after ten minutes.


# The largest plausible latency, seconds; anything above is a clock difference.
cdef double BELIEVABLE = 0.5

# The least age decays at this rate, to follow a slow clock: 2 % is more than clocks drift, and
# amounts to milliseconds over a burst of jitter.
cdef double FORGETTING = 0.02


@cython.final
cdef class PacketAge:
    """The age of each packet in seconds, by one of four rules.

    stamp: the receiver's time minus the time at which the state was true, for clocks that agree.
    absolute: the same without its sign, as Photon's scripts have it.
    arrival: 0, every packet counts as new. auto: like stamp as long as the smallest recent age
    lies between 0 and 0.5 s, which a network can cause; anything beyond that counts as a clock
    difference and is subtracted. If the clock is off from the first packet on, only differences
    between ages are used: the fastest packets then count as new. Packets
    without an arrival time keep the age that their timestamp gives, since their ``now`` holds no
    network delay.
    """

    def __init__(self, AgeSource source):
        self.source = source
        self.clear()

    cdef double measure(self, const Packet& packet, double now) noexcept nogil:
        """Return the age (s) of a packet that arrived at the receiver's time ``now``."""
        cdef double age = now - (packet.time - packet.delta)
        if self.source == ARRIVAL or not isfinite(age):
            return 0
        if self.source == ABSOLUTE:
            return fabs(age)
        if self.source == STAMP or isnan(packet.arrival):
            return age
        if isnan(self.least):
            self.least = age
            self.agree = 0 <= age <= BELIEVABLE
        else:
            self.least = min(self.least + FORGETTING * (now - self.measured), age)
        self.measured = now
        age -= self.least
        return age + clamped(self.least, 0, BELIEVABLE) if self.agree else age

    cdef void copy(self, PacketAge other) noexcept:
        """Copy the smallest age that another ``PacketAge`` has measured."""
        self.least, self.measured, self.agree = other.least, other.measured, other.agree

    cdef void clear(self) noexcept nogil:
        """Drop the measured ages."""
        self.least = NAN


# ---------------- moving averages of measurements: intervals, offsets, round-trip times


@cython.final
cdef class MovingAverage:
    """An exponential moving average: each sample counts for ``weight`` (0 to 1), the rest stays.

    The first sample is taken as it is. ``value`` is NaN before it. ``variance`` is averaged alike:

        variance = (1 - weight) * (variance + weight * (sample - value)^2)
    """

    def __init__(self, double weight=0.1):
        if not 0 < weight <= 1:
            raise ValueError("a weight must be above 0 and at most 1")
        self.weight = weight
        self.clear()

    cpdef double add(self, double sample) noexcept nogil:
        """Update the average by a sample, and return it."""
        cdef double difference = sample - self.value
        self.count += 1
        if self.count == 1:
            self.value = sample
        else:
            self.value += difference * self.weight
            self.variance = (1 - self.weight) * (
                self.variance + self.weight * difference * difference)
        return self.value

    cdef void copy(self, MovingAverage other) noexcept:
        """Copy value, variance and count of another average."""
        self.value, self.variance, self.count = other.value, other.variance, other.count

    cpdef void clear(self) noexcept nogil:
        """Drop all samples."""
        self.value = NAN
        self.variance = 0
        self.count = 0


@cython.final
cdef class WeightedTimedAverage:
    """The moving average of RoboCat Action: a sample counts for the time it stands for.

        fraction = min(elapsed / duration, 1)
        value    = value * (1 - fraction) + sample * fraction

    ``duration`` is in seconds. It starts at 0 at the time ``now``.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), WeightedTimedMovingAverage.
    """

    def __init__(self, double duration=1.0, double now=0.0):
        if not duration > 0:
            raise ValueError("a duration must be longer than 0 s")
        self.duration = duration
        self.start(0, now)

    cpdef void start(self, double value, double now) noexcept nogil:
        """Restart the average with ``value`` at the time ``now``."""
        self.value = value
        self.updated = now

    cpdef double add(self, double sample, double now) noexcept nogil:
        """Update the average by a sample at the time ``now``, and return it."""
        cdef double fraction = min((now - self.updated) / self.duration, 1.0)
        self.updated = now
        self.value = self.value * (1 - fraction) + sample * fraction
        return self.value


# ---------------- keeping in step with a sender: the clock of the platformer log
# Source: "Multiplayer Platformer Log #5 - Entity Interpolation", class TimeSyncer. The log counts
# in milliseconds, this in seconds.


@cython.final
cdef class PhaseLockedLoop:
    """A clock that is kept in step with updates sent at regular intervals.

    It needs no timestamps: it predicts the time of the next update, and the difference to the
    real one (the phase detector), summed with decay (the filter), shifts the clock slightly (the
    oscillator):

        difference = expected - time(now)
        integrator = integrator * decay + difference
        drift     += clamp(integrator * gain, -limit, limit)
        expected  += step

    ``start`` it at the first update and call ``server_update`` at each later one. ``step`` is the
    time between two updates in seconds, ``limit`` the largest shift per update in seconds.
    """

    def __init__(self, double step=0.1, double decay=0.9, double gain=0.01, double limit=0.0001):
        self.step = step
        self.decay = decay
        self.gain = gain
        self.limit = limit
        self.start(0)

    cpdef void start(self, double now) noexcept nogil:
        """Start the loop at the first update, which arrived at the local time ``now``."""
        self.drift = 0
        self.integrator = 0
        self.started = now
        self.expected = now + self.step
        self.ticks = 0

    cpdef double server_update(self, double now) noexcept nogil:
        """Correct the clock by the next update.

        Return how early (above 0) or late the update was, s.
        """
        cdef double difference = self.expected - self.time(now)
        self.integrator = self.integrator * self.decay + difference
        self.drift += clamped(self.integrator * self.gain, -self.limit, self.limit)
        self.expected += self.step
        self.ticks += 1
        return difference

    cdef void copy(self, PhaseLockedLoop other) noexcept:
        """Copy the state of another loop with the same settings."""
        self.drift, self.integrator, self.expected = other.drift, other.integrator, other.expected
        self.started, self.ticks = other.started, other.ticks

    cpdef double time(self, double now) noexcept nogil:
        """Return this clock's time at the local time ``now``."""
        return now + self.drift

    cpdef double since_start(self, double now) noexcept nogil:
        """Return the seconds on this clock from the first update to the local time ``now``."""
        return self.time(now) - self.started

    cpdef double server_time(self, double delta) noexcept nogil:
        """Return the server's time of the newest update's state, which was ``delta`` seconds old
        when sent.
        """
        return self.ticks * self.step - delta
