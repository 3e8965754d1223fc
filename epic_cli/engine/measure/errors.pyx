"""Errors, jumps and roughness of drawn rows against the truth, in one pass."""

from collections import namedtuple

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

from epic_cli.engine.packets cimport Quaternion, Vec3, dot, vector_between


Errors = namedtuple("Errors", "rows broken excess jumps beyond fours third truth_third")


def accumulate_errors(const double[:, :] shown, const int32_t[:] status,
                      const double[:, :] truth, const int32_t[:] segments,
                      const double[:] step_limit, double jump_factor, double jump_floor,
                      const double[:] low, const double[:] high,
                      double[:] errors, int32_t[:] counted, int64_t[:] statuses):
    """Measure errors, jumps and roughness of n drawn rows (n x 3) against the true positions (n x
    3).

    A row counts if it has a segment (``segments`` (n), -1: none) and is finite: ``counted`` (n)
    gets its segment, -1 elsewhere, ``errors`` (n) the distances of the rows that count, without
    gaps, and ``statuses`` (4) the number of them with each ``status`` (n). ``step_limit`` (n - 1)
    is the longest plausible step; a step longer than ``jump_factor`` times that plus ``jump_floor``
    is a jump. ``low`` and ``high`` (3) are the corners of a box. Return ``Errors``:

    - ``rows``: the number of rows that count,
    - ``broken``: the number of rows that would count if they were finite,
    - ``excess``: the most by which a step is longer than its limit,
    - ``jumps``: the number of jumps,
    - ``beyond``: the largest distance of a row outside the box,
    - ``fours``: the number of runs of four rows in one segment, and over these ``third`` and
      ``truth_third``: the sums of the squared third differences of what is shown and of the truth.
    """
    cdef Py_ssize_t row, rows = shown.shape[0], count = 0, broken = 0, jumps = 0, fours = 0, run = 0
    cdef double excess = 0, third = 0, truth_third = 0, step, beyond = 0, outside
    cdef Vec3[double] here, difference
    if not (rows == status.shape[0] == truth.shape[0] == segments.shape[0] == errors.shape[0]
            == counted.shape[0] and step_limit.shape[0] >= rows - 1
            and low.shape[0] == high.shape[0] == 3 and statuses.shape[0] == 4):
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        for row in range(rows):
            here = read_row(shown, row)
            counted[row] = -1
            if segments[row] < 0:
                run = 0
                continue
            # what overflows when squared counts as not finite
            if not isfinite(dot(here, here)):
                broken += 1
                run = 0
                continue
            counted[row] = segments[row]
            statuses[status[row] & 3] += 1
            run = run + 1 if run > 0 and segments[row - 1] == segments[row] else 1
            difference = here - read_row(truth, row)
            errors[count] = sqrt(dot(difference, difference))
            count += 1
            outside = (square_outside(low[0] - here.x, here.x - high[0])
                       + square_outside(low[1] - here.y, here.y - high[1])
                       + square_outside(low[2] - here.z, here.z - high[2]))
            beyond = max(beyond, outside)
            if run >= 2:
                difference = here - read_row(shown, row - 1)
                step = sqrt(dot(difference, difference))
                excess = max(excess, step - step_limit[row - 1])
                jumps += step > jump_factor * step_limit[row - 1] + jump_floor
            if run >= 4:
                fours += 1
                third += square_third_difference(shown, row)
                truth_third += square_third_difference(truth, row)
    return Errors(count, broken, excess, jumps, sqrt(beyond), fours, third, truth_third)


def measure_overshoot(const double[:, :] shown, const int32_t[:] counted, const double[:, :] truth,
                      const int32_t[:] segments, Py_ssize_t late, Py_ssize_t reach):
    """Measure how far rows are ahead of the truth; return the maximum and the sum of squares.

    Ahead is the direction of the step that leads to a row. A row is compared with the true rows of
    the same segment (``segments`` (n), -1: none) from ``reach`` before to ``reach`` after the row
    that is ``late`` rows ago, and counts if all of these are known.
    """
    cdef Py_ssize_t row, place, first, last, rows = shown.shape[0]
    cdef Vec3[double] here, step
    cdef double length, ahead, most = 0, total = 0
    if not (rows == counted.shape[0] == truth.shape[0] == segments.shape[0]) or reach < 0:
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        for row in range(1, rows):
            if counted[row] < 0 or counted[row] != counted[row - 1]:
                continue
            first, last = max(row - late - reach, 0), row - late + reach
            # where the movement ends or is cut, its continuation is unknown
            if not 0 <= last < rows or segments[last] != counted[row]:
                continue
            here = read_row(shown, row)
            step = here - read_row(shown, row - 1)
            length = sqrt(dot(step, step))
            if not length > 0:
                continue
            ahead = 1e300
            # the truth mostly moves the same way, so its latest position is the furthest
            for place in range(last, first - 1, -1):
                if segments[place] != counted[row]:
                    continue
                ahead = min(ahead, dot(here - read_row(truth, place), step))
                if ahead <= 0:
                    break
            if 0 < ahead < 1e300:
                ahead /= length
                most = max(most, ahead)
                total += ahead * ahead
    return most, total


def measure_turn_overshoot(const double[:, :] shown, const int32_t[:] counted,
                           const double[:, :] truth, const int32_t[:] segments, Py_ssize_t late,
                           Py_ssize_t reach, double resting, double[:] found):
    """Measure how far unit quaternions (n x 4) are ahead of the truth.

    ``found`` (n) gets angles, rad. Ahead is about the axis of the rotation that leads to a row. An
    angle of at most ``resting`` (rad) counts as 0.
    """
    cdef Py_ssize_t row, place, last, rows = shown.shape[0]
    cdef Quaternion here
    cdef Vec3[double] step
    cdef double length, ahead
    if not (rows == counted.shape[0] == truth.shape[0] == segments.shape[0] == found.shape[0]
            and shown.shape[1] == truth.shape[1] == 4 and reach >= 0):
        raise ValueError("all arrays must have one value for each row")
    with nogil:
        for row in range(rows):
            found[row] = 0
            last = row - late + reach
            if row == 0 or counted[row] < 0 or counted[row] != counted[row - 1] or not (
                    0 <= last < rows and segments[last] == counted[row]):
                continue
            here = read_rotation(shown, row)
            step = vector_between(read_rotation(shown, row - 1), here)
            length = sqrt(dot(step, step))
            if not length > resting:
                continue
            ahead = 1e300
            for place in range(last, max(row - late - reach, 0) - 1, -1):
                if segments[place] == counted[row]:
                    ahead = min(ahead, dot(vector_between(read_rotation(truth, place), here), step))
                if ahead <= 0:
                    break
            if resting * length < ahead < 1e300:
                found[row] = ahead / length


cdef double square_outside(double below, double above) noexcept nogil:
    """Return the squared distance of a coordinate outside an interval; 0 inside."""
    cdef double outside = max(below, above)
    return outside * outside if outside > 0 else 0


cdef double square_third_difference(const double[:, :] path, Py_ssize_t row) noexcept nogil:
    """Return the squared third difference: |x[i] - 3 x[i-1] + 3 x[i-2] - x[i-3]|^2."""
    cdef Vec3[double] third = (
        (read_row(path, row) - read_row(path, row - 3))
        - (read_row(path, row - 1) - read_row(path, row - 2)) * 3
    )
    return dot(third, third)
