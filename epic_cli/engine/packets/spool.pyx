"""Samples that wait until it is known in which order they are drawn."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


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
