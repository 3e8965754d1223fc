"""Moving averages of measurements: intervals, offsets, round-trip times."""

cimport cython
from libc.math cimport NAN


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
        """Drops all samples."""
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
        """Restarts with a value at the time ``now``."""
        self.value = value
        self.updated = now

    cpdef double add(self, double sample, double now) noexcept nogil:
        """Takes a sample at the time ``now`` and returns the average."""
        cdef double fraction = min((now - self.updated) / self.duration, 1.0)
        self.updated = now
        self.value = self.value * (1 - fraction) + sample * fraction
        return self.value
