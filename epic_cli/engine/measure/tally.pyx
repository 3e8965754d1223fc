"""One pass over drawn rows beside the truth: errors, jumps, roughness."""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t

from epic_cli.engine.packets cimport NONE
from epic_cli.engine.vec3 cimport Vec3, dot


def tally(const double[:, :] shown, const int32_t[:] status, const double[:, :] truth,
          const int32_t[:] segments, const double[:] step_limit, double jump_factor,
          double jump_floor, double[:] errors, int32_t[:] counted):
    """Goes over n rows: where was it drawn (n x 3), where was it in truth (n x 3).

    Rows count that have a segment (``segments`` (n), -1: none), are drawn and are finite:
    ``counted`` (n) gets their segments, -1 elsewhere, and ``errors`` (n) the distances of those
    that count, one after the other. ``step_limit`` (n - 1) is how long a step may be; one that
    is longer than ``jump_factor`` times that and ``jump_floor`` is a jump. Returns

    - how many rows count,
    - how many would, but are not finite,
    - by how much the longest step goes beyond its limit,
    - the number of jumps,
    - the number of runs of four rows in one segment, and over these the sums of the squared
      third differences of what is shown and of the truth.
    """
    cdef Py_ssize_t row, rows = shown.shape[0], count = 0, broken = 0, jumps = 0, fours = 0, run = 0
    cdef double excess = 0, third = 0, truth_third = 0, step
    cdef Vec3[double] here, way
    if not (rows == status.shape[0] == truth.shape[0] == segments.shape[0] == errors.shape[0]
            == counted.shape[0] and step_limit.shape[0] >= rows - 1):
        raise ValueError("there is one value of each kind for each row")
    with nogil:
        for row in range(rows):
            here = at(shown, row)
            counted[row] = -1
            if segments[row] < 0 or status[row] == NONE:
                run = 0
                continue
            # what cannot be squared is as good as not finite
            if not isfinite(dot(here, here)):
                broken += 1
                run = 0
                continue
            counted[row] = segments[row]
            run = run + 1 if run > 0 and segments[row - 1] == segments[row] else 1
            way = here - at(truth, row)
            errors[count] = sqrt(dot(way, way))
            count += 1
            if run >= 2:
                way = here - at(shown, row - 1)
                step = sqrt(dot(way, way))
                excess = max(excess, step - step_limit[row - 1])
                jumps += step > jump_factor * step_limit[row - 1] + jump_floor
            if run >= 4:
                fours += 1
                third += squared_third(shown, row)
                truth_third += squared_third(truth, row)
    return count, broken, excess, jumps, fours, third, truth_third


cdef Vec3[double] at(const double[:, :] path, Py_ssize_t row) noexcept nogil:
    return Vec3[double](path[row, 0], path[row, 1], path[row, 2])


cdef double squared_third(const double[:, :] path, Py_ssize_t row) noexcept nogil:
    """|x[i] - 3 x[i-1] + 3 x[i-2] - x[i-3]|^2."""
    cdef Vec3[double] third = (
        (at(path, row) - at(path, row - 3)) - (at(path, row - 1) - at(path, row - 2)) * 3
    )
    return dot(third, third)
