"""Velocities for packets without one, for output formats that need it."""

from libcpp.vector cimport vector


cdef class VelocityFiller:
    """Gives packets the estimate that strategies get: from the entity's packets before each.

    One for a whole recording; its blocks come in their order.
    """

    cdef vector[VelocityEstimate] entities

    def fill(self, PacketBlock block not None):
        """Fills the block's packets in place; how many of them had no velocity."""
        cdef size_t index, filled = 0
        cdef Packet* packet
        for index in range(block.items.size()):
            packet = &block.items[index]
            if <size_t>packet.entity >= self.entities.size():
                self.entities.resize(packet.entity + 1)
            if packet.has_velocity:
                self.entities[packet.entity].note(packet[0], packet.velocity)
            else:
                self.entities[packet.entity].fill(packet[0])
                filled += 1
        return filled
