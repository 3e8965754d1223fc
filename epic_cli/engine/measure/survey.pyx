"""Robust figures on how well times, positions and velocities of packets agree."""

from libc.math cimport fabs, floor, isfinite, sqrt
from libcpp.algorithm cimport nth_element
from libcpp.vector cimport vector

from collections import namedtuple

from epic_cli.engine.packets cimport Packet, PacketBlock, Vec3, dot


# So many steps are looked at together: rounded positions do not show in their sum.
cdef enum:
    STEPS = 4

# The orders of three axes; the first is their own.
cdef int[6][3] ORDERS = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]]

Survey = namedtuple(
    "Survey",
    "packets step latest whole moves velocities zeros stretches ratio cosines",
)


cdef struct Stretch:
    Vec3[double] moved          # by the positions
    Vec3[double] driven         # by the velocities
    double way                  # how far, along all bends
    int steps


def survey(PacketBlock block not None):
    """A ``Survey`` of a block's packets.

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
    """The middle one; 0 of none."""
    if values.empty():
        return 0
    cdef size_t middle = values.size() // 2
    nth_element(values.begin(), values.begin() + middle, values.end())
    return values[middle]
