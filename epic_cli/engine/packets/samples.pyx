"""Blocks of samples: what a strategy draws, tick by tick."""

from libc.math cimport NAN
from libc.string cimport memcpy


# A sample without its turn, which comes last.
cdef extern from *:
    """
    #include <cstddef>
    """
    enum:
        PLAIN_SAMPLE "offsetof(epic::Sample, turn)"


cdef void fill_turns(const vector[Sample]& samples, double* out) noexcept nogil:
    cdef size_t index
    cdef Turn turn
    for index in range(samples.size()):
        turn = Turn(Quaternion(NAN, NAN, NAN, NAN), Vec3[double](NAN, NAN, NAN))
        if samples[index].turn.known():
            turn = samples[index].turn.value()
        (<Turn*>(out + 7 * index))[0] = turn


cdef class SampleBlock:
    """Up to ``capacity`` ticks' worth of samples, to be filled and emptied again."""

    def __init__(self, size_t capacity=2048):
        if capacity < 1:
            raise ValueError("a block must hold at least one sample")
        self.capacity = capacity
        self.items.reserve(capacity)

    cdef bint full(self) noexcept nogil:
        return self.items.size() >= self.capacity

    def clear(self):
        """Empties the block."""
        self.items.clear()

    def __len__(self):
        return self.items.size()

    def samples(self, Entities entities):
        """The samples as a list of the Python API's ``Sample``."""
        cdef size_t index
        return [
            sample_to_python(self.items[index], entities.name(self.items[index].entity))
            for index in range(self.items.size())
        ]

    def copy(self):
        """A new block with these samples."""
        cdef SampleBlock copy = SampleBlock(max(self.items.size(), 1))
        copy.items.assign(self.items.begin(), self.items.end())
        return copy

    def rows(self):
        """The samples as bytes, 64 each: position, velocity, time; status and entity as int32."""
        cdef bytearray content = bytearray(self.items.size() * PLAIN_SAMPLE)
        cdef size_t index
        for index in range(self.items.size()):
            memcpy(<char*>content + index * PLAIN_SAMPLE, &self.items[index], PLAIN_SAMPLE)
        return bytes(content)

    def turns(self):
        """As bytes, seven numbers for each sample: its rotation and its spin, NaN without one."""
        cdef bytearray content = bytearray(self.items.size() * sizeof(Turn))
        fill_turns(self.items, <double*><char*>content)
        return bytes(content)

    def last(self, Entities entities):
        """The last of ``samples``; raises ``IndexError`` if the block is empty."""
        if self.items.empty():
            raise IndexError("the block is empty")
        return sample_to_python(self.items.back(), entities.name(self.items.back().entity))
