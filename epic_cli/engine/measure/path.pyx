"""A movement given by states, interpolated by cubic Hermite curves."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport NAN, isfinite
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp.algorithm cimport upper_bound
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport (
    Motion, Quaternion, Turn, TurnPiece, Vec3, angle_between, components, dot, near_to,
    rotation_at, turn_piece,
)
from epic_cli.engine.strategies.parts.curves cimport hermite


# States that are looked at in turn before a binary search.
cdef int NEAR = 6


cdef class Path:
    """The position of an entity at any time between its first and last state.

    ``times`` (n, increasing, seconds), ``positions`` and ``velocities`` (n x 3) are the states;
    ``segments`` (n) numbers the intervals of unbroken movement, from 0: between two states of
    different segments nothing is known. Between two states the path is the cubic that matches both
    positions and velocities (Hermite). The buffers of doubles and 32-bit integers are copied.
    """

    cdef vector[double] times
    cdef vector[Motion] motions
    cdef vector[int32_t] segments

    def __init__(self, const double[:] times, const double[:, :] positions,
                 const double[:, :] velocities, const int32_t[:] segments):
        cdef Py_ssize_t count = times.shape[0]
        if not (count == positions.shape[0] == velocities.shape[0] == segments.shape[0]):
            raise ValueError("a path needs one position, velocity and segment for each time")
        if count and not (positions.shape[1] == velocities.shape[1] == 3):
            raise ValueError("positions and velocities must have three components")
        for index in range(1, count):
            if not times[index - 1] < times[index]:
                raise ValueError("the times of a path must increase")
        self.times.reserve(count)
        self.motions.reserve(count)
        self.segments.reserve(count)
        for index in range(count):
            self.times.push_back(times[index])
            self.motions.push_back(Motion(read_row(positions, index), read_row(velocities, index)))
            self.segments.push_back(segments[index])

    def __len__(self):
        return self.times.size()

    def __reduce__(self):
        return restore_path, (
            to_bytes(self.times.data(), self.times.size() * sizeof(double)),
            to_bytes(self.motions.data(), self.motions.size() * sizeof(Motion)),
            to_bytes(self.segments.data(), self.segments.size() * sizeof(int32_t)),
        )

    def read(self, const double[:] times, double shift, double[:, :] positions,
             double[:, :] velocities, int32_t[:] segments):
        """Write the position and velocity at each of ``times - shift`` (n) to the output arrays.

        ``segments`` gets the segment of each time, -1 where nothing is known; the numbers there are
        NaN.
        """
        cdef Py_ssize_t row, count = times.shape[0]
        cdef Motion motion
        cdef size_t index = 0
        if not (count == positions.shape[0] == velocities.shape[0] == segments.shape[0]):
            raise ValueError("the output must have a row for each time")
        with nogil:
            for row in range(count):
                segments[row] = self.find_segment(times[row] - shift, index)
                if segments[row] < 0:
                    motion.position = motion.velocity = Vec3[double](NAN, NAN, NAN)
                else:
                    motion = self.interpolate(index, times[row] - shift)
                set_row(positions, row, motion.position)
                set_row(velocities, row, motion.velocity)

    def sum_squared_distances(self, const double[:] times, const double[:, :] positions,
                              const int32_t[:] segments, const double[:] shifts, double[:] totals,
                              int32_t[:] counts):
        """Sum |positions - path(times - shift)|^2 and count the rows, for each of ``shifts``.

        A row counts if its shifted time is in the segment that ``segments`` names.
        """
        cdef Py_ssize_t row, place
        cdef Vec3[double] offset, here
        cdef double time
        cdef size_t index, longest = 0
        cdef int32_t segment
        if not (times.shape[0] == positions.shape[0] == segments.shape[0]
                and shifts.shape[0] == totals.shape[0] == counts.shape[0]):
            raise ValueError("all arrays must have one value for each time, one sum per shift")
        with nogil:
            for place in range(shifts.shape[0]):
                totals[place] = counts[place] = 0
            for row in range(times.shape[0]):
                if segments[row] < 0:
                    continue
                here = read_row(positions, row)
                # from the longest shift on, the path is mostly gone along forward
                index = longest
                for place in range(shifts.shape[0] - 1, -1, -1):
                    time = times[row] - shifts[place]
                    segment = self.find_segment(time, index)
                    if place == shifts.shape[0] - 1:
                        longest = index
                    if segment != segments[row]:
                        continue
                    offset = self.interpolate_position(index, time) - here
                    totals[place] += dot(offset, offset)
                    counts[place] += 1

    def fill_shifted_distances(self, const double[::1] times, const double[:, ::1] positions,
                               const int32_t[::1] segments, double shift, double[::1] squares):
        """Write |positions - path(times - shift)|^2 of each row to ``squares``.

        NaN in another segment.
        """
        cdef Py_ssize_t row
        cdef Vec3[double] offset
        cdef size_t index = 0
        cdef double time
        if not (times.shape[0] == positions.shape[0] == segments.shape[0] == squares.shape[0]
                and positions.shape[1] == 3):
            raise ValueError("all arrays must have one value for each time")
        with nogil:
            for row in range(times.shape[0]):
                squares[row] = NAN
                time = times[row] - shift
                if segments[row] >= 0 and self.find_segment(time, index) == segments[row]:
                    offset = self.interpolate_position(index, time) - read_row(positions, row)
                    squares[row] = paired_dot(offset, offset)

    cdef int32_t find_segment(self, double time, size_t& index) noexcept nogil:
        """Return the segment at a time, or -1; set ``index`` to the state before the time.

        Times mostly go forward by at most one state: the next states are tried before a binary
        search.
        """
        cdef int _
        cdef size_t last = self.times.size()
        if last == 0 or not (self.times[0] <= time <= self.times[last - 1]):
            return -1
        last -= 1
        # no branch: which of the two it is cannot be foreseen
        (&index)[0] += (index < last) & (self.times[min(index + 1, last)] <= time)
        if self.times[index] <= time:
            for _ in range(NEAR):
                if index == last or time < self.times[index + 1]:
                    break
                (&index)[0] += 1
        if not self.times[index] <= time or (index < last and self.times[index + 1] <= time):
            (&index)[0] = upper_bound(self.times.begin(), self.times.end(), time) \
                - self.times.begin() - 1
        if index == last or self.times[index] == time:
            return self.segments[index]
        if self.segments[index] != self.segments[index + 1]:
            return -1
        return self.segments[index]

    cdef Vec3[double] interpolate_position(self, size_t index, double time) noexcept nogil:
        """Return the position that ``interpolate`` gives, bit for bit, in half the time."""
        cdef double duration, u, u2, u3
        cdef const Motion* start = &self.motions[index]
        if self.times[index] == time:
            return start.position
        duration = self.times[index + 1] - self.times[index]
        u = (time - self.times[index]) / duration
        u2 = u * u
        u3 = u2 * u
        return start.position + (
            start.velocity * (duration * (u3 - 2 * u2 + u))
            + (self.motions[index + 1].position - start.position) * (3 * u2 - 2 * u3)
            + self.motions[index + 1].velocity * (duration * (u3 - u2))
        )

    cdef Motion interpolate(self, size_t index, double time) noexcept nogil:
        """Return position and velocity at a time between the state ``index`` and the next."""
        cdef double duration
        if self.times[index] == time:
            return self.motions[index]
        duration = self.times[index + 1] - self.times[index]
        return interpolate_states(self.motions[index], self.motions[index + 1], duration,
                                  (time - self.times[index]) / duration)


cdef bytes to_bytes(const void* data, size_t size):
    return PyBytes_FromStringAndSize(<const char*>data, size)


def restore_path(bytes times not None, bytes motions not None, bytes segments not None):
    """Return the ``Path`` with this content, from a pickle."""
    cdef size_t count = <size_t>len(times) // sizeof(double)
    if not (len(times) == count * sizeof(double) and len(motions) == count * sizeof(Motion)
            and len(segments) == count * sizeof(int32_t)):
        raise ValueError("a path needs one position, velocity and segment for each time")
    cdef Path path = Path.__new__(Path)
    path.times.resize(count)
    path.motions.resize(count)
    path.segments.resize(count)
    if count:
        memcpy(path.times.data(), <const char*>times, len(times))
        memcpy(path.motions.data(), <const char*>motions, len(motions))
        memcpy(path.segments.data(), <const char*>segments, len(segments))
    return path


cdef Motion interpolate_states(const Motion& start, const Motion& end, double duration,
                               double u) noexcept nogil:
    """Return position and velocity at the fraction ``u`` of the cubic between two states."""
    # relative to the state before, so that a path far from the origin keeps its digits
    cdef Motion relative = hermite(
        Motion(Vec3[double](), start.velocity),
        Motion(end.position - start.position, end.velocity), duration, u)
    return Motion(start.position + relative.position, relative.velocity)


def interpolate_motion(start, end, double duration, double u):
    """Return position and velocity at the fraction ``u`` between two states ``duration`` s apart.

    The states, too, are pairs of a position and a velocity.
    """
    cdef Motion motion = interpolate_states(read_motion(start), read_motion(end), duration, u)
    return components(motion.position), components(motion.velocity)


cdef Motion read_motion(object state):
    (x, y, z), (vx, vy, vz) = state
    return Motion(Vec3[double](x, y, z), Vec3[double](vx, vy, vz))


cdef Vec3[double] read_row(const double[:, :] vectors, Py_ssize_t row) noexcept nogil:
    return Vec3[double](vectors[row, 0], vectors[row, 1], vectors[row, 2])


cdef void set_row(double[:, :] vectors, Py_ssize_t row, Vec3[double] value) noexcept nogil:
    vectors[row, 0], vectors[row, 1], vectors[row, 2] = value.x, value.y, value.z


# Times nearer to each other than this (s) are the same.
cdef double SAME_TIME = 1e-9


cdef class TurnPath:
    """The rotation of an entity at any time between its first and last state.

    ``times`` (n > 1, increasing, seconds) and ``turns`` (n, 7: unit quaternions x y z w, and spins
    in rad/s) are the states, ``segments`` (n) as those of a ``Path``. Between two states of a
    segment the rotation follows ``hermite_turn``.
    """

    cdef object states
    cdef vector[double] times
    cdef vector[TurnPiece] pieces
    cdef vector[int32_t] segments

    def __init__(self, const double[:] times, const double[:, :] turns,
                 const int32_t[:] segments):
        cdef Py_ssize_t index, count = times.shape[0]
        if not (count == turns.shape[0] == segments.shape[0] > 1 and turns.shape[1] == 7):
            raise ValueError("there must be a turn and a segment for each time, at least two")
        self.states = times.base, turns.base, segments.base
        for index in range(count):
            self.times.push_back(times[index])
            self.segments.push_back(segments[index])
        for index in range(1, count):
            self.pieces.push_back(turn_piece(read_turn(turns, index - 1), read_turn(turns, index),
                                             times[index] - times[index - 1]))

    def __reduce__(self):
        return TurnPath, self.states

    def read(self, const double[:] times, double[:, :] rotations):
        """Write the rotations at m times to ``rotations`` (m, 4), NaN where nothing is known.

        Each quaternion has the sign that is nearer to the one before (q and -q are the same
        rotation).
        """
        cdef Py_ssize_t row
        cdef Quaternion found
        cdef bint known
        cdef size_t index = 0
        if not (times.shape[0] == rotations.shape[0] and rotations.shape[1] == 4):
            raise ValueError("there must be a row for each time")
        with nogil:
            for row in range(times.shape[0]):
                known = self.find_piece(times[row], index)
                found = near_to(self.interpolate_rotation(times[row], index), found)
                rotations[row, 0] = found.x if known else NAN
                rotations[row, 1] = found.y if known else NAN
                rotations[row, 2] = found.z if known else NAN
                rotations[row, 3] = found.w if known else NAN

    def sum_squared_angles(self, Path path not None, const double[:] times,
                           const double[:, :] rotations, const int32_t[:] segments,
                           const double[:] shifts, double[:] totals, int32_t[:] counts):
        """Sum the squared angles (rad) to this path at ``times - shift``, for each of ``shifts``.

        A row counts if its shifted time is in the segment of the ``path`` that ``segments`` names,
        and both rotations are known; ``counts`` gets the numbers of these rows.
        """
        cdef Py_ssize_t row, place
        cdef Quaternion shown
        cdef double time, angle
        cdef size_t index = 0, turn = 0
        if not (times.shape[0] == rotations.shape[0] == segments.shape[0]
                and rotations.shape[1] == 4
                and shifts.shape[0] == totals.shape[0] == counts.shape[0]):
            raise ValueError("all arrays must have one value for each time, one sum per shift")
        with nogil:
            for place in range(shifts.shape[0]):
                totals[place] = counts[place] = 0
            for row in range(times.shape[0]):
                if segments[row] < 0:
                    continue
                shown = read_rotation(rotations, row)
                for place in range(shifts.shape[0] - 1, -1, -1):
                    time = times[row] - shifts[place]
                    if path.find_segment(time, index) != segments[row] or not (
                            self.find_piece(time, turn)):
                        continue
                    angle = angle_between(shown, self.interpolate_rotation(time, turn))
                    if isfinite(angle):
                        totals[place] += angle * angle
                        counts[place] += 1

    cdef bint find_piece(self, double time, size_t& index) noexcept nogil:
        """Set ``index`` to the piece at a time; return True if the rotation is known there.

        A time before or after all pieces gets the first or the last.
        """
        cdef size_t last = self.pieces.size() - 1
        cdef double step, share, slack
        if time < self.times[index] or (index < last and self.times[index + 1] <= time):
            if index < last and self.times[index] <= time < self.times[index + 2]:
                (&index)[0] = index + 1
            else:
                (&index)[0] = min(max(
                    upper_bound(self.times.begin(), self.times.end(), time)
                    - self.times.begin() - 1, 0), <ptrdiff_t>last)
        step = self.times[index + 1] - self.times[index]
        share, slack = (time - self.times[index]) / step, SAME_TIME / step
        return -slack <= share <= 1 + slack and (
            self.segments[index] == self.segments[index + 1] or share <= slack)

    cdef Quaternion interpolate_rotation(self, double time, size_t index) noexcept nogil:
        """Return the rotation at a time on a piece.

        Past an end of the piece, the rotation at that end.
        """
        cdef double step = self.times[index + 1] - self.times[index]
        return rotation_at(self.pieces[index],
                           min(max((time - self.times[index]) / step, 0.0), 1.0))


cdef Turn read_turn(const double[:, :] turns, Py_ssize_t index) noexcept nogil:
    return Turn(read_rotation(turns, index),
                Vec3[double](turns[index, 4], turns[index, 5], turns[index, 6]))


cdef Quaternion read_rotation(const double[:, :] turns, Py_ssize_t row) noexcept nogil:
    return Quaternion(turns[row, 0], turns[row, 1], turns[row, 2], turns[row, 3])
