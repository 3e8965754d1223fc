"""Blocks of samples: what a strategy draws, tick by tick; those that wait for their order."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
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


cdef extern from "packets/spool.h" namespace "epic" nogil:
    cdef cppclass Spool:
        vector[char] memory
        void add(const Sample&) except +
        void next_group()
        void moved() except +
        size_t size()
        void begin(const char*) except +
        bint draw(vector[Sample]&, size_t) except +


# Bytes of samples that are held in memory; more of them go to a temporary file, up to the second.
cdef size_t IN_MEMORY = 8 << 20
cdef size_t IN_FILE = 1 << 30


cdef class SampleSpool:
    """Keeps the samples of one group after the other, and gives those of all in order of time.

    Up to 8 MiB are held in memory, and up to 1 GiB in a temporary file.
    """

    cdef Spool kept
    cdef object file
    cdef Py_buffer content
    cdef bint mapped

    def __dealloc__(self):
        if self.mapped:
            PyBuffer_Release(&self.content)

    def close(self):
        """Nothing is added any more: ends the use of the file, but for what is drawn of it."""
        if self.file is not None:
            self.file.close()

    def add(self, SampleBlock block not None):
        """Keeps the samples of this group; False: there is room for no more."""
        cdef size_t index
        for index in range(block.items.size()):
            self.kept.add(block.items[index])
        if self.kept.memory.size() < IN_MEMORY:
            return True
        if self.kept.size() > IN_FILE:
            return False
        try:
            if self.file is None:
                from tempfile import TemporaryFile  # slow to load

                self.file = TemporaryFile(buffering=0)
            written = self.file.write(
                (<const char*>self.kept.memory.data())[:self.kept.memory.size()])
        except OSError:
            return False                # what it has of them is not used
        if <size_t>written < self.kept.memory.size():
            return False
        self.kept.moved()
        return True

    def next_group(self):
        """The samples from now on are those of another group."""
        self.kept.next_group()

    def begin(self):
        """Begins to draw; nothing may be added from now on."""
        cdef const char* content = NULL
        if self.kept.size() > self.kept.memory.size():
            from mmap import ACCESS_READ, mmap

            PyObject_GetBuffer(mmap(self.file.fileno(), 0, access=ACCESS_READ), &self.content,
                               PyBUF_SIMPLE)
            self.mapped = True
            content = <const char*>self.content.buf
        self.close()
        self.kept.begin(content)

    def draw(self, SampleBlock out not None):
        """Fills ``out`` with the next samples; False: these were the last."""
        return self.kept.draw(out.items, out.capacity)
