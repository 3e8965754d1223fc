cimport cython

from epic_cli.engine.strategies.parts.snapshots cimport SnapshotBuffer
from epic_cli.engine.vec3 cimport Vec3


cpdef enum Interpolation:
    DOUBLE_LERP
    LEGACY_LERP
    LERP
    SMOOTH_DAMP


@cython.final
cdef class BufferedInterpolator:
    cdef Interpolation kind
    cdef bint smooths, per_frame
    cdef double maximum_time
    cdef public double tick         # the least duration of a segment, s
    cdef public double latency      # how far rendering is behind the server time, s
    cdef public double snap_distance
    cdef public double slack        # times that are no further apart are the same, s
    cdef SnapshotBuffer queue
    cdef long received              # since the last frame
    cdef double newest              # the newest timestamp in the queue or taken from it
    cdef bint has_target, reached   # reached: nothing moves until there is a new target
    cdef double start_time, target_time, duration, elapsed, longest
    cdef Vec3[double] start, target, next_value, current, rate

    cdef void put(self, Vec3[double] value, double time) noexcept nogil
    cdef bint sorts_in(self, double time) noexcept nogil
    cdef void jump(self, Vec3[double] value) noexcept nogil
    cdef void resume(self, double time) noexcept nogil
    cdef bint arrived(self) noexcept nogil
    cdef Vec3[double] advance(self, double elapsed, double render, double server) noexcept nogil
    cdef void move(self, double elapsed, double render) noexcept nogil
    cdef void take(self, double until) noexcept nogil
    cdef Vec3[double] advance_double(self, double elapsed, double render,
                                     double server) noexcept nogil
    cdef void head_for(self, Vec3[double] value, double time, double start) noexcept nogil
    cdef void rest(self) noexcept nogil
    cdef double smoothing(self, double elapsed) noexcept nogil
    cdef bint near_target(self, double distance) noexcept nogil
    cdef bint there(self) noexcept nogil
