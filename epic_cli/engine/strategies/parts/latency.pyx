"""Estimating round-trip time, latency and packet period from what arrives."""

cimport cython
from libc.math cimport NAN, isnan


@cython.final
cdef class MovingAverage:
    """An exponential moving average: each sample counts for ``weight`` (0 to 1), the rest stays.

    The first sample is taken whole. ``value`` is NaN before it. ``variance`` is averaged alike:

        variance = (1 - weight) * (variance + weight * (sample - value)^2)
    """

    def __init__(self, double weight=0.1):
        if not 0 < weight <= 1:
            raise ValueError("a weight is above 0 and at most 1")
        self.weight = weight
        self.clear()

    cpdef double add(self, double sample) noexcept nogil:
        """Takes a sample and returns the average."""
        cdef double difference = sample - self.value
        self.count += 1
        if self.count == 1:
            self.value = sample
        else:
            self.value += difference * self.weight
            self.variance = (1 - self.weight) * (
                self.variance + self.weight * difference * difference)
        return self.value

    cpdef void clear(self) noexcept nogil:
        """Forgets all samples."""
        self.value = NAN
        self.variance = 0
        self.count = 0


@cython.final
cdef class WeightedTimedAverage:
    """The moving average of the seed book's program: a sample counts for the time it stands for.

        fraction = min(elapsed / duration, 1)
        value    = value * (1 - fraction) + sample * fraction

    ``duration`` is in seconds. It starts at 0 at the time ``now``.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), WeightedTimedMovingAverage.
    """

    def __init__(self, double duration=1.0, double now=0.0):
        if not duration > 0:
            raise ValueError("a duration is longer than 0 s")
        self.duration = duration
        self.start(0, now)

    cpdef void start(self, double value, double now) noexcept nogil:
        """Begins anew with a value at the time ``now``."""
        self.value = value
        self.updated = now

    cpdef double add(self, double sample, double now) noexcept nogil:
        """Takes a sample at the time ``now`` and returns the average."""
        cdef double fraction = min((now - self.updated) / self.duration, 1.0)
        self.updated = now
        self.value = self.value * (1 - fraction) + sample * fraction
        return self.value


@cython.final
cdef class LatencyEstimator:
    """Measures how old what arrives is, in the two ways that the seed book describes.

    ``echo``: the peer sends back the timestamp of our newest packet that it has processed; our
    clock minus that timestamp is the round-trip time, and half of it the age of what arrives. This
    works whatever the peer's clock says. ``packet``: our clock minus the sender's timestamp is the
    age, if the clocks agree; the time between two arrivals is the packet period. Averages are
    moving ones with ``weight``; all times are in seconds.
    """

    def __init__(self, double weight=0.1):
        self.round_trip = MovingAverage(weight)
        self.one_way = MovingAverage(weight)
        self.interval = MovingAverage(weight)
        self.clear()

    cpdef double echo(self, double sent, double now) noexcept nogil:
        """Our timestamp ``sent`` came back at the time ``now``; returns half the averaged RTT."""
        return self.round_trip.add(now - sent) / 2

    cpdef double packet(self, double timestamp, double arrival) noexcept nogil:
        """A packet came in; returns the averaged latency."""
        if not isnan(self.last_arrival):
            self.interval.add(arrival - self.last_arrival)
        self.last_arrival = arrival
        return self.one_way.add(arrival - timestamp)

    cpdef void clear(self) noexcept nogil:
        """Forgets everything."""
        self.round_trip.clear()
        self.one_way.clear()
        self.interval.clear()
        self.last_arrival = NAN
