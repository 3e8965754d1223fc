"""Sums of drawn rows per cell of time, and the split of errors along and across the movement."""

from libc.math cimport isnan, sqrt
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Vec3, dot


cdef enum:
    # columns of ``sum_rows``
    ROWS
    SQUARES
    SPEED_SQUARES
    JUMPS
    FOURS
    THIRD
    TRUTH_THIRD
    ROW_SUMS

cdef enum:
    # a radix sort's digits
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS
    PASSES = 3
    MOST_SORTED = 1 << 31


def sum_rows(const int32_t[::1] places not None, const int32_t[::1] counted not None,
             const double[:, ::1] shown not None, const double[:, ::1] truth not None,
             const double[::1] errors not None, const double[::1] speed_squares not None,
             const double[::1] step_limit not None, double jump_factor, double jump_floor,
             double[:, ::1] sums not None):
    """Sum rows, errors, jumps and roughness of n drawn rows (n x 3) per cell of time.

    ``places`` (n) is each row's cell, ``truth`` (n x 3) the true positions. ``counted`` (n) is the
    segment of each judged row, -1 for others; ``errors`` are the distances of the judged rows,
    without gaps; ``speed_squares`` (n) are the truth's. A step longer than ``jump_factor`` times
    its ``step_limit`` (n - 1) plus ``jump_floor`` is a jump. ``sums`` (cells x 7) gets rows,
    squared errors, squared speeds, jumps, runs of four rows in one segment, and the squared third
    differences of these, drawn and true.
    """
    cdef Py_ssize_t row, rows = counted.shape[0], count = 0, run = 0
    cdef double* cell
    cdef Vec3[double] step
    if not (rows == places.shape[0] == shown.shape[0] == truth.shape[0] == speed_squares.shape[0]
            and step_limit.shape[0] >= rows - 1 and shown.shape[1] == truth.shape[1] == 3
            and sums.shape[1] == ROW_SUMS):
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        for row in range(rows):
            if counted[row] < 0:
                run = 0
                continue
            run = run + 1 if run > 0 and counted[row - 1] == counted[row] else 1
            if count >= errors.shape[0] or not 0 <= places[row] < sums.shape[0]:
                count = -1
                break
            cell = &sums[places[row], 0]
            cell[ROWS] += 1
            cell[SQUARES] += errors[count] * errors[count]
            cell[SPEED_SQUARES] += speed_squares[row]
            count += 1
            if run >= 2:
                step = read_row(shown, row) - read_row(shown, row - 1)
                cell[JUMPS] += (
                    sqrt(paired_dot(step, step))
                    > jump_factor * step_limit[row - 1] + jump_floor)
            if run >= 4:
                cell[FOURS] += 1
                step = third_difference(shown, row)
                cell[THIRD] += paired_dot(step, step)
                step = third_difference(truth, row)
                cell[TRUTH_THIRD] += paired_dot(step, step)
    if count < 0:
        raise ValueError("each judged row must have an error, and a place among the cells")


def sum_values(const int32_t[::1] places not None, const int32_t[::1] counted not None,
               const double[::1] values not None, double[:] sums not None):
    """Add the values (n) of the judged rows (``counted`` (n) not below 0) to the ``sums`` of cells.
    """
    cdef Py_ssize_t row
    cdef bint outside = False
    if not (counted.shape[0] == places.shape[0] == values.shape[0]):
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        for row in range(counted.shape[0]):
            if counted[row] < 0:
                continue
            if not 0 <= places[row] < sums.shape[0]:
                outside = True
                break
            sums[places[row]] += values[row]
    if outside:
        raise ValueError("each judged row must have a place among the cells")


def sum_squares_along(const double[:, ::1] shown not None, const double[:, ::1] positions not None,
                      const double[:, ::1] velocities not None,
                      const int32_t[::1] segments not None, const int32_t[::1] expected not None,
                      double resting, double[::1] along not None, double[::1] across not None):
    """Split the squared distances of ``shown`` from ``positions`` (n x 3) along and across the
    movement.

    ``along`` (n) gets the part along ``velocities`` (n x 3), ``across`` (n) the rest, at least 0.
    At rest, below the speed ``resting``, the direction is that of the row before, or else after;
    without any movement ``along`` is 0. Where ``segments`` (n) differ from ``expected`` (n), both
    are 0. Return the sum of the squared distances over the other rows that are expected (not -1),
    and the number of these rows.
    """
    cdef Py_ssize_t row, rows = shown.shape[0], first = 0
    cdef Vec3[double] off, direction
    cdef double speed = 0, one, total = 0
    cdef Py_ssize_t count = 0
    if not (rows == positions.shape[0] == velocities.shape[0] == segments.shape[0]
            == expected.shape[0] == along.shape[0] == across.shape[0]
            and shown.shape[1] == positions.shape[1] == velocities.shape[1] == 3):
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        while first < rows:
            direction = read_row(velocities, first)
            speed = sqrt(paired_dot(direction, direction))
            if speed > resting:
                break
            first += 1
        for row in range(rows):
            if row > first:
                off = read_row(velocities, row)
                one = sqrt(paired_dot(off, off))
                if one > resting:
                    direction, speed = off, one
            if segments[row] != expected[row]:
                off = Vec3[double](0, 0, 0)
            else:
                off = read_row(shown, row) - read_row(positions, row)
                if expected[row] >= 0:
                    total += dot(off, off)
                    count += 1
            one = paired_dot(off, direction) / speed if first < rows else 0
            along[row] = one * one
            one = dot(off, off) - along[row]
            across[row] = one if one > 0 or isnan(one) else 0
    return total, count


def count_backward_steps(const double[:, ::1] shown not None, const int32_t[::1] counted not None,
                         const double[:, ::1] velocities not None,
                         const int32_t[::1] segments not None, Py_ssize_t reach, double slowest,
                         double shortest):
    """Count the drawn steps (n rows, n x 3) that go against the direction of ``velocities``.

    A step leads from one row to the next of the same segment, ``counted`` (n). It counts if it goes
    back by more than ``shortest`` in the directions at its end and ``reach`` rows before and after,
    so that turning a little early or late is no fault. Where the movement is no faster than
    ``slowest``, or unknown (``segments`` (n) -1), its direction is the last known one.
    """
    cdef Py_ssize_t row, count = 0, rows = shown.shape[0]
    cdef vector[Vec3[double]] directions
    cdef Vec3[double] velocity, latest, step
    cdef double speed
    if not (rows == counted.shape[0] == velocities.shape[0] == segments.shape[0]) or reach < 0:
        raise ValueError("all arrays must have one value for each time")
    with nogil:
        directions.resize(rows)
        for row in range(rows):
            if segments[row] >= 0:
                velocity = read_row(velocities, row)
                speed = sqrt(dot(velocity, velocity))
                if speed > slowest:
                    latest = velocity * (1 / speed)
            directions[row] = latest
        for row in range(1, rows):
            if counted[row] < 0 or counted[row] != counted[row - 1]:
                continue
            step = read_row(shown, row) - read_row(shown, row - 1)
            count += (
                dot(step, directions[row]) < -shortest
                and dot(step, directions[max(row - reach, 1)]) < -shortest
                and dot(step, directions[min(row + reach, rows - 1)]) < -shortest
            )
    return count


def sort_distances(double[::1] values not None):
    """Sort numbers that are not negative and not NaN, in place.

    Such numbers are in the order of their bits: a radix sort of the upper half, then a sort of each
    run of numbers with equal upper halves.
    """
    cdef size_t count = values.shape[0], index, digit, total, begin
    cdef vector[uint64_t] keys, ordered
    cdef vector[uint32_t] places
    cdef uint32_t* place
    cdef int turn
    if count < 2:
        return
    if count > MOST_SORTED:
        raise ValueError(f"at most {MOST_SORTED:,} numbers can be sorted")
    with nogil:
        keys.resize(count)
        ordered.resize(count)
        places.assign(PASSES * DIGITS, 0)
        memcpy(keys.data(), &values[0], count * sizeof(double))
        for index in range(count):
            for turn in range(PASSES):
                places[turn * DIGITS + (keys[index] >> (32 + turn * DIGIT_BITS)) % DIGITS] += 1
        for turn in range(PASSES):
            place = places.data() + turn * DIGITS
            if place[(keys[0] >> (32 + turn * DIGIT_BITS)) % DIGITS] == count:
                continue                # all have the same digit
            total = 0
            for digit in range(DIGITS):
                total += place[digit]
                place[digit] = <uint32_t>(total - place[digit])
            for index in range(count):
                digit = (keys[index] >> (32 + turn * DIGIT_BITS)) % DIGITS
                ordered[place[digit]] = keys[index]
                place[digit] += 1
            keys.swap(ordered)
        begin = 0
        for index in range(1, count + 1):
            if index == count or keys[index] >> 32 != keys[begin] >> 32:
                if index - begin > 1:
                    sort(keys.begin() + begin, keys.begin() + index)
                begin = index
        memcpy(&values[0], keys.data(), count * sizeof(double))


cdef Vec3[double] third_difference(const double[:, ::1] path, Py_ssize_t row) noexcept nogil:
    return ((read_row(path, row) - read_row(path, row - 3))
            - (read_row(path, row - 1) - read_row(path, row - 2)) * 3)


cdef double paired_dot(const Vec3[double]& one, const Vec3[double]& other) noexcept nogil:
    """Return the dot product, summed in NumPy's order (x and z first) so that the bits agree."""
    return one.x * other.x + one.z * other.z + one.y * other.y
