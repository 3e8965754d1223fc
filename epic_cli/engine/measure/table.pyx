"""Packets as one table of numbers."""

from libc.math cimport NAN, fabs, rint

from epic_cli.engine.packets cimport Packet, PacketBlock, Turn


cdef enum:
    COLUMNS = 10


def table(PacketBlock block not None, double[:, ::1] numbers not None):
    """Fills in the packets in their order: ten columns, each a row of ``numbers``.

    They are time, x, y, z, vx, vy, vz (NaN: none), arrival (NaN: none), sequence number (NaN:
    none; exact below 2^53) and teleport (0 or 1).
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef Packet* packet
    if numbers.shape[0] != COLUMNS or numbers.shape[1] != count:
        raise ValueError("the table has ten columns, and a row for each packet")
    for index in range(count):
        packet = &block.items[index]
        numbers[0, index] = packet.time
        numbers[1, index] = packet.position.x
        numbers[2, index] = packet.position.y
        numbers[3, index] = packet.position.z
        numbers[4, index] = packet.velocity.x if packet.has_velocity else NAN
        numbers[5, index] = packet.velocity.y if packet.has_velocity else NAN
        numbers[6, index] = packet.velocity.z if packet.has_velocity else NAN
        numbers[7, index] = packet.arrival
        numbers[8, index] = packet.sequence if packet.sequence >= 0 else NAN
        numbers[9, index] = packet.teleport


def fill_rotations(PacketBlock block not None, double[:, ::1] numbers not None):
    """Fills in the rotation of each packet, x y z w, of whatever length, and its spin (rad/s).

    NaN without one. ``numbers`` has seven columns, or four without the spins.
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef bint spins = numbers.shape[1] == 7
    cdef Packet* packet
    cdef Turn turn
    if numbers.shape[0] != count or numbers.shape[1] not in (4, 7):
        raise ValueError("the table has four columns or seven, and a row for each packet")
    numbers[:, :] = NAN
    for index in range(count):
        packet = &block.items[index]
        if not packet.turn.known():
            continue
        turn = packet.turn.value()
        numbers[index, 0] = turn.rotation.x
        numbers[index, 1] = turn.rotation.y
        numbers[index, 2] = turn.rotation.z
        numbers[index, 3] = turn.rotation.w
        if spins and packet.has_spin:
            numbers[index, 4] = turn.spin.x
            numbers[index, 5] = turn.spin.y
            numbers[index, 6] = turn.spin.z


def tidy(double[:] numbers not None, double least, double limit, double steps=0):
    """Cleans numbers for computing, in place.

    What is not below ``limit`` becomes NaN, what is nearer to zero than ``least`` zero; with
    ``steps``, the others are rounded to so many in one.
    """
    cdef Py_ssize_t index
    cdef double number
    for index in range(numbers.shape[0]):
        number = numbers[index]
        if not fabs(number) < limit:
            number = NAN
        elif fabs(number) < least:
            number = 0
        elif steps:
            number = rint(number * steps) / steps
        numbers[index] = number
