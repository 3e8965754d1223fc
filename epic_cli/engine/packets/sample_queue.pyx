"""A queue of drawn samples, taken one by one or as columns."""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.math cimport NAN, isnan
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.deque cimport deque


cdef enum:
    DRAWN_NUMBERS = 6       # the position and the velocity
    TURN_NUMBERS = 7        # a rotation and a spin


cdef struct DrawnState:
    # A sample without its turn, which most recordings do not have.
    double time
    double[6] numbers       # the position and the velocity
    int32_t status
    int32_t entity


cdef class SampleQueue:
    """A first-in, first-out queue of drawn samples, which is filled block by block."""

    cdef deque[DrawnState] items
    cdef deque[OptionalTurn] turns      # of each sample, once one of them has a rotation
    cdef bint has_turns                 # any of the samples has a rotation

    def __len__(self):
        return self.items.size()

    def add(self, SampleBlock block not None):
        """Append the samples of a block."""
        cdef size_t index
        cdef DrawnState state
        cdef const Sample* sample
        for index in range(block.items.size()):
            sample = &block.items[index]
            state.time, state.status, state.entity = sample.time, sample.status, sample.entity
            memcpy(state.numbers, <const Motion*>sample, sizeof(state.numbers))
            if sample.turn.known() and not self.has_turns:
                self.has_turns = True
                self.turns.resize(self.items.size())
            self.items.push_back(state)
            if self.has_turns:
                self.turns.push_back(sample.turn)

    cdef Sample get_sample(self, size_t index) noexcept nogil:
        """Return the queued sample at this index."""
        cdef Sample sample = Sample()
        cdef const DrawnState* state = &self.items[index]
        memcpy(<Motion*>&sample, state.numbers, sizeof(state.numbers))
        sample.time, sample.status, sample.entity = state.time, state.status, state.entity
        if self.has_turns:
            sample.turn = self.turns[index]
        return sample

    def take(self, Entities entities not None):
        """Remove the first sample and return it as the Python API's ``Sample``.

        Raise ``IndexError`` if the queue is empty.
        """
        cdef Sample sample
        if self.items.empty():
            raise IndexError("the queue is empty")
        sample = self.get_sample(0)
        self.items.pop_front()
        if self.has_turns:
            self.turns.pop_front()
        return sample_to_python(sample, entities.name(sample.entity))

    def first(self, size_t count, Entities entities not None):
        """Return the first ``count`` samples as a list, without removing them."""
        cdef size_t index
        return [
            sample_to_python(self.get_sample(index), entities.name(self.items[index].entity))
            for index in range(min(count, self.items.size()))
        ]

    cdef double get_number(self, size_t row, size_t column) noexcept nogil:
        """Return one number of a sample: time (column 0), motion or rotation.

        NaN if it has none.
        """
        cdef const DrawnState* state = &self.items[row]
        if column == 0:
            return state.time
        if column > DRAWN_NUMBERS:
            if not self.has_turns or not self.turns[row].known():
                return NAN
            return (<const double*>&self.turns[row].value())[column - 1 - DRAWN_NUMBERS]
        return NAN if state.status == NONE else state.numbers[column - 1]

    def columns(self, list statuses not None, list names not None, bint turns):
        """Remove all samples and return them as Arrow buffers (validity, values[, texts]), one a
        column.

        The columns are the time, the position and the velocity (null where nothing is drawn), with
        ``turns`` the rotation and the spin, then the status and the entity's name. ``statuses`` and
        ``names`` hold these texts by number, as ``bytes``.
        """
        cdef size_t column
        found = []
        for column in range(1 + DRAWN_NUMBERS + (TURN_NUMBERS if turns else 0)):
            values = self.pack_numbers(column)
            found.append((find_known(values), values))
        found.append(self.pack_texts(statuses, True))
        found.append(self.pack_texts(names, False))
        self.items.clear()
        self.turns.clear()
        return found

    def arrays(self, bint turns):
        """Remove all samples and return them as columns of bytes.

        The columns are doubles, as in ``columns`` but NaN for null, then the numbers of statuses
        and entities as 32-bit integers.
        """
        cdef size_t column, row, count = self.items.size()
        cdef bytes statuses = PyBytes_FromStringAndSize(NULL, 4 * count)
        cdef bytes entities = PyBytes_FromStringAndSize(NULL, 4 * count)
        cdef int32_t* status = <int32_t*>PyBytes_AsString(statuses)
        cdef int32_t* entity = <int32_t*>PyBytes_AsString(entities)
        found = []
        for column in range(1 + DRAWN_NUMBERS + (TURN_NUMBERS if turns else 0)):
            found.append(self.pack_numbers(column))
        for row in range(count):
            status[row], entity[row] = self.items[row].status, self.items[row].entity
        self.items.clear()
        self.turns.clear()
        return [*found, statuses, entities]

    cdef bytes pack_numbers(self, size_t column):
        """Return a numeric column of all samples as the bytes of doubles."""
        cdef size_t row
        cdef bytes content = PyBytes_FromStringAndSize(NULL, 8 * self.items.size())
        cdef double* values = <double*>PyBytes_AsString(content)
        with nogil:
            for row in range(self.items.size()):
                values[row] = self.get_number(row, column)
        return content

    cdef tuple pack_texts(self, list texts, bint by_status):
        """Return each sample's status or entity name as Arrow's (None, offsets, text)."""
        cdef size_t count = self.items.size(), row
        cdef bytes offsets = PyBytes_FromStringAndSize(NULL, 8 * (count + 1))
        cdef int64_t* ends = <int64_t*>PyBytes_AsString(offsets)
        cdef vector[char] content
        cdef vector[string_view] views
        cdef string_view text
        cdef bytes encoded
        for encoded in texts:
            views.push_back(view(encoded))
        ends[0] = 0
        for row in range(count):
            text = views.at(self.items[row].status if by_status else self.items[row].entity)
            content.insert(content.end(), text.data(), text.data() + text.size())
            ends[row + 1] = <int64_t>content.size()
        return None, offsets, content.data()[:content.size()] if content.size() else b""


cdef bytes find_known(bytes doubles):
    """Return Arrow's validity bitmap of doubles (NaN: null), or None if all are valid."""
    cdef size_t count = <size_t>len(doubles) // 8, row
    cdef const double* values = <const double*>PyBytes_AsString(doubles)
    cdef bytes validity = bytes((count + 7) // 8)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(validity)
    cdef bint whole = True
    with nogil:
        for row in range(count):
            if isnan(values[row]):
                whole = False
            else:
                bits[row >> 3] |= 1 << (row & 7)
    return None if whole else validity
