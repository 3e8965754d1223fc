"""Samples as records of equal width in one buffer, for NumPy's structured arrays."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.math cimport NAN
from libc.stddef cimport size_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef enum:
    STATE_BYTES = 8 * 7     # the time, the position and the velocity
    TURN_BYTES = 8 * 7      # a rotation and a spin
    FIRST_RECORDS = 1024    # that there is room for at once


# The numbers of what is not drawn, or has no rotation.
cdef double[7] NOTHING = [NAN, NAN, NAN, NAN, NAN, NAN, NAN]


cdef class SampleRecords:
    """All samples of a replay as packed records of equal width, in one growing buffer.

    A record is the time, the position and the velocity (NaN where nothing is drawn), once a sample
    has a rotation that rotation and its spin (NaN: none), then the cells of the status and of the
    entity. ``statuses`` are cells of one width, by number; ``write_name`` returns the cell of an
    entity's name, and shorter cells are padded with zeros. The object is a buffer of the records;
    once the buffer has been requested, nothing can be added.
    """

    cdef char* place
    cdef size_t room                # bytes
    cdef bint given                 # the buffer has been asked for
    cdef string statuses
    cdef size_t status_width
    cdef object write_name
    cdef vector[string] names       # cells, by the numbers of entities
    cdef readonly size_t count
    cdef readonly size_t name_width
    cdef readonly bint has_turns

    def __init__(self, list statuses not None, write_name):
        self.statuses = b"".join(statuses)
        self.status_width = len(statuses[0])
        self.write_name = write_name
        self.name_width = len(write_name(""))

    def __dealloc__(self):
        free(self.place)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        cdef size_t size = self.count * self.get_width()
        cdef char* place
        if not self.given:
            self.given = True
            place = <char*>realloc(self.place, max(size, 1))
            if place != NULL:
                self.place = place
        PyBuffer_FillInfo(buffer, self, self.place, <Py_ssize_t>size, 0, flags)

    def add(self, SampleBlock block not None, Entities entities not None):
        """Append the samples of a block; ``entities`` names their entities."""
        cdef size_t width
        cdef const Sample* sample
        cdef size_t index
        cdef bint turning = self.has_turns
        if self.given:
            raise ValueError("the records are in use: no sample can be added")
        for index in range(block.items.size()):
            turning |= block.items[index].turn.known()
        self.learn_names(entities, turning)
        width = self.get_width()
        self.make_room((self.count + block.items.size()) * width)
        with nogil:
            for index in range(block.items.size()):
                sample = &block.items[index]
                self.write(self.place + self.count * width, sample[0])
                self.count += 1

    cdef size_t get_width(self) noexcept nogil:
        """Return the size of a record, bytes."""
        return (STATE_BYTES + (TURN_BYTES if self.has_turns else 0) + self.status_width
                + self.name_width)

    cdef int learn_names(self, Entities entities, bint turning) except -1:
        """Store the cells of new names; widen the records for longer names or for rotations."""
        cdef size_t number, name_width = self.name_width
        cdef bytes cell
        for number in range(self.names.size(), len(entities)):
            cell = self.write_name(entities.name(<int32_t>number))
            self.names.push_back(cell)
            name_width = max(name_width, len(cell))
        if name_width > self.name_width or turning != self.has_turns:
            self.widen(name_width, turning)
        return 0

    cdef int make_room(self, size_t size) except -1:
        """Grow the buffer to at least ``size`` bytes."""
        cdef size_t room = max(self.room, FIRST_RECORDS * self.get_width())
        cdef char* place
        while room < size:
            room *= 2
        if room > self.room:
            place = <char*>realloc(self.place, room)
            if place == NULL:
                raise MemoryError(f"no room for {room} bytes of samples")
            self.place, self.room = place, room
        return 0

    cdef int widen(self, size_t name_width, bint turning) except -1:
        """Copy all records into a buffer of wider records."""
        cdef size_t before = self.get_width(), row, width
        cdef size_t texts = self.status_width + self.name_width
        cdef bint fill = turning and not self.has_turns
        cdef char* source
        cdef char* target
        cdef char* old = self.place
        self.name_width, self.has_turns = name_width, turning
        if not self.count:
            return 0
        width = self.get_width()
        self.place = NULL
        self.room = 0
        try:
            self.make_room(self.count * width)
        except MemoryError:
            free(old)
            self.count = 0
            raise
        for row in range(self.count):
            source, target = old + row * before, self.place + row * width
            memset(target, 0, width)
            memcpy(target, source, STATE_BYTES)
            source, target = source + STATE_BYTES, target + STATE_BYTES
            if turning:
                memcpy(target, <const char*>NOTHING if fill else source, TURN_BYTES)
                source += 0 if fill else TURN_BYTES
                target += TURN_BYTES
            memcpy(target, source, texts)
        free(old)
        return 0

    cdef void write(self, char* place, const Sample& sample) noexcept nogil:
        """Write a sample's record to ``place``."""
        cdef const string* name = &self.names[sample.entity]
        memcpy(place, &sample.time, 8)
        if sample.status == NONE:
            memcpy(place + 8, NOTHING, 48)
        else:
            memcpy(place + 8, <const Motion*>&sample, 48)
        place += STATE_BYTES
        if self.has_turns:
            if sample.turn.known():
                memcpy(place, &sample.turn.value(), TURN_BYTES)
            else:
                memcpy(place, NOTHING, TURN_BYTES)
            place += TURN_BYTES
        memcpy(place, self.statuses.data() + sample.status * self.status_width, self.status_width)
        place += self.status_width
        memcpy(place, name.data(), name.size())
        memset(place + name.size(), 0, self.name_width - name.size())
