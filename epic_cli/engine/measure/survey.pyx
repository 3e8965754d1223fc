"""Robust figures on how well times, positions and velocities of packets agree."""

from collections import namedtuple

from libc.math cimport NAN, fabs, floor, isfinite, rint, sqrt
from libcpp.algorithm cimport nth_element, sort
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Packet, PacketBlock, Turn, Vec3, dot


# Steps are judged in groups of this size, whose sum hides the rounding of positions.
cdef enum:
    STEPS = 4

# The orders of three axes; the first is their own.
cdef int[6][3] ORDERS = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]]

Survey = namedtuple(
    "Survey",
    "packets step latest whole moves velocities zeros stretches ratio cosines",
)


cdef struct Stretch:
    Vec3[double] moved          # displacement by the positions
    Vec3[double] driven         # displacement by the velocities
    double way                  # distance, along all bends
    int steps


def survey(PacketBlock block not None):
    """Survey a block's packets; return a ``Survey``.

    - ``packets``: how many are newer than those before of their entity; ``step``: the median time
      between them (s); ``latest``: the greatest time; ``whole``: all times are whole numbers;
    - ``moves``: steps in which the position changes; ``velocities``: packets with a velocity;
      ``zeros``: those of them with the velocity 0;
    - ``stretches``: runs of four steps that can be judged: the velocities at the two ends of each
      step differ by less than half of their mean, and all of them together lead somewhere. There
      the integral of the velocities (by trapezoids) is the way of the positions to about a tenth;
    - ``ratio``: the median of that integral's length over the positions' way;
    - ``cosines``: the median cosines of the angle between the two, with the velocity's axes as they
      are, and in the orders xzy, yxz, zyx, yzx, zxy.
    """
    cdef vector[double] steps, ratios
    cdef vector[vector[double]] cosines
    cdef vector[Packet*] newest
    cdef vector[Stretch] stretches
    cdef Packet* packet
    cdef Packet* before
    cdef Stretch* stretch
    cdef Vec3[double] way, mean, change, turned
    cdef size_t index, order, entity
    cdef size_t moves = 0, velocities = 0, zeros = 0
    cdef double step, latest = 0, length, driven
    cdef bint whole = True
    cosines.resize(6)
    for index in range(block.items.size()):
        packet = &block.items[index]
        if not isfinite(packet.time) or not isfinite(dot(packet.position, packet.position)):
            continue
        if packet.has_velocity:
            velocities += 1
            zeros += dot(packet.velocity, packet.velocity) == 0
        latest = max(latest, fabs(packet.time))
        whole = whole and floor(packet.time) == packet.time
        entity = packet.entity
        if entity >= newest.size():
            newest.resize(entity + 1)
            stretches.resize(entity + 1)
        before = newest[entity]
        if before != NULL and packet.time <= before.time:
            continue
        newest[entity] = packet
        stretch = &stretches[entity]
        if before == NULL:
            begin(stretch)
            continue
        if packet.teleport:
            begin(stretch)
            continue
        step = packet.time - before.time
        steps.push_back(step)
        way = packet.position - before.position
        moves += dot(way, way) > 0
        if not (packet.has_velocity and before.has_velocity):
            begin(stretch)
            continue
        mean = (packet.velocity + before.velocity) * 0.5
        change = packet.velocity - before.velocity
        if not dot(change, change) < 0.25 * dot(mean, mean):
            begin(stretch)
            continue
        stretch.moved = stretch.moved + way
        stretch.driven = stretch.driven + mean * step
        stretch.way += sqrt(dot(mean, mean)) * step
        stretch.steps += 1
        if stretch.steps < STEPS:
            continue
        length = sqrt(dot(stretch.moved, stretch.moved))
        driven = sqrt(dot(stretch.driven, stretch.driven))
        if driven > 0.5 * stretch.way:
            ratios.push_back(driven / length if length > 0 else 1e300)
            for order in range(6):
                turned = in_order(stretch.driven, order)
                cosines[order].push_back(
                    dot(stretch.moved, turned) / (length * driven) if length > 0 else 0
                )
        begin(stretch)
    middles = tuple([median(cosines[order]) for order in range(6)])
    return Survey(
        steps.size(), median(steps), latest, whole, moves, velocities, zeros, ratios.size(),
        median(ratios), middles,
    )


cdef void begin(Stretch* stretch) noexcept:
    stretch.moved = Vec3[double](0, 0, 0)
    stretch.driven = Vec3[double](0, 0, 0)
    stretch.way = 0
    stretch.steps = 0


cdef Vec3[double] in_order(Vec3[double] given, size_t order) noexcept:
    cdef double[3] axes = [given.x, given.y, given.z]
    cdef Vec3[double] turned
    turned.x = axes[ORDERS[order][0]]
    turned.y = axes[ORDERS[order][1]]
    turned.z = axes[ORDERS[order][2]]
    return turned


cdef double median(vector[double]& values):
    """Return the median; 0 of no values."""
    if values.empty():
        return 0
    cdef size_t middle = values.size() // 2
    nth_element(values.begin(), values.begin() + middle, values.end())
    return values[middle]


# ---------------- medians of windows that move over a series


def running_medians(const double[::1] values not None, size_t width, size_t stride,
                    double[:] medians not None):
    """Write the medians of windows of ``width`` values, ``stride`` apart, to ``medians``.

    As many windows as ``medians`` has room for; ``ValueError`` where there are not this many. The
    values are no NaN. A window is kept in order: from one to the next only ``stride`` values go and
    come.
    """
    cdef size_t window, index, begin
    cdef size_t count = medians.shape[0]
    cdef size_t middle = width // 2
    cdef vector[double] ordered
    cdef double* numbers
    cdef const double* first
    if width < 1 or stride < 1:
        raise ValueError("width and stride must be at least 1")
    if count and (count - 1) * stride + width > <size_t>values.shape[0]:
        raise ValueError("too few values for this many windows")
    if count == 0:
        return
    ordered.resize(width)
    numbers = ordered.data()
    first = &values[0]
    for window in range(count):
        begin = window * stride
        if window == 0 or stride >= width:
            for index in range(width):
                numbers[index] = first[begin + index]
            sort(ordered.begin(), ordered.end())
        else:
            for index in range(stride):
                exchange(numbers, width, first[begin - stride + index],
                         first[begin + width - stride + index])
        if width % 2:
            medians[window] = numbers[middle]
        else:
            medians[window] = (numbers[middle - 1] + numbers[middle]) / 2


cdef void exchange(double* ordered, size_t width, double gone, double come) noexcept nogil:
    """Replace a value in a sorted window by another value."""
    cdef size_t place = 0
    while ordered[place] < gone:
        place += 1
    while place + 1 < width and ordered[place + 1] < come:
        ordered[place] = ordered[place + 1]
        place += 1
    while place > 0 and ordered[place - 1] > come:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = come


# ---------------- packets as one table of numbers


cdef enum:
    COLUMNS = 10


def table(PacketBlock block not None, double[:, ::1] numbers not None):
    """Write the packets to ten rows of ``numbers``, in their order.

    They are time, x, y, z, vx, vy, vz (NaN: none), arrival (NaN: none), sequence number (NaN: none;
    exact below 2^53) and teleport (0 or 1).
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef Packet* packet
    if numbers.shape[0] != COLUMNS or numbers.shape[1] != count:
        raise ValueError("the table must have ten columns, and a row for each packet")
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
    """Write each packet's rotation (x y z w, of any length) and spin (rad/s).

    NaN without one. ``numbers`` has seven columns, or four without the spins.
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef bint spins = numbers.shape[1] == 7
    cdef Packet* packet
    cdef Turn turn
    if numbers.shape[0] != count or numbers.shape[1] not in (4, 7):
        raise ValueError("the table must have four or seven columns, and a row for each packet")
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
    """Clean numbers for computing, in place.

    What is not below ``limit`` becomes NaN, what is nearer to zero than ``least`` zero; with
    ``steps``, the others are rounded to this many in one.
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
