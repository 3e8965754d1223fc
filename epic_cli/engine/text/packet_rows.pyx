"""Packets to rows of packet text, tables and JSON lines, or to columns, a block at once."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stddef cimport size_t
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Packet, PacketBlock, string_view, view


cdef extern from "text/decimal.h" namespace "epic" nogil:
    cdef enum class PacketFormat(int32_t):
        TEXT
        TABLE
        JSON

cdef extern from "text/packet_row.h" namespace "epic" nogil:
    cdef cppclass PacketRow:
        PacketFormat format
        char separator
        uint64_t columns
        double shift
        bint usual(const Packet&)
        char* append_to(char*, const Packet&, string_view)

    enum:
        LONGEST_PACKET "epic::kLongestPacketRow"


cdef extern from "text/packet_cell.h" namespace "epic" nogil:
    void put_cell(char*, const Packet&, int, double)

cdef enum:
    WRITTEN
    PASSED_OVER
    UNUSUAL


cdef class PacketRows:
    """A writer of plain rows of packets, which leaves all others to the caller.

    ``separator``: that of a table, which has columns for the ``requested`` fields beside the usual
    ones; empty: packet text, or with ``json`` lines of JSON. ``name_text`` is called once for each
    entity's name and returns its text in a row, or None to leave its packets. Packets of
    ``entities`` (none: all) with times in ``span`` (s, ends included) are written, others are
    skipped; ``shift`` (s) is added to the times written. A row of more than ``longest`` bytes is
    left to the caller.
    """

    cdef PacketRow row
    cdef object name_text
    cdef object entities
    cdef double start
    cdef double end
    cdef bint limited
    cdef size_t longest
    cdef vector[string] names
    cdef vector[int8_t] kinds
    cdef string out

    def __init__(self, name_text, size_t longest, *, str separator="", bint json=False,
                 requested=(), entities=(), span=None, double shift=0):
        self.name_text = name_text
        self.entities = entities
        self.limited = span is not None
        if span is not None:
            self.start, self.end = span
        self.longest = longest
        self.row.shift = shift
        for field in requested:
            self.row.columns |= <uint64_t>1 << <int>ALL_FIELDS.index(field)
        self.row.format = PacketFormat.JSON if json else PacketFormat.TEXT
        if separator:
            self.row.format = PacketFormat.TABLE
            self.row.separator = <char>ord(separator)

    def rows(self, PacketBlock block not None, size_t begin=0, list tails=None):
        """Return the rows from an index on, and the index of the first packet left over.

        All blocks are of one recording. ``tails`` has what follows the keys in each packet's row
        (``bytes``), or None where that packet is left.
        """
        cdef vector[string_view] behind_keys
        cdef vector[int8_t] left
        cdef bint tailed = tails is not None
        cdef size_t ending = 2 if self.row.format == PacketFormat.JSON else 1
        cdef size_t size = 0
        cdef size_t index = begin
        cdef size_t count = block.items.size()
        cdef size_t room
        cdef int32_t entity
        cdef const Packet* packet
        cdef char* place
        cdef char* behind
        self.learn(block)
        if tailed:
            for tail in tails:
                left.push_back(tail is None)
                behind_keys.push_back(view(b"" if tail is None else <bytes>tail))
        with nogil:
            while index < count:
                packet = &block.items[index]
                entity = packet.entity
                if self.is_passed_over(packet[0]):
                    index += 1
                    continue
                if not self.is_plain(packet[0]):
                    break
                room = LONGEST_PACKET + self.names[entity].size()
                if tailed:
                    if left[index]:
                        break
                    room += behind_keys[index].size()
                if self.out.size() < size + room:
                    self.out.resize(2 * size + room)
                place = &self.out[0] + size
                behind = self.row.append_to(
                    place, packet[0],
                    string_view(self.names[entity].data(), self.names[entity].size()))
                if tailed and behind_keys[index].size():
                    memcpy(behind - ending + behind_keys[index].size(), behind - ending, ending)
                    memcpy(behind - ending, behind_keys[index].data(), behind_keys[index].size())
                    behind += behind_keys[index].size()
                if <size_t>(behind - place) > self.longest:
                    break
                size += behind - place
                index += 1
        return (self.out.data()[:size] if size else b""), index

    def columns(self, PacketBlock block not None, size_t begin, fields):
        """Return the packets from an index on as columns, and the index of the first one left over.

        Each column is ``bytes`` of doubles (NaN: missing), or of 64-bit integers for sequence
        numbers (-1: missing), flags and the numbers of entities. Before those of the ``fields``
        stands the column of the packets' indices in the block.
        """
        cdef vector[int64_t] indices
        cdef size_t index = begin, count = block.items.size(), place
        cdef int field
        cdef bytes column
        cdef char* out
        self.learn(block)
        with nogil:
            indices.reserve(count - min(begin, count))
            while index < count:
                if not self.is_passed_over(block.items[index]):
                    if not self.is_plain(block.items[index]):
                        break
                    indices.push_back(index)
                index += 1
        found = [(<char*>indices.data())[:8 * indices.size()] if indices.size() else b""]
        for name in fields:
            field = ALL_FIELDS.index(name)
            column = PyBytes_FromStringAndSize(NULL, 8 * indices.size())
            out = column
            with nogil:
                for place in range(indices.size()):
                    put_cell(out + 8 * place, block.items[indices[place]], field, self.row.shift)
            found.append(column)
        return found, index

    cdef bint is_passed_over(self, const Packet& packet) noexcept nogil:
        return self.kinds[packet.entity] == PASSED_OVER or (
            self.limited and not self.start <= packet.time <= self.end
        )

    cdef bint is_plain(self, const Packet& packet) noexcept nogil:
        return self.kinds[packet.entity] != UNUSUAL and self.row.usual(packet)

    cdef int learn(self, PacketBlock block) except -1:
        """Write the names of entities that are new in a block, for the rows that follow."""
        cdef size_t number
        for number in range(self.kinds.size(), len(block.entities)):
            name = block.entities.name(<int32_t>number)
            text = self.name_text(name)
            self.names.push_back(b"" if text is None else text.encode())
            if self.entities and name not in self.entities:
                self.kinds.push_back(PASSED_OVER)
            else:
                self.kinds.push_back(UNUSUAL if text is None else WRITTEN)
        return 0
