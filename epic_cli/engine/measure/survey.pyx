"""Robust statistics of how well a recording's times, positions and velocities agree."""

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
    "packets step latest whole moves velocities zeros judged_runs ratio cosines",
)


cdef struct StepRun:
    Vec3[double] moved          # displacement by the positions
    Vec3[double] driven         # displacement by the velocities
    double way                  # distance, along all bends
    int steps


def survey(PacketBlock block not None):
    """Measure how well times, positions and velocities of a block's packets agree.

    Return a ``Survey``.

    - ``packets``: packets newer than those before of their entity; ``step``: the median time
      between them (s); ``latest``: the greatest time; ``whole``: True if all times are whole;
    - ``moves``: steps in which the position changes; ``velocities``: packets with a velocity;
      ``zeros``: packets with the velocity 0;
    - ``judged_runs``: runs of four steps that can be judged: the velocities at the two ends of each
      step differ by less than half of their mean, and the run as a whole leads somewhere. There
      the integral of the velocities (by trapezoids) is the displacement to about a tenth;
    - ``ratio``: the median of that integral's length over the displacement's;
    - ``cosines``: the median cosines of the angle between the two, with the velocity's axes as they
      are, and in the orders xzy, yxz, zyx, yzx, zxy.
    """
    cdef vector[double] steps, ratios
    cdef vector[vector[double]] cosines
    cdef vector[Packet*] newest
    cdef vector[StepRun] step_runs
    cdef Packet* packet
    cdef Packet* before
    cdef StepRun* step_run
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
            step_runs.resize(entity + 1)
        before = newest[entity]
        if before != NULL and packet.time <= before.time:
            continue
        newest[entity] = packet
        step_run = &step_runs[entity]
        if before == NULL:
            reset_run(step_run)
            continue
        if packet.teleport:
            reset_run(step_run)
            continue
        step = packet.time - before.time
        steps.push_back(step)
        way = packet.position - before.position
        moves += dot(way, way) > 0
        if not (packet.has_velocity and before.has_velocity):
            reset_run(step_run)
            continue
        mean = (packet.velocity + before.velocity) * 0.5
        change = packet.velocity - before.velocity
        if not dot(change, change) < 0.25 * dot(mean, mean):
            reset_run(step_run)
            continue
        step_run.moved = step_run.moved + way
        step_run.driven = step_run.driven + mean * step
        step_run.way += sqrt(dot(mean, mean)) * step
        step_run.steps += 1
        if step_run.steps < STEPS:
            continue
        length = sqrt(dot(step_run.moved, step_run.moved))
        driven = sqrt(dot(step_run.driven, step_run.driven))
        if driven > 0.5 * step_run.way:
            ratios.push_back(driven / length if length > 0 else 1e300)
            for order in range(6):
                turned = reorder_axes(step_run.driven, order)
                cosines[order].push_back(
                    dot(step_run.moved, turned) / (length * driven) if length > 0 else 0
                )
        reset_run(step_run)
    middles = tuple([compute_median(cosines[order]) for order in range(6)])
    return Survey(
        steps.size(), compute_median(steps), latest, whole, moves, velocities, zeros, ratios.size(),
        compute_median(ratios), middles,
    )


cdef void reset_run(StepRun* step_run) noexcept:
    step_run.moved = Vec3[double](0, 0, 0)
    step_run.driven = Vec3[double](0, 0, 0)
    step_run.way = 0
    step_run.steps = 0


cdef Vec3[double] reorder_axes(Vec3[double] given, size_t order) noexcept:
    cdef double[3] axes = [given.x, given.y, given.z]
    cdef Vec3[double] turned
    turned.x = axes[ORDERS[order][0]]
    turned.y = axes[ORDERS[order][1]]
    turned.z = axes[ORDERS[order][2]]
    return turned


cdef double compute_median(vector[double]& values):
    """Return the median of the values; 0 without values."""
    if values.empty():
        return 0
    cdef size_t middle = values.size() // 2
    nth_element(values.begin(), values.begin() + middle, values.end())
    return values[middle]


# ---------------- medians of windows that move over a series


def compute_running_medians(const double[::1] values not None, size_t width, size_t stride,
                            double[:] medians not None):
    """Write the medians of windows of ``width`` values, ``stride`` apart, to ``medians``.

    There are as many windows as ``medians`` has elements; raise ``ValueError`` if the values are
    too few. No value may be NaN. A window is kept sorted: from one window to the next only
    ``stride`` values change.
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
                replace_value(numbers, width, first[begin - stride + index],
                              first[begin + width - stride + index])
        if width % 2:
            medians[window] = numbers[middle]
        else:
            medians[window] = (numbers[middle - 1] + numbers[middle]) / 2


cdef void replace_value(double* ordered, size_t width, double gone, double come) noexcept nogil:
    """Replace the value ``gone`` in a sorted window by ``come``."""
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


def fill_packet_table(PacketBlock block not None, double[:, ::1] numbers not None):
    """Write the packets, in their order, to the columns of ``numbers`` (10 x n).

    The rows are time, x, y, z, vx, vy, vz (NaN: none), arrival (NaN: none), sequence number (NaN:
    none; exact below 2^53) and teleport (0 or 1).
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef Packet* packet
    if numbers.shape[0] != COLUMNS or numbers.shape[1] != count:
        raise ValueError("numbers must have the shape (10, n): a column for each of the n packets")
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
    """Write each packet's rotation (x y z w, of any length) and spin (rad/s) to ``numbers``.

    Missing numbers are NaN. ``numbers`` has seven columns, or four without the spins.
    """
    cdef Py_ssize_t count = block.items.size(), index
    cdef bint spins = numbers.shape[1] == 7
    cdef Packet* packet
    cdef Turn turn
    if numbers.shape[0] != count or numbers.shape[1] not in (4, 7):
        raise ValueError(
            "numbers must have the shape (n, 4) or (n, 7): a row for each of the n packets"
        )
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


def clean_numbers(double[:] numbers not None, double least, double limit, double steps=0):
    """Clean numbers in place: drop huge and tiny values, and round.

    Numbers not below ``limit`` become NaN, those nearer to zero than ``least`` become 0; with
    ``steps``, the others are rounded to 1 / ``steps``.
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
