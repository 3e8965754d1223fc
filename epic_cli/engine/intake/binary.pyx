"""Binary records to packets, many at once."""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string, to_string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, string_view


cdef extern from "intake/record_fields.h" namespace "epic" nogil:
    cdef struct RecordField:
        int32_t part
        char kind
        int32_t offset
        double scale

    void take_record(const char*, const vector[RecordField]&, cbool, Packet&, int64_t&)


# In the order of RecordPart (record_fields.h).
PARTS = (
    "x", "y", "z", "vx", "vy", "vz", "time", "id", "seq", "teleport",
    "qx", "qy", "qz", "qw", "wx", "wy", "wz",
)


cdef class RecordReader:
    """Reads records of ``size`` bytes; ``fields`` are names of ``PARTS`` with their kinds.

    A field is its name, the letter that Python's ``struct`` has for its type, its place in the
    record, and what it is multiplied by. The entity is named by the ``id``, a whole number.
    """

    cdef readonly Entities entities
    cdef vector[RecordField] fields
    cdef size_t size
    cdef bint big
    cdef bint has_velocity
    cdef char id_kind               # 0: none

    def __init__(self, fields, size_t size, bint big):
        cdef RecordField field
        self.entities = Entities()
        self.size = size
        self.big = big
        for name, kind, offset, scale in fields:
            field.part = PARTS.index(name)
            field.kind = <char>ord(kind)
            field.offset = offset
            field.scale = scale
            self.fields.push_back(field)
            if name == "id":
                self.id_kind = field.kind
            if name == "vx":
                self.has_velocity = True

    def block(self, bytes data not None):
        """The packets of whole records, each with its place in ``data``."""
        cdef PacketBlock block = PacketBlock(self.entities)
        cdef const char* text = data
        cdef size_t count = len(data) // self.size
        cdef size_t index
        cdef int64_t id = 0
        cdef Packet packet
        cdef string name
        block.text = data
        block.items.reserve(count)
        for index in range(count):
            packet = Packet()
            take_record(text + index * self.size, self.fields, self.big, packet, id)
            if self.id_kind == b"Q":
                name = to_string(<unsigned long long>id)
            elif self.id_kind:
                name = to_string(<long long>id)
            packet.entity = self.entities.names.number_of(string_view(name.data(), name.size()))
            packet.has_velocity = self.has_velocity
            packet.line = <int64_t>index + 1
            packet.offset = <uint32_t>(index * self.size)
            packet.length = <uint32_t>self.size
            block.items.push_back(packet)
        return block
