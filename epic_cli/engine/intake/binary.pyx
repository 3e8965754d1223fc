"""A reader of binary records from many datagrams at once."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, EntityNames, Packet, PacketBlock


cdef extern from "intake/record_program.h" namespace "epic" nogil:
    const char** PART_NAMES "epic::kPartNames"
    int PART_COUNT

    cdef cppclass RecordStep:
        int32_t code
        int32_t part
        char kind
        cbool big
        uint64_t mask
        double scale
        double per
        double add
        int32_t source
        int32_t variable
        int32_t jump
        uint64_t number
        cbool checked
        uint64_t value
        string text
        int32_t shift

    cdef cppclass RecordStop:
        RecordStop()
        int32_t why
        int32_t step
        size_t place
        uint64_t record
        int64_t value

    cdef cppclass RecordProgram:
        vector[RecordStep] steps
        RecordStop read(const char*, const char*, uint32_t, EntityNames&,
                        vector[Packet]&) except +


# The names of what a number becomes (keys.py).
PARTS = tuple([PART_NAMES[part].decode() for part in range(PART_COUNT)])


cdef class RecordReader:
    """A reader that runs a program of ``steps`` (``record_program.h``) on each datagram.

    A step is a tuple: the operation, one of ``PARTS`` or an empty text, the type's letter as in
    Python's ``struct``, big-endian or not, a mask, a factor, a divisor and a summand, the source
    and the target variable, the step to jump to, a number of bytes or items, and the expected value
    or None.
    """

    cdef readonly Entities entities
    cdef RecordProgram program

    def __init__(self, steps):
        cdef RecordStep step
        self.entities = Entities()
        for (step.code, part, kind, step.big, step.mask, step.scale, step.per, step.add,
             step.source, step.variable, step.jump, step.number, value) in steps:
            step.part = PARTS.index(part) if part else -1
            step.kind = <char>ord(kind or "\0")
            step.shift = 0
            while step.mask and not step.mask >> step.shift & 1:
                step.shift += 1
            step.checked = value is not None
            step.value = value if isinstance(value, int) else 0
            step.text = value if isinstance(value, bytes) else b""
            self.program.steps.push_back(step)

    def read(self, list datagrams not None):
        """Read the packets of datagrams; return a ``PacketBlock`` and the refused datagrams.

        The packets' places are offsets in the joined datagrams. A refused datagram is a tuple: its
        number, why (``Why`` in ``record_program.h``), the step and the byte, the record (from 1; 0:
        none), and the value that was found there.
        """
        cdef PacketBlock block = PacketBlock(self.entities)
        cdef bytes joined = b"".join(datagrams)
        cdef const char* text = joined
        cdef size_t begin = 0
        cdef size_t before
        cdef RecordStop stop
        cdef bytes data
        stops = []
        block.text = joined
        for number, data in enumerate(datagrams):
            before = block.items.size()
            stop = self.program.read(text + begin, text + begin + len(data), <uint32_t>begin,
                                     self.entities.names, block.items)
            begin += len(data)
            if stop.why:
                block.items.resize(before)
                found = stop.why, stop.step, stop.place, stop.record, stop.value
                stops.append((number, *found))
        return block, stops
