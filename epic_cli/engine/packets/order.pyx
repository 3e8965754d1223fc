"""The order of packets in a recording: entities one after the other, packets sorted as sent."""

from libc.math cimport INFINITY, NAN, isnan
from libc.stdint cimport int32_t
from libcpp.algorithm cimport stable_sort


# So many packets of an entity stand together where a table is grouped.
cdef size_t TOGETHER = 3

# An entity begins again where its first time lies in this part of what there was.
cdef double BEGINNING = 0.2


cdef class Groups:
    """Finds where a recording that is grouped by entity goes on to its next one.

    All packets of an entity stand together there, and times go back to the beginning from one to
    the next: that is the order of the file, not lateness.
    """

    cdef readonly int32_t seen      # entities: their numbers are those of their appearance
    cdef int32_t entity
    cdef size_t run
    cdef bint mixed
    cdef double first, newest

    def __init__(self):
        self.entity = -1
        self.first, self.newest = INFINITY, -INFINITY

    def next_group(self, PacketBlock block not None):
        """The index of the first packet of another group; the block's size: there is none."""
        cdef size_t index, run = self.run           # copies, which stay in registers
        cdef int32_t entity = self.entity
        cdef double time, first = self.first, newest = self.newest
        cdef const Packet* packet
        for index in range(block.items.size()):
            packet = &block.items[index]
            time = packet.time if isnan(packet.arrival) else packet.arrival
            if packet.entity != entity:
                if packet.entity < self.seen:
                    self.mixed = True       # one of before: they are not grouped
                elif not self.mixed and run >= TOGETHER and time <= (
                    first + BEGINNING * (newest - first)
                ) and newest > first and stands_together(block, index):
                    self.run, self.first, self.newest = 0, INFINITY, -INFINITY
                    self.entity = -1
                    return index
                self.seen = max(self.seen, packet.entity + 1)
                entity = packet.entity
                run = 0
            run += 1
            first = min(first, time)
            newest = max(newest, time)
        self.run, self.entity, self.first, self.newest = run, entity, first, newest
        return block.items.size()


cdef bint stands_together(PacketBlock block, size_t begin) noexcept:
    """Whether the packets behind are of the same entity, as far as they have come."""
    cdef size_t index
    for index in range(begin, min(begin + TOGETHER, block.items.size())):
        if block.items[index].entity != block.items[begin].entity:
            return False
    return True


cdef bint arrived_before(const Packet& a, const Packet& b) noexcept nogil:
    return a.arrival < b.arrival


def sort_by_arrival(PacketBlock block not None):
    """Sorts packets that all have an arrival time by it."""
    cdef size_t index
    cdef bint sorted = True
    for index in range(block.items.size()):
        if isnan(block.items[index].arrival):
            return
        sorted &= index == 0 or block.items[index - 1].arrival <= block.items[index].arrival
    if not sorted:
        stable_sort(block.items.begin(), block.items.end(), &arrived_before)


def split_block(PacketBlock block not None, size_t index):
    """Cuts the packets from an index on off a block; returns them as a block of the same text."""
    cdef PacketBlock rest = PacketBlock(block.entities)
    rest.items.assign(block.items.begin() + index, block.items.end())
    block.items.resize(index)
    rest.text, rest.find_field = block.text, block.find_field
    return rest


def arrivals_of(PacketBlock block not None):
    """The first and the last arrival (s) in a block; NaN where a packet has none."""
    cdef double first = INFINITY, last = -INFINITY
    cdef size_t index
    for index in range(block.items.size()):
        if isnan(block.items[index].arrival):
            return NAN, NAN
        first = min(first, block.items[index].arrival)
        last = max(last, block.items[index].arrival)
    return first, last


def join_by_arrival(PacketBlock block not None, PacketBlock other not None, double until):
    """Adds another block's packets, sorts all by arrival, and cuts off those from a time (s) on.

    Returns these as a block of their own.
    """
    cdef size_t base = len(block.text)
    cdef size_t index
    cdef PacketBlock rest
    cdef Packet packet
    cdef list texts = []
    block.text += other.text
    block.refusals += other.refusals
    for packet in other.items:
        packet.offset += base
        block.items.push_back(packet)
    stable_sort(block.items.begin(), block.items.end(), &arrived_before)
    index = block.items.size()
    while index and block.items[index - 1].arrival >= until:
        index -= 1
    rest = split_block(block, index)
    base = 0
    for index in range(rest.items.size()):
        texts.append(rest.line_text(index))
        rest.items[index].offset = base
        base += rest.items[index].length
    rest.text = b"".join(texts)
    return rest
