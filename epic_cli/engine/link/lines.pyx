"""Simulated packets to packet text: the usual ones at once, any other one by somebody else."""

from libc.math cimport isnan
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Packet, PacketBlock, packet_to_python, string_view


cdef extern from "text/print_number.h" namespace "epic" nogil:
    char* append(char* out, const char* text)
    char* append_unsigned(char* out, uint64_t value)


cdef extern from "link/rounding.h" namespace "epic" nogil:
    char* append_millionths(char* out, double value)


cdef extern from "<cstring>" namespace "std" nogil:
    void* memcpy(void* out, const void* text, size_t length)


# The characters of a line without the name of its entity; and those of a name.
cdef size_t LONGEST_USUAL = 256
cdef size_t LONGEST_NAME = 512


cdef class UsualLines:
    """Prints packets whose numbers have up to six decimals, as those of a simulation have.

    ``print_line`` prints any packet as a line of bytes, and refuses names that cannot be written:
    it is asked for the first packet of each entity, and for those that are not usual.
    """

    cdef object print_line
    cdef vector[cbool] known
    cdef vector[char] out

    def __init__(self, print_line):
        self.print_line = print_line

    def rows(self, PacketBlock block not None):
        """The lines of a block's packets."""
        cdef size_t index
        cdef size_t size = 0
        cdef char* end
        cdef string_view name
        cdef bytes line
        cdef Packet* packet
        for index in range(block.items.size()):
            packet = &block.items[index]
            if self.out.size() < size + LONGEST_USUAL + LONGEST_NAME:
                self.out.resize(2 * size + LONGEST_USUAL + LONGEST_NAME)
            name = block.entities.names.name(packet.entity)
            end = NULL
            if self.is_known(packet.entity) and name.size() <= LONGEST_NAME:
                end = append_line(self.out.data() + size, packet[0], name)
            if end != NULL:
                size = end - self.out.data()
                continue
            line = self.print_line(packet_to_python(packet[0], block.entities.name(packet.entity)))
            self.known[packet.entity] = True
            if self.out.size() < size + len(line):
                self.out.resize(2 * size + len(line))
            memcpy(self.out.data() + size, <const char*>line, len(line))
            size += len(line)
        return self.out.data()[:size] if size else b""

    cdef bint is_known(self, size_t entity):
        if self.known.size() <= entity:
            self.known.resize(entity + 1)
        return self.known[entity]


cdef char* append_line(char* out, const Packet& packet, string_view name) noexcept nogil:
    """The end of the line; NULL: it is not usual."""
    cdef double[7] numbers
    cdef int index
    if not packet.has_velocity or packet.delta != 0 or isnan(packet.arrival):
        return NULL
    numbers = [packet.position.x, packet.position.y, packet.position.z,
               packet.velocity.x, packet.velocity.y, packet.velocity.z, packet.time]
    for index in range(7):
        if index in (3, 6):
            out = append(out, b" / ")
        elif index:
            out = append(out, b",")
        out = append_millionths(out, numbers[index])
        if out == NULL:
            return NULL
    out = append_millionths(append(out, b" arrival="), packet.arrival)
    if out == NULL:
        return NULL
    if name.size():
        out = append(out, b" entity=")
        memcpy(out, name.data(), name.size())
        out += name.size()
    if packet.sequence >= 0:
        out = append_unsigned(append(out, b" seq="), packet.sequence)
    if packet.teleport:
        out = append(out, b" teleport=1")
    return append(out, b"\n")
