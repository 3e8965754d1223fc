"""One pass over drawn rows and the truth beside them: errors, jumps and roughness add up."""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t

from epic_cli.engine.packets cimport NONE
from epic_cli.engine.vec3 cimport Vec3, dot


def accumulate_errors(const double[:, :] shown, const int32_t[:] status,
                      const double[:, :] truth, const int32_t[:] segments,
                      const double[:] step_limit, double jump_factor, double jump_floor,
                      double[:] errors, int32_t[:] counted):
    """Goes over n rows: where the entity was drawn (n x 3) and where it was in truth (n x 3).

    A row counts if it has a segment (``segments`` (n), -1: none), is drawn and is finite:
    ``counted`` (n) gets its segment, -1 elsewhere, and ``errors`` (n) the distances of the rows
    that count, without gaps. ``step_limit`` (n - 1) is how long a step may be; one longer than
    ``jump_factor`` times that plus ``jump_floor`` is a jump. Returns

    - how many rows count,
    - how many would count if they were finite,
    - the most by which a step is longer than its limit,
    - the number of jumps,
    - the number of runs of four rows in one segment, and over these the sums of the squared
      third differences of what is shown and of the truth.
    """
    cdef Py_ssize_t row, rows = shown.shape[0], count = 0, broken = 0, jumps = 0, fours = 0, run = 0
    cdef double excess = 0, third = 0, truth_third = 0, step
    cdef Vec3[double] here, difference
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
            difference = here - at(truth, row)
            errors[count] = sqrt(dot(difference, difference))
            count += 1
            if run >= 2:
                difference = here - at(shown, row - 1)
                step = sqrt(dot(difference, difference))
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
