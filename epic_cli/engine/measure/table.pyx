"""Packets as one table of numbers, for whoever looks at their times and places together."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport NAN
from libc.string cimport memcpy

from epic_cli.engine.packets cimport Packet, PacketBlock


cdef enum:
    COLUMNS = 10


def table(PacketBlock block not None):
    """The packets in their order as bytes of doubles: ten columns, one after the other.

    They are time, x, y, z, vx, vy, vz (NaN: none), arrival (NaN: none), sequence number (NaN:
    none; exact below 2^53) and teleport (0 or 1).
    """
    cdef size_t count = block.items.size(), index, column
    cdef bytes numbers = PyBytes_FromStringAndSize(NULL, count * COLUMNS * sizeof(double))
    cdef char* begin = numbers
    cdef double[COLUMNS] row
    cdef Packet* packet
    for index in range(count):
        packet = &block.items[index]
        row[0] = packet.time
        row[1], row[2], row[3] = packet.position.x, packet.position.y, packet.position.z
        row[4] = packet.velocity.x if packet.has_velocity else NAN
        row[5] = packet.velocity.y if packet.has_velocity else NAN
        row[6] = packet.velocity.z if packet.has_velocity else NAN
        row[7] = packet.arrival
        row[8] = packet.sequence if packet.sequence >= 0 else NAN
        row[9] = packet.teleport
        for column in range(COLUMNS):
            memcpy(begin + (column * count + index) * sizeof(double), &row[column], sizeof(double))
    return numbers
